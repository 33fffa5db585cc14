"""A database that goes away under a worker: claims and appends whose answers are lost, and what is offered again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from service.debate.entries import AttemptFailed, DebateStopped, TurnSilent
from service.debate.turns import TurnId
from service.errors import AuditUnavailable, GainsayError, StoreUnavailable
from service.running import worker as working
from service.store.pool import StatementRefused
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, CannedProvider, bench, take_log
from tests.store.workers import Flaky, a_worker, over, until

# -- claims


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

        assert {(await read_head(service.database, debate, "default"))["epoch"] for debate in debates} == {2}


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

        assert (await read_head(service.database, debate, "default"))["epoch"] == 2


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


# -- appends


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


@pytest.mark.parametrize("done", [True, False], ids=["after the commit", "before the commit"])
async def test_an_append_whose_answer_is_lost_is_written_once(database: Database, done: bool) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()
        flaky: Any = Flaky(service.database, 1, done=done)
        log = await take_log(flaky, debate, 1, lease_s=5.0)
        before = await log.new_entries()
        stopped = DebateStopped("deadline", "the debate's deadline has passed")

        await log.append([stopped])

        assert await service.entries(debate) == [*before, stopped]
        assert await log.new_entries() == []


@pytest.mark.no_replay
async def test_an_append_whose_answer_is_lost_counts_as_written_though_others_wrote_since(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()

        async def aborted() -> None:
            await service.reviews.abort(debate, CALLER, "meanwhile")

        flaky: Any = Flaky(service.database, 1, done=True, also=aborted)
        log = await take_log(flaky, debate, 1, lease_s=5.0)
        await log.new_entries()
        silent = TurnSilent(TurnId("0.framing.1"), "given up")

        await log.append([silent])

        (found,) = await log.new_entries()
        assert isinstance(found, DebateStopped)
        assert (await service.entries(debate))[-2:] == [silent, found]


async def test_an_append_is_given_up_when_the_lease_would_have_run_out(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()
        flaky: Any = Flaky(service.database, 99, done=False)
        log = await take_log(flaky, debate, 1, lease_s=0.5)
        before = await log.new_entries()
        begun = time.monotonic()

        with pytest.raises(AuditUnavailable):
            await log.append([DebateStopped("deadline", "late")])

        assert 0.2 < time.monotonic() - begun < 1.5
        assert await service.entries(debate) == before


async def test_a_statement_that_postgresql_refuses_is_not_offered_again(database: Database) -> None:
    async with bench(database.service_url) as service:
        await service.submit()
        with pytest.raises(StatementRefused) as refused:
            await service.database.query("head", {"debate": "no uuid", "tenant": "default"})

        assert refused.value.status == 500
        assert "no uuid" not in refused.value.detail
