"""While the database is away, batches and evaluations wait: the log says so once, and once that they go on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.errors import StoreUnavailable
from service.reviews import feeding
from service.reviews.batch_feed import BatchFeeder
from service.reviews.evaluation_feed import EvaluationFeeder
from service.reviews.feeding import Feeder
from tests.fixtures.running import a_writer

NOTHING = cast("Any", None)
DESK = cast("Any", SimpleNamespace(database=None))
FEEDERS: dict[str, Callable[[], Feeder]] = {
    "batch": lambda: BatchFeeder(NOTHING, NOTHING, NOTHING, a_writer("f"), 60),
    "evaluation": lambda: EvaluationFeeder(DESK, NOTHING, a_writer("f"), 60),
}


async def events_of(
    feeder: Feeder,
    rounds: Sequence[Exception | None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> list[str]:
    """The lines of a feeder whose rounds end so."""
    monkeypatch.setattr(feeding, "IDLE_S", 0)
    ends = iter(rounds)

    async def round_() -> float:
        try:
            end = next(ends)
        except StopIteration:
            feeder.stop()
            return 0
        if end is not None:
            raise end
        return 0

    monkeypatch.setattr(feeder, "round", round_)
    with caplog.at_level(logging.WARNING, "gainsay"):
        await feeder.run()
    return [vars(record)["event"] for record in caplog.records]


@pytest.mark.parametrize("kind", FEEDERS)
async def test_an_outage_is_logged_at_its_beginning_and_at_its_end(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away = StoreUnavailable("the database does not answer")
    rounds = [None, away, away, away, None, None, away, None]

    found = await events_of(FEEDERS[kind](), rounds, monkeypatch, caplog)

    assert found == [f"{kind}.database_away", f"{kind}.database_back"] * 2


@pytest.mark.parametrize("kind", FEEDERS)
async def test_a_fault_is_logged_each_time_and_ends_no_loop_and_no_outage(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rounds = [ValueError("a fault"), StoreUnavailable("away"), ValueError("a fault"), None, None]

    found = await events_of(FEEDERS[kind](), rounds, monkeypatch, caplog)

    fault = f"{kind}.feed_fault"
    assert found == [fault, f"{kind}.database_away", fault, f"{kind}.database_back"]
