"""From scores to a result: denominators that add up, findings by their rules, and every statistic to be recomputed."""

import json
from collections.abc import Sequence
from hashlib import sha256
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit.evaluation_rules import SHIPPED_LIMITS
from service.errors import GainsayError
from service.evaluation.plan.model import Arm, Comparison, Effect, Plan, plan_hash
from service.evaluation.scoring.cases import Case, may_have_seen
from service.evaluation.scoring.conclude import Circumstances, conclude
from service.evaluation.scoring.grid import UnplannedScore
from service.evaluation.scoring.result import Finding, Result, compared, encode, headline, result_hash, result_of
from service.evaluation.scoring.scores import CriticScore, PairScore, QuestionScore, Scored
from service.evaluation.statistics import compute
from tests.fixtures.evaluations import (
    RUN,
    VOTE,
    answers,
    critic_plan,
    critiques,
    crossed,
    lift_plan,
    moderations,
    moderator_plan,
    questions,
    shown_sets,
    twins,
)

few = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])


def result(plan: Plan, cases: Sequence[Case], scores: Sequence[Scored], **changed: object) -> Result:
    return conclude(plan, cases, shown_sets(plan), scores, Circumstances(**changed))  # type: ignore[arg-type]


def finding(of: Result, *about: str) -> Finding:
    return next(one for one in of.findings if one.about == about)


