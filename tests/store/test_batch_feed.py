"""The feeder: each line one debate, in turns, within the tenant's places and the batch's money."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from service.debate.entries import CaseReceived
from service.errors import BudgetExhausted, InvalidCase, NotFound, StoreUnavailable
from service.identity.caller import Caller
from service.observing import labelled
from service.policy import Batches, Budget, Budgets, Policy
from service.reviews.batch_feed import BatchFeeder
from service.reviews.batches import AskedBatch, LineResult, Progress
from service.store import batches
from service.store.pool import Database as Pool
from service.store.queue import Backlog
from tests.fixtures import waiting
from tests.fixtures.batching import a_case
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, CannedProvider, _unlimited, a_writer, bench
from tests.fixtures.sequencing import a_sequencer
from tests.fixtures.spending import exact, rows
from tests.store.workers import a_worker, do, until

CALLER = Caller()
pytestmark = [pytest.mark.no_replay, pytest.mark.long]


def a_policy(**bounds: Any) -> Policy:
    return replace(_unlimited(), batches=Batches(**bounds))


def a_feeder(service: Bench, name: str = "f", database: Any = None, lease_s: float = 5.0) -> BatchFeeder:
    return BatchFeeder(
        database or service.database, service.reviews, lambda _tenant: service.deployment, a_writer(name), lease_s
    )


@asynccontextmanager
async def feeding(service: Bench, feeder: BatchFeeder | None = None) -> AsyncIterator[BatchFeeder]:
    """A feeder that runs meanwhile."""
    feeder = feeder or a_feeder(service)
    task = asyncio.create_task(feeder.run())
    try:
        yield feeder
    finally:
        feeder.stop()
        await task


async def bring(service: Bench, lines: Sequence[bytes], ceiling: str = "100", **more: Any) -> str:
    asked = AskedBatch(ceiling, more.pop("deadline", None))
    return (await service.reviews.batches.bring(b"\n".join(lines), asked, more.pop("caller", CALLER), **more)).batch


async def ended(service: Bench, batch: str, within_s: float = 60.0, caller: Caller = CALLER) -> Progress:
    async def has_ended() -> bool:
        return (await service.reviews.batches.read(batch, caller)).stored.ended is not None

    await until(has_ended, within_s)
    return await service.reviews.batches.read(batch, caller)


async def results(service: Bench, batch: str, caller: Caller = CALLER) -> list[LineResult]:
    return [line async for page in service.reviews.batches.results(batch, caller) for line in page]


def texts_left(database: Database) -> int:
    return int(rows(database, "SELECT count(*) FROM gainsay.batch_line WHERE body IS NOT NULL")[0][0])


async def test_each_line_is_a_debate_of_its_caller_in_the_order_of_the_file(database: Database) -> None:
    caller = Caller("default", "sub_a", "requester", "person", "apiKey", ("requester",), None, "key_a")
    lines = [json.dumps({"key": f"k{n}", "case": json.loads(a_case(n))}).encode() for n in range(12)]
    async with bench(database.service_url) as service:
        batch = await bring(service, lines, caller=caller)
        async with a_worker(service), feeding(service):
            found = await ended(service, batch, caller=caller)

        shown = await results(service, batch, caller)
        assert [(line.line, line.key, line.status) for line in shown] == [
            (n + 1, f"k{n}", "completed") for n in range(12)
        ]
        assert all(line.decision is not None and line.spent for line in shown)
        assert found.counts == {"completed": 12}
        assert found.spent == sum(line.spent or 0 for line in shown)
        assert texts_left(database) == 0
        for line in shown:
            assert line.debate is not None
            records = await service.reviews.lines(line.debate, caller)
            first = records[0].entry
            assert isinstance(first, CaseReceived)
            assert first.arrival is not None
            assert (first.arrival.door, first.arrival.batch, first.case.question[-4:]) == (
                "batch",
                batch,
                f"({line.line - 1})"[-4:].rjust(4) if line.line < 11 else f"({line.line - 1})",
            )
            assert records[0].actor == caller.actor
        (account,) = (await exact(service)).batches
        assert (account.drawn, account.open) == (found.spent, 0)


async def test_a_tenant_without_limits_pays_from_the_batch_alone(database: Database) -> None:
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case()], "0.30")
        async with a_worker(service), feeding(service):
            found = await ended(service, batch)
        assert found.counts == {"completed": 1}
        assert found.remaining == 300_000 - found.spent > 0


async def test_what_is_left_pays_whole_debates_and_the_rest_is_refused(database: Database) -> None:
    """A debate needs several times its cost to begin: less than that is left, and each one came to its end."""
    async with bench(database.service_url) as service:
        one = await bring(service, [a_case(100)])
        async with a_worker(service), feeding(service):
            each = (await ended(service, one)).spent
            batch = await bring(service, [a_case(n) for n in range(30)], str(Decimal(each * 12) / 10**6))
            found = await ended(service, batch)

        assert found.spent <= found.stored.ceiling
        assert set(found.refused) == {"budget"}
        assert set(found.counts) == {"completed", "refused"}
        assert found.counts["completed"] >= 6
        assert found.remaining < 6 * each
        assert sum(found.counts.values()) == 30
        (refused, *_) = [line for line in await results(service, batch) if line.status == "refused"]
        assert "send the case again under its key in a batch with a higher ceiling" in (refused.detail or "")
        await exact(service)


async def test_the_same_keys_in_a_new_batch_join_what_was_decided(database: Database) -> None:
    lines = [json.dumps({"key": f"k{n}", "case": json.loads(a_case(n))}).encode() for n in range(6)]
    async with bench(database.service_url) as service:
        async with a_worker(service), feeding(service):
            first = await ended(service, await bring(service, lines[:4]))
            later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
            second_id = await bring(service, lines, deadline=later)
            second = await ended(service, second_id)

        assert (first.joined, second.joined) == (0, 4)
        before = {line.key: line.debate for line in await results(service, first.stored.batch)}
        after = {line.key: line.debate for line in await results(service, second_id)}
        assert {key: after[key] for key in before} == before
        assert rows(database, "SELECT count(*) FROM gainsay.debate_head") == [(6,)]
        accounts = {account.batch: account.spent for account in (await exact(service)).batches}
        assert accounts == {first.stored.batch: first.spent, second_id: second.spent}


async def test_a_line_whose_case_was_erased_says_no_word_of_its_debate(database: Database) -> None:
    async with bench(database.service_url) as service, a_worker(service), feeding(service):
        batch = await bring(service, [a_case(1), a_case(2)])
        await ended(service, batch)
        (first, second) = await results(service, batch)
        with psycopg.connect(database.admin_url, autocommit=True) as owner:
            owner.execute("ALTER TABLE gainsay.payload DISABLE TRIGGER refuse_change")
            owner.execute("DELETE FROM gainsay.payload WHERE debate = %s", [first.debate])

        assert first.decision is not None
        assert await results(service, batch) == [replace(first, decision=first.decision.without_words), second]


async def test_a_key_that_stands_for_another_case_is_refused_by_its_name(database: Database) -> None:
    def keyed(case: bytes) -> bytes:
        return json.dumps({"key": "k", "case": json.loads(case)}).encode()

    async with bench(database.service_url) as service, a_worker(service), feeding(service):
        await ended(service, await bring(service, [keyed(a_case(1))]))
        batch = await bring(service, [keyed(a_case(2)), a_case(3)])
        found = await ended(service, batch)

        assert (found.counts, found.refused) == ({"refused": 1, "completed": 1}, {"key": 1})
        (line, _) = await results(service, batch)
        assert "has another case" in (line.detail or "")


async def test_keys_of_one_caller_mean_nothing_for_another(database: Database) -> None:
    line = json.dumps({"key": "k", "case": json.loads(a_case(1))}).encode()
    one, other = (Caller("default", f"sub_{n}", "requester", roles=("requester",)) for n in "ab")
    async with bench(database.service_url) as service, a_worker(service), feeding(service):
        first = await bring(service, [line], caller=one)
        second = await bring(service, [line], caller=other)
        await ended(service, first, caller=one)
        assert (await ended(service, second, caller=other)).joined == 0
        (mine,), (theirs,) = await results(service, first, one), await results(service, second, other)
        assert mine.debate != theirs.debate
        with pytest.raises(NotFound):
            await service.reviews.batches.read(first, other)
        with pytest.raises(NotFound):
            await service.reviews.batches.read(first, Caller("rival", "sub_a", "operator"))


async def test_a_lines_key_is_no_idempotency_key_of_a_header(database: Database) -> None:
    async with bench(database.service_url) as service, a_worker(service), feeding(service):
        request = json.loads(a_case(1))
        batch = await bring(service, [json.dumps({"key": "k", "case": request}).encode()])
        await ended(service, batch)
        found = await service.reviews.record(_request(a_case(2)), CALLER, "k")
        assert not found.replayed


def _request(case: bytes) -> Any:
    from service.intake.decoding import decode
    from service.intake.request import CaseRequest

    return decode(case, CaseRequest)


async def test_an_abort_begins_nothing_more_and_aborts_what_runs(database: Database) -> None:
    async with bench(database.service_url, CannedProvider()) as service:
        batch = await bring(service, [a_case(n) for n in range(40)])
        async with feeding(service):  # without a worker the debates stay queued

            async def some_wait() -> bool:
                counts = (await service.reviews.batches.read(batch, CALLER)).counts
                return counts.get("queued", 0) >= 10

            await until(some_wait)
            await service.reviews.batches.abort(batch, CALLER, "the file was the wrong one")
            found = await ended(service, batch)
        assert set(found.counts) == {"aborted", "refused"}
        assert found.refused == {"aborted": found.counts["refused"]}
        assert found.spent == 0
        assert texts_left(database) == 0
        await service.reviews.batches.abort(batch, CALLER, "again")
        assert (await service.reviews.batches.read(batch, CALLER)).stored.stop_detail == "the file was the wrong one"


async def test_after_its_deadline_nothing_begins_and_debates_end_by_their_own(database: Database) -> None:
    async with bench(database.service_url) as service:
        soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
        batch = await bring(service, [a_case(n) for n in range(40)], deadline=soon)
        async with feeding(service):
            await until(lambda: _counted(service, batch, "queued", 10))
            await asyncio.sleep(2.0)
            async with a_worker(service):
                found = await ended(service, batch)
        assert found.refused == {"deadline": found.counts["refused"]}
        assert found.stored.stop == "deadline"
        assert set(found.counts) <= {"refused", "failed", "truncated"}
        (deadlines,) = rows(database, "SELECT count(DISTINCT deadline) FROM gainsay.debate_head")
        assert deadlines == (1,)


@pytest.mark.parametrize("stop", ["deadline", "revoked"])
async def test_an_abort_ends_debates_of_a_batch_that_something_else_has_stopped(database: Database, stop: str) -> None:
    async with bench(database.service_url, CannedProvider()) as service:
        batch = await bring(service, [a_case(n) for n in range(20)])
        await a_feeder(service).round()  # without a worker the debates stay queued
        do(database, "UPDATE gainsay.case_batch SET stop = %s, stop_detail = 'before'", stop)
        found = await service.reviews.batches.abort(batch, CALLER, "all of it")
        assert (found.stored.stop, found.stored.stop_detail) == ("aborted", "all of it")
        await service.reviews.batches.abort(batch, CALLER, "again")
        async with feeding(service):
            found = await ended(service, batch)
        assert found.counts == {"aborted": 10, "refused": 10}
        assert found.stored.stop_detail == "all of it"


async def test_a_debate_that_cannot_be_aborted_keeps_no_other_from_its_abort(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url, CannedProvider()) as service:
        batch = await bring(service, [a_case(n) for n in range(10)])
        feeder = a_feeder(service)
        await feeder.round()
        await service.reviews.batches.abort(batch, CALLER, "all of it")
        do(database, "UPDATE gainsay.case_batch SET lease_until = '-infinity'")
        abort_as, first = service.reviews.abort_as, list[str]()

        async def failing(debate: str, *given: Any, **named: Any) -> Any:
            first.append(debate)
            if debate == first[0]:
                raise ValueError("a record of a later version")
            return await abort_as(debate, *given, **named)

        monkeypatch.setattr(service.reviews, "abort_as", failing)
        await feeder.round()
        assert (await service.reviews.batches.read(batch, CALLER)).counts == {"aborted": 9, "queued": 1}


async def test_a_fault_in_one_batchs_turn_leaves_the_others_theirs(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        batch, other = [await bring(service, [a_case(n)]) for n in range(2)]
        feeder = a_feeder(service, lease_s=3_600.0)
        feed, taken = feeder._feed, list[str]()

        async def failing(claimed: batches.ClaimedBatch) -> Any:
            taken.append(claimed.batch)
            if claimed.batch == taken[0]:
                raise ZeroDivisionError
            return await feed(claimed)

        monkeypatch.setattr(feeder, "_feed", failing)
        await feeder.round()
        assert set(taken) == {batch, other}
        found = [await service.reviews.batches.read(one, CALLER) for one in taken]
        assert [each.counts for each in found] == [{"waiting": 1}, {"queued": 1}]
        assert found[0].stored.pause == "fault"


async def test_a_file_is_hashed_outside_the_event_loop(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from service.reviews import batches as desk

    hashed, threads = desk._fingerprint, list[int]()

    def noted(raw: bytes, asked: AskedBatch) -> bytes:
        threads.append(threading.get_ident())
        return hashed(raw, asked)

    monkeypatch.setattr(desk, "_fingerprint", noted)
    async with bench(database.service_url) as service:
        await bring(service, [a_case(1)])
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


async def _counted(service: Bench, batch: str, name: str, least: int) -> bool:
    return (await service.reviews.batches.read(batch, CALLER)).counts.get(name, 0) >= least


@pytest.mark.parametrize("what", ["subject", "key"])
async def test_a_revoked_caller_begins_nothing_more(database: Database, what: str) -> None:
    subject, key = f"sub_{'0' * 26}", f"key_{'0' * 26}"
    caller = Caller("default", subject, "requester", "person", "apiKey", ("requester",), None, key)
    do(database, "INSERT INTO gainsay.tenant (name, created_by) VALUES ('default', 't') ON CONFLICT DO NOTHING")
    do(
        database,
        "INSERT INTO gainsay.subject (id, tenant, source, external, kind) VALUES (%s, 'default', 'key', 'x', 'person')",
        subject,
    )
    do(
        database,
        "INSERT INTO gainsay.api_key (id, hash, tenant, subject, roles, name, created_by, expires) VALUES "
        "(%s, sha256('x'), 'default', %s, '{requester}', 'n', 't', clock_timestamp() + interval '1 day')",
        key,
        subject,
    )
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(n) for n in range(40)], caller=caller)
        await a_feeder(service).round()
        table = "subject" if what == "subject" else "api_key"
        do(database, f"UPDATE gainsay.{table} SET revoked = clock_timestamp()")
        async with feeding(service), a_worker(service):
            found = await ended(service, batch, caller=caller)
        assert found.stored.stop == "revoked"
        assert found.refused == {"revoked": found.counts["refused"]}
        assert found.counts["completed"] == 40 - found.counts["refused"] > 0


async def test_a_batch_leaves_places_in_the_queue_and_cases_alone_go_first(database: Database) -> None:
    async with bench(database.service_url, policy=a_policy(queued_per_tenant=7)) as service:
        first = await bring(service, [a_case(n) for n in range(30)])
        second = await bring(service, [a_case(n) for n in range(100, 130)])
        async with feeding(service):
            await until(lambda: _queued(database, 7))
            alone = await service.submit()
            await asyncio.sleep(0.5)
            assert await _queued(database, 8)
            assert await service.claim() == alone
        del first, second


async def _queued(database: Database, count: int) -> bool:
    return bool(rows(database, "SELECT count(*) = %s FROM gainsay.debate_head WHERE state = 'queued'", count)[0][0])


async def test_two_batches_of_a_tenant_advance_together(database: Database) -> None:
    async with bench(database.service_url, policy=a_policy(queued_per_tenant=10_000)) as service:
        first = await bring(service, [a_case(n) for n in range(40)])
        second = await bring(service, [a_case(n) for n in range(100, 140)])
        feeder = a_feeder(service)
        await feeder.round()
        await feeder.round()
        for batch in (first, second):
            assert (await service.reviews.batches.read(batch, CALLER)).counts == {"queued": 20, "waiting": 20}


async def test_a_case_that_no_day_pays_for_is_refused_and_the_lines_behind_it_go_on(database: Database) -> None:
    policy = replace(a_policy(), budgets=Budgets("UTC", Budget(day=1, month=2)))
    async with bench(database.service_url, policy=policy) as service:
        batch = await bring(service, [a_case(1), a_case(2, estimatedDownside=0)])
        async with feeding(service), a_worker(service):
            found = await ended(service, batch)
        assert (found.counts, found.refused) == ({"refused": 1, "declined": 1}, {"budget": 1})
        assert "too small for any" in ((await results(service, batch))[0].detail or "")


async def test_a_tenants_limit_of_a_day_pauses_a_batch_and_says_so(database: Database) -> None:
    policy = replace(a_policy(), budgets=Budgets("UTC", Budget(day=10**9)))
    async with bench(database.service_url, policy=policy) as service:
        do(
            database,
            "INSERT INTO gainsay.spend_limit (tenant, period, starts, ceiling, drawn, excess) "
            "VALUES ('default', 'day', gainsay.today('UTC'), %s, 0, %s)",
            10**9,
            10**9,
        )
        batch = await bring(service, [a_case(n) for n in range(3)])
        await a_feeder(service).round()
        found = await service.reviews.batches.read(batch, CALLER)
        assert (found.counts, found.stored.pause) == ({"waiting": 3}, "tenantDay")
        assert found.stored.pause_until is not None


async def test_two_feeders_at_one_batch_record_each_line_once(database: Database) -> None:
    """Both have the batch by the database, too: nothing but the key of a line keeps its debate single."""
    async with bench(database.service_url, policy=a_policy(queued_per_tenant=10_000)) as service:
        batch = await bring(service, [a_case(n) for n in range(30)])
        one, other = a_feeder(service, "one"), a_feeder(service, "one")
        (claimed,) = await batches.claim_batches(service.database, "one", 5.0, 1)
        for _ in range(6):
            one._held, other._held = {batch}, {batch}
            await asyncio.gather(one._turn(claimed), other._turn(claimed))
        assert (await service.reviews.batches.read(batch, CALLER)).counts == {"queued": 30}
        assert rows(database, "SELECT count(*), count(DISTINCT debate) FROM gainsay.debate_head") == [(30, 30)]


async def test_a_feeder_keeps_all_batches_of_its_round_while_it_works(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.feeding.RENEWALS", 10**9)
    async with bench(database.service_url) as service:
        for n in range(2):
            await bring(service, [a_case(10 * n + line) for line in range(3)])
        record, leases = service.reviews.record, list[Any]()

        async def noted(*given: Any) -> Any:
            leases.append(rows(database, "SELECT lease_until FROM gainsay.case_batch WHERE feeder = 'f' ORDER BY 1"))
            return await record(*given)

        monkeypatch.setattr(service.reviews, "record", noted)
        await a_feeder(service).round()
    assert len(leases) == 6
    for first, last in ((leases[0], leases[2]), (leases[3], leases[5])):
        assert first[-1] < last[-1], "that in hand"
    assert leases[0][0] < leases[2][0], "that which waits for its turn"


@pytest.mark.parametrize("refused", [False, True], ids=["recorded", "refused"])
async def test_a_feeder_that_has_lost_its_batch_changes_no_line_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    monkeypatch.setattr("service.reviews.feeding.RENEWALS", 10**9)
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(n) for n in range(3)])
        record, calls = service.reviews.record, list[Any]()

        async def stalled(*given: Any) -> Any:
            calls.append(given)
            found = await record(*given)
            do(database, "UPDATE gainsay.case_batch SET feeder = 'other', lease_until = '-infinity'")
            if refused:
                raise InvalidCase("it was valid a moment ago")
            return found

        monkeypatch.setattr(service.reviews, "record", stalled)
        await a_feeder(service).round()
        assert len(calls) == 1
        assert (await service.reviews.batches.read(batch, CALLER)).counts == {"waiting": 3}

        monkeypatch.setattr(service.reviews, "record", record)
        async with feeding(service, a_feeder(service, "other")), a_worker(service):
            found = await ended(service, batch)
        assert found.counts == {"completed": 3}
        assert rows(database, "SELECT count(*) FROM gainsay.debate_head") == [(3,)]


class _CutOff:
    """A database whose answer to a statement is lost once, before or after it was done."""

    def __init__(self, database: Pool, name: str, *, after: bool) -> None:
        self._database = database
        self._name, self._after, self.cuts = name, after, 0

    async def query(self, name: str, params: Any = None) -> list[Any]:
        if name == self._name and not self.cuts:
            self.cuts += 1
            if self._after:
                await self._database.query(name, params)
            raise StoreUnavailable("the connection is lost")
        return await self._database.query(name, params)

    def of(self, tenant: str) -> Any:
        del tenant
        return self


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "name",
    [
        *("claim_batches", "renew_batches", "batch_room", "next_batch_line", "settle_batch_line", "release_batch"),
        "end_batch",
    ],
)
async def test_a_turn_that_is_cut_off_anywhere_repeats_nothing(
    database: Database, name: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.batch_feed.LATER_S", 0.0)
    monkeypatch.setattr("service.reviews.feeding.RENEWALS", 10**9)
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(n) for n in range(6)])
        cut = _CutOff(service.database, name, after=after)
        feeder = a_feeder(service, database=cut, lease_s=0.3)
        async with feeding(service, feeder), a_worker(service):
            found = await ended(service, batch)
        assert cut.cuts == 1
        assert found.counts == {"completed": 6}
        assert rows(database, "SELECT count(*) FROM gainsay.debate_head") == [(6,)]
        await exact(service)


@pytest.mark.parametrize("stop", ["aborted", "deadline"])
async def test_a_case_that_was_recorded_before_its_batch_was_stopped_is_not_refused(
    database: Database, stop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn ends between the record of a case and the note of its debate, as under a kill."""
    async with bench(database.service_url) as service:
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        batch = await bring(service, [a_case(n) for n in range(3)], deadline=later)
        await _CutShort(a_feeder(service), monkeypatch).round()
        if stop == "aborted":
            await service.reviews.batches.abort(batch, CALLER, "the wrong file")
        else:
            do(database, "UPDATE gainsay.case_batch SET deadline = clock_timestamp()")
        do(database, "UPDATE gainsay.case_batch SET lease_until = '-infinity'")
        async with feeding(service), a_worker(service):
            found = await ended(service, batch)
        assert found.refused == {stop: 2}
        (debate,) = rows(database, "SELECT debate FROM gainsay.debate_head")[0]
        assert [line.debate for line in await results(service, batch)] == [str(debate), None, None]


