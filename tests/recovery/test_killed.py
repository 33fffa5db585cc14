"""Evaluations in real processes that are killed: the result is that of an undisturbed run, and nothing is paid twice.

`make test` kills one of twelve debates at each kind of place. `make evaluation-recovery` kills one of 300 at 50 seeded
places as well: GAINSAY_TEST_RECOVERY=all.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from random import Random

import pytest

from service.evaluation.sets.files import GOLDEN as SHIPPED
from tests.fixtures.evaluating import GOLDEN
from tests.fixtures.postgres import Database
from tests.recovery.dying import KINDS, WHENS, When
from tests.recovery.killed import expect_alike, seeded, trial
from tests.recovery.proven import expect_proven

ALL = os.environ.get("GAINSAY_TEST_RECOVERY") == "all"
SEED = int(os.environ.get("GAINSAY_TEST_RECOVERY_SEED", "1"))
KILLS = 50
FAR = {"append": 8, "call": 6}
"""At the how manieth place of a kind a process dies at most; of all others at the first or the second."""
pytestmark = [pytest.mark.no_replay, pytest.mark.long, pytest.mark.timeout(1_800 if ALL else 240)]


def each_place() -> list[tuple[int, str, When]]:
    """A death before or after each kind of place, or both; the conclusion is the last one, and comes once."""
    random = Random(SEED)
    return [
        (1 if kind == "concluded" else random.randint(1, FAR.get(kind, 2)), kind, when)
        for kind in KINDS
        for when in (WHENS if ALL else [random.choice(WHENS)])
    ]


def test_a_run_that_dies_at_each_kind_of_place_comes_to_the_same_and_pays_nothing_twice(
    database: Database, tmp_path: Path
) -> None:
    deaths = each_place()
    with trial(database, tmp_path, [GOLDEN / "tiny-questions"], repeats=3) as tried:
        whole = tried.undisturbed()
        killed = tried.killed(deaths)

        assert killed.noted.died == tuple(f"{when} {kind}" for _, kind, when in deaths)
        assert whole.noted.died == ()
        expect_alike(tried, whole, killed)
        expect_proven(tried)


@pytest.mark.skipif(not ALL, reason="make evaluation-recovery kills a run of 300 debates")
def test_a_run_of_300_debates_is_killed_at_50_places(database: Database, tmp_path: Path) -> None:
    sets = sorted(SHIPPED.glob("*-questions"))
    with trial(database, tmp_path, sets, repeats=3) as tried:
        began = time.monotonic()
        whole = tried.undisturbed()
        undisturbed_s, places = time.monotonic() - began, sum(whole.noted.places.values())
        killed = tried.killed(seeded(places, KILLS, SEED))
        sys.stdout.write(
            f"300 debates: {undisturbed_s:.0f} s undisturbed, {time.monotonic() - began - undisturbed_s:.0f} s with "
            f"{len(killed.noted.died)} kills at seeded places of {places}; "
            f"{killed.result.lost_to_interruptions} micro-dollars were lost to them\n"
        )

        assert len(killed.noted.died) == KILLS
        assert len(whole.result.arms) * whole.result.arms[0].items.asked * 3 == 300
        assert killed.result.lost_to_interruptions > 0
        expect_alike(tried, whole, killed)
        expect_proven(tried)
