"""The watch of an event loop: what holds it is seen, and shown for a while."""

from __future__ import annotations

import asyncio
import time

import pytest

from service import telemetry
from service.running import loop_watch
from service.running.loop_watch import LongestHold, watched_loop


def counted() -> float:
    """How many calls of the timer were counted."""
    (found,) = telemetry.LOOP_HELD.collect()
    return sum(one.value for one in found.samples if one.name.endswith("_count"))


async def test_a_step_that_holds_the_loop_is_seen() -> None:
    held = list[float]()

    async with watched_loop(lambda seconds, _at: held.append(seconds), 0.001):
        await asyncio.sleep(0.01)
        time.sleep(0.2)  # noqa: ASYNC251 - what the watch is for
        await asyncio.sleep(0.01)

    assert max(held) >= 0.19, "all of it but the time in which the timer was not due"
    assert len(held) > 2


async def test_the_watch_ends_with_its_block() -> None:
    calls, twenty = list[float](), asyncio.Event()

    def note(held_s: float, _at: float) -> None:
        calls.append(held_s)
        if len(calls) == 20:
            twenty.set()

    async with watched_loop(note, 0.001):
        await twenty.wait()
    after = len(calls)
    await asyncio.sleep(0.02)

    assert len(calls) == after


async def test_the_metrics_count_every_call_and_show_the_longest_hold() -> None:
    before = counted()

    async with watched_loop():
        time.sleep(0.1)  # noqa: ASYNC251
        await asyncio.sleep(0.05)

    assert counted() > before
    assert telemetry.LOOP_HELD_MAX._value.get() >= 0.09


@pytest.mark.parametrize(("later_s", "shown"), [(1.0, 0.3), (61.0, 0.3), (122.0, 0.1)])
def test_a_hold_is_shown_for_one_window_or_two(later_s: float, shown: float) -> None:
    longest = LongestHold()
    longest.note(0.3, 1_000.0)

    for second in range(int(later_s)):
        longest.note(0.1, 1_001.0 + second)

    assert telemetry.LOOP_HELD_MAX._value.get() == shown
    assert loop_watch.WINDOW_S == 60.0
