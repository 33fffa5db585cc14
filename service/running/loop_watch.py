"""The watch of an event loop: how much later than asked a timer is called, and so how long something held the loop.

A timer that is due every `EVERY_S` is called late where a step of the loop takes longer, or where a thread of the
process keeps the interpreter's lock. A hold is seen but for the part of it before the timer was due. Two calls in a
hundredth of a second take less than a thousandth of a core.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from service import telemetry

EVERY_S = 0.01
"""How often the loop is asked."""
WINDOW_S = 60.0
"""How long the longest hold is shown at least; twice that at most."""


class LongestHold:
    """Counts how long the loop was held, and shows the longest hold of this window of time and the one before."""

    def __init__(self) -> None:
        self._before = self._now = self._since = 0.0

    def note(self, held_s: float, at: float) -> None:
        """Count one call of the timer, at a time of the loop's clock."""
        telemetry.LOOP_HELD.observe(held_s)
        if at - self._since >= WINDOW_S:
            self._before, self._now, self._since = self._now, 0.0, at
            telemetry.LOOP_HELD_MAX.set(self._before)
        if held_s > self._now:
            self._now = held_s
            telemetry.LOOP_HELD_MAX.set(max(self._before, held_s))


@asynccontextmanager
async def watched_loop(
    note: Callable[[float, float], None] | None = None, every_s: float = EVERY_S
) -> AsyncIterator[None]:
    """Watch the running loop during the block; ``note`` gets the seconds of each hold, and the time on its clock."""
    loop, note = asyncio.get_running_loop(), note or LongestHold().note
    due, timer = 0.0, None

    def call() -> None:
        nonlocal due, timer
        now = loop.time()
        if due:
            note(max(0.0, now - due), now)
        due = now + every_s
        timer = loop.call_at(due, call)

    call()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
