"""Every statement to the database fails once, in debates of every format, and nothing of it is seen in their end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.bringing import Scenario
from tests.faults.failing import ALL, SPARE, a_trial, points, some
from tests.faults.wire import Fault, Kind
from tests.postgres import Database

pytestmark = [pytest.mark.replay, pytest.mark.timeout(1_800 if ALL else 120)]

KINDS: tuple[Kind, ...] = ("cut", "lost", "refused")
DEATHS: tuple[Kind, ...] = ("cut", "lost")


@some("statements", 7)
async def test_a_statement_that_fails_once_changes_nothing(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for kind in KINDS:
            await trial.everywhere(f"statement {kind}", undisturbed.statements - SPARE, 1, Fault(0, kind))


@some("deaths", 4)
async def test_a_process_that_dies_at_a_statement_leaves_a_debate_that_another_finishes(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for kind in DEATHS:
            await trial.everywhere(f"death, {kind}", undisturbed.statements - SPARE, 1, Fault(0, kind, dies=True))


@some("deaths again", 3)
async def test_whoever_takes_a_debate_over_may_fail_as_well(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for at in points(f"{scenario.name} first", undisturbed.statements - SPARE, 1):
            first = Fault(at, DEATHS[at % 2], dies=True)
            rest = await trial.run(first)
            if not rest.struck:
                break
            left = rest.statements - at - SPARE
            await trial.everywhere("death, then cut", left, 1, first, Fault(0, "cut"))
            await trial.everywhere("death, then lost", left, 0, first, Fault(0, "lost"))
            await trial.everywhere("death, then death", left, 1, first, Fault(0, DEATHS[(at // 2) % 2], dies=True))
