"""Real processes, killed at every append in debates of every format: the next one finishes what they have left."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.faults.afterwards import Debated, expect_well
from tests.faults.bringing import Scenario, let_leases_run_out
from tests.faults.confirming import Confirmed
from tests.faults.dying import Crew, Life, When, lives, noted
from tests.faults.failing import ALL, MISSED, SEED, TRIED, each, met, some, tried
from tests.fixtures.postgres import Database

pytestmark = pytest.mark.timeout(1_800 if ALL else 120)

WHENS: tuple[When, ...] = ("before", "after")
AGAIN = "kill again when resumed"


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """Whoever starts the processes."""
    with lives(tmp_path_factory.mktemp("dying")) as found:
        yield found


class Killed:
    """Debates of one kind on one database whose processes are killed."""

    def __init__(self, server: Database, scenario: Scenario, crew: Crew, folder: Path) -> None:
        self._server, self._scenario, self._crew, self._folder = server, scenario, crew, folder
        self.debates: list[Debated] = []
        self.confirmed: list[Confirmed] = []
        self._posts = 0

    def run(self, *deaths: tuple[int, When]) -> tuple[int, int]:
        """How many processes of one case were killed, and how many appends the last one made."""
        self._posts += 1
        file, killed = self._folder / f"post-{self._posts}.jsonl", 0
        for at, when in (*deaths, (0, WHENS[0])):
            life = Life(
                self._server.service_url,
                self._server.admin_url,
                self._scenario.name,
                f"post-{self._posts}",
                str(file),
                at,
                when,
            )
            status = self._crew.live(life)
            if status == 0:
                break
            assert (status, at > 0) == (-signal.SIGKILL, True), self._crew.log
            killed += 1
            with psycopg.connect(self._server.admin_url, autocommit=True) as admin:
                let_leases_run_out(admin)
        found = noted(file)
        (debate,) = found.debates
        self.confirmed += found.confirmed
        self.debates.append(Debated(debate, found.calls))
        return killed, found.appends

    async def dies(self, when: When, at: int) -> int | None:
        """How many appends whoever takes over makes, where a process is killed at this one."""
        killed, left = await asyncio.to_thread(self.run, (at, when))
        return left if killed else None

    async def dies_again(self, first: tuple[int, When], when: When, at: int) -> bool | None:
        """Whether whoever takes over is killed at this one as well."""
        killed, _ = await asyncio.to_thread(self.run, first, (at, when))
        return True if killed == 2 else None


@some("kills", 3, "limited")
async def test_a_process_killed_at_any_append_leaves_a_debate_that_the_next_one_finishes(
    database: Database, scenario: Scenario, crew: Crew, tmp_path: Path
) -> None:
    trial = Killed(database, scenario, crew, tmp_path)
    _, appends = await asyncio.to_thread(trial.run)
    for when in WHENS:
        firsts = await each(scenario, (f"killed {when}",), appends, 1, partial(trial.dies, when))
        assert firsts
        for at, left in firsts.items():
            tried(scenario.name, f"kill {when} an append")
            again = Random(f"{SEED}:{scenario.name}:{when}:{at}")
            if left and not await met(
                partial(trial.dies_again, (at, when), again.choice(WHENS)), again.randint(1, left)
            ):
                assert scenario.at_once, "whoever took over has not been killed"
                MISSED[scenario.name, AGAIN] += 1
            elif left:
                tried(scenario.name, AGAIN)
    assert TRIED[scenario.name, AGAIN] or not ALL, "nobody who took over has been killed"
    await expect_well(database, trial.debates, trial.confirmed, tmp_path)
