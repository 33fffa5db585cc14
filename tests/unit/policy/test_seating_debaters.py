"""Who debates and who decides: drawn from one pool, families first, and never one model at seats that stay apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.kernel import FORMATS
from service.debate.model import (
    BallotOptions,
    ConvergenceOptions,
    Debater,
    Diversity,
    Options,
    PanelOptions,
    SeatPlan,
    StancesOptions,
)
from service.debate.options import role_of
from service.errors import InvalidCase
from service.policy import Policy, Seat, seating
from tests.unit.policy.test_seating import DAY, FAMILIES, SHIPPED, a_policy, near

Asked = dict[str, str]


def pooled(pool: str, demand: Diversity = "sameModel", **seats: str) -> Policy:
    """A policy with this pool of debaters and these seats, each written as ``model,alternative/fallback``."""
    usual = {"judge": "c1", "synthesizer": "c1", "adjudicator": "c2", "classifier": "a1"}
    return a_policy({"debater": pool, **usual, **seats}, demand)


def stances(count: int, **changes: Any) -> StancesOptions:
    return StancesOptions(tuple(Debater(f"n{i}", "x") for i in range(count)), 2, human_review=False, **changes)


def panel(count: int, **changes: Any) -> PanelOptions:
    return PanelOptions(
        count, 3, human_review=False, question_type="factual", typed_by="rules", thresholds={}, **changes
    )


def convergence(count: int, **changes: Any) -> ConvergenceOptions:
    return ConvergenceOptions(count, 2, human_review=False, **changes)


def seated(policy: Policy, options: Options, ranked: Sequence[str] | None = None, /, **asked: str) -> list[SeatPlan]:
    named = {seat.replace("_", "-"): alias for seat, alias in asked.items()}
    table = seating.choose_table(options)
    plans = seating.seats(policy, table, named, DAY, ranked)
    assert [plan.seat for plan in plans] == list(table.seats)
    return list(plans)


def debaters(plans: list[SeatPlan]) -> str:
    """The models of the debaters in their order, each with its fallback behind a slash."""
    found = [p for p in plans if role_of(p.seat) == "debater"]
    return ",".join(p.model + (f"/{p.fallback.model}" if p.fallback else "") for p in found)


def refusal(policy: Policy, options: Options, ranked: Sequence[str] | None = None, /, **asked: str) -> InvalidCase:
    with pytest.raises(InvalidCase) as error:
        seated(policy, options, ranked, **asked)
    return error.value


DRAWN: dict[str, tuple[str, int, str]] = {
    "the first of each family": ("a1,a2,b1,b2", 2, "a1,b1"),
    "then another model of a family": ("a1,a2,b1,b2", 3, "a1,b1,a2"),
    "then the other's": ("a1,a2,b1,b2", 4, "a1,b1,a2,b2"),
    "then a model again": ("a1,a2,b1,b2", 5, "a1,b1,a2,b2,a1"),
    "by preference": ("d1,a1,b1", 2, "d1,a1"),
    "not of the judge's family": ("a1,c2,b1", 2, "a1,b1"),
    "not of the judge's family where another will do": ("c2,a1,b1", 2, "a1,b1"),
    "one family as well as it can": ("a1,a2", 3, "a1,a2,a1"),
    "one model where there is no other": ("a1", 3, "a1,a1,a1"),
    "with a fallback": ("a1,b1/d1", 2, "a1/d1,b1/d1"),
    "without one that is the model itself": ("a1,b1/b1", 2, "a1/b1,b1"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_debaters_are_drawn_families_first_then_models_then_by_preference(name: str) -> None:
    pool, count, expected = DRAWN[name]

    assert debaters(seated(pooled(pool), stances(count))) == expected


def test_a_judge_steps_aside_where_another_makes_a_better_table() -> None:
    plans = seated(pooled("a1,c2", judge="a2,d1"), stances(2, synthesizer=False))

    assert [plan.model for plan in plans] == ["a1", "c2", "d1"]


def test_a_ballot_has_debaters_alone_and_convergence_a_judge_if_it_is_asked_for() -> None:
    ballot = BallotOptions((Debater("a"), Debater("b")), 1, ("x", "escalate"), 2, human_review=False)

    assert [plan.model for plan in seated(pooled("a1,b1"), ballot)] == ["a1", "b1"]
    assert [plan.model for plan in seated(pooled("a1,b1"), convergence(2, judge=False))] == ["a1", "b1"]
    assert [plan.model for plan in seated(pooled("a1,b1"), convergence(2))] == ["a1", "b1", "c1"]


def test_every_debater_may_say_as_much_as_the_pool_allows() -> None:
    plans = seated(pooled("a1,b1"), stances(2))

    assert {plan.allowance for plan in plans} == {1_000}
    assert [plan.model_name for plan in plans[:2]] == ["a1-2026-01-01", "b1-2026-01-01"]


# -- a panel


def models(plans: list[SeatPlan], role: str) -> set[str]:
    return {plan.model for plan in plans if role_of(plan.seat) == role}


def test_no_model_debates_and_decides_in_a_panel_though_policy_demands_nothing() -> None:
    plans = seated(pooled("a1,b1,c1,c2", synthesizer="c1,d1", adjudicator="a1,c2"), panel(3, adjudicator="model"))

    roles = [models(plans, role) for role in ("debater", "synthesizer", "adjudicator")]
    assert all(one.isdisjoint(other) for one, other in combinations(roles, 2))


def test_a_debater_steps_aside_for_a_synthesizer_without_alternatives() -> None:
    assert debaters(seated(pooled("c1,a1,b1"), panel(2))) == "a1,b1"


def test_a_panel_whose_synthesizer_would_have_debated_is_refused() -> None:
    error = refusal(pooled("c1"), panel(2))

    assert error.pointers == ("/options",)
    assert error.detail.startswith(
        "a panel requires different models at seats that challenge each other; 'synthesizer'"
    )


@pytest.mark.parametrize(
    ("asked", "pointers"),
    [
        ({"synthesizer": "a1"}, None),
        ({"synthesizer": "a1", "debater_1": "a1"}, ("/options/models/synthesizer", "/options/models/debater-1")),
        ({"synthesizer": "b1", "debater": "b1"}, ("/options/models/synthesizer", "/options/models/debater")),
        ({"adjudicator": "c1", "synthesizer": "c1"}, ("/options/models/adjudicator", "/options/models/synthesizer")),
        ({"adjudicator": "c1"}, ("/options/models/adjudicator",)),
    ],
    ids=str,
)
def test_models_that_a_case_names_for_a_panel_are_held_to_it(asked: Asked, pointers: tuple[str, ...] | None) -> None:
    policy, options = pooled("a1,b1,a2"), panel(2, adjudicator="model")
    if pointers is None:
        assert "a1" not in debaters(seated(policy, options, None, **asked))
        return
    error = refusal(policy, options, None, **asked)

    assert error.pointers == pointers
    assert "name for" in error.detail


def test_a_fallback_that_debates_is_left_out_of_a_panels_synthesizer() -> None:
    plans = seated(pooled("a1,b1", synthesizer="c1/a1"), panel(2))
    kept = seated(pooled("a1,b1", synthesizer="c1/c2"), panel(2))

    assert plans[-1].fallback is None
    assert kept[-1].fallback is not None


# -- what a case names


def test_a_model_is_named_for_one_debater_or_for_all_and_the_others_step_aside() -> None:
    policy = pooled("a1,b1,a2,b2")

    assert debaters(seated(policy, stances(3), debater_2="a1")) == "b1,a1,a2"
    assert debaters(seated(policy, stances(3), debater="d1")) == "d1,d1,d1"
    assert debaters(seated(policy, stances(3), debater="d1", debater_3="c2")) == "d1,d1,c2"


def test_debaters_nearer_than_policy_demands_are_refused_with_a_way_out() -> None:
    policy = pooled("a1,b1,d1", "crossFamily")

    error = refusal(policy, stances(3), debater_2="a2", debater_3="a1")
    assert error.pointers == ("/options/models/debater-3", "/options/models/debater-2")
    assert "models of families" not in error.detail
    assert "different families" in error.detail
    assert debaters(seated(policy, stances(3), debater_2="a2")) == "b1,a2,d1"


def test_more_debaters_than_policy_s_pool_has_families_are_refused_where_it_demands_them() -> None:
    error = refusal(pooled("a1,b1,a2", "crossFamily"), stances(3))

    assert error.pointers == ("/options",)
    assert "ask for fewer debaters" in error.detail


# -- an automatic choice


def test_the_pool_in_another_order_changes_who_comes_first_and_not_that_families_do() -> None:
    policy = pooled("a1,b1,a2,b2")

    assert debaters(seated(policy, panel(2), ["b2", "b1", "a2", "a1"])) == "b2,a2"
    assert debaters(seated(policy, panel(3), ["b2", "b1", "a2", "a1"])) == "b2,a2,b1"


def test_an_automatic_choice_of_one_family_is_refused() -> None:
    assert refusal(pooled("a1,a2"), panel(2), ["a1", "a2"]).pointers == ("/options/mode",)
    assert debaters(seated(pooled("a1,a2"), panel(2))) == "a1,a2"


# -- always


aliases = st.sampled_from([*FAMILIES])
pools = st.lists(aliases, min_size=1, max_size=7, unique=True)
lists = st.lists(aliases, min_size=1, max_size=4, unique=True)
every = st.one_of(
    st.builds(stances, st.integers(2, 6), synthesizer=st.booleans()),
    st.builds(panel, st.integers(2, 10), adjudicator=st.sampled_from(["algorithmic", "model"])),
    st.builds(convergence, st.integers(2, 10), judge=st.booleans()),
)


@given(
    pools,
    lists,
    lists,
    every,
    st.sampled_from(["sameModel", "sameFamily", "crossFamily"]),
    st.dictionaries(st.sampled_from(["debater", "debater_1", "judge", "synthesizer"]), aliases, max_size=2),
)
def test_a_table_that_is_given_out_holds_what_its_format_and_policy_demand(
    pool: list[str], deciding: list[str], scoring: list[str], options: Options, demand: Diversity, asked: Asked
) -> None:
    policy = pooled(
        ",".join(pool), demand, judge=",".join(deciding), synthesizer=",".join(deciding), adjudicator=",".join(scoring)
    )
    table = seating.choose_table(options)
    try:
        plans = {plan.seat: plan for plan in seated(policy, options, None, **asked)}
    except InvalidCase:
        return

    nearest = {"sameModel": 2, "sameFamily": 1, "crossFamily": 0}[demand]
    for one, other in table.apart:
        apart = near(plans[one].model, plans[other].model)
        strict = bool({one, other} & {"synthesizer", "adjudicator"})
        assert apart <= min(nearest, 1 if strict else 2), (one, other)
    for seat, plan in plans.items():
        named = asked.get(seat.replace("-", "_"), asked.get(role_of(seat)))
        assert plan.model == named if named else plan.model in _allowed(policy, seat)


def _allowed(policy: Policy, seat: str) -> tuple[str, ...]:
    rules = policy.seats[role_of(seat)]
    return (rules.model, *rules.alternatives)


@given(pools, st.integers(2, 6), lists)
def test_no_choice_of_debaters_beside_the_same_judge_has_fewer_families_in_common(
    pool: list[str], count: int, deciding: list[str]
) -> None:
    """Greedy drawing is as good as looking at every choice, as far as families go: an oracle of its own counts."""
    plans = seated(pooled(",".join(pool), judge=",".join(deciding)), stances(count, synthesizer=False))
    judge = plans[-1].model

    def families(chosen: list[str]) -> int:
        found = [FAMILIES[alias] for alias in (*chosen, judge)]
        return sum(one == other for one, other in combinations(found, 2))

    best: dict[tuple[str, ...], int] = {(): 0}
    for _ in range(count):
        best = {
            tuple(sorted((*chosen, alias))): 0 for chosen in best for alias in {FAMILIES[p]: p for p in pool}.values()
        }
    assert families([plan.model for plan in plans[:-1]]) == min(families(list(chosen)) for chosen in best)


def test_the_table_of_every_format_is_seated_as_policy_is_shipped() -> None:
    assert SHIPPED.offered == tuple(name.partition("/")[0] for name in FORMATS)
    for options in (stances(2), panel(3, adjudicator="model"), panel(5, adjudicator="model"), convergence(3)):
        plans = seated(SHIPPED, options)
        deciding = {plan.family for plan in plans if role_of(plan.seat) not in ("debater", "classifier")}
        assert deciding.isdisjoint({plan.family for plan in plans if role_of(plan.seat) == "debater"})


def test_the_largest_table_with_the_most_to_choose_from_is_seated_all_the_same() -> None:
    policy = pooled(",".join(FAMILIES), synthesizer="a1,b1,c1,d1", adjudicator="a2,b2,c2,d1")
    many = replace(policy, seats={**policy.seats, "debater": Seat("a1", 1_000, tuple(FAMILIES)[1:])})

    assert len(seated(many, panel(10, adjudicator="model"))) == 12