class _CutShort:
    """A feeder that is cut off once a case is recorded, and before its line has the debate."""

    def __init__(self, feeder: BatchFeeder, monkeypatch: pytest.MonkeyPatch) -> None:
        self._feeder, self._patch = feeder, monkeypatch

    async def round(self) -> None:
        async def lost(*_given: Any, **_named: Any) -> None:
            raise StoreUnavailable("the connection is lost")

        with self._patch.context() as patch:
            patch.setattr("service.reviews.batch_feed.batches.settle_line", lost)
            await self._feeder.round()


async def test_a_case_that_is_not_valid_any_more_is_refused_and_the_others_go_on(database: Database) -> None:
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(1), a_case(2)])
        do(
            database,
            "UPDATE gainsay.batch_line SET body = convert_to(replace(convert_from(body, 'UTF8'), '\"question\"', "
            "'\"qestion\"'), 'UTF8') WHERE line = 1",
        )
        async with feeding(service), a_worker(service):
            found = await ended(service, batch)
        assert (found.counts, found.refused) == ({"refused": 1, "completed": 1}, {"invalid": 1})


async def test_a_fault_of_the_service_at_one_line_refuses_it_in_the_end(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.batch_feed.LATER_S", 0.0)
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(1), a_case(2)])
        record = service.reviews.record

        async def failing(request: Any, *given: Any) -> Any:
            if "(1)" in request.question:
                raise ZeroDivisionError
            return await record(request, *given)

        monkeypatch.setattr(service.reviews, "record", failing)
        async with feeding(service) as feeder, a_worker(service):
            found = await ended(service, batch)
        assert (found.counts, found.refused) == ({"refused": 1, "completed": 1}, {"fault": 1})
        assert (feeder._faults, feeder._waits) == ({}, {}), "nothing is kept of a batch that has ended"


