"""What a worker hears while it runs a debate: stops by others, clocks that are wrong, deadlines that pass."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from service.debate.entries import AttemptFailed, DebateConcluded, DebateStopped, TurnAsked, TurnSpoke
from service.running.provider_port import Answer, CallFailed
from service.store.hub import HubNotice
from service.store.pool import Database as Pool
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, CannedProvider, bench
from tests.store.workers import a_worker, over, stop_elsewhere, until

# -- stops by others


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
            service.hub.receive(HubNotice(debates=(debate,)))

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
            service.hub.receive(HubNotice(debates=(debate,)))

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
        assert (await read_head(service.database, debate, "default"))["epoch"] == 1


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
    landing = asyncio.Event()

    class Held(CannedProvider):
        async def send(self, body: bytes) -> Answer:
            self.begun.set()
            await landing.wait()
            return await super().send(body)

    provider = Held()
    async with bench(database.service_url, provider) as service:
        deadline = datetime.now(UTC) + timedelta(seconds=1.5)
        debate = await service.submit(deadline=deadline.isoformat())
        async with a_worker(service):
            await provider.begun.wait()

            async def stopped() -> bool:
                return any(isinstance(e, DebateStopped) for e in await service.entries(debate))

            await until(stopped)
            found = await service.reviews.abort(debate, CALLER, "too late")

            assert found.status == "truncated"
            assert found.held > 0
            landing.set()
            assert (await over(service, debate)).status == "truncated"
