"""Workers on one queue: leases, take-over, stopping, a database that goes away, and debates that cannot be run."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import psycopg
import pytest

from service import aside, telemetry
from service import worker as working
from service.board import Told
from service.budget import Ledger
from service.debate.entries import (
    AttemptFailed,
    DebateConcluded,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
    encode,
)
from service.debate.kernel import replay
from service.debate.model import Outcome
from service.debate.money import usd
from service.errors import AuditUnavailable, Fenced, GainsayError, StoreUnavailable
from service.policy import Budget, Budgets, Queue
from service.ports import Answer, CallFailed, Provider
from service.prompts.request import Spoken
from service.settings import SHIPPED_POLICY, read_policy
from service.store.log import DebateLog, read_head, read_records
from service.store.pool import Database as Pool
from service.store.pool import StatementRefused
from service.store.queue import Wanted, claim, release
from service.worker import Worker
from tests.postgres import Database
from tests.running import CALLER, PROMPTLY, Bench, CannedProvider, a_writer, bench


@asynccontextmanager
async def a_worker(service: Bench, name: str = "w", lease_s: float = 5.0, **more: Any) -> AsyncIterator[Worker]:
    """A worker that works meanwhile, and is stopped with a second of grace."""
    provider: Provider = more.pop("provider", service.provider)
    worker = Worker(
        service.database,
        service.prompts,
        more.pop("providers", {"offline": provider}),
        service.board,
        name=name,
        lease_s=lease_s,
        calls=PROMPTLY,
        **more,
    )
    task = asyncio.create_task(worker.work())
    try:
        yield worker
    finally:
        await worker.stop(1.0)
        await task


async def over(service: Bench, debate: str, within_s: float = 20.0) -> Outcome:
    """The outcome, once it is recorded, after what every debate must satisfy has been checked."""
    assert await service.reviews.wait(debate, CALLER, within_s), "the debate did not end in time"
    entries = await service.entries(debate)
    replay(await service.case(debate), entries)
    ledger, head = Ledger.of(entries), await read_head(service.database, debate)
    assert (head["spent"], head["excess"], head["held"]) == (ledger.spent, ledger.excess, 0)
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome


def spoken(entries: Sequence[Entry]) -> list[str]:
    return [e.turn for e in entries if isinstance(e, TurnSpoke)]


async def until(condition: Any, within_s: float = 10.0) -> None:
    """Wait until an awaitable condition holds."""
    end = time.monotonic() + within_s
    while not await condition():
        assert time.monotonic() < end, "it did not come to that in time"
        await asyncio.sleep(0.02)


# -- several workers


async def test_several_workers_on_one_queue_run_each_debate_once(database: Database) -> None:
    provider = CannedProvider(latency_s=0.01)
    async with bench(database.service_url, provider) as service:
        debates = [await service.submit() for _ in range(12)]

        async with a_worker(service, "a"), a_worker(service, "b"), a_worker(service, "c", limit=2):
            outcomes = [await over(service, debate) for debate in debates]

        assert {outcome.status for outcome in outcomes} == {"completed"}
        assert provider.calls == dict.fromkeys(("framing", "proposer", "critic", "rebuttal", "moderator"), 12)
        assert {(await read_head(service.database, debate))["epoch"] for debate in debates} == {1}


async def test_a_silent_worker_s_debate_is_taken_over_and_the_old_one_leaves_no_trace(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim(lease_s=0.2)
        old = await DebateLog.at(service.database, debate, a_writer("old"), 0.2)
        known = await old.tail()
        await asyncio.sleep(0.25)

        async with a_worker(service, "new"):
            await over(service, debate)
        before = await read_records(service.database, debate)
        with pytest.raises(Fenced):
            await old.append([DebateStopped("abort", "too late")])
        with pytest.raises(Fenced):
            await old.renew()
        await release(service.database, debate, old.epoch)

        assert await read_records(service.database, debate) == before
        assert taken_over(caplog) == [(debate, 0, "0.00")]
        assert len(known) == 3
        assert {record.actor.id for record in before[3:]} == {"new"}
        head = await read_head(service.database, debate)
        assert (head["epoch"], head["next_n"], head["leased"]) == (2, len(before), False)


async def test_a_worker_writes_under_the_epoch_it_was_given_and_not_the_one_it_finds(database: Database) -> None:
    """Between taking and reading the head, another worker may have taken the debate: both would share its epoch."""
    async with bench(database.service_url) as service:
        debate = await service.submit()
        (slow,) = await claim(service.database, Wanted(worker="slow", lease_s=0.0))
        await service.claim(lease_s=30.0)

        log = await DebateLog.at(service.database, debate, a_writer("slow"), 30.0, slow.epoch)
        await log.tail()

        with pytest.raises(Fenced):
            await log.append([DebateStopped("abort", "by somebody who lost the debate")])


async def test_a_lease_is_kept_while_a_call_takes_longer_than_it(database: Database) -> None:
    provider = CannedProvider(latency_s=1.6)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()

        async with a_worker(service, "a", lease_s=0.5), a_worker(service, "b", lease_s=0.5):
            await provider.begun.wait()
            await asyncio.sleep(1.2)
            head = await read_head(service.database, debate)
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


# -- stopping


async def test_a_worker_that_stops_lets_the_call_in_flight_land_and_hands_the_debate_back(database: Database) -> None:
    provider = CannedProvider(latency_s=0.4)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        async with a_worker(service, "a"):
            await provider.begun.wait()
        head, entries = await read_head(service.database, debate), await service.entries(debate)

        assert spoken(entries) == ["0.framing.1"]
        assert (head["state"], head["leased"], head["held"]) == ("running", False, 0)
        assert provider.calls == {"framing": 1}
        provider.latency_s = 0.0
        async with a_worker(service, "b"):
            assert (await over(service, debate)).status == "completed"
        assert max(provider.calls.values()) == 1


async def test_a_call_that_outlasts_the_grace_is_cut_and_the_lease_given_back(database: Database) -> None:
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        begun = time.monotonic()
        async with a_worker(service, "a"):
            await provider.begun.wait()

        assert 0.9 < time.monotonic() - begun < 5.0
        head = await read_head(service.database, debate)
        assert (head["leased"], head["held"] > 0) == (False, True)
        provider.latency_s = 0.0
        async with a_worker(service, "b"):
            assert (await over(service, debate)).status == "completed"
        (lost,) = [e for e in await service.entries(debate) if isinstance(e, AttemptFailed)]
        assert (lost.reason, lost.charge.amount) == ("lost", head["held"])


async def test_a_debate_that_is_just_being_taken_when_the_worker_stops_is_handed_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        asked, query = asyncio.Event(), service.database.query

        async def slow(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            rows = await query(name, params)
            if name == "claim":
                asked.set()
                await asyncio.sleep(0.2)
            return rows

        monkeypatch.setattr(service.database, "query", slow)
        debate = await service.submit()

        async with a_worker(service, "a"):
            await asked.wait()

        head = await read_head(service.database, debate)
        assert (head["state"], head["epoch"], head["leased"]) == ("running", 1, False)


async def test_a_worker_that_retires_takes_nothing_more_and_says_that_it_is_not_to_be_sent_work(
    database: Database,
) -> None:
    async with bench(database.service_url) as service:
        async with a_worker(service) as worker:
            worker.retire()
            debate = await service.submit()
            service.board.enqueue()
            await asyncio.sleep(0.1)

            assert worker.troubles == ["the worker is stopping"]
        assert (await read_head(service.database, debate))["state"] == "queued"


async def test_what_a_stopping_worker_hands_back_is_told_to_the_others(database: Database) -> None:
    provider = CannedProvider(latency_s=0.2)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        async with a_worker(service, "a"):
            await provider.begun.wait()
            service.board.take()

        assert service.board.take().queued
        async with a_worker(service, "b"):
            assert (await over(service, debate)).status == "completed"
        assert max(provider.calls.values()) == 1


@pytest.mark.parametrize("grace_s", [0.0, 0.5])
async def test_a_worker_stops_in_time_though_the_database_answers_nothing(database: Database, grace_s: float) -> None:
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        await service.submit()
        worker = a_worker(service, limit=2)
        stopping = await worker.__aenter__()
        await provider.begun.wait()
        with psycopg.connect(database.admin_url) as somebody:
            somebody.execute("LOCK TABLE gainsay.debate_head")
            service.board.enqueue()

            async def asked() -> bool:
                return "claim" in {str(task.get_name()) for task in asyncio.all_tasks()}

            await until(asked)

            await asyncio.wait_for(stopping.stop(grace_s), 8)  # PostgreSQL itself gives up after 10 s
        await worker.__aexit__(None, None, None)


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


# -- news


class Resting(CannedProvider):
    """A model that asks to be left alone for minutes."""

    async def send(self, body: bytes) -> Answer:
        """No answer."""
        raise CallFailed("rateLimit", "in a while", billable=False, retry_after_s=200.0)


async def test_a_stop_by_another_process_is_noticed_while_the_debate_rests(database: Database) -> None:
    async with bench(database.service_url, Resting()) as service, Pool.open(database.service_url) as elsewhere:
        debate = await service.submit()
        async with a_worker(service):

            async def failed() -> bool:
                return any(isinstance(e, AttemptFailed) for e in await service.entries(debate))

            await until(failed)
            await stop_elsewhere(elsewhere, debate)
            service.board.hear(Told(debates=(debate,)))

            assert (await over(service, debate, within_s=3.0)).status == "aborted"


async def test_a_stop_that_nobody_tells_of_is_noticed_with_the_next_beat(database: Database) -> None:
    async with bench(database.service_url, Resting()) as service, Pool.open(database.service_url) as elsewhere:
        debate = await service.submit()
        async with a_worker(service, lease_s=0.6):

            async def failed() -> bool:
                return any(isinstance(e, AttemptFailed) for e in await service.entries(debate))

            await until(failed)
            await stop_elsewhere(elsewhere, debate)

            async def concluded() -> bool:  # asked of the record: whoever waits for the end has it looked for
                return isinstance((await service.entries(debate))[-1], DebateConcluded)

            await until(concluded, within_s=4.0)


async def test_a_stop_leaves_the_call_in_flight_to_land_and_be_charged(database: Database) -> None:
    provider = CannedProvider(latency_s=0.6)
    async with bench(database.service_url, provider) as service, Pool.open(database.service_url) as elsewhere:
        debate = await service.submit()
        async with a_worker(service):
            await provider.begun.wait()
            await stop_elsewhere(elsewhere, debate)
            service.board.hear(Told(debates=(debate,)))

            assert (await over(service, debate)).status == "aborted"

        entries = await service.entries(debate)
        assert [type(e) for e in entries[-3:]] == [DebateStopped, TurnSpoke, DebateConcluded]
        assert not [e for e in entries if isinstance(e, AttemptFailed)]


async def test_a_worker_s_own_entries_are_no_news_to_it(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(database.service_url) as service:
        asked: Counter[str] = Counter()
        query = service.database.query

        async def counting(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            asked[name] += 1
            return await query(name, params)

        debate = await service.submit()
        async with a_worker(service):
            monkeypatch.setattr(service.database, "query", counting)
            await over(service, debate)
            assert asked["renew"] == 0


async def stop_elsewhere(database: Pool, debate: str) -> None:
    """Record a stop as another process does, of which this one hears nothing."""
    log = await DebateLog.at(database, debate, a_writer("elsewhere"))
    await log.tail()
    await log.append([DebateStopped("abort", "asked for elsewhere")])


# -- clocks


@pytest.mark.parametrize("hours", [-7, 7])
async def test_the_clock_of_a_worker_s_machine_has_no_say_in_leases_or_deadlines(
    database: Database, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    provider = CannedProvider(latency_s=0.3)
    async with bench(database.service_url, provider) as service:
        deadline = datetime.now(UTC) + timedelta(hours=1)
        debate = await service.submit(deadline=deadline.isoformat())
        clock, clock_ns = time.time, time.time_ns
        monkeypatch.setattr(time, "time", lambda: clock() + hours * 3_600)
        monkeypatch.setattr(time, "time_ns", lambda: clock_ns() + hours * 3_600 * 10**9)

        async with a_worker(service, "a", lease_s=0.6), a_worker(service, "b", lease_s=0.6):
            assert (await over(service, debate)).status == "completed"

        assert max(provider.calls.values()) == 1
        assert (await read_head(service.database, debate))["epoch"] == 1


async def test_a_worker_whose_leases_a_jump_of_the_database_s_clock_ends_is_called_off_and_nothing_is_lost(
    database: Database,
) -> None:
    provider, other = CannedProvider(latency_s=60.0), CannedProvider()
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        async with a_worker(service, "a", lease_s=0.6) as old:
            await provider.begun.wait()
            before = await service.entries(debate)
            with psycopg.connect(database.admin_url, autocommit=True) as admin:
                admin.execute("UPDATE gainsay.debate_head SET lease_until = lease_until - interval '2 hours'")
                async with a_worker(service, "b", lease_s=30.0, provider=other):
                    outcome = await over(service, debate)

                    async def called_off() -> bool:
                        return not old._running

                    await until(called_off)

        entries = await service.entries(debate)
        assert outcome.status == "completed"
        assert entries[: len(before)] == before
        (lost,) = [e for e in entries if isinstance(e, AttemptFailed)]
        assert lost.reason == "lost"
        assert lost.charge.amount > 0


# -- the database goes away


async def test_debates_of_a_claim_whose_answer_is_lost_are_given_back_and_run(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "IDLE_S", 0.05)
    async with bench(database.service_url) as service:
        query, lost = service.database.query, [True]

        async def deaf(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            rows = await query(name, params)
            if name == "claim" and rows and lost:
                lost.pop()
                raise StoreUnavailable("the connection is lost")
            return rows

        monkeypatch.setattr(service.database, "query", deaf)
        debates = [await service.submit() for _ in range(3)]

        async with a_worker(service, lease_s=3_600.0):
            assert {(await over(service, debate)).status for debate in debates} == {"completed"}

        assert {(await read_head(service.database, debate))["epoch"] for debate in debates} == {2}


async def test_debates_of_a_claim_that_is_done_after_it_was_given_up_are_given_back_as_well(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "IDLE_S", 0.05)
    async with bench(database.service_url) as service:
        query, late, seen = service.database.query, list[Mapping[str, Any]](), list[str]()

        async def slow(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            seen.append(name)
            if name == "claim" and params and not late:
                late.append(params)
                raise StoreUnavailable("the server is frozen")
            if name == "claim" and seen.count("disown") == 1 and "done" not in seen:
                seen.append("done")
                assert await query(name, late[0]), "it gets to what it was asked, and nobody hears of it"
            return await query(name, params)

        debate = await service.submit()
        monkeypatch.setattr(service.database, "query", slow)

        async with a_worker(service, lease_s=3_600.0):
            assert (await over(service, debate)).status == "completed"

        assert (await read_head(service.database, debate))["epoch"] == 2


async def test_what_was_not_heard_is_asked_for_no_longer_than_a_statement_can_be_on_its_way(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "IDLE_S", 0.02)
    monkeypatch.setattr("service.store.pool.SILENT_S", 0.2)
    async with bench(database.service_url) as service:
        query, faults, seen = service.database.query, [StoreUnavailable("away")], list[str]()

        async def slow(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            seen.append(name)
            if name == "claim" and faults:
                raise faults.pop()
            return await query(name, params)

        monkeypatch.setattr(service.database, "query", slow)
        async with a_worker(service):

            async def ended() -> bool:
                return seen.count("disown") > 1 and seen[-5:] == ["claim"] * 5

            await until(ended)


def cut_connections(database: Database) -> int:
    """Terminate every connection that the service has; how many there were."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        found = admin.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert found is not None
    return int(found[0])


