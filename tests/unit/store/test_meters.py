"""A meter that fails begins again, and its fault is logged."""

from __future__ import annotations

import asyncio
import logging

import pytest

from service.store import meters


class Failing:
    """It fails twice before it measures."""

    def __init__(self) -> None:
        self.begun = 0
        self.measures = asyncio.Event()

    async def run(self) -> None:
        """Measure, at the third try."""
        self.begun += 1
        if self.begun < 3:
            raise TypeError("found None where a number was expected")
        self.measures.set()
        await asyncio.Event().wait()


async def test_a_meter_begins_again_after_a_fault_and_ends_with_its_block(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(meters, "AGAIN_S", 0)
    failing, other = Failing(), Failing()
    other.begun = 2
    with caplog.at_level(logging.ERROR, "gainsay"):
        async with meters.measuring([failing, other]):
            await asyncio.gather(failing.measures.wait(), other.measures.wait())

    assert failing.begun == 3
    assert [vars(record)["meter"] for record in caplog.records] == ["Failing", "Failing"]
    assert all(record.exc_info for record in caplog.records)
    assert {task.get_name() for task in asyncio.all_tasks()}.isdisjoint({"Failing"})
