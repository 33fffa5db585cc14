"""A plan file becomes a plan, and a file with faults is refused with all of them, each at its place."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from service.audit.evaluation_events import ArmQuote
from service.errors import TooLarge
from service.evaluation.plan.around import Around, SetFacts
from service.evaluation.plan.model import (
    Arm,
    Comparison,
    Plan,
    decode_plan,
    encode_plan,
    plan_hash,
    plan_members,
    plan_of,
)
from service.evaluation.plan.reading import read_plan
from service.evaluation.plan.tables import InvalidPlan
from tests.fixtures.evaluation_plans import CRITIC, HASH, LIFT, OTHER_HASH, PINS, around, items


def refused(text: str, held_against: Around | None = None) -> dict[str, str]:
    """The faults of a file by their places."""
    with pytest.raises(InvalidPlan) as caught:
        read_plan(text, held_against or around())
    return {"".join(part.pointers): part.detail for part in caught.value.parts}


def test_a_plan_has_what_its_file_says_in_whole_numbers() -> None:
    plan = read_plan(LIFT, around())

    assert (plan.alpha, plan.margin, plan.missing_limit, plan.ceiling) == (50, 100, 50, 25_000_000)
    assert plan.arms[0] == Arm("debate", "debate", format="adversarial", options={"maxRounds": 2})
    assert plan.arms[1] == Arm("vote", "vote", drafts=5)
    assert plan.comparisons == (Comparison("debate", "vote"),)
    assert plan.models == {}
    assert plan.pins == PINS


def test_a_critics_plan_compares_no_arms() -> None:
    plan = read_plan(CRITIC, around())

    assert plan.comparisons == ()
    assert plan.arms == (Arm("critic", "critic", until="critic"),)
    assert (plan.effect.hits, plan.effect.alarms, plan.effect.gain) == (950, 50, None)


def test_the_hash_is_that_of_the_canonical_json() -> None:
    plan = read_plan(LIFT, around())

    canonical = json.dumps(json.loads(encode_plan(plan)), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert encode_plan(plan) == canonical.encode()
    assert plan_hash(plan) == sha256(canonical.encode()).hexdigest()
    assert decode_plan(encode_plan(plan)) == plan
    assert plan_of(plan_members(plan)) == plan


def test_no_number_of_a_plan_is_a_float() -> None:
    def numbers(value: object) -> list[object]:
        if isinstance(value, dict):
            return [one for inner in value.values() for one in numbers(inner)]
        if isinstance(value, list):
            return [one for inner in value for one in numbers(inner)]
        return [value]

    assert not [one for one in numbers(json.loads(encode_plan(read_plan(LIFT, around())))) if isinstance(one, float)]


def test_the_order_of_tables_in_the_file_changes_no_hash_and_a_margin_does() -> None:
    head, _, rest = LIFT.partition("[[sets]]")
    turned = "[[sets]]" + rest + "\n" + head

    assert plan_hash(read_plan(turned, around())) == plan_hash(read_plan(LIFT, around()))
    moved = LIFT.replace("margin = 0.10", "margin = 0.11")
    assert plan_hash(read_plan(moved, around())) != plan_hash(read_plan(LIFT, around()))


def test_all_faults_come_at_once_each_at_its_place() -> None:
    text = (
        LIFT.replace("repeats = 1", "repeats = 2\nrepeat = 3")
        .replace("margin = 0.10\n", "")
        .replace('missing = "wrong"\n', "")
        .replace('split = "open"', 'split = "held"')
        .replace("max_rounds = 2", 'max_round = 2, max_rounds = "two"')
        .replace('second = "vote"', 'second = "votes"')
        .replace("gain = 0.25", "gain = 1.25")
    )

    found = refused(text)

    assert set(found) == {
        "/plan/repeat",
        "/plan/repeats",
        "/plan/margin",
        "/plan/missing",
        "/sets/0/split",
        "/arms/0/options/max_round",
        "/arms/0/options/max_rounds",
        "/comparisons/0/second",
        "/effect/gain",
    }
    assert "did you mean 'repeats'" in found["/plan/repeat"]
    assert "odd" in found["/plan/repeats"]
    assert "validator" in found["/sets/0/split"]


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("margin = 0.10\n", "", "/plan/margin", "missing"),
        ('missing = "wrong"\n', "", "/plan/missing", "missing"),
        ("repeats = 1", "repeats = 4", "/plan/repeats", "odd number"),
        ("alpha = 0.05", "alpha = 0.00005", "/plan/alpha", "share from 0.001"),
        ("margin = 0.10", "margin = 0.1001", "/plan/margin", "three decimals"),
        ("margin = 0.10", "margin = true", "/plan/margin", "share"),
        ('seed = "first"', "seed = 3", "/plan/seed", "text"),
        ('ceiling_usd = "25.00"', 'ceiling_usd = "0"', "/plan/ceiling_usd", "above 0"),
        ('kind = "lift"', 'kind = "lifts"', "/plan/kind", "did you mean 'lift'"),
        ('id = "contract-review-questions"', 'id = "contract-review-question"', "/sets/0/id", "there is no set"),
        ("version = 1", "version = 2", "/sets/0/version", "expected version 1"),
        (HASH, "ab" * 32, "/sets/0/sha256", "have the hash"),
        (HASH, "ab", "/sets/0/sha256", "64 hexadecimal"),
        ('does = "vote"\ndrafts = 5', 'does = "vote"', "/arms/1/drafts", "missing"),
        ('name = "vote"', 'name = "debate"', "/arms/1/name", "used twice"),
        ('does = "single"', 'does = "single"\ndrafts = 3', "/arms/2/drafts", "no such member"),
        ('format = "adversarial"', 'format = "adversarail"', "/arms/0/format", "did you mean"),
        ("max_rounds = 2", 'models = { critic = "quick" }', "/arms/0/options/models", "[models]"),
        ('second = "vote"', 'second = "debate"', "/comparisons/0/second", "with itself"),
        ("gain = 0.25", "gain = 0.04", "/effect/gain", "above the loss"),
        ("gain = 0.25", "gain = 0.99", "/effect", "at most 1"),
        ("gain = 0.25", "gain = 0.12", "/effect/gain", "margin"),
        ("[effect]", "[surprise]\n[effect]", "/surprise", "no such member"),
        ("[effect]", '[models]\ncritic = "quik"\n[effect]', "/models/critic", "did you mean 'quick'"),
        ("[effect]", '[pins]\npolicy = "00"\n[effect]', "/pins/policy", "runs here"),
    ],
)
def test_one_fault_is_named_where_it_stands(old: str, new: str, place: str, words: str) -> None:
    assert old in LIFT
    found = refused(LIFT.replace(old, new))

    assert place in found
    assert words in found[place]


def test_a_fault_hides_no_fault_that_does_not_follow_from_it() -> None:
    assert set(refused(LIFT.replace('kind = "lift"', 'kind = "lifts"'))) == {"/plan/kind"}


def test_a_ceiling_below_the_quote_is_refused() -> None:
    dear = around(quote=lambda _, arm: ArmQuote(arm.name, 9_000_000, 1))

    found = refused(LIFT, dear)

    assert "27.00 US dollars, and its ceiling is 25.00" in found["/plan/ceiling_usd"]


def test_an_arm_that_cannot_be_asked_is_a_fault_where_it_stands() -> None:
    def quote(_: Plan, arm: Arm) -> ArmQuote:
        if arm.name == "vote":
            raise TooLarge("the documents do not fit")
        return ArmQuote(arm.name, 1, 1)

    assert refused(LIFT, around(quote=quote)) == {
        "/arms/1": "arms.2: the arm cannot be asked: the documents do not fit"
    }


def test_items_of_two_sets_with_one_id_are_refused() -> None:
    two = LIFT.replace(
        "[[arms]]", f'[[sets]]\nid = "more"\nversion = 1\nsha256 = "{OTHER_HASH}"\nsplit = "open"\n\n[[arms]]', 1
    )
    sets = {
        "contract-review-questions": SetFacts(1, HASH, "questions", items(100)),
        "more": SetFacts(1, OTHER_HASH, "questions", items(3)),
    }

    assert "has the item 'q000' too" in refused(two, around(sets))["/sets/1/id"]


def test_a_held_split_is_for_validators() -> None:
    sets = {"contract-review-questions": SetFacts(1, HASH, "questions", items(100, split="held"))}
    held = LIFT.replace('split = "open"', 'split = "held"')

    assert set(refused(held, around(sets))) == {"/sets/0/split"}
    assert read_plan(held, around(sets, may_hold=True)).sets[0].split == "held"


def test_a_worn_split_supports_no_claim() -> None:
    sets = {"contract-review-questions": SetFacts(1, HASH, "questions", items(100, split="held"), worn=True)}
    held = LIFT.replace('split = "open"', 'split = "held"')

    assert set(refused(held, around(sets, may_hold=True))) == {"/plan/exploratory"}
    said = held.replace("repeats = 1", "repeats = 1\nexploratory = true")
    assert read_plan(said, around(sets, may_hold=True)).exploratory


def test_items_that_share_groups_count_as_groups() -> None:
    sets = {"contract-review-questions": SetFacts(1, HASH, "questions", items(200, groups=100))}

    assert set(refused(LIFT, around(sets))) == {"/plan/groups"}
    assert read_plan(LIFT.replace('groups = "single"', 'groups = "whole"'), around(sets)).groups == "whole"


def test_a_plan_that_sees_its_own_effect_too_seldom_says_that_it_explores() -> None:
    sets = {"contract-review-questions": SetFacts(1, HASH, "questions", items(20))}

    found = refused(LIFT, around(sets))

    assert set(found) == {"/plan/exploratory"}
    assert "in 20% of runs, below 50%" in found["/plan/exploratory"]
    said = LIFT.replace("repeats = 1", "repeats = 1\nexploratory = true")
    assert read_plan(said, around(sets)).exploratory


def test_a_set_of_another_kind_is_refused() -> None:
    sets = {"contract-review-questions": SetFacts(1, HASH, "pairs", items(100))}

    assert "sets of questions, and this one is of pairs" in refused(LIFT, around(sets))["/sets/0/id"]


def test_a_sequence_is_for_a_lift_alone() -> None:
    assert set(refused(CRITIC.replace('stopping = "fixed"', 'stopping = "sequence"'))) == {"/plan/stopping"}


@pytest.mark.parametrize("text", ["[plan", "a = 1\na = 2", ""])
def test_a_file_that_is_no_plan_is_refused(text: str) -> None:
    assert refused(text)


@pytest.mark.parametrize("value", ["1", '"text"', "[]", "[1]", "true", "{ a = 1 }"])
@pytest.mark.parametrize("table", ["plan", "sets", "arms", "comparisons", "models", "effect", "pins"])
def test_another_shape_of_a_table_is_a_fault(table: str, value: str) -> None:
    kept = [part for part in LIFT.split("\n\n") if not part.lstrip("[").startswith(table)]

    found = refused("\n\n".join([f"{table} = {value}", *kept]))

    assert any(place.startswith(f"/{table}") for place in found)