async def test_a_reply_that_comes_while_the_database_is_away_is_recorded_when_it_is_back(database: Database) -> None:
    provider = CannedProvider(latency_s=0.2)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        async with a_worker(service, "a"):
            cut = 0
            for _ in range(4):
                await asyncio.sleep(0.15)
                cut += cut_connections(database) > 0  # none is there while nobody asks for one
            outcome = await over(service, debate)

        assert cut > 1
        entries = await service.entries(debate)
        assert outcome.status == "completed"
        assert not [e for e in entries if isinstance(e, AttemptFailed)]
        assert max(provider.calls.values()) == 1


class Flaky:
    """A database whose answers to some statements are lost, before or after they were done."""

    def __init__(self, database: Any, lost: int, *, done: bool, also: Any = None) -> None:
        self._database, self._left, self._done, self._also = database, lost, done, also

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
        if name != "append" or self._left == 0:
            rows: list[Any] = await self._database.query(name, params)
            return rows
        self._left -= 1
        if self._done:
            await self._database.query(name, params)
            if self._also:
                await self._also()
        raise StoreUnavailable("the connection is lost")


@pytest.mark.parametrize("done", [True, False], ids=["after the commit", "before the commit"])
async def test_an_append_whose_answer_is_lost_is_written_once(database: Database, done: bool) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()
        flaky: Any = Flaky(service.database, 1, done=done)
        log = await DebateLog.at(flaky, debate, a_writer("w"), 5.0)
        before = await log.tail()
        stopped = DebateStopped("deadline", "the debate's deadline has passed")

        await log.append([stopped])

        assert await service.entries(debate) == [*before, stopped]
        assert await log.tail() == []


