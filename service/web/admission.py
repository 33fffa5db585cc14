"""Admission: how many cases one process reads and prepares together.

Bodies may have megabytes, and counting tokens takes time. Further requests wait in line for some seconds. A request
that finds the line full, or waits too long, is refused before its body is read; another process may be free.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from service import telemetry
from service.errors import Overloaded, RequestTimeout

PLACES = 32
LINE = 1_000
"""The most requests in work, and the most requests in line."""
LINE_S = 5.0
"""The longest wait in line."""
BODY_S = 60.0
"""The longest time for a body to arrive: a slow one occupies a place."""


class AdmissionSlots:
    """The places of one process, and the line before them."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(PLACES)
        self._waiting = 0

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """A place, as long as the block lasts; raises `Overloaded`."""
        if self._free.locked() and self._waiting >= LINE:
            self._refuse(f"{self._waiting} requests wait in line")
        self._waiting += 1
        try:
            async with asyncio.timeout(LINE_S):
                await self._free.acquire()
        except TimeoutError:
            self._refuse(f"no place came free within {LINE_S:g} s")
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()

    def _refuse(self, found: str) -> NoReturn:
        telemetry.SUBMISSIONS_REFUSED.labels(limit="requests").inc()
        raise Overloaded(f"this process is reading its most cases: {found}; try again", retry_after=1)


@asynccontextmanager
async def within_time() -> AsyncIterator[None]:
    """A block in which the body must arrive in time; raises `RequestTimeout`."""
    try:
        async with asyncio.timeout(BODY_S):
            yield
    except TimeoutError as error:
        raise RequestTimeout(f"the body did not arrive within {BODY_S:g} s; send it without pauses") from error
