"""Every call to a vendor fails once, in debates of every format, also while a debate is resumed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.faults.bringing import Scenario
from tests.faults.counting import HOWS, How, Unanswered
from tests.faults.failing import ALL, AT_ONCE, Run, a_trial, chosen, points, some
from tests.postgres import Database

pytestmark = pytest.mark.timeout(1_800 if ALL else 120)

AGAIN: tuple[How, ...] = ("death", "cut")


@some("calls", 4)
async def test_a_call_that_fails_once_is_paid_for_and_changes_no_outcome(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        for how in chosen(f"{scenario.name} calls", HOWS, 3):
            await trial.everywhere("call", undisturbed.calls, 1, partial(Unanswered, how=how))


@some("calls in flight", 3)
async def test_a_call_in_flight_when_its_process_dies_is_charged_and_so_is_the_next_that_fails(
    database: Database, scenario: Scenario, tmp_path: Path
) -> None:
    async with a_trial(database, scenario, tmp_path) as (trial, undisturbed):
        firsts, met = 0, list[Run]()
        for at in points(f"{scenario.name} in flight", undisturbed.calls, 1):
            first = Unanswered(at, "death")
            if not (await trial.run(first)).struck:
                break
            firsts += 1
            left = max(1, undisturbed.calls - at + 1 - AT_ONCE)
            for how in chosen(f"{scenario.name} then", AGAIN, 1):
                met += await trial.everywhere("in flight, then", left, 1, partial(Unanswered, how=how), first)
        assert firsts >= (undisturbed.calls if ALL else 1)
        assert len(met) >= firsts, "a call that is asked again may fail again"
