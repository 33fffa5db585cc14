"""What a plan says beforehand about what it could see."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.evaluation.plan.around import SetFacts
from service.evaluation.plan.model import Comparison, Effect, PlannedSet, Split
from service.evaluation.plan.power import FEWEST, ON_A_SIDE, Counted, own_power, planned_units, power_of, scaled
from service.evaluation.plan.reading import read_plan
from service.evaluation.statistics import compute
from tests.fixtures.evaluation_plans import CRITIC, HASH, LIFT, around, items
from tests.fixtures.evaluations import moderator_plan


def with_pairs(**pairs: tuple[int, int]) -> SetFacts:
    """A set with so many open and held pairs of each feature."""
    by_split: tuple[tuple[str, dict[Split, int]], ...] = tuple(
        (feature, {"open": open_, "held": held}) for feature, (open_, held) in pairs.items()
    )
    return SetFacts(1, HASH, "pairs", items(200), features=by_split)


def test_a_lift_is_told_for_three_effects() -> None:
    held_against = around({"contract-review-questions": SetFacts(1, HASH, "questions", items(61))})
    plan = read_plan(LIFT, held_against)

    power = power_of(plan, planned_units(plan, held_against))

    assert (power.n, power.counted, power.alpha) == (61, "items", 0.05)
    assert [(row.name, row.effect.gain) for row in power.rows] == [("expected", 250), ("half", 150), ("twice", 450)]
    assert 0.79 < power.rows[0].power < 0.82  # 61 items see 25 % against 5 % in 80 % of runs
    assert power.rows[1].power < power.rows[0].power < power.rows[2].power
    assert power.rows[0].needed == 61


def test_the_smallest_visible_effect_is_seen_and_the_next_smaller_one_is_not() -> None:
    held_against = around()
    plan = read_plan(LIFT, held_against)
    counted = planned_units(plan, held_against)

    visible = power_of(plan, counted).visible

    assert visible is not None
    assert visible.gain is not None
    smaller = Effect(gain=visible.gain - 10, loss=visible.loss)
    assert own_power(replace(plan, effect=visible), counted) >= 0.8 > own_power(replace(plan, effect=smaller), counted)


def test_more_comparisons_leave_less_power() -> None:
    held_against = around()
    plan = read_plan(LIFT, held_against)
    two = replace(plan, comparisons=(*plan.comparisons, Comparison("debate", "single")))

    assert power_of(two, planned_units(two, held_against)).alpha == 0.025
    assert own_power(two, planned_units(two, held_against)) < own_power(plan, planned_units(plan, held_against))


def test_items_of_one_group_count_once() -> None:
    held_against = around({"contract-review-questions": SetFacts(1, HASH, "questions", items(200, groups=100))})
    plan = read_plan(LIFT.replace('groups = "single"', 'groups = "whole"'), held_against)

    counted = planned_units(plan, held_against)

    assert (counted.n, counted.name) == (100, "groups")


def test_a_critics_power_is_that_of_the_smallest_task_type() -> None:
    sizes = {"contract": 44, "security": 22}
    sets = {name: SetFacts(1, HASH, "critic", items(n), task_type=name) for name, n in sizes.items()}
    plan = read_plan(CRITIC, around())
    planned = tuple(replace(plan.sets[0], id=name, sha256=HASH) for name in sizes)

    counted = planned_units(replace(plan, sets=planned), around(sets))

    assert (counted.n, counted.second) == (11, 11)


def test_a_critic_passes_as_often_as_its_rule_says() -> None:
    held_against = around()
    plan = read_plan(CRITIC, held_against)
    counted = planned_units(plan, held_against)
    good = replace(plan, effect=Effect(hits=900, alarms=100))

    assert (counted.n, counted.second) == (40, 40)
    assert 0.99 < own_power(good, counted) < 1  # the note of evaluations has 99.7 %
    assert 0.02 < own_power(replace(plan, effect=Effect(hits=600, alarms=100)), counted) < 0.05  # and 3.5 %


def test_a_moderator_is_seen_at_the_strictest_step_over_all_that_its_audit_asks() -> None:
    plan = moderator_plan(effect=Effect(share=600))
    counted = Counted(176, "items")

    power = power_of(plan, counted)

    assert power.alpha == 0.05 / 6  # place, side, four features
    assert own_power(plan, counted) == compute("binomial_power", {"n": 176, "p": 0.6, "alpha": 0.05 / 6})["power"]
    assert 0.4 < power.rows[0].power < 0.6  # 74 % without the adjustment


def test_a_preference_counts_the_items_of_the_rarest_feature_in_the_splits_that_are_asked() -> None:
    sets = {
        "a": with_pairs(length=(50, 20), confident=(3, 4), family=(0, 0)),
        "b": with_pairs(length=(5, 40), confident=(11, 1), family=(0, 2)),
    }
    asked = (PlannedSet("a", 1, HASH, "held"), PlannedSet("b", 1, HASH, "open"), PlannedSet("gone", 1, HASH, "open"))
    plan = moderator_plan(metric="preference", sets=asked)

    assert planned_units(plan, around(sets)) == Counted(30, "items with the rarest feature (confident)")
    assert planned_units(replace(plan, sets=asked[2:]), around(sets)).n == 0
    assert planned_units(replace(plan, metric="tilt"), around(sets)).name == "items"


def test_a_preference_is_seen_as_often_as_fishers_test_sees_it_with_half_of_the_items_on_either_side() -> None:
    plan = moderator_plan(metric="preference", effect=Effect(share=850))

    power = power_of(plan, Counted(26, "items"))

    given = {"favoured": 13, "other": 13, "p": 0.85, "alpha": 0.05 / 6}
    assert power.rows[0].power == compute("preference_power", given)["power"]
    assert 0.8 < power.rows[0].power < 0.83
    assert own_power(replace(plan, metric="tilt"), Counted(80, "items")) > 0.99  # what all held items would have said
    assert power.visible == Effect(share=850)  # as the page has it for 26 held items


def test_the_power_of_more_items_than_are_summed_over_is_that_of_so_many() -> None:
    plan = moderator_plan(metric="preference", effect=Effect(share=600))

    most, more = (own_power(plan, Counted(n, "items")) for n in (2 * ON_A_SIDE, 20_000))

    assert most == more
    assert most > own_power(plan, Counted(2 * ON_A_SIDE - 2, "items"))


@pytest.mark.parametrize("metric", ["position", "tilt", "preference"])
def test_under_23_cases_a_moderator_plan_sees_nothing(metric: str) -> None:
    plan = moderator_plan(metric=metric, effect=Effect(share=1000))

    few = power_of(plan, Counted(FEWEST - 1, "items"))

    assert ([row.power for row in few.rows], few.visible) == ([0.0, 0.0, 0.0], None)
    assert own_power(plan, Counted(FEWEST, "items")) == pytest.approx(1.0)


def test_an_effect_scales_from_where_nothing_is_seen() -> None:
    assert scaled(Effect(gain=250, loss=50), 0.5) == Effect(gain=150, loss=50)
    assert scaled(Effect(gain=900, loss=50), 2) == Effect(gain=950, loss=50)
    assert scaled(Effect(hits=900, alarms=100), 0.5) == Effect(hits=500, alarms=100)
    assert scaled(Effect(share=600), 0.5) == Effect(share=550)
