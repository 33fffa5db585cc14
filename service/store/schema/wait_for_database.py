"""A process that starts before its database runs, or before it is migrated, waits for it.

waited for        no answer from PostgreSQL, missing migrations, another process that migrates or uses what a migration
                  changes, missing roles and grants
not waited for    a wrong password, a role that may do too much, a database that is newer than this code, a migration
                  that fails, an open incident, a pooler that shares sessions: a person has to look first

All steps of a start share one deadline. It starts anew after migrations were applied here, or the embedded server was
started, however long that took: it limits waiting alone. No try begins after it. A try that has begun is completed, and
takes as long as PostgreSQL takes to answer: 15 seconds of silence at most, and 2 for a lock, for each statement.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg

from service import log_lines
from service.errors import GainsayError, StoreUnavailable
from service.store.schema.migrate import MigrationBusy, Unmigrated
from service.store.schema.roles import RolesMissing

T = TypeVar("T")
PAUSE_S = 0.5
"""The wait before the database is checked again."""
SAID_S = 5.0
"""How often the log says what is waited for."""
_COMING = (StoreUnavailable, Unmigrated, MigrationBusy, RolesMissing)
_WRONG_PASSWORD = "password authentication failed"  # noqa: S105 - PostgreSQL's message; libpq gives no code for it


class Deadline:
    """The remaining seconds of one deadline that all steps of a start share."""

    def __init__(self, wait_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._wait_s, self._clock = wait_s, clock
        self.renew()

    def renew(self) -> None:
        """Start the deadline again: work was done, and the steps after it have not waited yet."""
        self._until = self._clock() + self._wait_s

    def __call__(self) -> float:
        """The remaining seconds; 0 or less after the deadline."""
        return self._until - self._clock()


def wait_for(check: Callable[[], T], left_s: Callable[[], float], say: Callable[[GainsayError, float], None]) -> T:
    """The result of a check of the database, repeated while seconds remain; raises its last error after that.

    ``say`` gets what is still missing and how many seconds remain: every few seconds, and when it has changed.
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


async def retry_until(step: Callable[[], Awaitable[T]], left_s: Callable[[], float]) -> T:
    """Run a step of the start on an event loop, and repeat it as `wait_for` does."""
    said, what = 0.0, ""
    while True:
        try:
            return await step()
        except _COMING as error:
            now, left = time.monotonic(), left_s()
            if _is_final(error) or left < PAUSE_S:
                raise
            if error.code != what or now - said >= SAID_S:
                log_waiting(error, left)
                said, what = now, error.code
        await asyncio.sleep(PAUSE_S)


def log_waiting(error: GainsayError, left_s: float) -> None:
    """Log what is waited for."""
    log_lines.DATABASE_WAITED_FOR(left_s=left_s, code=error.code, detail=error.detail)


def _is_final(error: GainsayError) -> bool:
    return isinstance(error.__cause__, psycopg.OperationalError) and _WRONG_PASSWORD in str(error.__cause__)
