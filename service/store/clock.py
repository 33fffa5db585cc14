"""The database's clock, by which every record is dated: one clock for all processes of a deployment.

A process asks the database for its time and counts on from there by its own monotonic clock, which is never set. So no
machine's wall clock dates a record. The time counts from the moment the answer came, so it is behind the database's own
by at most the time that the answer took. A later answer that took longer would set the time back. So a reading is kept
while the next answers agree with it, to within the time that each took, and replaced when one does not.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import ClassVar
from weakref import WeakKeyDictionary

from msgspec import Struct

from service.errors import StoreUnavailable
from service.store.pool import Database

FRESH_S = 1.0
"""The age, in seconds, from which the database is asked again."""


class DatabaseTime(Struct, frozen=True):
    """A reading of the database's clock: seconds since 1970, and when the answer came by this process's own clock."""

    seconds: float
    read: float

    @property
    def age_s(self) -> float:
        """Seconds since the answer came."""
        return time.monotonic() - self.read

    def now(self) -> float:
        """Seconds since 1970 by the database's clock, counted on from the reading."""
        return self.seconds + self.age_s

    def agrees(self, seconds: float, asked: float, came: float) -> bool:
        """Whether a later answer admits this reading: it gave ``seconds`` between ``asked`` and ``came``."""
        return seconds <= self.seconds + came - self.read <= seconds + came - asked


async def database_time(database: Database) -> DatabaseTime:
    """The time of this database, read or confirmed within the last second.

    While the database is away, the time counts on from the last reading. Raises `StoreUnavailable` if there is none.
    """
    clock = _Clock.of(database)
    if clock.reading is not None and time.monotonic() - clock.answered < FRESH_S:
        return clock.reading
    async with clock.asking:
        asked = time.monotonic()
        if clock.reading is None or asked - clock.answered >= FRESH_S:
            try:
                (row,) = await database.query("clock")
            except StoreUnavailable:
                if clock.reading is None:
                    raise
            else:
                clock.answered = came = time.monotonic()
                if clock.reading is None or not clock.reading.agrees(row["now"], asked, came):
                    clock.reading = DatabaseTime(row["now"], came)
        return clock.reading


async def database_now(database: Database) -> datetime:
    """The same as an instant in UTC."""
    return datetime.fromtimestamp((await database_time(database)).now(), UTC)


class _Clock:
    """The reading of one database's clock, and when it last answered; one task at a time asks it again."""

    _known: ClassVar[WeakKeyDictionary[Database, _Clock]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self.reading: DatabaseTime | None = None
        self.answered = 0.0
        self.asking = asyncio.Lock()

    @classmethod
    def of(cls, database: Database) -> _Clock:
        found = cls._known.get(database.pooled)
        return cls._known.setdefault(database.pooled, cls()) if found is None else found
