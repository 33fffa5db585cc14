"""Faults of the service, of an adapter, and whatever takes a worker down: nothing comes back for ever."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from service.checks import injection
from service.debate.entries import AttemptFailed, DebateStopped, encode
from service.errors import GainsayError
from service.running import worker as working
from service.running.provider_port import Answer
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, CannedProvider, bench, take_log
from tests.store.workers import LEFT, a_worker, do, over, until


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
    monkeypatch.setattr("service.running.eligibility.UNCOUNTED_MAX", 4)
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
    monkeypatch.setitem(injection.INJECTIONS, "injection/1", broken)
    monkeypatch.setattr(working, "IDLE_S", 0.05)
    # The pauses are short and the leases are not: a lease that lapses on a busy machine is a take more.
    monkeypatch.setattr(working, "BACKOFF_MAX_S", 0.05)
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        debate = await service.submit()

        async with a_worker(service, on_trouble=told.append):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason) == ("failed", "fault")
        assert (await read_head(service.database, debate, "default"))["epoch"] == working.FAULTS_MAX
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
    monkeypatch.setitem(injection.INJECTIONS, "injection/1", broken)
    async with bench(database.service_url) as service:
        await service.submit()
        do(database, "UPDATE gainsay.debate_head SET epoch = 8, state = 'running'")

        await faulty(service, [])

    assert do(database, LEFT) == [("running", 9, None, 1, True)]


async def test_a_debate_that_cannot_even_be_given_up_is_parked(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.running.state.DebateState.load", broken)
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
        monkeypatch.setattr("service.store.log.DebateLog.open_claimed", broken)

        await faulty(service, [])

    assert do(database, LEFT) == [("running", 1, None, 1, True)]


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
        assert "its lease was lost 8 times in a row without a record in between" in outcome.detail


async def test_a_record_ends_the_row_of_workers_that_fell_silent(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim()
        do(database, "UPDATE gainsay.debate_head SET falls = 7, unable_since = now()")
        log = await take_log(service.database, debate, 1, lease_s=5.0)
        await log.new_entries()
        await log.append([DebateStopped("deadline", "late")])

    assert do(database, "SELECT falls, unable_since FROM gainsay.debate_head") == [(0, None)]


def test_every_entry_that_a_fault_writes_can_be_encoded() -> None:
    """The kind of stop that a fault makes is part of the record's schema."""
    assert b'"by":"fault"' in encode(DebateStopped("fault", "it came back"))
