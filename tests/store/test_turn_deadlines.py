"""A turn's deadline is counted from its first attempt, in database time, whichever worker asks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

import psycopg
import pytest

from service.debate.entries import AttemptFailed, Entry, TurnAsked, TurnSilent
from service.debate.turns import TurnId
from service.running.provider_port import Answer, CallFailed
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, CannedProvider, bench, take_log
from tests.store.workers import a_worker, over, until

DEADLINE_S = 300
"""The shipped policy's, under which these debates begin."""


class Busy(CannedProvider):
    """Has the first call come again in half a minute, and the second at once."""

    async def send(self, body: bytes) -> Answer:
        """No answer at first."""
        if self.calls["framing"] < 2:
            self.calls["framing"] += 1
            self.begun.set()
            raise CallFailed("overload", "busy", billable=False, retry_after_s=30.0 * (self.calls["framing"] < 2))
        return await super().send(body)


async def left_by_its_worker(service: Bench, provider: CannedProvider, *, failed: bool = False) -> str:
    """A debate whose worker is gone while its first call is under way, or after it has ``failed``."""
    debate = await service.submit()
    await service.claim()
    task = asyncio.create_task((await service.runner(debate)).run())
    await provider.begun.wait()

    async def stands() -> bool:
        return isinstance((await service.entries(debate))[-1], AttemptFailed if failed else TurnAsked)

    await until(stands)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return debate


def let_pass(database: Database, seconds: float | None) -> None:
    """Make what is recorded so much older, by the database's own clock; ``None`` takes the time of each away."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("ALTER TABLE gainsay.entry DISABLE TRIGGER refuse_change")
        admin.execute("UPDATE gainsay.entry SET at = at - make_interval(secs => %s)", (seconds,))
        admin.execute("ALTER TABLE gainsay.entry ENABLE ALWAYS TRIGGER refuse_change")


async def taken_over(service: Bench, debate: str) -> tuple[str, list[Entry]]:
    """How the debate ended with another worker, and what is recorded then."""
    async with a_worker(service, "another"):
        outcome = await over(service, debate)
    assert (await read_head(service.database, debate, "default"))["epoch"] == 2
    return outcome.stop_reason, await service.entries(debate)


async def taken_over_after(
    database: Database, seconds: float | None, hours: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, list[Entry]]:
    """The same after a pause that follows a failure, by workers whose clocks are so far off, to either side."""
    provider, clock = Busy(), time.time
    async with bench(database.service_url, provider) as service:
        monkeypatch.setattr(time, "time", lambda: clock() + hours * 3_600)
        debate = await left_by_its_worker(service, provider, failed=True)
        let_pass(database, seconds)
        monkeypatch.setattr(time, "time", lambda: clock() - hours * 3_600)
        return await taken_over(service, debate)


def of_the_first_turn(entries: Sequence[Entry]) -> tuple[list[TurnAsked], list[AttemptFailed], list[str]]:
    """Its attempts, those that failed, and why it was given up."""
    turn = "0.framing.1"
    return (
        [e for e in entries if isinstance(e, TurnAsked) and e.turn == turn],
        [e for e in entries if isinstance(e, AttemptFailed) and e.turn == turn],
        [e.reason for e in entries if isinstance(e, TurnSilent) and e.turn == turn],
    )


@pytest.mark.parametrize("hours", [-7, 0, 7])
async def test_a_turn_whose_deadline_passed_before_it_was_taken_over_is_asked_once_more_whatever_the_clocks_say(
    database: Database, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    reason, entries = await taken_over_after(database, DEADLINE_S, hours, monkeypatch)

    asked, failed, silent = of_the_first_turn(entries)
    assert reason == "seatSilent"
    assert (len(asked), [f.reason for f in failed]) == (2, ["overload"] * 2)
    assert silent == ["no usable reply within 300 seconds, in 2 attempts; the last ended as overload"]


@pytest.mark.parametrize("hours", [-7, 0, 7])
@pytest.mark.parametrize("seconds", [DEADLINE_S / 2, None], ids=["in time", "recorded before the database kept times"])
async def test_a_turn_that_has_time_left_is_asked_until_it_speaks_whatever_the_clocks_say(
    database: Database, monkeypatch: pytest.MonkeyPatch, hours: int, seconds: float | None
) -> None:
    _, entries = await taken_over_after(database, seconds, hours, monkeypatch)

    asked, failed, silent = of_the_first_turn(entries)
    assert (len(asked), [f.reason for f in failed], silent) == (3, ["overload"] * 2, [])


@pytest.mark.parametrize("failed", [False, True], ids=["while it was asked", "while nobody could be asked"])
async def test_a_service_that_was_away_for_longer_than_a_turn_may_take_goes_on_with_it(
    database: Database, failed: bool
) -> None:
    provider = Busy() if failed else CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await left_by_its_worker(service, provider, failed=failed)
        let_pass(database, 12 * DEADLINE_S)
        provider.latency_s = 0.0
        provider.calls["framing"] = 2

        _, entries = await taken_over(service, debate)

    asked, (first,), silent = of_the_first_turn(entries)
    assert (len(asked), silent) == (2, [])
    if not failed:
        assert (first.reason, first.charge.basis, first.charge.amount) == ("lost", "reserved", asked[0].held)


async def test_a_turn_s_age_is_the_database_s_word_and_counted_from_its_first_attempt(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.time
    async with bench(database.service_url, CannedProvider(fails={"framing": 1})) as service:
        monkeypatch.setattr(time, "time", lambda: clock() + 3_600)
        debate = await service.run()
        let_pass(database, 100.0)

        log = await take_log(service.database, debate, 1)
        before = log.turn_age_s(TurnId("0.framing.1"))
        await log.new_entries()

        assert before == 0.0
        assert log.turn_age_s(TurnId("0.framing.1")) > log.turn_age_s(TurnId("1.proposer.1")) >= 100.0
        assert log.turn_age_s(TurnId("0.framing.1")) < 160.0
        assert log.turn_age_s(TurnId("9.proposer.1")) == 0.0
