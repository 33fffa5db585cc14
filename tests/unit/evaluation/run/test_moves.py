"""The next move: in whatever order debates end, and wherever a run is killed, the same is asked, once, and scored."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from service.evaluation.plan.model import Plan, plan_hash, plan_members
from service.evaluation.run.moves import Ask, Conclude, Prove, Rest, Score, Seen, Stop, next_move
from service.evaluation.run.progress import Progress
from service.evaluation.run.units import Unit
from tests.fixtures.evaluation_plans import EVALUATION, HASH, OTHER_HASH, plan, registered

SETS = {"set-a": HASH}


class World:
    """Debates outside of the entries: opened once for each unit, they end when they are let; each costs by its unit."""

    def __init__(self, first: EvaluationRegistered, at_once: int, rightness: int = 2) -> None:
        self.entries: list[EvaluationEntry] = [first]
        self.opened: dict[Unit, str] = {}
        self.opened_often: list[Unit] = []
        self.ended: set[str] = set()
        self.at_once = at_once
        self.rightness = rightness
        self.revoked = False

    def seen(self) -> Seen:
        return Seen(SETS, frozenset(self.ended), self.at_once, self.revoked)

    def draw(self, unit: Unit) -> int:
        return int.from_bytes(sha256("/".join(map(str, unit)).encode()).digest()[:4], "big")

    def score(self, unit: Unit) -> dict[str, Any]:
        draw = self.draw(unit)
        right = draw % 10 < 9 if unit.arm == "debate" else draw % 10 < self.rightness
        return {"kind": "question", "right": right, "run": {"charge": draw % 100}}

    def open(self, unit: Unit) -> str:
        if unit not in self.opened:
            self.opened_often.append(unit)
            self.opened[unit] = f"01890a5d-ac96-774b-bcce-{len(self.opened):012d}"
        return self.opened[unit]

    def step(self, random: Random, kill: float) -> bool:
        """One turn of a feeder that replays from the top, and may be killed at each point; whether it goes on."""
        move = next_move(self.entries, self.seen())
        match move:
            case Prove():
                self.entries.append(EvaluationProven(EVALUATION, len(self.entries), "a proof"))
            case Ask(units):
                for unit in units:
                    debate = self.open(unit)
                    if random.random() < kill:
                        return True  # the debate is open, and no entry says so
                    self.entries.append(ItemAsked(EVALUATION, len(self.entries), *unit, debate=debate))
            case Score(units):
                for unit in random.sample(units, len(units)):
                    if random.random() < kill:
                        return True
                    debate = self.opened[unit]
                    number = len(self.entries)
                    self.entries.append(ItemScored(EVALUATION, number, *unit, debate=debate, score=self.score(unit)))
            case Stop(by, why):
                self.entries.append(EvaluationStopped(EVALUATION, len(self.entries), by, why))
            case Conclude():
                progress = Progress.of(self.entries)
                self.entries.append(
                    EvaluationConcluded(
                        EVALUATION, len(self.entries), self.result(), "inconclusive", progress.exploratory
                    )
                )
            case Rest("over"):
                return False
            case Rest():
                running = sorted(set(self.opened.values()) - self.ended)
                self.ended |= set(random.sample(running, random.randint(1, len(running))))
        return True

    def run(self, random: Random, kill: float = 0.0) -> str:
        while self.step(random, kill):
            assert len(Progress.of(self.entries).under_way) <= self.at_once
        return self.result()

    def result(self) -> str:
        """What stands for the compared result: every score, and whether it was stopped and by what."""
        progress = Progress.of(self.entries)
        scores = sorted((*unit, msgspec.json.encode(entry.score)) for unit, entry in progress.scored.items())
        stopped = (progress.stopped.by, progress.stopped.why) if progress.stopped else None
        return sha256(repr((scores, stopped)).encode()).hexdigest()


plans = st.builds(
    plan,
    arms=st.sampled_from([("debate", "vote"), ("debate", "vote", "single")]),
    repeats=st.sampled_from([1, 3]),
    stopping=st.sampled_from(["fixed", "sequence"]),
    look_every=st.integers(1, 4),
    ceiling=st.integers(50, 2_500),
)


@given(
    plans,
    st.integers(0, 12),
    st.integers(1, 9),
    st.integers(1, 9),
    st.floats(0, 0.6),
    st.integers(0, 9),
    st.integers(),
    st.integers(),
)
def test_any_order_of_ends_and_any_kills_give_the_same_result(
    of: Plan, count: int, at_once: int, others: int, kill: float, rightness: int, seed: int, other_seed: int
) -> None:
    first = registered(of, count)
    undisturbed, disturbed = World(first, at_once, rightness), World(first, others, rightness)

    result = undisturbed.run(Random(seed))
    again = disturbed.run(Random(other_seed), kill)

    assert again == result
    assert set(disturbed.opened) == set(undisturbed.opened)
    assert len(disturbed.opened_often) == len(set(disturbed.opened_often))
    end = disturbed.entries[-1]
    assert isinstance(end, EvaluationConcluded)
    assert end.result == result


@given(plans, st.integers(1, 8), st.integers(1, 5), st.integers())
def test_every_prefix_of_a_run_has_one_next_move_and_goes_on_to_the_same_result(
    of: Plan, count: int, at_once: int, seed: int
) -> None:
    whole = World(registered(of, count), at_once)
    result = whole.run(Random(seed))

    for cut in range(1, len(whole.entries) + 1, 3):
        resumed = World(registered(of, count), at_once)
        resumed.entries, resumed.opened = whole.entries[:cut], dict(whole.opened)
        resumed.ended = set(whole.opened.values())
        assert next_move(resumed.entries, resumed.seen()) == next_move(iter(resumed.entries), resumed.seen())
        assert resumed.run(Random(seed)) == result


def world(entries: Iterable[EvaluationEntry] = (), **given_: Any) -> World:
    found = World(registered(plan(**given_), 4), at_once=3)
    found.entries += [EvaluationProven(EVALUATION, 1, "a proof"), *entries]
    return found


def test_nothing_is_asked_before_the_checkpoint_over_the_plan_is_recorded() -> None:
    fresh = world()
    unproven = fresh.entries[:1]

    assert next_move(unproven, fresh.seen()) == Prove()
    stopped = [*unproven, EvaluationStopped(EVALUATION, 1, "person", "enough")]
    assert next_move(stopped, fresh.seen()) == Conclude()


def test_an_evaluation_whose_log_was_rotated_asks_nothing_more_and_scores_the_rest() -> None:
    running = world()
    random = Random(7)
    running.step(random, 0)
    rotated = replace(running.seen(), rotated=True)

    move = next_move(running.entries, rotated)

    assert isinstance(move, Stop)
    assert (move.by, "the log was rotated" in move.why) == ("fault", True)
    running.entries.append(EvaluationStopped(EVALUATION, len(running.entries), move.by, move.why))
    asked = len(running.opened)
    running.run(random)
    assert len(Progress.of(running.entries).scored) == len(running.opened) == asked > 0
    assert isinstance(running.entries[-1], EvaluationConcluded)


def test_asks_in_order_and_no_more_than_at_once() -> None:
    fresh = world()
    units = Progress.of(fresh.entries).units

    assert next_move(fresh.entries, fresh.seen()) == Ask(units[:3])
    fresh.entries.append(ItemAsked(EVALUATION, 2, *units[0], debate=fresh.open(units[0])))
    assert next_move(fresh.entries, fresh.seen()) == Ask(units[1:3])


def test_what_has_ended_is_scored_before_more_is_asked() -> None:
    fresh = world()
    units = Progress.of(fresh.entries).units
    fresh.entries.append(ItemAsked(EVALUATION, 2, *units[0], debate=fresh.open(units[0])))
    fresh.ended.add(fresh.opened[units[0]])

    assert next_move(fresh.entries, fresh.seen()) == Score((units[0],))


@pytest.mark.parametrize(("sets", "words"), [({}, "not at hand"), ({"set-a": OTHER_HASH}, "has " + OTHER_HASH)])
def test_a_set_that_vanishes_or_changes_stops_the_evaluation_for_good(sets: dict[str, str], words: str) -> None:
    running = world()
    random = Random(1)
    for _ in range(3):
        running.step(random, 0)

    move = next_move(running.entries, replace(running.seen(), sets=sets))

    assert isinstance(move, Stop)
    assert move.by == "set"
    assert words in move.why
    running.entries.append(EvaluationStopped(EVALUATION, len(running.entries), move.by, move.why))
    assert next_move(running.entries, running.seen()) == Rest("over")


def test_the_ceiling_is_never_passed_and_stops_before_the_unit_that_it_may_not_pay() -> None:
    poor = world(ceiling=250)
    poor.run(Random(3))

    progress = Progress.of(poor.entries)
    assert progress.stopped is not None
    assert progress.stopped.by == "ceiling"
    assert progress.spent <= 250 < progress.spent + 100
    assert progress.concluded is not None
    assert len(progress.scored) < len(progress.units)


def test_after_a_person_stopped_it_the_rest_is_scored_and_concluded() -> None:
    running = world()
    random = Random(2)
    running.step(random, 0)
    running.entries.append(EvaluationStopped(EVALUATION, len(running.entries), "person", "enough"))
    asked = len(running.opened)

    running.run(random)

    assert len(running.opened) == asked
    assert len(Progress.of(running.entries).scored) == asked
    assert isinstance(running.entries[-1], EvaluationConcluded)


def test_once_its_caller_is_revoked_nothing_more_is_asked_and_the_rest_is_scored_and_concluded() -> None:
    running = world()
    random = Random(2)
    running.step(random, 0)
    running.revoked = True
    asked = len(running.opened)

    running.run(random)

    progress = Progress.of(running.entries)
    assert progress.stopped is not None
    assert (progress.stopped.by, len(running.opened)) == ("revoked", asked)
    assert f"{len(progress.units) - asked} of {len(progress.units)} debates were not asked" in progress.stopped.why
    assert len(progress.scored) == asked
    assert progress.concluded is not None


def test_a_revocation_after_the_last_unit_was_asked_changes_nothing() -> None:
    whole, revoked = world(), world()
    random = Random(8)
    while len(Progress.of(revoked.entries).asked) < len(Progress.of(revoked.entries).units):
        revoked.step(random, 0)
    revoked.revoked = True

    assert revoked.run(random) == whole.run(Random(9))
    assert Progress.of(revoked.entries).stopped is None


def test_a_sequence_ends_at_the_first_look_that_decides_and_counts_the_whole_block() -> None:
    of = plan(stopping="sequence", look_every=4)
    decided = World(registered(of, 60), at_once=5, rightness=0)

    decided.run(Random(4))

    progress = Progress.of(decided.entries)
    assert progress.stopped is None
    assert progress.items_scored() % 4 == 0
    assert 0 < progress.items_scored() < 60
    assert len(progress.asked) == len(progress.scored) == progress.items_scored() * 2


def test_a_sequence_without_a_difference_asks_everything() -> None:
    even = World(registered(plan(stopping="sequence", look_every=4), 12), at_once=5, rightness=9)

    even.run(Random(5))

    assert Progress.of(even.entries).items_scored() == 12


def test_a_plan_that_is_changed_goes_on_under_the_hash_of_the_first() -> None:
    running = world()
    units = Progress.of(running.entries).units
    random = Random(6)
    while not Progress.of(running.entries).scored:
        running.step(random, 0)
    other = plan(margin=1)
    first = running.entries[0]
    assert isinstance(first, EvaluationRegistered)
    running.entries.append(replace(first, n=len(running.entries), plan=plan_members(other), plan_hash=plan_hash(other)))

    running.run(random)

    progress = Progress.of(running.entries)
    assert progress.units == units
    assert progress.concluded is not None
    assert progress.concluded.exploratory
