"""What a process does beside its work."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from service import telemetry
from service.checks import kept
from service.running import lane, upkeep
from service.running.lane import Lane


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    gc.unfreeze()
    kept.drop()
    yield
    gc.unfreeze()
    kept.drop()


async def until_dropped() -> None:
    async with asyncio.timeout(20):
        while kept._kept:  # noqa: ASYNC110 - nothing sets an event
            await asyncio.sleep(0.01)


async def test_what_is_not_asked_for_is_dropped_and_the_loop_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "SWEEP_S", 0.01)
    before = telemetry.LOOP_HELD._sum.get()
    kept.once("counted", len, "a document")

    async with upkeep.upkeep():
        await until_dropped()
        kept.once("counted", len, "a document")
        await until_dropped()

    assert telemetry.LOOP_HELD._sum.get() > before


async def test_it_ends_with_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "SWEEP_S", 0.01)

    async with upkeep.upkeep():
        pass
    kept.once("counted", len, "a document")
    await asyncio.sleep(0.1)

    assert kept._kept


async def test_what_stays_is_looked_at_by_no_later_search_for_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    async with upkeep.upkeep():
        modules = gc.get_freeze_count()
    tables = list[list[int]]()
    monkeypatch.setattr(lane, "make_ready", lambda: tables.extend([n] for n in range(1_000)))
    made = Lane()
    await made.ready()
    made.close()

    assert modules > 0
    assert gc.get_freeze_count() >= modules + 1_000
