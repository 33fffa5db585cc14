"""Every call to a vendor fails once, in debates of every format, also while a debate is resumed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.faults.bringing import Scenario
from tests.faults.counting import HOWS, How, Unanswered
from tests.faults.failing import ALL, Run, a_trial, chosen, each, some
from tests.fixtures.postgres import Database

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

        async def left(at: int) -> int | None:
            """How many calls whoever takes over makes."""
            run = await trial.run(Unanswered(at, "death"))
            return run.last_calls if run.struck else None

        met, firsts = list[Run](), await each(scenario, ("in flight",), undisturbed.calls, 1, left)
        for at, calls in firsts.items():
            for how in chosen(f"{scenario.name} then", AGAIN, 1):
                again = partial(Unanswered, how=how)
                met += await trial.everywhere("in flight, then", calls, 1, again, Unanswered(at, "death"))
        assert len(met) >= len(firsts) > 0, "a call that is asked again may fail again"