async def test_lines_of_an_upload_that_was_cut_off_are_deleted(database: Database) -> None:
    async with bench(database.service_url) as service:
        await bring(service, [a_case(1)])
        do(
            database,
            "INSERT INTO gainsay.batch_line (batch, line, tenant, body) VALUES "
            "('019a0000-0000-7000-8000-000000000001', 1, 'default', 'x')",
        )
        await batches.remove_strays(service.database)
        assert texts_left(database) == 1


async def test_no_clock_of_a_machine_takes_an_upload_under_way_for_one_that_was_cut_off(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine that takes it is two hours behind the one whose feeder looks for what was cut off."""
    wall, query = time.time, Pool.query

    async def looked_for_first(found: Pool, name: str, params: Any = None) -> list[Any]:
        if name == "open_batch":
            monkeypatch.setattr(time, "time", wall)
            await batches.remove_strays(service.database)
        return await query(found, name, params)

    async with bench(database.service_url) as service:
        monkeypatch.setattr(time, "time", lambda: wall() - 7_200)
        monkeypatch.setattr(Pool, "query", looked_for_first)
        batch = await bring(service, [a_case(1), a_case(2)])
        assert texts_left(database) == 2
        async with feeding(service), a_worker(service):
            found = await ended(service, batch)

    assert found.counts == {"completed": 2}


async def test_declined_cases_end_at_once_and_cost_nothing(database: Database) -> None:
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(1, estimatedDownside=0), a_case(2)])
        async with feeding(service), a_worker(service):
            found = await ended(service, batch)
        assert Counter(found.counts) == {"declined": 1, "completed": 1}
        (declined, _) = await results(service, batch)
        assert declined.decision is not None
        assert declined.spent == 0


async def test_a_budget_that_is_not_the_batchs_is_raised_to_the_feeder(database: Database) -> None:
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(1)])
        feeder = a_feeder(service)
        (claimed,) = await batches.claim_batches(service.database, "f", 5.0, 1)
        do(database, "UPDATE gainsay.batch_limit SET drawn = ceiling")
        with pytest.raises(BudgetExhausted, match="leaves 0"):
            await feeder._may_begin(claimed, 10, lambda: 10)
        with suppress(BudgetExhausted):
            await feeder._may_begin(claimed, 10, lambda: 10)
        del batch


async def kept(database: Database, batch: str) -> None:
    """Wait until the counts of a batch are kept."""
    await waiting.until(
        lambda: bool(rows(database, f"SELECT counts FROM gainsay.case_batch WHERE batch = '{batch}'")[0][0])
    )


async def test_counts_of_a_batch_that_has_ended_are_kept_once_and_are_those_of_its_lines(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.batch_feed.KEEP_S", 0.0)
    keyed = json.dumps({"key": "k", "case": json.loads(a_case(1))}).encode()
    other = json.dumps({"key": "k", "case": json.loads(a_case(2))}).encode()
    declined = a_case(3, estimatedDownside=1, confidenceScore=0.99)
    async with bench(database.service_url) as service:
        desk = service.reviews.batches
        async with a_worker(service), feeding(service):
            first = await bring(service, [keyed])
            await ended(service, first)
            mixed = await bring(service, [keyed, declined, a_case(4), a_case(5)])
            refusing = await bring(service, [other, a_case(6)])
            for batch in (first, mixed, refusing):
                await ended(service, batch)
                await kept(database, batch)

        stored = [await batches.read_batch(service.database, batch, "default", None) for batch in (mixed, refusing)]
        for each in stored:
            assert each.counts is not None
            counted = await batches.count_lines(service.database, replace(each, counts=None), "default", held=False)
            assert sorted(each.counts, key=str) == sorted(counted, key=str)
        before = [await desk.read(batch, CALLER) for batch in (mixed, refusing)]
        assert before[0].counts == {"completed": 3, "declined": 1}
        assert before[0].joined == 1
        assert (before[1].counts, before[1].refused) == ({"refused": 1, "completed": 1}, {"key": 1})
        assert before[0].spent > 0

        do(database, "DELETE FROM gainsay.batch_line")  # nothing counts them any more
        assert [await desk.read(batch, CALLER) for batch in (mixed, refusing)] == before
        listed, _ = await desk.find(CALLER, None, 10)
        assert [(each.counts, each.joined, each.spent) for each in reversed(listed[:2])] == [
            (each.counts, each.joined, each.spent) for each in before
        ]


async def test_that_counts_are_kept_changes_no_version(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(database.service_url) as service:
        monkeypatch.setattr("service.reviews.batch_feed.KEEP_S", 3_600.0)
        async with a_worker(service), feeding(service):
            batch = await bring(service, [a_case()])
            before = await ended(service, batch)
        assert rows(database, "SELECT counts FROM gainsay.case_batch") == [(None,)]
        await batches.keep_counts(service.database, 0.0, 1, held=False)
        await kept(database, batch)
        assert (await service.reviews.batches.read(batch, CALLER)).version == before.version


async def test_counts_are_kept_once_the_end_of_each_debate_is_provable(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.batch_feed.KEEP_S", 0.0)
    async with bench(database.service_url) as service:
        desk = service.reviews.batches
        async with a_worker(service), feeding(service):
            batch = await bring(service, [a_case(n) for n in range(2)])
            monkeypatch.setattr(desk, "_held", True)
            await waiting.until(lambda: rows(database, "SELECT ended IS NOT NULL FROM gainsay.case_batch") == [(True,)])
            looked = rows(database, "SELECT fed FROM gainsay.case_batch")
            await waiting.until(lambda: rows(database, "SELECT fed FROM gainsay.case_batch") != looked)
            assert rows(database, "SELECT counts FROM gainsay.case_batch") == [(None,)]
            assert (await desk.read(batch, CALLER)).counts == {"running": 2}
            async with a_sequencer(database) as sequencer:
                await sequencer.catch_up()
                await kept(database, batch)
                found = await desk.read(batch, CALLER)
        assert found.counts == {"completed": 2}
        assert found.stored.ended is not None


async def test_a_line_that_has_not_begun_waits_also_where_ends_are_held_until_they_are_provable(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        desk = service.reviews.batches
        monkeypatch.setattr(desk, "_held", True)

        batch = await bring(service, [a_case(n) for n in range(2)])

        assert (await desk.read(batch, CALLER)).counts == {"waiting": 2}
        assert [(line.status, line.debate) for line in await results(service, batch)] == [("waiting", None)] * 2


async def test_a_batch_that_cannot_be_counted_yet_keeps_no_other_from_it(database: Database) -> None:
    async with bench(database.service_url) as service:
        async with a_worker(service), feeding(service):
            ids = [await bring(service, [a_case(n)]) for n in range(3)]
            for batch in ids:
                await ended(service, batch)
        do(database, "UPDATE gainsay.case_batch SET counts = NULL")
        do(database, f"UPDATE gainsay.batch_line SET debate = NULL, body = 'x' WHERE batch <> '{ids[2]}'")
        for _ in ids:
            await batches.keep_counts(service.database, 0.0, 1, held=False)
        found = rows(database, "SELECT batch::text FROM gainsay.case_batch WHERE counts IS NOT NULL")
        assert found == [(ids[2],)]


async def test_batches_that_an_earlier_version_ended_are_counted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        with monkeypatch.context() as earlier:
            earlier.setattr(BatchFeeder, "_keep_counts", lambda _: asyncio.sleep(0))
            async with a_worker(service), feeding(service):
                batch = await bring(service, [a_case()])
                await ended(service, batch)
        assert rows(database, "SELECT counts FROM gainsay.case_batch") == [(None,)]
        monkeypatch.setattr("service.reviews.batch_feed.KEEP_S", 0.0)
        async with feeding(service):
            await kept(database, batch)
        assert (await service.reviews.batches.read(batch, CALLER)).counts == {"completed": 1}


async def test_open_batches_are_measured_and_those_that_wait_apart(database: Database) -> None:
    def measured() -> list[float | None]:
        name = "gainsay_batches_open"
        return [labelled.REGISTRY.get_sample_value(name, {"state": state}) for state in ("running", "paused")]

    async with bench(database.service_url, policy=a_policy(queued_per_tenant=1)) as service:
        look = Backlog(service.database).look
        await look()
        assert measured() == [0.0, 0.0]
        batch = await bring(service, [a_case(n) for n in range(2)])
        await look()
        assert measured() == [1.0, 0.0]
        do(database, "UPDATE gainsay.case_batch SET pause = 'tenantDay'")
        await look()
        assert measured() == [0.0, 1.0]
        async with a_worker(service), feeding(service):
            await ended(service, batch)
        await look()
        assert measured() == [0.0, 0.0]


async def test_each_end_of_a_batch_is_in_the_outbox_of_its_callers_endpoint_and_no_other(database: Database) -> None:
    one, other = (Caller("default", f"sub_{n}", "requester", roles=("requester",)) for n in "ab")
    for caller in (one, other):
        do(
            database,
            "INSERT INTO gainsay.webhook (id, tenant, subject, reach, url, master) "
            f"VALUES ('whk_' || repeat('{caller.subject[-1]}', 26), 'default', '{caller.subject}', 'own', "
            "'https://a.example', 'm')",
        )
    declined = a_case(1, estimatedDownside=1, confidenceScore=0.99)
    async with bench(database.service_url) as service:
        batch = await bring(service, [a_case(0), declined], caller=one)
        async with a_worker(service), feeding(service):
            await ended(service, batch, caller=one)
        debates = sorted(str(line.debate) for line in await results(service, batch, one))

    sent = rows(database, "SELECT debate::text, webhook FROM gainsay.webhook_delivery ORDER BY debate::text")
    assert sent == [(debate, f"whk_{'a' * 26}") for debate in debates]
