"""The database's clock, by which every record is dated: one clock for all processes of a deployment.

A process asks the database for its time and counts on from there by its own monotonic clock, which is never set. So no
machine's wall clock dates a record. The time counts from the moment the answer came, so it is never ahead of the
database's own.
"""

from __future__ import annotations

import asyncio
import time
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


async def database_time(database: Database) -> DatabaseTime:
    """The time of this database, read within the last second.

    While the database is away, the time counts on from the last reading. Raises `StoreUnavailable` if there is none.
    """
    clock = _Clock.of(database)
    async with clock.asking:
        if clock.reading is None or clock.reading.age_s >= FRESH_S:
            try:
                (row,) = await database.query("clock")
            except StoreUnavailable:
                if clock.reading is None:
                    raise
            else:
                clock.reading = DatabaseTime(row["now"], time.monotonic())
        return clock.reading


class _Clock:
    """The last reading of one database's clock; one task at a time asks for the next."""

    _known: ClassVar[WeakKeyDictionary[Database, _Clock]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self.reading: DatabaseTime | None = None
        self.asking = asyncio.Lock()

    @classmethod
    def of(cls, database: Database) -> _Clock:
        return cls._known.setdefault(database.pooled, cls())
