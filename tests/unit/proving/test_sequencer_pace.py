"""After a batch the sequencer looks again at its usual pace, and at once only where more is known to wait."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, cast

import pytest

from service.proving import sequencer
from service.proving.sequencer import AT_ONCE, Sequencer
from service.store.sequence import MOST
from tests.fixtures.sequencing import MemorySigner


class Staged:
    """A leader's session, and a store without a log of its own: each look finds the same records."""

    def __init__(self, found: dict[str, list[int]]) -> None:
        self.found = found

    async def staged(self, _above: int, _passing: Collection[str]) -> dict[str, list[int]]:
        return self.found

    async def logs(self) -> list[str]:
        return []


class Quick(Sequencer):
    """A sequencer whose batches take no time, and that counts them."""

    worked = 0
    leaves_over = False

    async def _work(self, log: str, numbers: Sequence[int], *, swept: bool) -> None:
        self.worked += 1
        self._left_over |= self.leaves_over


@pytest.fixture(autouse=True)
def no_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual pace is one that no test waits for."""
    monkeypatch.setattr(sequencer, "POLL_S", 3_600.0)


async def looked(
    found: dict[str, list[int]], works: int, *, leaves_over: bool = False
) -> tuple[Quick, asyncio.Task[None]]:
    """A sequencer in its first turn, when it has worked so often and all its tasks have ended."""
    staged = cast(Any, Staged(found))
    made = Quick(staged, staged, MemorySigner())
    made.leaves_over = leaves_over
    turn = asyncio.create_task(made._turn())
    for _ in range(100):  # nothing here waits for anything but its turn
        await asyncio.sleep(0)
    assert (made.worked, made._busy) == (works, {})
    return made, turn


async def test_a_batch_of_all_that_waits_is_followed_by_a_pause() -> None:
    made, turn = await looked({"bank/default/1": [1, 2, 3]}, works=1)
    assert not turn.done()
    made.stop()
    await turn


async def test_a_batch_of_the_most_that_one_look_finds_is_followed_by_a_look() -> None:
    _, turn = await looked({"bank/default/1": list(range(MOST))}, works=1)
    assert turn.done()


async def test_a_batch_that_leaves_something_over_is_followed_by_a_look() -> None:
    _, turn = await looked({"bank/default/1": [1, 2, 3]}, works=1, leaves_over=True)
    assert turn.done()


@pytest.mark.parametrize(("pace", "wakes"), [(0.001, True), (3_600.0, False)])
async def test_a_batch_that_took_as_long_as_the_pace_is_followed_by_a_look(
    monkeypatch: pytest.MonkeyPatch, pace: float, wakes: bool
) -> None:
    class Slow(Quick):
        async def _work(self, log: str, numbers: Sequence[int], *, swept: bool) -> None:
            await asyncio.sleep(0.01)

    monkeypatch.setattr(sequencer, "POLL_S", pace)
    staged = cast(Any, Staged({}))
    made = Slow(staged, staged, MemorySigner())
    made._start("bank/default/1", [1], swept=False)
    await made._busy["bank/default/1"]
    assert made._wake.is_set() is wakes


async def test_a_log_that_found_no_place_is_looked_at_when_one_is_free() -> None:
    _, turn = await looked({f"bank/t{n}/1": [n] for n in range(AT_ONCE + 1)}, works=AT_ONCE)
    assert turn.done()