def every_kind(seed: int = 0, n: int = 24) -> list[tuple[Plan, Sequence[Case], list[Scored]]]:
    """A small evaluation of each kind, some of whose answers are missing."""
    lift, critic, moderator = lift_plan(), critic_plan(), moderator_plan()
    of = (questions(n), twins(n // 2), crossed(n // 2))
    return [
        (lift, of[0], answers(lift, of[0], {"debate": 0.8, "vote": 0.6, "single": 0.5}, missing=0.1, seed=seed)),
        (critic, of[1], critiques(critic, of[1], 0.7, 0.3, unusable=0.1, seed=seed)),
        (moderator, of[2], moderations(moderator, of[2], 0.7, first_slot=0.2, seed=seed)),
    ]


# What holds for every kind.


@few
@given(seed=st.integers(0, 1_000), left=st.floats(0, 1))
def test_every_denominator_adds_up_however_much_was_not_scored(seed: int, left: float) -> None:
    for plan, cases, scores in every_kind(seed):
        kept = Random(seed).sample(scores, int(left * len(scores)))

        found = result(plan, cases, kept)

        for arm in found.arms:
            assert arm.items.asked == len(cases)
            assert arm.debates.asked == len(cases) * plan.repeats
            for counts in (arm.items, arm.debates):
                assert counts.asked == counts.answered + sum(counts.missing.values())
            assert arm.debates.missing.get("notScored", 0) == sum(s.arm == arm.name for s in scores) - sum(
                s.arm == arm.name for s in kept
            )
            assert 0 <= (arm.right or 0) <= arm.items.answered


@few
@given(seed=st.integers(0, 1_000))
def test_no_order_of_items_labels_sets_or_scores_changes_a_byte(seed: int) -> None:
    rng = Random(seed)
    for plan, cases, scores in every_kind(seed):
        mixed = conclude(plan, rng.sample(cases, len(cases)), shown_sets(plan)[::-1], rng.sample(scores, len(scores)))

        assert encode(mixed) == encode(conclude(plan, cases, shown_sets(plan), scores))


@few
@given(seed=st.integers(0, 1_000))
def test_permuting_labels_changes_results_and_never_what_was_asked(seed: int) -> None:
    plan, cases, scores = every_kind(seed)[0]
    turned = [replace(case, answer={"yes": "no", "no": "yes"}[case.answer]) for case in cases]
    rescored = [
        replace(one, score=replace(one.score, right=one.score.answer == case.answer))
        for one, case in zip(scores, turned * 3, strict=True)
        if isinstance(one.score, QuestionScore)
    ]

    first, second = result(plan, cases, scores), result(plan, turned, rescored)

    assert [(a.debates, a.items, a.charge, a.attempts) for a in first.arms] == [
        (a.debates, a.items, a.charge, a.attempts) for a in second.arms
    ]
    for one, other in zip(first.arms, second.arms, strict=True):
        assert (one.right or 0) + (other.right or 0) == one.items.answered


@few
@given(seed=st.integers(0, 1_000))
def test_every_statistic_is_recomputed_from_the_input_that_stands_beside_it(seed: int) -> None:
    for plan, cases, scores in every_kind(seed):
        read = json.loads(encode(result(plan, cases, scores)))

        assert len(read["figures"]) > 5
        for figure in read["figures"]:
            assert compute(figure["statistic"], figure["input"]) == figure["output"], figure["id"]


def test_an_interruption_changes_nothing_but_what_was_lost() -> None:
    for plan, cases, scores in every_kind():
        killed = [
            replace(one, score=replace(one.score, run=replace(one.score.run, lost=i * 7)))
            for i, one in enumerate(scores)
        ]

        undisturbed, found = result(plan, cases, scores), result(plan, cases, killed)

        assert compared(found) == compared(undisturbed)
        assert result_hash(found) == result_hash(undisturbed)
        assert found.lost_to_interruptions == sum(i * 7 for i in range(len(scores)))
        assert undisturbed.lost_to_interruptions == 0


def test_a_result_is_read_back_from_its_json() -> None:
    for plan, cases, scores in every_kind():
        found = result(plan, cases, scores)

        assert result_of(encode(found)) == result_of(msgspec.json.encode(found))
        assert encode(result_of(encode(found))) == encode(found)


def test_an_evaluation_without_one_item_has_a_result_without_one_claim() -> None:
    for plan, _, _ in every_kind():
        found = result(plan, (), ())

        assert found.items == 0
        assert headline(found) in ("inconclusive", "notEnough", "stops")
        assert all(arm.items.asked == 0 for arm in found.arms)


def test_scores_that_are_not_the_plan_s_are_refused_all_at_once() -> None:
    plan, cases, scores = every_kind()[0]
    strange = replace(scores[0], item="unknown")
    other = replace(scores[1], score=CriticScore(True, True, False, RUN))

    with pytest.raises(GainsayError) as refused:
        result(plan, cases, [*scores, strange, scores[2], replace(scores[3], repeat=2), other])

    assert "unknown" in str(refused.value)
    assert "twice" in str(refused.value)
    with pytest.raises(UnplannedScore, match="another kind"):
        result(plan, cases, [other])


# What makes a result exploratory.


@pytest.mark.parametrize(
    ("plan", "sets", "circumstances", "why"),
    [
        ({}, {}, {}, ()),
        ({"exploratory": True}, {}, {}, ("planSaysSo",)),
        ({}, {}, {"changed": True}, ("planChanged",)),
        ({}, {"split": "open"}, {}, ("openSplit",)),
        ({}, {"worn": True}, {}, ("wornSet",)),
    ],
)
def test_a_result_is_exploratory_for_each_reason(
    plan: dict[str, object], sets: dict[str, object], circumstances: dict[str, object], why: tuple[str, ...]
) -> None:
    asked = lift_plan(**plan)

    found = conclude(asked, (), shown_sets(asked, **sets), (), Circumstances(**circumstances))  # type: ignore[arg-type]

    assert found.why_exploratory == why
    assert found.standing == ("exploratory" if why else "registered")


@pytest.mark.parametrize(
    ("published", "cutoffs", "seen"),
    [
        (None, {"elm": None}, ()),
        ("2026-01-01", {"elm": "2025-12-31", "oak": "2026-01-01", "ash": None}, ("ash", "oak")),
    ],
)
def test_a_published_set_may_have_been_seen_by_models_of_a_later_or_unknown_cut_off(
    published: str | None, cutoffs: dict[str, str | None], seen: tuple[str, ...]
) -> None:
    assert may_have_seen(published, cutoffs) == seen


# Lift.


def by_hand(cases: Sequence[Case], *arms: tuple[str, Sequence[bool | None]]) -> list[Scored]:
    """Scores of arms as they are given, item by item: right, wrong, or missing."""
    return [
        Scored(
            case.set_,
            case.id,
            arm,
            1,
            QuestionScore(
                bool(right),
                None if right is None else ("x", case.answer)[right],
                None if right is not None else "notInList",
                "",
                RUN,
            ),
        )
        for arm, given_ in arms
        for case, right in zip(cases, given_, strict=True)
    ]


TWO = (Arm("debate", "debate", format="ballot"), Arm("vote", "vote", drafts=3))


def lifted(first: Sequence[bool | None], second: Sequence[bool | None], **changed: object) -> Result:
    plan = lift_plan(**{"arms": TWO, "comparisons": (VOTE,), **changed})
    cases = sorted(questions(len(first)), key=lambda case: case.key)
    return result(plan, cases, by_hand(cases, ("debate", first), ("vote", second)))


def test_an_arm_that_is_right_where_the_other_is_wrong_is_better() -> None:
    found = finding(lifted([True] * 40, [False] * 12 + [True] * 28), "debate", "vote")

    assert (found.outcome, found.because, found.primary) == ("better", (), True)


@few
@given(
    pairs=st.lists(st.tuples(*[st.sampled_from([True, False, None])] * 2), min_size=1, max_size=60),
    stopping=st.sampled_from(["fixed", "sequence"]),
)
def test_swapping_the_arms_changes_nothing_but_signs(
    pairs: list[tuple[bool | None, bool | None]], stopping: str
) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]

    one, other = lifted(first, second, stopping=stopping), lifted(second, first, stopping=stopping)

    turned = {"better": "worse", "worse": "better"}
    there, back = finding(one, "debate", "vote"), finding(other, "debate", "vote")
    assert turned.get(there.outcome, there.outcome) == back.outcome
    assert there.because == back.because
    lift, tfil = one.figure("lift/debate-vote").output, other.figure("lift/debate-vote").output
    assert (lift["difference"], lift["low"], lift["high"]) == pytest.approx(
        (-tfil["difference"], -tfil["high"], -tfil["low"])
    )
    assert lift["p"] == tfil["p"]


@pytest.mark.parametrize(
    ("first", "second", "changed", "because"),
    [
        ([True] * 30, [True] * 30, {}, {"nothingDiffers", "pAboveAlpha", "intervalHoldsZero", "belowMargin"}),
        ([True] * 5 + [False] * 25, [False] * 30, {}, {"pAboveAlpha"}),
        ([True] * 10 + [False] * 190, [False] * 200, {"margin": 60}, {"belowMargin"}),
        ([True] * 30 + [False] * 10, [None] * 30 + [False] * 10, {}, {"missingAboveLimit"}),
    ],
)
def test_an_inconclusive_lift_says_every_rule_that_does_not_hold(
    first: list[bool | None], second: list[bool | None], changed: dict[str, object], because: set[str]
) -> None:
    found = finding(lifted(first, second, **changed), "debate", "vote")

    assert found.outcome == "inconclusive"
    assert set(found.because) == because


def test_items_that_share_groups_need_their_groups_to_agree() -> None:
    plan = lift_plan(arms=TWO, comparisons=(VOTE,), groups="whole")
    cases = [replace(case, set_="contract-lift", task_type="contract") for case in questions(40, groups=20)]
    scores = by_hand(cases, ("debate", [True] * 20 + [False] * 20), ("vote", [False] * 40))

    found = finding(result(plan, cases, scores), "debate", "vote")
    alone = finding(result(replace(plan, groups="single"), cases, scores), "debate", "vote")

    assert (found.outcome, found.because) == ("inconclusive", ("groupsDisagree",))
    assert alone.outcome == "better"


def test_a_missing_answer_is_wrong_and_its_range_is_told() -> None:
    found = lifted([True] * 19 + [None], [True] * 20)

    lift = found.figure("lift/debate-vote").output
    assert lift["missing"] == [1, 0]
    assert lift["range"] == [-0.05, 0.0]
    assert found.arms[0].items.missing == {"notInList": 1}


def test_the_majority_of_its_repeats_is_an_item_s_answer_and_a_tie_is_none() -> None:
    plan = lift_plan(arms=TWO, comparisons=(VOTE,), repeats=3)
    cases = questions(1)
    said = {"debate": ("no", "no", None), "vote": ("no", "yes", None)}
    scores = [
        Scored(
            cases[0].set_,
            "q000",
            arm,
            i,
            QuestionScore(answer == "no", answer, None if answer else "tied", answer, RUN),
        )
        for arm, given_ in said.items()
        for i, answer in enumerate(given_, start=1)
    ]

    debate, vote = result(plan, cases, scores).arms

    assert (debate.right, debate.items.missing, debate.debates.missing) == (1, {}, {"tied": 1})
    assert (vote.right, vote.items.missing) == (0, {"repeatsTied": 1})


def test_all_comparisons_are_adjusted_together() -> None:
    plan, cases = lift_plan(), questions(60)
    found = result(plan, cases, answers(plan, cases, {"debate": 0.8, "vote": 0.6, "single": 0.6}))

    p = [found.figure(f"mcnemar/debate-{arm}").output["p"] for arm in ("vote", "single")]
    adjusted = compute("holm", {"p": p})["adjusted"]

    assert [found.figure(f"lift/debate-{arm}").input["adjusted"] for arm in ("vote", "single")] == adjusted


def test_a_vote_is_of_equal_spend_only_within_a_tenth() -> None:
    plan, cases = lift_plan(), questions(20)
    found = result(plan, cases, answers(plan, cases, {"debate": 0.8, "vote": 0.8, "single": 0.8}))

    assert found.figure("spend/debate-vote").output["equal"] is True
    assert found.figure("spend/debate-single").output["equal"] is False


def test_a_sequence_counts_what_was_asked_and_is_judged_by_evidence_that_holds_at_every_look() -> None:
    plan = lift_plan(arms=TWO, comparisons=(VOTE,), stopping="sequence")
    cases = questions(100)
    order = sorted(cases, key=lambda c: compute_place(plan, c))
    asked = order[:40]
    scores = by_hand(asked, ("debate", [True] * 40), ("vote", [False] * 40))

    found = result(plan, cases, scores)

    assert (found.planned, found.items) == (100, 40)
    assert finding(found, "debate", "vote").outcome == "better"
    assert found.figure("lift/debate-vote").input["adjusted"] == found.figure("sequence/debate-vote").output["p"]
    assert all(arm.items.asked == 40 for arm in found.arms)


def compute_place(plan: Plan, case: Case) -> bytes:
    return sha256(f"{plan_hash(plan)}\n{case.set_}\n{case.id}".encode()).digest()


def test_a_fixed_plan_that_was_stopped_counts_what_it_never_reached_as_missing() -> None:
    plan, cases = lift_plan(arms=TWO, comparisons=(VOTE,)), questions(20)
    scores = by_hand(cases[:10], ("debate", [True] * 10), ("vote", [False] * 10))

    found = result(plan, cases, scores, stopped="the ceiling was reached")

    assert found.arms[0].items.missing == {"notScored": 10}
    assert "missingAboveLimit" in finding(found, "debate", "vote").because


# Critics.


def test_a_good_critic_passes_and_one_that_says_yes_to_everything_or_to_nothing_is_stopped() -> None:
    plan, cases = critic_plan(), twins(80)

    good, always, never = (
        result(plan, cases, critiques(plan, cases, *rates)) for rates in ((0.95, 0.05), (1, 1), (0, 0))
    )

    assert headline(good) == "passes"
    assert set(finding(always, "critic").because) == {"alarmsTooHigh"}
    assert set(finding(never, "critic").because) == {"hitsTooLow", "familyMissed"}
    assert always.figure("detection/critic/all").output["dPrime"] == pytest.approx(0)


def test_a_critic_that_rates_itself_low_or_often_gives_no_reply_is_stopped() -> None:
    plan, cases = critic_plan(), twins(80)

    modest = result(plan, cases, critiques(plan, cases, 1, 0, rating=7))
    silent = result(plan, cases, critiques(plan, cases, 1, 0, unusable=0.2))

    assert finding(modest, "critic").because == ("ratingTooLow",)
    assert finding(silent, "critic").because == ("unusableTooMany",)


def test_a_blind_spot_of_one_family_stops_a_critic_that_finds_all_else() -> None:
    plan, cases = critic_plan(), twins(216)
    blind = [
        replace(one, score=replace(one.score, yes=False)) if case.family == "partiesSwapped" and case.flawed else one
        for one, case in zip(critiques(plan, cases, 1, 0), cases, strict=True)
        if isinstance(one.score, CriticScore)
    ]

    found = result(plan, cases, blind)

    assert finding(found, "critic", "partiesSwapped").outcome == "blindSpot"
    assert [one.outcome for one in found.findings if one.question == "release"] == ["passes", "passes"]
    assert headline(found) == "stops"


def test_what_code_caught_is_in_the_denominator_and_is_no_hit() -> None:
    plan, cases = critic_plan(), twins(20)
    by_code = [
        replace(one, score=replace(one.score, by_code=True))
        for one in critiques(plan, cases, 1, 0)
        if isinstance(one.score, CriticScore)
    ]

    found = result(plan, cases, by_code)

    cells = next(row.cells for row in found.table("critic") if row.cells["taskType"] == "all")
    assert (cells["flawed"], cells["hits"], cells["byCode"], cells["misses"]) == (20, 0, 20, 0)
    assert found.figure("hits/critic/all").input == {"k": 0, "n": 20}


@few
@given(seed=st.integers(0, 1_000), unusable=st.floats(0, 1))
def test_counts_of_every_family_and_task_type_add_up(seed: int, unusable: float) -> None:
    plan, cases = critic_plan(), twins(36)

    found = result(plan, cases, critiques(plan, cases, 0.6, 0.3, unusable=unusable, seed=seed))

    for row in (*found.table("critic"), *found.table("families")):
        cells = row.cells
        assert cells["flawed"] == cells["hits"] + cells["byCode"] + cells["misses"] + cells["unusableFlawed"]
        assert cells["sound"] == cells["alarms"] + cells["quiet"] + cells["unusableSound"]
    families = [row.cells for row in found.table("families")]
    assert sum(cells["flawed"] for cells in families) == 36


def test_twins_are_compared_pair_by_pair() -> None:
    plan, cases = critic_plan(), twins(30)

    found = result(plan, cases, critiques(plan, cases, 1, 0))

    assert found.figure("twins/critic/all").input == {"b": 30, "c": 0}


def test_the_release_table_prints_the_chances_of_a_good_and_of_a_bad_critic() -> None:
    rows = {
        (row.cells["flawed"], row.cells["critic"]): row.cells
        for row in result(critic_plan(), twins(44), ()).table("release")
    }

    assert {(n, rows[n, "good"]["fewestHits"], rows[n, "good"]["mostAlarms"]) for n in (20, 40)} == {
        (20, 17, 3),
        (40, 30, 10),
    }
    assert rows[20, "good"]["passes"] == pytest.approx(0.75, abs=0.005)
    assert rows[40, "good"]["passes"] == pytest.approx(0.997, abs=0.0005)
    assert rows[20, "bad"]["passes"] == pytest.approx(0.014, abs=0.0005)
    assert rows[40, "bad"]["passes"] == pytest.approx(0.035, abs=0.0005)
    assert (22, "good") in rows


def test_a_policy_may_be_stricter() -> None:
    plan, cases = critic_plan(), twins(80)
    scores = critiques(plan, cases, 0.85, 0.1)

    assert headline(result(plan, cases, scores)) == "passes"
    stopped = result(plan, cases, scores, limits=replace(SHIPPED_LIMITS, hits=950))
    assert headline(stopped) == "stops"
    assert stopped.table("limits")[0].cells["hits"] == 0.95
    said = "lower bound of the hits at least 0.95, shipped 0.6."
    assert any(one.part == "standing" and one.text.endswith(said) for one in stopped.sentences)
    assert not any("stricter" in one.text for one in result(plan, cases, scores).sentences)


def test_whole_debates_tell_flawed_proposals_upheld_and_sound_ones_overturned() -> None:
    plan, cases = critic_plan(), twins(10)
    whole = [
        replace(one, score=replace(one.score, conclusion="upheld"))
        for one in critiques(plan, cases, 1, 0)
        if isinstance(one.score, CriticScore)
    ]

    found = result(plan, cases, whole)

    assert found.figure("flawedUpheld/critic").input == {"k": 10, "n": 10}
    assert found.figure("soundOverturned/critic").input == {"k": 0, "n": 10}
    assert result(plan, cases, critiques(plan, cases, 1, 0)).find("flawedUpheld/critic") is None


# Moderators.


def test_an_even_moderator_shows_no_pull_and_one_that_takes_the_first_place_does() -> None:
    plan, cases = moderator_plan(), crossed(100)

    even = result(plan, cases, moderations(plan, cases, 0.9))
    first = result(plan, cases, moderations(plan, cases, 0.9, first_slot=1.0))

    assert {one.outcome for one in even.findings} == {"noneSeen"}
    assert finding(first, "moderator", "position").outcome == "tilt"
    assert finding(first, "moderator", "length").outcome == "noneSeen"


def test_a_pull_to_the_longer_side_is_told_apart_from_a_side_and_a_place() -> None:
    plan, cases = moderator_plan(), crossed(100)

    found = result(plan, cases, moderations(plan, cases, 0.8, to_feature=0.6))

    assert {one.about[1]: one.outcome for one in found.findings} == {
        "position": "noneSeen",
        "side": "noneSeen",
        "length": "tilt",
    }


def test_under_23_decided_cases_nothing_is_said() -> None:
    plan, cases = moderator_plan(), crossed(11)

    found = result(plan, cases, moderations(plan, cases, 1.0, first_slot=1.0))

    assert len(cases) == 22
    assert {one.outcome for one in found.findings} == {"notEnough"}


def test_the_power_of_a_preference_is_that_of_the_rarest_feature_as_its_figures_have_it() -> None:
    cases = (*crossed(100), *(replace(case, id=f"{case.id}c", feature="citations") for case in crossed(15)))
    preference = moderator_plan(metric="preference", effect=Effect(share=800))
    tilt = replace(preference, metric="tilt")

    found = result(preference, cases, moderations(preference, cases, 0.9))
    over_all = result(tilt, cases, moderations(tilt, cases, 0.9))

    assert (found.power.n, found.power.counted) == (30, "items with the rarest feature (citations)")
    assert found.figure("power/expected").statistic == "preference_power"
    given = {"favoured": 15, "other": 15, "p": 0.8, "alpha": 0.05 / 6}
    assert found.figure("power/expected").input == given
    assert found.power.rows[0].power == compute("preference_power", given)["power"] < over_all.power.rows[0].power
    assert (over_all.power.n, over_all.power.counted) == (230, "items")


@pytest.mark.parametrize("metric", ["position", "tilt", "preference"])
def test_a_plan_of_which_nothing_can_be_said_has_no_power_and_says_so(metric: str) -> None:
    plan = moderator_plan(metric=metric)

    few, enough = (result(plan, cases, moderations(plan, cases, 1.0)) for cases in (crossed(11), crossed(12)))

    assert [row.power for row in few.power.rows] == [0.0, 0.0, 0.0]
    assert few.find("power/expected") is None
    said = [[one.text for one in found.sentences if one.part == "power"][-1] for found in (few, enough)]
    assert said[0] == "Under 23 cases nothing is said of a pull, however strong it is."
    assert said[1].startswith("The smallest effect that is seen in 80 % of runs")
    figure = enough.figure("power/expected")
    assert enough.power.rows[0].power == figure.output["power"] == compute(figure.statistic, figure.input)["power"]


def test_a_pull_that_was_not_seen_comes_with_the_smallest_one_that_would_have_been() -> None:
    plan, cases = moderator_plan(), crossed(100)

    found = result(plan, cases, moderations(plan, cases, 0.9))

    side, position = finding(found, "moderator", "side"), finding(found, "moderator", "position")
    assert side.visible is not None
    strictest = {"n": 200, "alpha": 0.05 / 3}  # place, side and length are adjusted together
    assert compute("binomial_power", {**strictest, "p": side.visible})["power"] >= 0.8
    assert compute("binomial_power", {**strictest, "p": side.visible - 0.01})["power"] < 0.8
    assert position.visible == 7 / 200


def test_a_missing_moderation_is_not_right_and_stays_in_the_denominator() -> None:
    plan, cases = moderator_plan(), crossed(30)
    scores = moderations(plan, cases, 1.0)
    silent = [replace(one, score=PairScore(False, None, None, RUN)) if i < 10 else one for i, one in enumerate(scores)]

    found = result(plan, cases, silent)

    assert found.arms[0].items.missing == {"noModeration": 10}
    rates = found.figure("preference/moderator/length").input
    assert rates["favoured_right"][1] + rates["other_right"][1] == 60


def test_stability_is_shown_where_requests_are_repeated_and_experts_where_they_labelled() -> None:
    plan, cases = moderator_plan(repeats=3), crossed(10)
    experts = [replace(case, basis="expert") for case in cases]

    once = result(moderator_plan(), cases, moderations(moderator_plan(), cases, 1.0))
    thrice = result(plan, experts, moderations(plan, experts, 1.0))

    assert once.find("stability/moderator") is None
    assert once.find("experts/moderator") is None
    assert thrice.figure("stability/moderator").input == {"k": 20, "n": 20}
    assert thrice.figure("experts/moderator").output["kappa"] == pytest.approx(1.0)


def test_an_unknown_comparison_cannot_be_made() -> None:
    with pytest.raises(KeyError):
        result(lift_plan(comparisons=(Comparison("debate", "nothing"),)), questions(2), ())
