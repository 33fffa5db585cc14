"""Admission: how many cases one process reads and prepares together.

Bodies may have megabytes, and counting tokens takes time. Further requests wait in line for some seconds. A request
that finds the line full, or waits too long, is refused before its body is read; another process may be free.

Places and line are shared by the callers:

    a place comes free        the caller with the fewest places has it next; callers with as many take turns
    the line is full          the latest request of the caller that has the most in line is refused
    a caller has `CALLER_PLACES` places    its others wait, even where a place is free

Files of batches have `FILES` places of their own. A tenant has one of them: its slow uploads leave the other one free.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from service import telemetry
from service.errors import Overloaded, RequestTimeout

PLACES = 32
LINE = 1_000
"""The most requests in work, and the most requests in line."""
CALLER_PLACES = 24
"""The most requests in work of one caller: a slow sender of bodies never has all places."""
FILES = 2
"""The most files of batches in work: each is held in memory."""
LINE_S = 5.0
"""The longest wait in line."""
BODY_S = 60.0
"""The longest time for a body to arrive: a slow one occupies a place."""


@dataclass(eq=False)
class _Waiter:
    """A request in line, and whether it gets a place or another caller's request takes its own in the line."""

    caller: str
    most: int
    placed: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class AdmissionSlots:
    """The places of one process, and the line before them; ``places`` are `PLACES` where none are given."""

    def __init__(self, places: int | None = None) -> None:
        self._places = PLACES if places is None else places
        self._taken: Counter[str] = Counter()
        self._line: dict[str, deque[_Waiter]] = {}

    @property
    def waiting(self) -> int:
        """How many requests are in line."""
        return sum(map(len, self._line.values()))

    @asynccontextmanager
    async def taken(self, caller: str = "", most: int = PLACES) -> AsyncIterator[None]:
        """A place of a caller, which has at most ``most``, as long as the block lasts; raises `Overloaded`."""
        if caller in self._line or not self._may_take(caller, most):
            await self._wait(_Waiter(caller, most))
        else:
            self._taken[caller] += 1
        try:
            yield
        finally:
            self._leave(caller)

    def _may_take(self, caller: str, most: int) -> bool:
        return self._taken.total() < self._places and self._taken[caller] < most

    async def _wait(self, mine: _Waiter) -> None:
        """Wait in line for a place; raises `Overloaded`."""
        if self.waiting >= LINE:
            self._make_room(mine.caller)
        self._line.setdefault(mine.caller, deque()).append(mine)
        telemetry.IN_LINE.inc()
        try:
            async with asyncio.timeout(LINE_S):
                placed = await asyncio.shield(mine.placed)
        except BaseException as error:
            self._withdraw(mine)
            if isinstance(error, TimeoutError):
                self._refuse(f"no place came free within {LINE_S:g} s")
            raise
        if not placed:
            self._refuse(f"{LINE} requests wait in line, most of them this caller's")

    def _withdraw(self, mine: _Waiter) -> None:
        """Leave the line, or release a place that came in this moment."""
        if not mine.placed.done():
            self._remove(mine)
            mine.placed.cancel()
        elif mine.placed.result():
            self._leave(mine.caller)

    def _make_room(self, caller: str) -> None:
        """Move the latest request of the caller that has the most in line out of it; raises `Overloaded`."""
        longest = max(self._line.values(), key=len)
        if len(longest) <= len(self._line.get(caller, ())) + 1:
            self._refuse(f"{self.waiting} requests wait in line")
        last = longest[-1]
        self._remove(last)
        last.placed.set_result(False)

    def _leave(self, caller: str) -> None:
        """Release a place, which the caller in line with the fewest gets."""
        self._taken[caller] -= 1
        if not self._taken[caller]:
            del self._taken[caller]
        heads = [waiters[0] for waiters in self._line.values()]
        for first in sorted(heads, key=lambda waiter: self._taken[waiter.caller]):
            if self._may_take(first.caller, first.most):
                self._remove(first)
                self._taken[first.caller] += 1
                first.placed.set_result(True)
                return

    def _remove(self, waiter: _Waiter) -> None:
        """Take a request out of the line; its caller's others come after all others' that have as many places."""
        others = self._line.pop(waiter.caller)
        others.remove(waiter)
        if others:
            self._line[waiter.caller] = others
        telemetry.IN_LINE.dec()

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
