"""A worker that stops: calls in flight land, debates are handed back, and it ends in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from service.debate.entries import AttemptFailed, TurnSpoke
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CannedProvider, bench
from tests.fixtures.waiting import within
from tests.store.workers import LEFT, a_worker, do, over, until


async def test_a_worker_that_stops_lets_the_call_in_flight_land_and_hands_the_debate_back(database: Database) -> None:
    provider = CannedProvider(latency_s=0.4)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        async with a_worker(service, "a"):
            await provider.begun.wait()
        head, entries = await read_head(service.database, debate, "default"), await service.entries(debate)

        assert [e.turn for e in entries if isinstance(e, TurnSpoke)] == ["0.framing.1"]
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
        head = await read_head(service.database, debate, "default")
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

        head = await read_head(service.database, debate, "default")
        assert (head["state"], head["epoch"], head["leased"]) == ("running", 1, False)


async def test_a_debate_that_is_just_being_read_when_the_worker_stops_is_handed_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service:
        reading, query = asyncio.Event(), service.database.query

        async def slow(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            if name == "records":
                reading.set()
                await asyncio.Event().wait()
            return await query(name, params)

        await service.submit()
        monkeypatch.setattr(service.database, "query", slow)
        async with a_worker(service):
            await reading.wait()

    assert do(database, LEFT) == [("running", 1, None, 0, False)]


async def test_a_worker_that_retires_takes_nothing_more_and_says_that_it_is_not_to_be_sent_work(
    database: Database,
) -> None:
    async with bench(database.service_url) as service:
        async with a_worker(service) as worker:
            worker.retire()
            debate = await service.submit()
            service.hub.work_queued()
            await asyncio.sleep(0.1)

            assert worker.troubles == ["the worker is stopping"]
        assert (await read_head(service.database, debate, "default"))["state"] == "queued"


async def test_what_a_stopping_worker_hands_back_is_told_to_the_others(database: Database) -> None:
    provider = CannedProvider(latency_s=0.2)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        async with a_worker(service, "a"):
            await provider.begun.wait()
            service.hub.drain_outgoing()

        assert service.hub.drain_outgoing().queued
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
            service.hub.work_queued()

            async def asked() -> bool:
                return "claim" in {str(task.get_name()) for task in asyncio.all_tasks()}

            await until(asked)

            await within(8, stopping.stop(grace_s))  # PostgreSQL itself gives up after 10 s
        await worker.__aexit__(None, None, None)
