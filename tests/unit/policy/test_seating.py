"""Who sits where: apart where that can be, refused where policy demands it and a case breaks it, always the same."""

from __future__ import annotations

from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.adversarial import SEATS
from service.debate.model import Diversity, Pair
from service.errors import InvalidCase
from service.policy import Model, Policy, ProviderSetting, Seat, seating
from service.policy.settings import SHIPPED_POLICY, read_policy
from tests.fixtures.debates import PRICE

DAY = "2026-11-21"
SHIPPED = read_policy(SHIPPED_POLICY)
DEMANDS: tuple[Diversity, ...] = ("sameModel", "sameFamily", "crossFamily")
FAMILIES = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c1": "c", "c2": "c", "d1": "d"}
Table = dict[str, str]


def a_model(alias: str, family: str, **keys: Any) -> Model:
    fields: dict[str, Any] = {
        "alias": alias,
        "provider": "vendor",
        "name": f"{alias}-2026-01-01",
        "family": family,
        "tokenizer": "bytes/4",
        "safety_per_mille": 1_500,
        "context_window": 100_000,
        "prices": (PRICE,),
        "parameters": {"seed": 7},
        "overhead_tokens": 9,
        **keys,
    }
    return Model(**fields)


def a_policy(seats: dict[str, str], demand: Diversity = "sameModel", floating_names: bool = True) -> Policy:
    """A policy of these seats, each written as ``model,alternative/fallback``; framing has ``a1`` unless it is said."""
    models = {alias: a_model(alias, family) for alias, family in FAMILIES.items()}
    models["f1"] = a_model("f1", "f", name="f", snapshot=False)
    found = {}
    for name, written in {"framing": "a1", **seats}.items():
        choices, _, fallback = written.partition("/")
        first, *others = choices.split(",")
        found[name] = Seat(first, 1_000, tuple(others), fallback or None)
    debate = msgspec.structs.replace(SHIPPED.debate, diversity=demand, floating_names=floating_names)
    return msgspec.structs.replace(
        SHIPPED,
        seats=found,
        models=models,
        providers={"vendor": ProviderSetting(kind="openai-compatible", base_url="https://vendor.example")},
        debate=debate,
    )


def seated(policy: Policy, **asked: str) -> Table:
    """Who sits where, each with its fallback behind a slash."""
    plans = seating.seats(policy, seating.ADVERSARIAL, asked, DAY)
    assert tuple(plan.seat for plan in plans) == SEATS
    return {p.seat: p.model + (f"/{p.fallback.model}" if p.fallback else "") for p in plans if p.seat != "framing"}


