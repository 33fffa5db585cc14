"""Appends of several debates as one statement: each keeps its fence, its money, its answer and its faults."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from random import Random
from typing import Any

import psycopg
import pytest

from service.debate.entries import DebateConcluded, DebateStopped, TurnAsked
from service.debate.model import Outcome
from service.debate.turns import TurnId
from service.errors import AuditUnavailable, Fenced, StoreUnavailable
from service.identity.caller import Caller
from service.store import group_commit
from service.store.array_parameters import UUIDS
from service.store.log import DebateLog
from service.store.pool import Database, Row, StatementRefused
from service.store.stored_debate import read_records
from tests.fixtures.arrays import read_array
from tests.fixtures.batching import a_batch
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import Bench, bench, take_log
from tests.fixtures.spending import Spenders, a_tenant, exact, limits, rows, waiting

pytestmark = pytest.mark.no_replay
"""What is legal is the kernel's question."""


def asked(held: int = 1_000) -> TurnAsked:
    return TurnAsked(TurnId("0.framing.1"), 1, "alder-large", "00" * 16, "00" * 32, 10, held)


async def taken(service: Bench, count: int, lease_s: float = 60.0) -> list[DebateLog]:
    """The logs of so many new debates."""
    logs = [await take_log(service.database, await service.submit(), 0, lease_s=lease_s) for _ in range(count)]
    for log in logs:
        await log.new_entries()
    return logs


