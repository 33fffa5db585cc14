"""A process that dies between any two entries: another one takes the debate up, and nothing is lost or asked again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from service.budget import Ledger
from service.debate.entries import AttemptFailed, DebateConcluded, Entry, TurnAsked, TurnSpoke
from service.debate.kernel import replay
from service.store.log import DebateLog, read_head
from tests.postgres import Database
from tests.running import Bench, CannedProvider, a_writer, bench, repository

ROUNDS = {"options": {"maxRounds": 2}}


class Death(BaseException):
    """The process is gone."""


class DyingLog:
    """A log whose process dies at its n-th append: before it reaches the database, or before it hears back."""

    def __init__(self, log: DebateLog, dies_at: int, after: bool) -> None:
        self._log, self._left, self._after = log, dies_at, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def append(self, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        self._left -= 1
        if self._left == 0 and not self._after:
            raise Death
        await self._log.append(entries, occurred)
        if self._left == 0:
            raise Death


def weak_first_critique(seat: str, round_: int, reply: dict[str, Any]) -> dict[str, Any]:
    """The first round's critic rates itself too low at first; the first moderator wants to hear more."""
    if seat == "moderator":
        return {**reply, "recommendAnotherRound": round_ == 1}
    return reply


async def undisturbed(service: Bench) -> tuple[Any, int]:
    debate = await service.run(**ROUNDS)
    entries = await service.entries(debate)
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome, sum(isinstance(e, TurnSpoke) for e in entries)


async def dies_and_goes_on(service: Bench, dies_at: int, after: bool) -> tuple[str, bool]:
    """Whether the debate died at that append at all, after another worker has brought it to its end."""
    debate = await service.submit(**ROUNDS)
    await service.claim()
    log = DyingLog(await DebateLog.at(service.database, debate, a_writer("test"), 0.0), dies_at, after)
    try:
        await (await service.runner(debate, log)).run()
    except Death:
        concluded = (await read_head(service.database, debate))["state"] != "running"
        if not concluded:
            assert await service.claim() == debate
            await (await service.runner(debate)).run()
        return debate, True
    return debate, False


@pytest.mark.replay
@pytest.mark.parametrize("after", [False, True], ids=["before the append", "after the append"])
async def test_a_death_at_any_append_changes_neither_outcome_nor_records(database: Database, after: bool) -> None:
    async with bench(database.service_url, CannedProvider(weak_first_critique)) as service:
        outcome, spoken = await undisturbed(service)

        deaths = 0
        for dies_at in range(1, 40):
            debate, died = await dies_and_goes_on(service, dies_at, after)
            if not died:
                break
            deaths += 1

            entries = await service.entries(debate)
            assert isinstance(entries[-1], DebateConcluded)
            assert entries[-1].outcome == outcome
            assert sum(isinstance(e, TurnSpoke) for e in entries) == spoken
            assert not asked_again(entries)
            replay(await service.case(debate), entries)
            await assert_ledger_is_head(service, debate, entries)

        assert deaths > 8


def asked_again(entries: Sequence[Entry]) -> list[str]:
    """Turns that were asked although their reply was recorded."""
    spoken: set[str] = set()
    again = []
    for entry in entries:
        if isinstance(entry, TurnSpoke):
            spoken.add(entry.turn)
        if isinstance(entry, TurnAsked) and entry.turn in spoken:
            again.append(entry.turn)
    return again


async def assert_ledger_is_head(service: Bench, debate: str, entries: Sequence[Entry]) -> None:
    ledger = Ledger.of(entries)
    head = await read_head(service.database, debate)
    assert (head["spent"], head["held"], head["excess"]) == (ledger.spent, 0, ledger.excess)
    assert ledger.spent + ledger.excess <= head["ceiling"]


async def test_a_call_that_was_in_flight_is_charged_what_was_held(database: Database) -> None:
    provider = CannedProvider(latency_s=30.0)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim()
        runner = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()
        runner.cancel()
        provider.latency_s = 0.0

        assert await service.claim() == debate
        await (await service.runner(debate)).run()

        entries = await service.entries(debate)
        (lost,) = [e for e in entries if isinstance(e, AttemptFailed)]
        (asked, *_) = [e for e in entries if isinstance(e, TurnAsked)]
        assert (lost.reason, lost.charge.amount, lost.charge.basis) == ("lost", asked.held, "reserved")
        assert isinstance(entries[-1], DebateConcluded)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("dies_at", [1, 2, 3, 5, 6])
async def test_a_killed_process_leaves_a_debate_that_the_next_one_finishes(database: Database, dies_at: int) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()

        killed = child(database.service_url, dies_at)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        before = await service.entries(debate)
        finished = child(database.service_url, 0)
        assert finished.returncode == 0, finished.stderr

        entries = await service.entries(debate)
        assert entries[: len(before)] == before
        assert isinstance(entries[-1], DebateConcluded)
        assert entries[-1].outcome.status == "completed"
        assert not asked_again(entries)
        replay(await service.case(debate), entries)


def child(url: str, dies_at: int) -> subprocess.CompletedProcess[str]:
    """Run the queue empty in a process of its own, which kills itself right after its n-th append."""
    return subprocess.run(
        [sys.executable, "-m", "tests.faults.child", url, str(dies_at)],
        cwd=repository(),
        env={**os.environ, "GAINSAY_LEASE_S": "0.5"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