TABLES: dict[str, tuple[Table, Table]] = {
    "one model each": (
        {"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "c1"},
        {"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "c1"},
    ),
    "the moderator turns to its second model": (
        {"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "a1,b1,c1"},
        {"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "c1"},
    ),
    "whoever can step aside does": (
        {"proposer": "a1,b1", "critic": "a2", "rebuttal": "b2", "moderator": "c1"},
        {"proposer": "b1", "critic": "a2", "rebuttal": "b2", "moderator": "c1"},
    ),
    "of two that could, the later seat does": (
        {"proposer": "a1,b1", "critic": "a2,b2", "rebuttal": "d1", "moderator": "c1"},
        {"proposer": "a1", "critic": "b2", "rebuttal": "d1", "moderator": "c1"},
    ),
    "another model of the family is better than the same": (
        {"proposer": "a1", "critic": "a1,a2", "rebuttal": "b1", "moderator": "c1"},
        {"proposer": "a1", "critic": "a2", "rebuttal": "b1", "moderator": "c1"},
    ),
    "rebuttal and proposer are of one side": (
        {"proposer": "a1", "critic": "b1", "rebuttal": "a1", "moderator": "c1"},
        {"proposer": "a1", "critic": "b1", "rebuttal": "a1", "moderator": "c1"},
    ),
    "one step of an early seat is better than two of a later one": (
        {"proposer": "a1,d1", "critic": "a2,a1,b1", "rebuttal": "d1", "moderator": "c1"},
        {"proposer": "d1", "critic": "a2", "rebuttal": "d1", "moderator": "c1"},
    ),
    "a fallback counts where all else is equal": (
        {"proposer": "a1", "critic": "b1/c2", "rebuttal": "a2", "moderator": "c1,d1"},
        {"proposer": "a1", "critic": "b1/c2", "rebuttal": "a2", "moderator": "d1"},
    ),
    "a fallback that has become the model is none": (
        {"proposer": "a1", "critic": "a2,b1/b1", "rebuttal": "a2", "moderator": "c1"},
        {"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "c1"},
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_seats_that_challenge_each_other_get_models_of_different_families_where_possible(name: str) -> None:
    written, expected = TABLES[name]
    assert seated(a_policy(written)) == expected


def test_what_policy_demands_of_fallbacks_goes_before_what_would_be_better_without_a_demand() -> None:
    """The moderator's first model is the critic's fallback: different models are demanded, families are only wished."""
    table = {"proposer": "a1", "critic": "b1/c1", "rebuttal": "a2", "moderator": "c1,b2"}

    assert seated(a_policy(table))["moderator"] == "c1"
    assert seated(a_policy(table, "sameFamily"))["moderator"] == "b2"


def test_a_plan_says_everything_that_a_call_and_its_charge_need() -> None:
    policy = a_policy({"proposer": "a1/b1", "critic": "b1", "rebuttal": "a2", "moderator": "c1"})
    plan = seating.seats(policy, seating.ADVERSARIAL, {}, DAY)[1]

    assert (plan.model, plan.provider, plan.model_name, plan.family) == ("a1", "vendor", "a1-2026-01-01", "a")
    assert (plan.wire, plan.overhead_tokens, plan.safety_per_mille) == ("openai-compatible", 9, 1_500)
    assert (plan.allowance, plan.context_window, plan.parameters, plan.price) == (1_000, 100_000, {"seed": 7}, PRICE)
    assert plan.fallback is not None
    assert (plan.fallback.model, plan.fallback.seat, plan.fallback.allowance) == ("b1", "proposer", 1_000)
    assert plan.fallback.fallback is None


def test_the_pairs_are_recorded_and_the_table_is_as_diverse_as_the_nearest_of_them() -> None:
    policy = a_policy({"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "b1"})
    plans = seating.seats(policy, seating.ADVERSARIAL, {}, DAY)

    assert seating.pairs(plans) == (
        Pair(("moderator", "proposer"), "crossFamily"),
        Pair(("moderator", "rebuttal"), "crossFamily"),
        Pair(("moderator", "critic"), "sameModel"),
        Pair(("critic", "proposer"), "crossFamily"),
        Pair(("critic", "rebuttal"), "crossFamily"),
    )
    assert seating.diversity(plans) == "sameModel"


def test_two_aliases_of_one_name_are_one_model() -> None:
    one, again = a_model("a1", "a"), a_model("again", "a", name="a1-2026-01-01")

    assert seating.distance(one, again) == "sameModel"
    assert seating.distance(one, a_model("other", "b", name="a1-2026-01-01")) == "crossFamily"


# -- what a case names


APART = {"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "c1"}


def test_a_model_that_a_case_names_wins_and_the_others_step_aside() -> None:
    policy = a_policy({**APART, "moderator": "c1,d1", "critic": "b1/b2"})

    assert seated(policy, critic="c2") == {**APART, "critic": "c2", "moderator": "d1"}
    assert seated(policy, proposer="b2") == {**APART, "proposer": "b2", "critic": "b1/b2"}


def refusal(policy: Policy, **asked: str) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(InvalidCase) as error:
        seating.seats(policy, seating.ADVERSARIAL, asked, DAY)
    return error.value.detail, error.value.pointers


def test_a_model_that_breaks_what_policy_demands_is_refused_with_the_pair_and_a_way_out() -> None:
    said, pointers = refusal(a_policy(APART, "crossFamily"), critic="a2")

    assert pointers == ("/options/models/critic",)
    assert "'critic' (a2) and 'proposer' (a1) would have models of one family" in said
    assert said.endswith("name for 'critic' one of: b1, b2, d1, f1")
    assert seated(a_policy(APART, "sameFamily"), critic="d1") == {**APART, "critic": "d1"}


def test_both_seats_are_pointed_at_where_a_case_names_both() -> None:
    said, pointers = refusal(a_policy(APART, "sameFamily"), critic="d1", moderator="d1")

    assert pointers == ("/options/models/moderator", "/options/models/critic")
    assert "would have the same model" in said


def test_fallbacks_that_a_cases_models_make_impossible_are_left_out_and_the_others_stay() -> None:
    policy = a_policy({"proposer": "a1/a2", "critic": "b1/b2", "rebuttal": "a2", "moderator": "c1/d1"}, "crossFamily")

    assert seated(policy) == {"proposer": "a1/a2", "critic": "b1/b2", "rebuttal": "a2", "moderator": "c1/d1"}
    assert seated(policy, critic="d1") == {"proposer": "a1/a2", "critic": "d1", "rebuttal": "a2", "moderator": "c1"}


def test_a_floating_name_is_refused_where_policy_refuses_them() -> None:
    assert seated(a_policy(APART), critic="f1")["critic"] == "f1"

    said, pointers = refusal(a_policy(APART, floating_names=False), critic="f1")

    assert pointers == ("/options/models/critic",)
    assert "'f1'" in said
    assert "f1" not in said.partition("name one of: ")[2]


def test_a_model_without_a_price_yet_is_refused() -> None:
    with pytest.raises(InvalidCase, match="'a1' has no price in force on 2025-12-31"):
        seating.seats(a_policy(APART), seating.ADVERSARIAL, {}, "2025-12-31")


# -- always


aliases = st.sampled_from([*FAMILIES])
seat = st.tuples(st.lists(aliases, min_size=1, max_size=3, unique=True), st.none() | aliases)
tables = st.fixed_dictionaries(dict.fromkeys(("proposer", "critic", "rebuttal", "moderator"), seat))


def written(table: dict[str, tuple[list[str], str | None]]) -> Table:
    return {name: ",".join(models) + (f"/{fallback}" if fallback else "") for name, (models, fallback) in table.items()}


def near(one: str, other: str) -> int:
    """How near two models are: 2 for the same, 1 for one family. An oracle of its own."""
    return 2 if one == other else int(FAMILIES[one] == FAMILIES[other])


PAIRS = [("moderator", s) for s in ("proposer", "rebuttal", "critic")] + [
    ("critic", s) for s in ("proposer", "rebuttal")
]


@given(table=tables)
def test_no_other_table_has_fewer_pairs_of_one_model_or_as_few_and_fewer_of_one_family(
    table: dict[str, tuple[list[str], str | None]],
) -> None:
    def cost(chosen: Table) -> tuple[int, int]:
        found = [near(chosen[one], chosen[other]) for one, other in PAIRS]
        return found.count(2), found.count(1)

    chosen = {p.seat: p.model for p in seating.seats(a_policy(written(table)), seating.ADVERSARIAL, {}, DAY)}

    every = [dict(zip(table, models, strict=True)) for models in product(*(models for models, _ in table.values()))]
    assert cost(chosen) == min(map(cost, every))
    assert all(chosen[name] in models for name, (models, _) in table.items())


@given(table=tables, demand=st.sampled_from(DEMANDS), asked=st.dictionaries(st.sampled_from(SEATS[1:]), aliases))
def test_a_table_that_is_given_out_holds_what_is_demanded_in_every_mix_of_models_and_fallbacks(
    table: dict[str, tuple[list[str], str | None]], demand: Diversity, asked: Table
) -> None:
    policy = a_policy(written(table), demand)
    try:
        plans = seating.seats(policy, seating.ADVERSARIAL, asked, DAY)
    except InvalidCase:
        assert demand != "sameModel"
        return

    assert asked == {p.seat: p.model for p in plans if p.seat in asked}
    speakers = {p.seat: [p.model, *([p.fallback.model] if p.fallback else [])] for p in plans}
    nearest = max(near(a, b) for one, other in PAIRS for a in speakers[one] for b in speakers[other])
    assert nearest <= 2 - DEMANDS.index(demand)
    assert seating.ORDER.index(seating.diversity(plans)) >= DEMANDS.index(demand)


@given(table=tables, demand=st.sampled_from(DEMANDS))
def test_policy_s_own_table_is_taken_whole_or_clashes(
    table: dict[str, tuple[list[str], str | None]], demand: Diversity
) -> None:
    """What the start checks (`clashes`) and what a debate gets (`seats`) are of one mind."""
    policy = a_policy(written(table), demand)
    places = seating.choose(policy, seating.ADVERSARIAL)

    if seating.clashes(places, seating.SeatingRules(seating.APART, demand)):
        choices = {name: models for name, (models, _) in table.items()}
        assert all(
            max(near(*pair) for one, other in PAIRS for pair in product(spoken[one], spoken[other]))
            > 2 - DEMANDS.index(demand)
            for models in product(*choices.values())
            for spoken in [{n: {m, table[n][1] or m} for n, m in zip(choices, models, strict=True)}]
        ), "another table would have held"
        return
    plans = seating.seats(policy, seating.ADVERSARIAL, {}, DAY)
    assert [(p.seat, p.model) for p in plans] == [(p.seat, p.model.alias) for p in places]
    assert [p.fallback and p.fallback.model for p in plans] == [p.fallback and p.fallback.alias for p in places]
