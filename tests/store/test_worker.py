"""Workers on one queue: leases, taking over, limits, and what is counted and told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service import telemetry
from service.debate.amounts import usd
from service.debate.entries import AttemptFailed, DebateStopped
from service.errors import AuditUnavailable, Fenced
from service.observing.labelled import REGISTRY
from service.policy import Queue
from service.running import worker as working
from service.running.provider_port import Answer
from service.store.queue import ClaimedDebate, ClaimRequest, claim, release
from service.store.stored_debate import read_head, read_records
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, CannedProvider, bench, take_log
from tests.store.workers import Flaky, a_worker, do, over, taken_over

# -- several workers


async def test_several_workers_on_one_queue_run_each_debate_once(database: Database) -> None:
    provider = CannedProvider(latency_s=0.01)
    async with bench(database.service_url, provider) as service:
        debates = [await service.submit() for _ in range(12)]

        async with a_worker(service, "a"), a_worker(service, "b"), a_worker(service, "c", limit=2):
            outcomes = [await over(service, debate) for debate in debates]

        assert {outcome.status for outcome in outcomes} == {"completed"}
        assert provider.calls == dict.fromkeys(("framing", "proposer", "critic", "rebuttal", "moderator"), 12)
        assert {(await read_head(service.database, debate, "default"))["epoch"] for debate in debates} == {1}


async def test_a_silent_worker_s_debate_is_taken_over_and_the_old_one_leaves_no_trace(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim(lease_s=0.2)
        old = await take_log(service.database, debate, 1, "old", 0.2)
        known = await old.new_entries()
        await asyncio.sleep(0.25)

        async with a_worker(service, "new"):
            await over(service, debate)
        before = await read_records(service.database, debate, "default")
        with pytest.raises(Fenced):
            await old.append([DebateStopped("abort", "too late")])
        with pytest.raises(Fenced):
            await old.renew()
        await release(service.database, ClaimedDebate(debate, CALLER.tenant, old.epoch))

        assert await read_records(service.database, debate, "default") == before
        assert taken_over(caplog) == [(debate, 0, "0.00")]
        assert len(known) == 3
        assert {record.actor.id for record in before[3:]} == {"new"}
        head = await read_head(service.database, debate, "default")
        assert (head["epoch"], head["next_n"], head["leased"]) == (2, len(before), False)


async def test_a_worker_writes_under_the_epoch_it_was_given_and_not_the_one_it_finds(database: Database) -> None:
    """Between taking and reading the head, another worker may have taken the debate: both would share its epoch."""
    async with bench(database.service_url) as service:
        debate = await service.submit()
        (slow,) = await claim(service.database, ClaimRequest(worker="slow", lease_s=0.0))
        await service.claim(lease_s=30.0)

        log = await take_log(service.database, debate, slow.epoch, "slow", 30.0)
        await log.new_entries()

        with pytest.raises(Fenced):
            await log.append([DebateStopped("abort", "by somebody who lost the debate")])


async def test_a_lease_is_kept_while_a_call_takes_longer_than_it(database: Database) -> None:
    provider = CannedProvider(latency_s=1.6)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()

        async with a_worker(service, "a", lease_s=0.5), a_worker(service, "b", lease_s=0.5):
            await provider.begun.wait()
            await asyncio.sleep(1.2)
            head = await read_head(service.database, debate, "default")
            await service.reviews.abort(debate, CALLER, "seen enough")

            assert (head["epoch"], head["leased"]) == (1, True)
            assert (await over(service, debate)).status == "aborted"


async def test_a_beat_that_misses_its_cancellation_ends_with_its_debate_all_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        beats, query = asyncio.Event(), service.database.query

        async def deaf(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            if name == "renew_all" and not beats.is_set():
                beats.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            return await query(name, params)

        class Patient(CannedProvider):
            async def send(self, body: bytes) -> Answer:
                await beats.wait()
                return await super().send(body)

        monkeypatch.setattr(service.database, "query", deaf)
        debates = [await service.submit() for _ in range(2)]

        async with a_worker(service, "a", lease_s=0.5, limit=1, provider=Patient()):
            outcomes = [await over(service, debate) for debate in debates]

        assert {outcome.status for outcome in outcomes} == {"completed"}, "the first one has left its place"


# -- limits


async def test_a_worker_runs_as_many_at_once_as_policy_allows_it_and_a_tenant(database: Database) -> None:
    provider = Counting(latency_s=0.05)
    async with bench(database.service_url, provider) as service:
        debates = [await service.submit() for _ in range(8)]

        async with (
            a_worker(service, "a", queue=Queue(per_worker=2, per_tenant=3)),
            a_worker(service, "b", queue=Queue(per_worker=2, per_tenant=3)),
        ):
            outcomes = [await over(service, debate) for debate in debates]

    assert {outcome.status for outcome in outcomes} == {"completed"}
    assert provider.most == 3


class Counting(CannedProvider):
    """A model that knows how many asked it at once at most."""

    now = most = 0

    async def send(self, body: bytes) -> Answer:
        """One answer."""
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().send(body)
        finally:
            self.now -= 1


async def test_a_full_worker_ends_what_is_past_its_deadline_all_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "IDLE_S", 0.05)
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        await service.submit()
        async with a_worker(service, limit=1):
            await provider.begun.wait()
            past = await service.submit(deadline=(datetime.now(UTC) + timedelta(seconds=0.2)).isoformat())

            assert (await over(service, past)).stop_reason == "deadline"
    assert provider.calls == {"framing": 1}


async def test_a_worker_that_is_there_for_one_debate_leaves_the_others_alone(database: Database) -> None:
    async with bench(database.service_url) as service:
        older, mine = await service.submit(), await service.submit()

        async with a_worker(service, "mine", 10.0, only=mine):
            assert await service.reviews.wait(mine, CALLER, 30)

        assert (await read_head(service.database, older, "default"))["state"] == "queued"


# -- what is counted and told


def counts(*names: str, **labels: str) -> list[float]:
    """The samples of these names."""
    return [REGISTRY.get_sample_value(name, labels) or 0.0 for name in names]


async def test_how_long_a_debate_waited_and_took_is_counted_by_the_database_s_clock(database: Database) -> None:
    of = {"task_type": "contract", "format": "adversarial/1"}
    waited = ("gainsay_debate_queue_seconds_count", "gainsay_debate_queue_seconds_sum")
    took = ("gainsay_debate_seconds_count", "gainsay_debate_seconds_sum")
    appends = ("gainsay_append_seconds_count", "gainsay_append_debates_count", "gainsay_append_debates_sum")
    async with bench(database.service_url) as service:
        before = [*counts(*waited), *counts(*took, **of), *counts(*appends)]
        debate = await service.submit()
        await asyncio.sleep(0.2)
        async with a_worker(service):
            await over(service, debate)
        first, *_, last = await read_records(service.database, debate, "default")

        added = [
            now - then
            for now, then in zip([*counts(*waited), *counts(*took, **of), *counts(*appends)], before, strict=True)
        ]
        recorded_s = (datetime.fromisoformat(last.recorded) - datetime.fromisoformat(first.recorded)).total_seconds()
        assert (added[0], added[2]) == (1, 1)
        assert 0.2 < added[1] < 20
        assert added[3] == pytest.approx(recorded_s)
        assert added[4] > 5
        assert added[5] <= added[6], "a statement is for one debate or for several"


async def test_a_debate_that_is_claimed_again_has_waited_once(database: Database) -> None:
    waited = "gainsay_debate_queue_seconds_count"
    async with bench(database.service_url) as service:
        debate = await service.submit()
        (before,) = counts(waited)
        await service.claim()
        async with a_worker(service):
            await over(service, debate)

        assert counts(waited) == [before], "the worker that claimed it first has not run it"


async def test_debates_are_counted_as_new_as_left_by_a_silent_worker_and_as_returned(database: Database) -> None:
    def counted() -> list[float]:
        return [telemetry.TAKEN.labels(how=how)._value.get() for how in ("new", "left", "returned")]

    async with bench(database.service_url) as service:
        _, *others = [await service.submit() for _ in range(6)]
        left, returned = others[:2], others[2:]
        sets = "UPDATE gainsay.debate_head SET state = 'running', epoch = 1, "
        do(database, sets + "worker = 'w', lease_until = now() - interval '1 s' WHERE debate::text = ANY (%s)", left)
        do(database, sets + "worker = NULL WHERE debate::text = ANY (%s)", returned[:2])
        do(database, sets + "worker = 'of the version before' WHERE debate::text = ANY (%s)", returned[2:])
        before = counted()
        async with a_worker(service):
            for debate in others:
                await over(service, debate)

        assert [now - then for now, then in zip(counted(), before, strict=True)] == [1, 2, 3]


async def test_a_lost_call_is_counted_and_told_once_it_is_recorded(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def counted() -> float:
        return sum(s.value for m in telemetry.LOST.metric.collect() for s in m.samples if s.name.endswith("_total"))

    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim()
        task = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        provider.latency_s, before = 0.0, counted()
        flaky: Any = Flaky(service.database, 1, done=False)
        log = await take_log(flaky, debate, 1)
        with pytest.raises(AuditUnavailable):
            await (await service.runner(debate, log)).run()
        assert counted() == before
        assert taken_over(caplog) == []

        async with a_worker(service):
            await over(service, debate)
        assert counted() == before + 1
        ((told, calls, charged),) = taken_over(caplog)
        assert (told, calls) == (debate, 1)
        lost = [e for e in await service.entries(debate) if isinstance(e, AttemptFailed)]
        assert charged == usd(lost[0].charge.amount) != "0.00"
