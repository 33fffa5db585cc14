"""A feed is read once for its listeners, and a fault of the reading ends it for all of them by its own name."""

from __future__ import annotations

import asyncio
import logging
from typing import cast

import pytest

from service.audit.evaluation_events import EvaluationEntry
from service.errors import StoreUnavailable
from service.reviews.evaluation_follow import EvaluationFeeds
from service.reviews.evaluations import EvaluationDesk

EVALUATION = "0197c000-0000-7000-8000-000000000001"


class Desk:
    """Answers what is read of an evaluation by ``entries``, or raises it."""

    def __init__(self, entries: list[EvaluationEntry] | Exception) -> None:
        self.found = entries
        self.reads = 0

    async def entries(self, evaluation: str, tenant: str, first: int) -> list[EvaluationEntry]:
        self.reads += 1
        if isinstance(self.found, Exception):
            raise self.found
        return self.found[first:]


async def test_a_fault_ends_the_feed_of_every_listener_and_the_log_names_the_evaluation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    feeds = EvaluationFeeds(cast("EvaluationDesk", Desk(ValueError("a fault"))))
    with caplog.at_level(logging.ERROR, "gainsay"):
        async with feeds.open(EVALUATION, "a") as first, feeds.open(EVALUATION, "a") as second:
            assert first is second
            await first.wait_changed(5)
            with pytest.raises(StoreUnavailable, match="ValueError"):
                first.is_done(0)

    (line,) = caplog.records
    assert (vars(line)["event"], vars(line)["evaluation"]) == ("stream.feed_fault", EVALUATION)
    assert "debate" not in vars(line)


async def test_a_feed_that_failed_is_begun_again_for_the_next_listener() -> None:
    desk = Desk(StoreUnavailable("away"))
    feeds = EvaluationFeeds(cast("EvaluationDesk", desk))
    async with feeds.open(EVALUATION, "a") as failed:
        await failed.wait_changed(5)
        desk.found = []
        async with feeds.open(EVALUATION, "a") as anew:
            assert failed.failed
            assert anew is not failed
            assert not anew.is_done(0)


async def test_nothing_is_read_once_the_last_listener_has_left() -> None:
    desk = Desk([])
    feeds = EvaluationFeeds(cast("EvaluationDesk", desk), every_s=0.001)
    async with feeds.open(EVALUATION, "a") as feed, feeds.open(EVALUATION, "a"):
        assert not await feed.wait_changed(0.05)
    reads = desk.reads
    await asyncio.sleep(0.05)

    assert 2 < reads == desk.reads
