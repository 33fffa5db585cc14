"""A process that is started before its database is there, or before that is migrated, waits for it.

waited for        no answer from PostgreSQL, migrations that are missing, another process that is migrating or has what
                  a migration changes, roles and grants that are not there yet
not waited for    a password that is wrong, a role that may do too much, a database that is newer than this code,
                  a migration that fails, an open incident, a pooler that shares sessions: a person has to look first

All steps of a start share one deadline. It begins anew once migrations were applied here, or the embedded server was
started, however long that took: it is for waiting alone. No try is begun after it. One that was begun is ended, and
takes as long as PostgreSQL takes to answer: 15 seconds of silence at most, and 2 for a lock, for each thing asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg

from service import telemetry
from service.errors import GainsayError, StoreUnavailable
from service.store.schema.migrate import MigrationBusy, Unmigrated
from service.store.schema.roles import RolesMissing

T = TypeVar("T")
PAUSE_S = 0.5
"""How long the database is left alone before it is looked at again."""
SAID_S = 5.0
"""How often somebody who watches is told what is waited for."""
_COMING = (StoreUnavailable, Unmigrated, MigrationBusy, RolesMissing)
_WRONG_PASSWORD = "password authentication failed"  # noqa: S105 - PostgreSQL's words; libpq gives no code for them


class Deadline:
    """How many of these seconds are left, from now on, for all steps of a start together."""

    def __init__(self, wait_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._wait_s, self._clock = wait_s, clock
        self.renew()

    def renew(self) -> None:
        """Begin anew: something was done, and the steps after it have not waited yet."""
        self._until = self._clock() + self._wait_s

    def __call__(self) -> float:
        """The seconds that are left; none where it is below 0."""
        return self._until - self._clock()


def wait_for(check: Callable[[], T], left_s: Callable[[], float], say: Callable[[GainsayError, float], None]) -> T:
    """What the check of a database gives, tried again while there are seconds left; raises its last error after that.

    ``say`` is told what is still missing, and how many seconds are left: every few seconds, and when it has changed.
    """
    said, what = 0.0, ""
    while True:
        try:
            return check()
        except _COMING as error:
            now, left = time.monotonic(), left_s()
            if _is_final(error) or left < PAUSE_S:
                raise
            if error.code != what or now - said >= SAID_S:
                say(error, left)
                said, what = now, error.code
        time.sleep(PAUSE_S)


async def persist(step: Callable[[], Awaitable[T]], left_s: Callable[[], float]) -> T:
    """The same for a step of the start that is made on an event loop, for as long as there are seconds left."""
    said, what = 0.0, ""
    while True:
        try:
            return await step()
        except _COMING as error:
            now, left = time.monotonic(), left_s()
            if _is_final(error) or left < PAUSE_S:
                raise
            if error.code != what or now - said >= SAID_S:
                tell(error, left)
                said, what = now, error.code
        await asyncio.sleep(PAUSE_S)


def tell(error: GainsayError, left_s: float) -> None:
    """Log what is waited for."""
    telemetry.LOG.warning(f"waiting, at most {left_s:.0f} s more: {error.code}: {error.detail}")


def _is_final(error: GainsayError) -> bool:
    return isinstance(error.__cause__, psycopg.OperationalError) and _WRONG_PASSWORD in str(error.__cause__)