def counted(monkeypatch: pytest.MonkeyPatch, database: Database) -> list[int]:
    """How many debates each append is for."""
    query, found = database.query, list[int]()

    async def counting(name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        if name == "append" and params:
            found.append(len(read_array(params["debate"], UUIDS)))
        return await query(name, params)

    monkeypatch.setattr(database, "query", counting)
    return found


async def stored(service: Bench, log: DebateLog) -> int:
    return len(await read_records(service.database, log.debate, "default"))


async def test_appends_of_many_debates_are_one_statement(database: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(database.service_url) as service:
        logs = await taken(service, 9)
        sizes = counted(monkeypatch, service.database)

        await asyncio.gather(*(log.append([asked(), DebateStopped("abort", "x")]) for log in logs))

        assert sizes == [9]
        assert [await stored(service, log) for log in logs] == [5] * 9
        assert [await log.new_entries() for log in logs] == [[]] * 9


async def test_a_fenced_debate_and_one_without_money_write_nothing_and_the_others_are_written(database: Server) -> None:
    async with bench(database.service_url) as service:
        logs = await taken(service, 6)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("UPDATE gainsay.debate_head SET epoch = epoch + 1 WHERE debate = %s", [logs[1].debate])

        held = [1_000, 1_000, 1_000, 10**12, 1_000, 1_000]
        told = await asyncio.gather(
            *(log.append([asked(each)]) for log, each in zip(logs, held, strict=True)), return_exceptions=True
        )

        assert [type(each) for each in told] == [type(None), Fenced, type(None), Fenced, type(None), type(None)]
        assert [await stored(service, log) for log in logs] == [4, 3, 4, 3, 4, 4]


async def test_a_debate_that_postgresql_refuses_is_refused_by_itself(
    database: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        logs = await taken(service, 4)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:  # its number is taken already
            admin.execute("INSERT INTO gainsay.entry (debate, n, leaf) VALUES (%s, 3, '')", [logs[2].debate])
        sizes = counted(monkeypatch, service.database)

        told = await asyncio.gather(*(log.append([asked()]) for log in logs), return_exceptions=True)

        assert [type(each) for each in told] == [type(None), type(None), AuditUnavailable, type(None)]
        assert isinstance(told[2], AuditUnavailable)
        assert isinstance(told[2].__cause__, StatementRefused)
        assert sizes == [4, 1, 1, 1, 1]


@pytest.mark.parametrize("done", [False, True], ids=["before the commit", "after the commit"])
async def test_each_debate_of_a_statement_without_an_answer_is_asked_for_alone_and_written_once(
    database: Server, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    async with bench(database.service_url) as service:
        logs = await taken(service, 5)
        query, sizes = service.database.query, list[int]()

        async def losing(name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
            if name != "append" or not params:
                return await query(name, params)
            sizes.append(len(read_array(params["debate"], UUIDS)))
            found = await query(name, params) if done or len(sizes) > 1 else []
            if len(sizes) == 1:
                raise StoreUnavailable("the connection is lost")
            return found

        monkeypatch.setattr(service.database, "query", losing)
        await asyncio.gather(*(log.append([asked()]) for log in logs))

        assert sizes == [5, 1, 1, 1, 1, 1]
        assert [await stored(service, log) for log in logs] == [4] * 5


async def test_a_caller_that_goes_takes_no_other_one_along(database: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(database.service_url) as service:
        logs = await taken(service, 3)
        query, sent, goes = service.database.query, asyncio.Event(), asyncio.Event()

        async def slow(name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
            if name == "append":
                sent.set()
                await goes.wait()
            return await query(name, params)

        monkeypatch.setattr(service.database, "query", slow)
        tasks = [asyncio.create_task(log.append([asked()])) for log in logs]
        await sent.wait()
        tasks[0].cancel()
        await asyncio.sleep(0)
        goes.set()
        told = await asyncio.gather(*tasks, return_exceptions=True)

        assert [type(each) for each in told] == [asyncio.CancelledError, type(None), type(None)]
        assert [await stored(service, log) for log in logs[1:]] == [4, 4]


async def test_what_is_under_way_is_finished_before_the_connections_are_closed(database: Server) -> None:
    async with bench(database.service_url) as service:
        (log,) = await taken(service, 1)
        async with Database.open(database.service_url, size=1) as other:
            mine = await take_log(other, log.debate, 0, lease_s=60.0)
            await mine.new_entries()
            with psycopg.connect(database.admin_url) as admin:
                admin.execute("LOCK TABLE gainsay.pending IN EXCLUSIVE MODE")
                task = asyncio.create_task(mine.append([asked()]))
                await waiting(database)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        assert await stored(service, log) == 4


async def test_a_debate_whose_head_row_is_locked_holds_up_no_other(database: Server) -> None:
    async with bench(database.service_url) as service:
        logs = await taken(service, 3)
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("SELECT FROM gainsay.debate_head WHERE debate = %s FOR UPDATE", [logs[0].debate])
            tasks = [asyncio.create_task(log.append([asked()])) for log in logs]
            await asyncio.gather(*tasks[1:])
            assert not tasks[0].done()
        await tasks[0]

        assert [await stored(service, log) for log in logs] == [4, 4, 4]


@pytest.mark.parametrize(
    ("cap", "most", "sizes"),
    [("MOST_DEBATES", 2, [2, 2, 1]), ("MOST_RECORDS", 4, [2, 2, 1]), ("MOST_BYTES", 1, [1] * 5)],
)
async def test_a_statement_is_no_larger_than_it_may_be(
    database: Server, monkeypatch: pytest.MonkeyPatch, cap: str, most: int, sizes: list[int]
) -> None:
    async with bench(database.service_url) as service:
        logs = await taken(service, 5)
        monkeypatch.setattr(group_commit, cap, most)
        found = counted(monkeypatch, service.database)

        await asyncio.gather(*(log.append([asked(), DebateStopped("abort", "x")]) for log in logs))

        assert found == sizes


async def test_two_appends_to_one_debate_never_go_together(database: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(database.service_url) as service:
        (log,) = await taken(service, 1)
        twin = await take_log(service.database, log.debate, 0, lease_s=60.0)
        await twin.new_entries()
        sizes = counted(monkeypatch, service.database)

        told = await asyncio.gather(log.append([asked()]), twin.append([asked()]), return_exceptions=True)

        assert sorted(str(type(each).__name__) for each in told) == ["Fenced", "NoneType"]
        assert sizes == [1, 1, 1]
        assert await stored(service, log) == 4


async def test_ends_of_two_tenants_and_batches_in_opposite_orders_never_wait_in_a_circle(database: Server) -> None:
    """Two pools, as two processes have, conclude debates of the same limits at once, each in an order of its own."""
    tenants, none = [a_tenant(), a_tenant()], limits()
    async with (
        bench(database.service_url) as service,
        Database.open(database.service_url, size=4) as one,
        Database.open(database.service_url, size=4) as other,
    ):
        spenders = await Spenders.of(service)
        batches = [await a_batch(service.database, 10**6, caller=Caller(tenant)) for tenant in tenants]
        for nth in range(8):
            drawn = [
                [
                    await spenders.take(await spenders.queue(none, tenants[k % 2], batch=batches[k % 2]), none, pool)
                    for k in range(6)
                ]
                for pool in (one, other)
            ]
            await asyncio.gather(*(spender.allocate(100) for each in drawn for spender in each))
            for each in drawn:
                Random(nth).shuffle(each)
            drawn[1].reverse()
            ended = DebateConcluded(Outcome("aborted", "aborted", "x"))
            await asyncio.gather(*(spender.log.append([ended]) for each in drawn for spender in each))

        found = rows(database, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        assert found == [(0,)]
        for tenant in tenants:
            await exact(service, tenant)
        assert rows(database, "SELECT DISTINCT drawn FROM gainsay.batch_limit") == [(0,)]
