"""Every statement to the database fails once, in debates of every format, and nothing of it is seen in their end."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.faults.bringing import Scenario
from tests.faults.failing import ALL, SPARE, a_trial, points, some
from tests.faults.wire import Fault, Kind
from tests.postgres import Database

pytestmark = pytest.mark.timeout(1_800 if ALL else 120)

KINDS: tuple[Kind, ...] = ("cut", "lost", "refused")
DEATHS: tuple[Kind, ...] = ("cut", "lost")


@some("statements", 7)
async def test_a_statement_that_fails_once_changes_nothing(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for kind in KINDS:
            total = undisturbed.statements - SPARE
            runs = await trial.everywhere(f"statement, {kind}", total, 1, partial(Fault, kind=kind))
            left = {(run.calls, run.records) for run in runs}
            assert left == {(undisturbed.calls, undisturbed.records)}, f"{kind}: a reply was lost, or paid for twice"


@some("deaths", 4)
async def test_a_process_that_dies_at_a_statement_leaves_a_debate_that_another_finishes(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for kind in DEATHS:
            total = undisturbed.statements - SPARE
            await trial.everywhere(f"death, {kind}", total, 1, partial(Fault, kind=kind, dies=True))


@some("deaths again", 3)
async def test_whoever_takes_a_debate_over_may_fail_as_well(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for at in points(f"{scenario.name} first", undisturbed.statements - SPARE, 1):
            first = Fault(at, DEATHS[at % 2], dies=True)
            run = await trial.run(first)
            if not run.struck:
                break
            left = run.statements - at - SPARE
            await trial.everywhere("death, then again", left, 2, partial(_second, at), first)


def _second(first: int, at: int) -> Fault:
    """All that may happen to the second process, in turns: one debate for each pair of points is enough."""
    kinds = [Fault(at, kind) for kind in KINDS] + [Fault(at, kind, dies=True) for kind in DEATHS]
    return kinds[(first + at) % len(kinds)]
