"""How many cases one process reads and prepares at once: bodies may have megabytes, and counting tokens takes a while.

Those that come beyond that stand in line for some seconds. A longer line, or a longer wait, is more than this process
can do: they are sent away before anything of them is read, and another process may be free.
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
"""How many requests are answered at once, and how many stand in line for that."""
LINE_S = 5.0
"""How long a request stands in line."""
BODY_S = 60.0
"""How long a case may take to come: one that trickles in keeps a place from others."""


class Places:
    """The places of one process, and the line before them."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(PLACES)
        self._waiting = 0

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """A place, for as long as the block lasts; raises `Overloaded`."""
        if self._free.locked() and self._waiting >= LINE:
            self._refuse(f"{self._waiting} requests stand in line")
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
        raise Overloaded(f"this process reads as many cases at once as it can: {found}; try again", retry_after=1)


@asynccontextmanager
async def in_time() -> AsyncIterator[None]:
    """Within this a body has come, or is refused with `RequestTimeout`."""
    try:
        async with asyncio.timeout(BODY_S):
            yield
    except TimeoutError as error:
        raise RequestTimeout(f"the body did not come within {BODY_S:g} s; send it at once") from error
