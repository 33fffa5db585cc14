"""Listeners that wait for something new, all woken at once."""

from __future__ import annotations

import asyncio
import math
from typing import Protocol


class Awaited(Protocol):
    """Something that brings news."""

    async def wait_changed(self, seconds: float, waiting: asyncio.Future[bool] | None = None) -> bool:
        """Wait until there is something new; return whether that came within these seconds."""
        ...


class Waiters:
    """Who waits for the same news."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[bool]] = set()

    async def wait_changed(self, seconds: float, waiting: asyncio.Future[bool] | None = None) -> bool:
        """Wait until there is something new; return whether that came within these seconds.

        A caller that passes the future to wait with may settle it itself.
        """
        loop = asyncio.get_running_loop()
        waiting = waiting or loop.create_future()
        timer = None if seconds == math.inf else loop.call_later(max(0.0, seconds), resolve, waiting, False)
        self._waiting.add(waiting)
        try:
            return await waiting
        finally:
            self._waiting.discard(waiting)
            if timer is not None:
                timer.cancel()

    def wake(self) -> None:
        """Wake all of them: there is something new."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            resolve(future)


def resolve(future: asyncio.Future[bool], stirred: bool = True) -> None:
    """Wake the waiter of a future; ``stirred`` False says that nothing happened."""
    if not future.done():
        future.set_result(stirred)
