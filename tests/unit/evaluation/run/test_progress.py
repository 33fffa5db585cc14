"""Which entry of an evaluation may follow which; an entry that may not changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from service.audit.evaluation_events import (
    EvaluationConcluded,
    EvaluationEntry,
    EvaluationProven,
    EvaluationRegistered,
    EvaluationStopped,
    ItemAsked,
    ItemScored,
)
from service.audit.evaluation_rules import SHIPPED_LIMITS
from service.errors import IllegalEntry
from service.evaluation.plan.model import plan_hash, plan_members
from service.evaluation.run.progress import Progress
from service.evaluation.run.units import Unit, units_of
from tests.fixtures.evaluation_plans import EVALUATION, plan, registered

PLAN = plan(repeats=3)
FIRST = registered(PLAN, count=2)
UNITS = units_of(PLAN, plan_hash(PLAN), FIRST.sets)
HASH = "ab" * 32
PROVEN = EvaluationProven(EVALUATION, 1, "a proof")


def debate(number: int) -> str:
    return f"01890a5d-ac96-774b-bcce-{number:012d}"


def asked(n: int, at: int, answered_by: int | None = None) -> ItemAsked:
    return ItemAsked(EVALUATION, n, *UNITS[at], debate=debate(at if answered_by is None else answered_by))


def scored(n: int, at: int, **members: Any) -> ItemScored:
    score = {"kind": "question", "right": True, "run": {"charge": 10, "lost": 1}, **members}
    return ItemScored(EVALUATION, n, *UNITS[at], debate=debate(at), score=score)


def stopped(n: int, by: str = "person") -> EvaluationStopped:
    return EvaluationStopped(EVALUATION, n, "set" if by == "set" else "person", "enough")


def concluded(n: int, *, exploratory: bool = False) -> EvaluationConcluded:
    return EvaluationConcluded(EVALUATION, n, HASH, "inconclusive", exploratory)


def changed(n: int, **members: Any) -> EvaluationRegistered:
    other = replace(PLAN, **members)
    return replace(FIRST, n=n, plan=plan_members(other), plan_hash=plan_hash(other))


ALL: list[EvaluationEntry] = [
    FIRST,
    PROVEN,
    *(asked(2 + at, at) for at in range(12)),
    *(scored(14 + at, at) for at in range(12)),
]


def test_units_are_every_item_in_every_arm_as_often_as_planned() -> None:
    assert sorted(UNITS) == sorted(
        Unit("set-a", item, arm, repeat) for item in ("q0", "q1") for arm in ("debate", "vote") for repeat in (1, 2, 3)
    )
    assert [unit.item for unit in UNITS[:6]] == [UNITS[0].item] * 6


def test_the_order_is_the_plans_and_not_the_files() -> None:
    many = registered(PLAN, count=30)
    turned = replace(many.sets[0], items=many.sets[0].items[::-1])

    assert units_of(PLAN, "aa", many.sets) == units_of(PLAN, "aa", [turned])
    assert units_of(PLAN, "aa", many.sets) != units_of(PLAN, "ab", many.sets)


def test_a_whole_run_is_followed_to_its_conclusion() -> None:
    progress = Progress.of([*ALL, concluded(26)])

    assert (len(progress.scored), progress.spent, progress.items_scored()) == (12, 12 * 11, 2)
    assert progress.concluded is not None
    assert not progress.exploratory


def test_items_count_when_all_their_scores_are_there() -> None:
    assert Progress.of(ALL[:14]).items_scored() == 0
    assert Progress.of(ALL[:19]).items_scored() == 0
    assert Progress.of(ALL[:20]).items_scored() == 1


@pytest.mark.parametrize(
    ("before", "entry"),
    [
        (2, asked(3, 0)),  # a number is left out
        (1, asked(1, 0)),  # no checkpoint over the registration is recorded
        (2, replace(PROVEN, n=2)),  # proven before
        (2, replace(asked(2, 0), evaluation=debate(9))),
        (2, asked(2, 1)),  # another unit comes first
        (3, asked(3, 0)),  # asked before
        (3, asked(3, 1, answered_by=0)),  # one debate for two units
        (2, scored(2, 0)),  # never asked
        (3, replace(scored(3, 0), debate=debate(7))),
        (15, scored(15, 0)),  # scored before
        (14, replace(scored(14, 0), score={"right": "yes", "run": {}})),
        (3, concluded(3)),  # something is under way
        (2, concluded(2)),  # nothing was asked of a fixed plan
        (26, concluded(26, exploratory=True)),
        (26, asked(26, 0)),
        (2, changed(2, seed="second")),
        (2, changed(2, repeats=1)),
        (2, changed(2, arms=PLAN.arms[::-1])),
        (2, replace(changed(2, margin=50), plan_hash=HASH)),
        (2, replace(changed(2, margin=50), plan={"form": "gainsay.plan/1"})),
        (2, replace(changed(2, margin=50), sets=())),
    ],
)
def test_an_entry_that_does_not_follow_is_refused_and_changes_nothing(before: int, entry: EvaluationEntry) -> None:
    progress = Progress.of(ALL[:before])
    was = (dict(progress.asked), dict(progress.scored), progress.next_n, progress.plan, progress.changed)

    with pytest.raises(IllegalEntry):
        progress.take(entry)

    assert (dict(progress.asked), dict(progress.scored), progress.next_n, progress.plan, progress.changed) == was
    assert progress.concluded is None


@pytest.mark.parametrize("first", [[], [asked(0, 0)], [replace(FIRST, n=1)], [replace(FIRST, quote=())]])
def test_an_evaluation_begins_with_its_registration(first: list[EvaluationEntry]) -> None:
    with pytest.raises(IllegalEntry):
        Progress.of(first)


def test_a_plan_changed_before_the_first_score_is_no_exploration_and_afterwards_it_is() -> None:
    before = Progress.of([*ALL[:14], changed(14, margin=50)])
    after = Progress.of([*ALL[:15], changed(15, margin=50)])

    assert (before.plan.margin, before.exploratory) == (50, False)
    assert (after.plan.margin, after.exploratory) == (50, True)


def test_a_change_that_is_taken_back_is_never_hidden() -> None:
    back = Progress.of([*ALL[:15], changed(15, margin=50), changed(16)])

    assert back.plan == PLAN
    assert back.exploratory


def test_after_a_stop_what_was_asked_is_scored_and_nothing_is_asked() -> None:
    run: list[EvaluationEntry] = [*ALL[:4], stopped(4)]
    follow(run, scored(5, 0), allowed=True)
    follow(run, asked(5, 2), allowed=False)
    follow(run, stopped(5), allowed=False)
    follow(run, changed(5, margin=1), allowed=False)
    follow([*run, scored(5, 0), scored(6, 1)], concluded(7), allowed=True)


def test_nothing_follows_a_stop_by_a_set() -> None:
    run: list[EvaluationEntry] = [*ALL[:3], stopped(3, "set")]
    follow(run, scored(4, 0), allowed=False)
    follow([FIRST, stopped(1, "set")], concluded(2), allowed=False)


def test_nothing_follows_a_conclusion() -> None:
    done: list[EvaluationEntry] = [*ALL, concluded(26)]
    entries: list[Callable[[int], EvaluationEntry]] = [stopped, concluded, changed]
    for entry in entries:
        follow(done, entry(26), allowed=False)


def follow(run: list[EvaluationEntry], entry: EvaluationEntry, *, allowed: bool) -> None:
    progress = Progress.of(run)
    if allowed:
        progress.take(entry)
    else:
        with pytest.raises(IllegalEntry):
            progress.take(entry)


@pytest.mark.parametrize("limit", [{"hits": 599}, {"alarms": 401}, {"family": 0}, {"rating": 6_999}, {"unusable": 51}])
def test_a_registration_with_a_looser_limit_than_the_shipped_one_is_refused(limit: dict[str, int]) -> None:
    rules = replace(FIRST.rules, release=replace(SHIPPED_LIMITS, **limit))

    with pytest.raises(IllegalEntry, match=f"never looser than the shipped limits; looser: {next(iter(limit))}"):
        Progress(replace(FIRST, rules=rules))


def test_a_changed_plan_is_judged_by_what_policy_said_when_the_first_one_was_registered() -> None:
    progress = Progress(FIRST)
    for rules in (
        replace(FIRST.rules, held_looks=9),
        replace(FIRST.rules, cutoffs={"careful": "2025-06-30"}),
        replace(FIRST.rules, release=replace(SHIPPED_LIMITS, hits=700)),
    ):
        with pytest.raises(IllegalEntry, match="what it decided when that was registered"):
            progress.take(replace(changed(1, margin=20), rules=rules))
    progress.take(changed(1, margin=20))