@pytest.mark.no_replay
async def test_an_append_whose_answer_is_lost_counts_as_written_though_others_wrote_since(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()

        async def aborted() -> None:
            await service.reviews.abort(debate, CALLER, "meanwhile")

        flaky: Any = Flaky(service.database, 1, done=True, also=aborted)
        log = await DebateLog.at(flaky, debate, a_writer("w"), 5.0)
        await log.tail()
        silent = TurnSilent("0.framing.1", "given up")

        await log.append([silent])

        (found,) = await log.tail()
        assert isinstance(found, DebateStopped)
        assert (await service.entries(debate))[-2:] == [silent, found]


async def test_an_append_is_given_up_when_the_lease_would_have_run_out(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()
        flaky: Any = Flaky(service.database, 99, done=False)
        log = await DebateLog.at(flaky, debate, a_writer("w"), 0.5)
        before = await log.tail()
        begun = time.monotonic()

        with pytest.raises(AuditUnavailable):
            await log.append([DebateStopped("deadline", "late")])

        assert 0.2 < time.monotonic() - begun < 1.5
        assert await service.entries(debate) == before


async def test_a_statement_that_postgresql_refuses_is_not_offered_again(database: Database) -> None:
    async with bench(database.service_url) as service:
        await service.submit()
        with pytest.raises(StatementRefused) as refused:
            await service.database.query("head", {"debate": "no uuid", "tenant": None})

        assert refused.value.status == 500
        assert "no uuid" not in refused.value.detail


async def test_a_worker_survives_whatever_keeps_it_from_taking_work(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[Exception] = [StoreUnavailable("away"), RuntimeError("a fault of ours")]
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        query = service.database.query

        async def failing(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            if name == "claim" and faults:
                raise faults.pop()
            return await query(name, params)

        monkeypatch.setattr(service.database, "query", failing)
        monkeypatch.setattr(working, "IDLE_S", 0.05)
        debate = await service.submit()

        async with a_worker(service, on_trouble=told.append):
            assert (await over(service, debate)).status == "completed"

        assert len(told) == 2


# -- debates that cannot be run


async def test_a_debate_that_nobody_could_go_on_with_for_long_ends_as_failed_and_its_money_goes_back(
    database: Database,
) -> None:
    shipped = read_policy(SHIPPED_POLICY)
    limited = msgspec.structs.replace(shipped, budgets=Budgets(others=Budget(day=50_000_000)))
    provider = CannedProvider(latency_s=0.2)
    async with bench(database.service_url, provider, policy=limited) as service:
        debate = await service.submit()
        async with a_worker(service, "a"):
            await provider.begun.wait()
        elsewhere = {"elsewhere": service.provider}
        told: list[GainsayError] = []

        async with a_worker(service, "b", lease_s=0.2, providers=elsewhere, on_trouble=told.append):

            async def tried() -> bool:
                return bool(told)

            await until(tried)
        granted = (await read_head(service.database, debate))["granted"]
        async with a_worker(service, "c", lease_s=0.2, providers=elsewhere, queue=Queue(give_up_hours=0)):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason) == ("failed", "fault")
        assert "expected provider 'offline'" in outcome.detail
        head = await read_head(service.database, debate)
        assert granted > head["granted"] == head["spent"] > 0
        with psycopg.connect(database.admin_url) as admin:
            assert admin.execute("SELECT drawn FROM gainsay.spend_limit WHERE period = 'day'").fetchone() == (
                head["spent"],
            )


async def test_a_debate_of_an_image_with_other_templates_is_left_alone_and_at_last_ended(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "FIRST_S", 0.1)
    monkeypatch.setattr(working, "IDLE_S", 0.05)
    async with bench(database.service_url) as service:
        debate = await service.submit()
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("UPDATE gainsay.debate_head SET templates = 'those of another image'")
        service.prompts = with_other_templates(service)
        async with a_worker(service, "a"):
            await asyncio.sleep(0.1)
        head = await read_head(service.database, debate)

        async with a_worker(service, "b", queue=Queue(give_up_hours=0)):
            outcome = await over(service, debate)

        assert (head["state"], head["epoch"]) == ("queued", 0)
        assert (outcome.status, outcome.stop_reason) == ("failed", "fault")
        assert outcome.detail.startswith("for 0 hours no worker that took it could run it: ")
        assert "template.render" in outcome.detail


def with_other_templates(service: Bench) -> Any:
    """The prompts of an image that lays out its requests in another way."""
    from dataclasses import replace

    entries = tuple(
        msgspec.structs.replace(e, sha256="0" * 64) if e.id == "template.render" else e for e in service.prompts.entries
    )
    return replace(service.prompts, entries=entries)


@pytest.mark.parametrize("lacks", ["provider", "prompts"])
async def test_a_debate_that_one_worker_cannot_run_is_run_at_once_by_another_that_can(
    database: Database, lacks: str
) -> None:
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        debates = [await service.submit() for _ in range(3)]
        do(database, "UPDATE gainsay.debate_head SET templates = NULL")  # so that only trying tells
        able, more = service.prompts, {}
        if lacks == "provider":
            more = {"providers": {"elsewhere": service.provider}}
        else:
            service.prompts = without_prompts(service)

        async with a_worker(service, "unable", lease_s=3_600.0, on_trouble=told.append, **more) as unable:

            async def tried() -> bool:
                return len(told) >= 3 and not unable._running

            await until(tried)
            service.prompts = able
            async with a_worker(service, "able"):
                outcomes = [await over(service, debate) for debate in debates]

        assert {outcome.status for outcome in outcomes} == {"completed"}
        assert len(told) <= 6, "a claim that was under way may have given it one of them once more"
        rows = do(database, "SELECT DISTINCT faults, falls, unable_since FROM gainsay.debate_head")
        assert rows == [(0, 0, None)]


async def test_a_debate_whose_record_cannot_be_written_is_given_back_and_left_alone_for_a_lease_s_length(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        query = service.database.query

        async def refusing(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            if name == "append":
                raise StatementRefused("no")
            return await query(name, params)

        monkeypatch.setattr(service.database, "query", refusing)
        await service.submit()
        async with a_worker(service, on_trouble=told.append) as worker:

            async def left() -> bool:
                return bool(told) and not worker._running

            await until(left)

        assert [error.code for error in told] == ["audit_unavailable"]
        assert do(database, LEFT) == [("running", 1, None, 0, True)]


LEFT = "SELECT state, epoch, worker, faults, lease_until > clock_timestamp() FROM gainsay.debate_head"


def do(database: Database, statement: Any, *params: Any) -> list[Any]:
    """What a statement of the superuser gives."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        cursor = admin.execute(statement, params)
        return cursor.fetchall() if cursor.description else []


async def test_a_debate_past_its_deadline_ends_though_its_prompts_are_gone(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit(deadline=(datetime.now(UTC) + timedelta(seconds=0.2)).isoformat())
        service.prompts = without_prompts(service)
        await asyncio.sleep(0.25)

        async with a_worker(service):
            assert (await over(service, debate)).stop_reason == "deadline"


async def test_a_provider_s_adapter_that_breaks_its_promise_is_a_failed_attempt(database: Database) -> None:
    class Broken(CannedProvider):
        async def send(self, body: bytes) -> Answer:
            await super().send(body)
            raise KeyError("choices")

    provider = Broken()
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()

        async with a_worker(service):
            outcome = await over(service, debate)

        failed = [e for e in await service.entries(debate) if isinstance(e, AttemptFailed)]
        assert (outcome.status, outcome.stop_reason) == ("failed", "seatSilent")
        assert [e.reason for e in failed] == ["providerFault"] * 3
        assert all(e.charge.basis == "reserved" and e.charge.amount > 0 for e in failed)


async def test_a_turn_that_takes_its_worker_down_is_not_asked_for_ever(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.attempts.UNCOUNTED_MAX", 4)
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        for _ in range(5):
            provider.begun.clear()
            await service.claim()
            task = asyncio.create_task((await service.runner(debate)).run())
            await provider.begun.wait()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        async with a_worker(service):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason) == ("failed", "seatSilent")
        assert provider.calls == {"framing": 5}


async def test_a_debate_with_a_fault_that_comes_back_is_parked_and_at_last_ended_as_failed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.judgement.judge_injection", broken)
    monkeypatch.setattr(working, "IDLE_S", 0.05)
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        debate = await service.submit()

        async with a_worker(service, lease_s=0.03, on_trouble=told.append):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason) == ("failed", "fault")
        assert (await read_head(service.database, debate))["epoch"] == working.FAULTS_MAX
        assert len(told) == working.FAULTS_MAX
        assert "a fault of ours" not in outcome.detail


def broken(*_: Any) -> Any:
    """A fault of ours."""
    raise ZeroDivisionError("a fault of ours")


async def faulty(service: Bench, told: list[GainsayError]) -> None:
    """A worker meets one fault and leaves the debate."""
    async with a_worker(service, on_trouble=told.append) as worker:

        async def left() -> bool:
            return bool(told) and not worker._running

        await until(left)


async def test_a_debate_that_was_taken_often_is_not_ended_by_its_first_fault(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.judgement.judge_injection", broken)
    async with bench(database.service_url) as service:
        await service.submit()
        do(database, "UPDATE gainsay.debate_head SET epoch = 8, state = 'running'")

        await faulty(service, [])

    assert do(database, LEFT) == [("running", 9, None, 1, True)]


async def test_a_debate_that_cannot_even_be_given_up_is_parked(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.recording.Recording.load", broken)
    async with bench(database.service_url) as service:
        await service.submit()
        do(database, "UPDATE gainsay.debate_head SET faults = %s", working.FAULTS_MAX - 1)

        await faulty(service, [])

    assert do(database, LEFT) == [("running", 1, None, working.FAULTS_MAX, True)]


async def test_a_fault_before_a_debate_is_read_parks_it_as_well(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        await service.submit()
        monkeypatch.setattr("service.store.log.read_head", broken)

        await faulty(service, [])

    assert do(database, LEFT) == [("running", 1, None, 1, True)]


async def test_a_debate_that_is_just_being_read_when_the_worker_stops_is_handed_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        reading, query = asyncio.Event(), service.database.query

        async def slow(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            if name == "head":
                reading.set()
                await asyncio.Event().wait()
            return await query(name, params)

        await service.submit()
        monkeypatch.setattr(service.database, "query", slow)
        async with a_worker(service):
            await reading.wait()

    assert do(database, LEFT) == [("running", 1, None, 0, False)]


async def test_a_debate_that_ends_each_of_its_workers_without_a_word_is_given_up_by_the_eighth(
    database: Database,
) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        do(
            database,
            "UPDATE gainsay.debate_head SET state = 'running', worker = 'gone', falls = %s, "
            "lease_until = clock_timestamp() - interval '10 minutes'",
            working.FALLS_MAX - 1,
        )

        async with a_worker(service):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason) == ("failed", "fault")
        assert "its worker ended without a word 8 times in a row" in outcome.detail


async def test_a_record_ends_the_row_of_workers_that_fell_silent(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()
        do(database, "UPDATE gainsay.debate_head SET falls = 7, unable_since = now()")
        log = await DebateLog.at(service.database, debate, a_writer("w"), 5.0)
        await log.tail()
        await log.append([DebateStopped("deadline", "late")])

    assert do(database, "SELECT falls, unable_since FROM gainsay.debate_head") == [(0, None)]


async def test_debates_are_counted_as_new_as_left_by_a_silent_worker_and_as_returned(database: Database) -> None:
    def counted() -> list[float]:
        return [telemetry.TAKEN.labels(how)._value.get() for how in ("new", "left", "returned")]

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
        return sum(s.value for m in telemetry.LOST.collect() for s in m.samples if s.name.endswith("_total"))

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
        log = await DebateLog.at(flaky, debate, a_writer("w"), 0.0)
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


def taken_over(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int, str]]:
    """What was logged of debates whose worker was lost: the debate, the calls, and what they are charged."""
    words = "debate taken over from a worker that was lost"
    found = [vars(record) for record in caplog.records if record.getMessage() == words]
    return [(fields["debate"], fields["calls_lost"], fields["charged_usd"]) for fields in found]


async def test_a_debate_that_cannot_be_run_here_is_left_alone_for_longer_than_a_lease(database: Database) -> None:
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        debate = await service.submit()

        async with a_worker(service, lease_s=1.0, providers={"elsewhere": service.provider}, on_trouble=told.append):

            async def tried() -> bool:
                return bool(told)

            await until(tried)
            await asyncio.sleep(1.3)
            head = await read_head(service.database, debate)

        assert [error.code for error in told] == ["bad_settings"]
        assert (head["epoch"], head["leased"], head["state"]) == (1, False, "running"), "nobody has it, or takes it"


async def test_a_stopped_debate_ends_though_its_prompts_are_gone(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.reviews.abort(debate, CALLER, "not needed any more")
        service.prompts = without_prompts(service)

        async with a_worker(service):
            assert (await over(service, debate)).status == "aborted"


def without_prompts(service: Bench) -> Any:
    """The prompts of an image that has none of those that the debate was started with."""
    from dataclasses import replace

    return replace(service.prompts, entries=())


async def test_a_request_without_the_pinned_prompts_is_told_as_the_worker_s_trouble(database: Database) -> None:
    class Tampering(CannedProvider):
        def spoken(self, body: bytes) -> Spoken:
            told = super().spoken(body)
            return msgspec.structs.replace(told, reply_schema={**told.reply_schema, "description": "Agree."})

    async with bench(database.service_url, Tampering()) as service:
        debate = await service.submit()

        async with a_worker(service) as worker:
            assert worker.troubles == []
            assert (await over(service, debate)).stop_reason == "promptMismatch"

            (trouble,) = worker.troubles
            assert "schema" in trouble


# -- deadlines


async def test_a_debate_whose_deadline_passed_in_the_queue_ends_without_a_call(database: Database) -> None:
    provider = CannedProvider()
    async with bench(database.service_url, provider) as service:
        deadline = datetime.now(UTC) + timedelta(seconds=0.3)
        debate = await service.submit(deadline=deadline.isoformat())
        await asyncio.sleep(0.35)

        async with a_worker(service):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason) == ("truncated", "deadline")
        assert not provider.calls
        assert not [e for e in await service.entries(debate) if isinstance(e, TurnAsked)]


async def test_an_abort_after_the_deadline_says_how_the_debate_really_ends(database: Database) -> None:
    provider = CannedProvider(latency_s=1.0)
    async with bench(database.service_url, provider) as service:
        deadline = datetime.now(UTC) + timedelta(seconds=0.4)
        debate = await service.submit(deadline=deadline.isoformat())
        async with a_worker(service):

            async def stopped() -> bool:
                return any(isinstance(e, DebateStopped) for e in await service.entries(debate))

            await until(stopped)
            found = await service.reviews.abort(debate, CALLER, "too late")

            assert found.status == "truncated"
            assert found.held > 0
            assert (await over(service, debate)).status == "truncated"


def test_every_entry_that_a_fault_writes_can_be_encoded() -> None:
    """The kind of stop that a fault makes is part of the record's schema."""
    assert b'"by":"fault"' in encode(DebateStopped("fault", "it came back"))


async def test_a_worker_that_is_there_for_one_debate_leaves_the_others_alone(database: Database) -> None:
    async with bench(database.service_url) as service:
        older, mine = await service.submit(), await service.submit()
        worker = Worker(
            service.database,
            service.prompts,
            {"offline": service.provider},
            service.board,
            name="mine",
            lease_s=10.0,
            only=mine,
        )

        working = asyncio.create_task(worker.work())
        assert await service.reviews.wait(mine, CALLER, 30)
        await worker.stop(5)
        await working

        assert (await read_head(service.database, older))["state"] == "queued"
