"""An abort at any moment: over at once where nobody runs the debate; what is under way lands and is charged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import msgspec
import pytest

from service.debate.entries import AttemptFailed, DebateConcluded, DebateStopped, Entry, TurnAsked
from service.debate.kernel import FORMATS, Format, replay
from service.debate.results import PanelResult
from service.observing import labelled
from service.policy import Budget, Budgets
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.store import contents, queue, spend
from service.store.pool import Database as Pool
from service.store.pool import Row
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, a_request, bench, take_log, visit_log
from tests.fixtures.small_cases import CASES


@contextmanager
def unknown(version: str) -> Iterator[None]:
    """Without a format for a while; all are put back in their order."""
    known, formats = dict(FORMATS), cast(dict[str, Format], FORMATS)
    del formats[version]
    try:
        yield
    finally:
        formats.clear()
        formats.update(known)


def aborted_debates() -> float:
    return sum(
        sample.value
        for metric in labelled.REGISTRY.collect()
        for sample in metric.samples
        if sample.name == "gainsay_debates_concluded_total" and sample.labels.get("status") == "aborted"
    )


def undrawn(entry: Entry) -> Entry:
    """An entry without the labels that are drawn by the debate's own seed."""
    if isinstance(entry, DebateConcluded) and isinstance(entry.outcome.result, PanelResult):
        result = msgspec.structs.replace(entry.outcome.result, labels={})
        return DebateConcluded(msgspec.structs.replace(entry.outcome, result=result))
    return entry


@pytest.mark.parametrize("form", CASES)
async def test_a_debate_that_waits_is_over_with_its_abort_as_a_worker_would_have_ended_it(
    database: Database, form: str
) -> None:
    async with bench(database.service_url) as service:
        counted = aborted_debates()
        ours, theirs = [await service.submit(**CASES[form]) for _ in range(2)]
        told = await service.reviews.abort(ours, CALLER, "no longer wanted")
        head = await read_head(service.database, ours, "default")
        log = await visit_log(service.database, theirs)
        await log.new_entries()
        await log.append([DebateStopped("abort", "no longer wanted")])
        assert await service.claim() == theirs, "the one that is over is not taken any more"
        await (await service.runner(theirs)).run()

        entries, others = await service.entries(ours), await service.entries(theirs)
        replay(await service.case(ours), entries)

    assert (told.status, told.spent, told.held) == ("aborted", 0, 0)
    assert (head["state"], head["epoch"]) == ("aborted", 0)
    assert [undrawn(entry) for entry in entries[-2:]] == [undrawn(entry) for entry in others[-2:]]
    assert aborted_debates() == counted + 1, "what a worker ends it counts itself"


async def test_an_abort_of_what_is_over_by_an_abort_changes_nothing(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        told = [await service.reviews.abort(debate, CALLER, "no longer wanted") for _ in range(3)]

        assert len(await service.entries(debate)) == 5
        assert told[0] == told[1] == told[2]


async def test_a_debate_of_a_format_that_is_not_known_here_is_stopped_once_and_told_so_every_time(
    database: Database,
) -> None:
    """A newer version took it; how it ends is for a worker of that version to say."""
    async with bench(database.service_url) as service:
        debate = await service.submit(**CASES["ballot"])
        with unknown("ballot/1"):
            told = [await service.reviews.abort(debate, CALLER, "no longer wanted") for _ in range(3)]
            stopped = await service.entries(debate)
        await service.claim()
        await (await service.runner(debate)).run()
        ended = await service.entries(debate)
        with unknown("ballot/1"):
            told.append(await service.reviews.abort(debate, CALLER, "no longer wanted"))

    assert told[0] == told[1] == told[2] == told[3]
    assert told[0].status == "aborted"
    assert isinstance(stopped[-1], DebateStopped)
    assert isinstance(ended[-1], DebateConcluded)


async def test_a_debate_that_a_worker_handed_back_is_over_with_its_abort_and_its_grant_goes_back(
    database: Database,
) -> None:
    limits = Budgets(others=Budget(day=5_000_000, month=50_000_000))
    policy = msgspec.structs.replace(read_policy(SHIPPED_POLICY), budgets=limits)
    async with bench(database.service_url, policy=policy) as service:
        debate = await service.submit()
        await service.claim(lease_s=30.0)
        log = await take_log(service.database, debate, 1, lease_s=30.0, budgets=limits)
        await log.new_entries()
        assert await log.allocate(1_000, 1_000) is None
        before = await spend.remaining(service.database, CALLER.tenant, limits)
        await queue.release(service.database, queue.ClaimedDebate(debate, CALLER.tenant, log.epoch))

        told = await service.reviews.abort(debate, CALLER, "no longer wanted")
        after = await spend.remaining(service.database, CALLER.tenant, limits)

        assert told.status == "aborted"
        assert [limit.amount for limit in before] == [49_999_000, 4_999_000]
        assert [limit.amount for limit in after] == [50_000_000, 5_000_000]
        assert (await spend.balance(service.database)).exact


async def test_an_abort_of_a_debate_whose_worker_died_in_a_call_waits_for_the_next_one_which_charges_the_call(
    database: Database,
) -> None:
    provider = CannedProvider(latency_s=30)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim()
        running = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

        told = await service.reviews.abort(debate, CALLER, "no longer wanted")
        stopped = await service.entries(debate)
        await service.claim()
        await (await service.runner(debate)).run()
        ended = await service.entries(debate)

    assert told.status == "aborted"
    assert told.held > 0
    assert isinstance(stopped[-1], DebateStopped)
    assert [type(entry) for entry in ended[-2:]] == [AttemptFailed, DebateConcluded]
    assert sum(isinstance(entry, TurnAsked) for entry in ended) == 1
    lost = ended[-2]
    assert isinstance(lost, AttemptFailed)
    assert lost.charge.amount == told.held


class Meanwhile(Pool):
    """A database in which something happens right before the first append."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query."""
        if name == "append_stop" and (happens := self.happens):
            self.happens = None
            await happens()
        return await super().query(name, params)


@pytest.mark.parametrize("lease_s", [30.0, 0.0])
async def test_a_worker_that_takes_the_debate_in_the_moment_of_the_abort_is_not_ended_behind_its_back(
    database: Database, lease_s: float
) -> None:
    """What the abort was about to write is fenced off by the worker's epoch; it looks again."""
    async with Meanwhile.open(database.service_url, size=4) as pool:
        service = Bench(pool, {"offline": CannedProvider()})
        await contents.store_deployment(pool, service.deployment)
        debate = await service.submit()
        pool.happens = lambda: service.claim(lease_s)

        await service.reviews.abort(debate, CALLER, "no longer wanted")
        entries = await service.entries(debate)

    assert sum(isinstance(entry, DebateStopped) for entry in entries) == 1
    assert isinstance(entries[-1], DebateStopped) == (lease_s > 0), "with a live lease it is the worker that concludes"


async def test_ten_aborts_at_once_of_a_debate_that_runs_stop_it_once(database: Database) -> None:
    provider = CannedProvider(latency_s=0.5)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim(lease_s=30.0)
        running = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()
        told = await asyncio.gather(*(service.reviews.abort(debate, CALLER, "enough") for _ in range(10)))
        await running
        entries = await service.entries(debate)
        replay((await service.case(debate)), entries)

    assert {each.status for each in told} == {"aborted"}
    assert sum(isinstance(entry, DebateStopped) for entry in entries) == 1
    assert isinstance(entries[-1], DebateConcluded)


def test_a_request_that_says_nothing_goes_on_without_its_listeners() -> None:
    assert a_request().on_disconnect == "continue"
