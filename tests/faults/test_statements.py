"""Every statement to the database fails once, in debates of every format, and nothing of it is seen in their end."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.faults.bringing import Scenario
from tests.faults.failing import ALL, SPARE, TRIES, Run, a_trial, each, some
from tests.faults.wire import Fault, Kind
from tests.fixtures.postgres import Database

pytestmark = pytest.mark.timeout(1_800 if ALL else 120)

KINDS: tuple[Kind, ...] = ("cut", "lost", "refused")
DEATHS: tuple[Kind, ...] = ("cut", "lost")


@some("statements", 7)
async def test_a_statement_that_fails_once_changes_nothing(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for kind in KINDS:
            total = undisturbed.statements
            runs = await trial.everywhere("statement", total, 1, partial(Fault, kind=kind))
            how = {run.struck[-1].how for run in runs}
            assert how == {kind}, f"{kind} was meant, and {how} happened"
            left = {(run.calls, run.records) for run in runs}
            assert left == {(undisturbed.calls, undisturbed.records)}, f"{kind}: a reply was lost, or paid for twice"


@some("deaths", 4, "limited")
async def test_a_process_that_dies_at_a_statement_leaves_a_debate_that_another_finishes(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for kind in DEATHS:
            await trial.everywhere("statement", undisturbed.statements, 1, partial(Fault, kind=kind, dies=True))


@some("deaths again", 3)
async def test_whoever_takes_a_debate_over_may_fail_as_well(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):

        async def left(at: int) -> int | None:
            """How many statements whoever takes over makes at least; none where only some debates come that far."""
            runs = [await trial.run(_first(at)) for _ in range(TRIES)]
            return min(run.statements for run in runs) if all(run.struck for run in runs) else None

        met, firsts = list[Run](), await each(scenario, ("death",), undisturbed.statements, 1, left, SPARE)
        for at, statements in firsts.items():
            met += await trial.everywhere("death, then", statements, 2, partial(_second, at), _first(at))
        assert met, "nobody who took over has failed"


def _first(at: int) -> Fault:
    """What happens to the first process, in turns."""
    return Fault(at, DEATHS[at % 2], dies=True)


def _second(first: int, at: int) -> Fault:
    """All that may happen to the second process, in turns: one debate for each pair of points is enough."""
    kinds = [Fault(at, kind) for kind in KINDS] + [Fault(at, kind, dies=True) for kind in DEATHS]
    return kinds[(first + at) % len(kinds)]
