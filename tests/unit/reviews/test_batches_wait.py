"""While the database is away, batches wait: the log says so once, and once that they go on."""

from __future__ import annotations

import logging
from typing import Any, cast

import pytest

from service.errors import StoreUnavailable
from service.reviews import batch_feed
from service.reviews.batch_feed import BatchFeeder
from tests.fixtures.running import a_writer


async def test_an_outage_is_logged_at_its_beginning_and_at_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(batch_feed, "IDLE_S", 0)
    nothing = cast("Any", None)
    feeder = BatchFeeder(nothing, nothing, nothing, a_writer("f"), 60)
    answers = iter([True, False, False, False, True, True, False, True])

    async def round_() -> float:
        answered = next(answers, None)
        if answered is None:
            feeder.stop()
        elif not answered:
            raise StoreUnavailable("the database does not answer")
        return 0

    monkeypatch.setattr(feeder, "round", round_)
    with caplog.at_level(logging.WARNING, "gainsay"):
        await feeder.run()

    assert [vars(record)["event"] for record in caplog.records] == ["batch.database_away", "batch.database_back"] * 2
