"""A turn's deadline is counted from its first attempt, in database time, whichever worker asks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

import psycopg
import pytest

from service.debate.entries import AttemptFailed, DebateConcluded, Entry, TurnAsked, TurnSilent
from service.debate.kernel import replay
from service.store.log import DebateLog
from tests.postgres import Database
from tests.running import Bench, CannedProvider, a_writer, bench

DEADLINE_S = 300
"""The shipped policy's, under which these debates begin."""


async def left_by_its_worker(service: Bench, provider: CannedProvider) -> str:
    """A debate whose worker is gone while its first call is under way."""
    debate = await service.submit()
    await service.claim()
    task = asyncio.create_task((await service.runner(debate)).run())
    await provider.begun.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert isinstance((await service.entries(debate))[-1], TurnAsked)
    return debate


def let_pass(database: Database, seconds: float) -> None:
    """What is recorded is so much older, by the database's own clock."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("ALTER TABLE gainsay.entry DISABLE TRIGGER refuse_change")
        admin.execute("UPDATE gainsay.entry SET at = at - make_interval(secs => %s)", (seconds,))
        admin.execute("ALTER TABLE gainsay.entry ENABLE ALWAYS TRIGGER refuse_change")


async def taken_over(service: Bench, debate: str) -> list[Entry]:
    """What is recorded after another worker has run the debate to its end."""
    assert await service.claim() == debate
    await asyncio.wait_for((await service.runner(debate)).run(), 20.0)
    entries = await service.entries(debate)
    replay(await service.case(debate), entries)
    return entries


def of_the_first_turn(entries: Sequence[Entry]) -> tuple[list[TurnAsked], list[AttemptFailed], list[str]]:
    """Its attempts, those that failed, and why it was given up."""
    asked = [e for e in entries if isinstance(e, TurnAsked)]
    turn = asked[0].turn
    failed = [e for e in entries if isinstance(e, AttemptFailed) and e.turn == turn]
    return (
        [e for e in asked if e.turn == turn],
        failed,
        [e.reason for e in entries if isinstance(e, TurnSilent) and e.turn == turn],
    )


@pytest.mark.parametrize("hours", [-7, 0, 7])
async def test_a_turn_whose_deadline_passed_before_it_was_taken_over_is_given_up_whatever_the_workers_clocks_say(
    database: Database, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    provider, clock = CannedProvider(latency_s=60.0), time.time
    async with bench(database.service_url, provider) as service:
        monkeypatch.setattr(time, "time", lambda: clock() + hours * 3_600)
        debate = await left_by_its_worker(service, provider)
        let_pass(database, DEADLINE_S)
        monkeypatch.setattr(time, "time", lambda: clock() - hours * 3_600)

        entries = await taken_over(service, debate)

    asked, (lost,), silent = of_the_first_turn(entries)
    assert provider.calls == {"framing": 1}
    assert (lost.reason, lost.charge.basis, lost.charge.amount) == ("lost", "reserved", asked[0].held)
    assert silent == ["no usable reply within 300 seconds, in 1 attempt; the last ended as lost"]
    assert isinstance(entries[-1], DebateConcluded)
    assert entries[-1].outcome.stop_reason == "seatSilent"


@pytest.mark.parametrize("hours", [-7, 7])
async def test_a_turn_that_is_taken_over_has_only_the_time_that_is_left(
    database: Database, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    provider, clock = CannedProvider(latency_s=60.0), time.time
    async with bench(database.service_url, provider) as service:
        monkeypatch.setattr(time, "time", lambda: clock() + hours * 3_600)
        debate = await left_by_its_worker(service, provider)
        let_pass(database, DEADLINE_S - 1.5)

        entries = await taken_over(service, debate)

    asked, failed, silent = of_the_first_turn(entries)
    assert len(asked) == 2
    assert [f.reason for f in failed] == ["lost", "timeout"]
    assert silent == ["no usable reply within 300 seconds, in 2 attempts; the last ended as timeout"]


async def test_a_turn_that_is_taken_over_in_time_is_asked_again_and_speaks(database: Database) -> None:
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await left_by_its_worker(service, provider)
        let_pass(database, DEADLINE_S / 2)
        provider.latency_s = 0.0

        entries = await taken_over(service, debate)

    asked, failed, silent = of_the_first_turn(entries)
    assert (len(asked), [f.reason for f in failed], silent) == (2, ["lost"], [])
    assert isinstance(entries[-1], DebateConcluded)
    assert entries[-1].outcome.status == "completed"


async def test_a_turn_of_a_record_that_has_no_database_time_begins_anew(database: Database) -> None:
    """Records that were there before the database kept the time of each."""
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await left_by_its_worker(service, provider)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("ALTER TABLE gainsay.entry DISABLE TRIGGER refuse_change")
            admin.execute("UPDATE gainsay.entry SET at = NULL")

        log = await DebateLog.at(service.database, debate, a_writer("next"))
        await log.tail()

        assert 0.0 <= log.asked_s("framing") < 60.0
