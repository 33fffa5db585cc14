"""Two replies of a decider to one question: what counts as another decision, what as the same one in other words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.answer_keys import folded
from service.debate.decision_members import Reading, Side, differences, listed_strings
from service.debate.entries import DebateConcluded
from service.debate.facts import Facts
from service.debate.kernel import replay
from service.debate.model import Cap, Options, Outcome, Turn, TurnId, labels
from service.debate.replies import Adjudication, Moderation, Reply, Synthesis
from service.debate.replies.panel import Endorsement, Idea
from service.debate.results import PanelResult
from service.errors import IllegalEntry
from tests.fixtures import formats
from tests.fixtures.debates import a_case, a_start, drive, moderation, outcome, start_of
from tests.fixtures.quoting import CLEAN, INVENTED, WORDS, agreeing, options_of, quoting

JUDGE = TurnId("1.judge.1")


def side(*, marks: Mapping[str, list[tuple[int, int]]] | None = None, usable: bool = True, **members: Any) -> Side:
    return Side(JUDGE, members, marks or {}, usable)


def changed(one: Side, other: Side, reading: Reading | None = None) -> list[str]:
    return [difference.member for difference in differences(one, other, reading or Reading(key=folded))]


# An answer that only lost its invention.

Q = f'"{WORDS}"'
LOST: list[tuple[str, str, bool]] = [
    (f"Sign, because clause 99.9 states {Q}.", "Sign.", True),
    (f"Sign: clause 99.9 states {Q}, which decides the matter.", "Sign", True),
    (f"Clause 99.9 states {Q}. Sign.", "Sign.", True),
    (f"Clause 99.9 states {Q}, so refuse to sign.", "Refuse to sign.", True),
    (f"The Bank is protected. It may sign, as {Q} shows.", "The Bank is protected. It may sign.", True),
    (f"Do not sign, because clause 99.9 states {Q}.", "Do not sign.", True),
    # What the words hang on went too.
    (f"Do not sign, because clause 99.9 states {Q}.", "Sign.", False),
    (f"Clause 99.9 states {Q}, so refuse to sign.", "Sign.", False),
    (f"Clause 99.9 states {Q}. Refuse to sign.", "Sign.", False),
    (f"Clause 99.9 states {Q}. Do not sign.", "Sign.", False),
    (f"Sign only where clause 99.9 states {Q}.", "Sign.", False),
    (f"Sign unless clause 99.9 states {Q}.", "Sign.", False),
    (f"Sign; clause 99.9 states {Q}, so refuse.", "Sign.", False),
    (f"Sign; clause 99.9 states {Q}, but not for fines.", "Sign.", False),
    (f"Limited. Clause 99.9 states {Q}.", "Unlimited.", False),
    (f"The limit is EUR 5 million, as {Q} says.", "The limit is EUR 9 million.", False),
    (f"The Bank is safe. It may sign, as {Q} shows.", "It may sign.", False),
    (f"Sign, because clause 99.9 states {Q}.", "Wait.", False),
]


@pytest.mark.parametrize(("first", "second", "same"), LOST)
@pytest.mark.parametrize("member", ["finalAnswer", "winner"])
def test_an_answer_without_its_marked_passage_is_the_same_and_any_other_is_not(
    member: str, first: str, second: str, same: bool
) -> None:
    start = first.index(WORDS)
    marks = {member: [(start, start + len(WORDS))]}

    found = changed(Side(JUDGE, {member: first}, marks), Side(JUDGE, {member: second}, {}))

    assert found == ([] if same else [member])


def test_without_a_mark_an_answer_that_lost_words_is_another_answer() -> None:
    assert changed(side(finalAnswer="Sign, as usual."), side(finalAnswer="Sign.")) == ["finalAnswer"]
    assert changed(side(finalAnswer="SIGN"), side(finalAnswer="Sign.")) == []


# Scores, ideas, consensus scores, output.


def scores(**by: int) -> list[dict[str, Any]]:
    return [{"label": label, "score": score} for label, score in by.items()]


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        (scores(a=8, b=6), scores(a=7, b=7), False),  # noise
        (scores(a=8, b=6), scores(a=6, b=4), False),  # both by two
        (scores(a=7, b=6), scores(a=6, b=7), False),  # the lead turns over by two in all
        (scores(a=8, b=7), scores(a=6, b=8), True),  # by three
        (scores(a=9, b=4), scores(a=6, b=4), True),  # one moves by three
        (scores(a=5, b=5), scores(a=5, b=5), False),
    ],
)
def test_scores_differ_where_one_moves_or_a_lead_turns_over_by_three(first: Any, second: Any, differ: bool) -> None:
    assert changed(side(scores=first), side(scores=second)) == (["scores"] if differ else [])


@pytest.mark.parametrize(
    ("first", "second", "differ"), [(True, False, True), (False, True, False), (True, True, False)]
)
def test_a_further_round_counts_where_the_reply_that_stands_drops_it(first: bool, second: bool, differ: bool) -> None:
    found = changed(side(recommendAnotherRound=first), side(recommendAnotherRound=second))

    assert found == (["recommendAnotherRound"] if differ else [])


def ideas(*by: str) -> list[dict[str, Any]]:
    return [{"idea": f"Idea of {labels}", "endorsedBy": [{"label": c, "n": 1} for c in labels]} for labels in by]


@pytest.mark.parametrize(
    ("first", "marked", "second", "differ"),
    [
        (ideas("AB", "C"), (), ideas("AB", "C"), False),
        (ideas("AB", "C"), (), ideas("C", "AB"), True),
        (ideas("AB", "C"), (), ideas("AB"), True),
        (ideas("AB", "C"), (1,), ideas("AB"), False),  # the idea that held the mark went
        (ideas("AB", "C"), (1,), ideas("AB", "C"), False),  # or was written anew
        (ideas("AB", "C"), (1,), ideas("A", "C"), True),
        (ideas("AB"), (), [], True),
    ],
)
def test_ideas_differ_by_the_claims_on_which_they_rest(
    first: Any, marked: tuple[int, ...], second: Any, differ: bool
) -> None:
    marks = {f"ideas[{i}].idea": [(0, 3)] for i in marked}

    assert changed(side(marks=marks, ideas=first), side(ideas=second)) == (["ideas"] if differ else [])


SCHEMA = {
    "type": "object",
    "properties": {
        "verdict": {"enum": ["sign", "do not sign"]},
        "sure": {"type": "boolean"},
        "limit": {"type": "number"},
        "why": {"type": "string"},
        "steps": {"type": "array", "items": {"properties": {"kind": {"const": "amend"}}}},
    },
}


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        ({"verdict": "sign", "why": "a"}, {"verdict": "sign", "why": "b"}, False),
        ({"verdict": "sign"}, {"verdict": "do not sign"}, True),
        ({"sure": True}, {"sure": False}, True),
        ({"limit": 5}, {"limit": 9}, True),
        ({"limit": 5}, {"limit": 5.0}, False),
        ({"steps": [{"kind": "amend"}]}, {"steps": []}, False),  # a step may have rested on the marked passage
        ({"steps": [{"sure": True}]}, {"steps": [{"sure": False}]}, True),
    ],
)
def test_an_output_differs_in_truth_values_numbers_and_listed_strings(first: Any, second: Any, differ: bool) -> None:
    reading = Reading(listed=listed_strings(SCHEMA))

    found = changed(side(output=json.dumps(first)), side(output=json.dumps(second)), reading)

    assert listed_strings(SCHEMA) == {"sign", "do not sign", "amend"}
    assert found == (["output"] if differ else [])


def test_a_number_of_an_output_that_could_not_be_used_may_be_mended() -> None:
    wrong, mended = side(output='{"limit": 999}', usable=False), side(output='{"limit": 9}')

    assert changed(wrong, mended) == []


# Whole debates.


def ended(entries: Any) -> Outcome:
    replay(a_case(), entries)
    return outcome(entries)


def why(end: Outcome) -> list[tuple[str, str, list[str]]]:
    return [(pair.why, pair.second, [one.member for one in pair.members]) for pair in end.differing]


def altered(form: str, alter: Callable[[Turn, Reply], Reply], said: Any = None, **options: Any) -> Outcome:
    """A debate whose replies quote as ``said`` has it, and are then altered."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        return alter(turn, quoting(said or {})(turn, facts))

    given: Options = options_of(form, **options)
    started = replace(a_start(), options=given) if form == "adversarial" else start_of(given)
    return ended(drive(started, reply, findings=agreeing))


SYNTHESIS = {"1.moderator.1": {"synthesis": INVENTED}, "1.moderator.2": {"synthesis": CLEAN}}


def test_all_four_replies_of_a_decider_count_with_their_lowest_level() -> None:
    said = {
        **SYNTHESIS,
        "1.moderator.swapped.1": {"synthesis": INVENTED},
        "1.moderator.swapped.2": {"synthesis": CLEAN},
    }

    for least in ("1.moderator.1", "1.moderator.2", "1.moderator.swapped.1", "1.moderator.swapped.2"):

        def alter(turn: Turn, reply: Reply, least: str = least) -> Reply:
            return replace(reply, confidence_level="LOW") if turn.id == least else reply

        end = altered("adversarial", alter, said, swapped=True)

        assert end.confidence_level == "LOW"
        assert end.human_review.required
        assert "secondTakeDiffers" not in end.flags


def test_a_moderation_of_an_earlier_round_that_was_turned_is_flagged_and_its_level_does_not_count() -> None:
    def alter(turn: Turn, reply: Reply) -> Reply:
        match turn.id, reply:
            case "1.moderator.1", Moderation():
                return replace(reply, conclusion="rejected", confidence_level="LOW", recommend_another_round=True)
            case "1.moderator.2", Moderation():
                return replace(reply, conclusion="upheld", recommend_another_round=True)
            case _:
                return reply

    end = altered("adversarial", alter, SYNTHESIS, max_rounds=2)

    assert end.final_turn == "2.moderator.1"
    assert why(end) == [("secondTake", "1.moderator.2", ["conclusion", "confidenceLevel"])]
    assert end.flags == ("secondTakeDiffers",)
    assert (end.confidence_level, end.caps) == ("MODERATE", (Cap("secondTakeDiffers", "MODERATE"),))


@pytest.mark.parametrize("again", ["1.moderator.2", "1.moderator.swapped.1"])
def test_a_ranking_that_differs_below_its_first_place_is_for_a_person(again: str) -> None:
    started = a_start(positions=("adopt", "defer", "wait"))
    started = replace(started, options=replace(started.options, swapped="swapped" in again))
    said = SYNTHESIS if again == "1.moderator.2" else {}

    def reply(turn: Turn, facts: Facts) -> Reply:
        given = quoting(said)(turn, facts)
        if not isinstance(given, Moderation):
            return given
        order = ("adopt", "wait", "defer") if turn.id == again else ("adopt", "defer", "wait")
        named = labels(turn)
        return replace(given, ranking=tuple(named[f"proposer.{name}"] for name in order))

    end = ended(drive(started, reply, findings=agreeing))

    flag = "ordersDiffer" if "swapped" in again else "secondTakeDiffers"
    (pair,) = end.differing
    assert [(one.member, one.first, one.second) for one in pair.members] == [
        ("ranking", "adopt, defer, wait", "adopt, wait, defer")
    ]
    assert end.flags == (flag,)
    assert Cap(flag, "MODERATE") in end.caps


def test_the_scores_of_both_orders_are_compared_by_party_and_not_by_label() -> None:
    started = a_start()
    started = replace(started, options=replace(started.options, swapped=True))
    merits = {"proposer": 9, "critic": 3, "rebuttal": 6}

    def reply(turn: Turn, facts: Facts) -> Reply:
        if turn.seat != "moderator":
            return quoting({})(turn, facts)
        whose = {label: who for who, label in labels(turn).items()}
        return moderation(turn, scores=lambda label: merits[whose[label]])

    assert ended(drive(started, reply, findings=agreeing)).differing == ()


def test_a_projection_whose_second_take_turns_a_truth_value_is_flagged() -> None:
    schema = {"type": "object", "properties": {"sign": {"type": "boolean"}, "why": {"type": "string"}}}

    def alter(turn: Turn, reply: Reply) -> Reply:
        if turn.seat != "synthesizer":
            return reply
        said = (INVENTED, True) if turn.id.endswith(".1") else (CLEAN, False)
        return replace(reply, output=json.dumps({"why": said[0], "sign": said[1]}))

    end = altered("stances", alter, output_schema=schema)

    assert why(end) == [("secondTake", "1.synthesizer.2", ["output"])]
    assert end.flags == ("secondTakeDiffers",)
    assert end.human_review.required


def test_a_synthesis_whose_second_take_ranks_other_ideas_is_flagged() -> None:
    def alter(turn: Turn, reply: Reply) -> Reply:
        if not isinstance(reply, Synthesis):
            return reply
        first = turn.id.endswith(".1")
        one, two = Idea("Insure.", (Endorsement("Model A", 1),)), Idea("Amend.", (Endorsement("Model B", 1),))
        return replace(reply, answer=INVENTED if first else CLEAN, ideas=(one, two) if first else (two, one))

    end = altered("panel", alter, question_type="brainstorm")

    assert why(end) == [("secondTake", "2.synthesizer.2", ["ideas"])]
    assert "secondTakeDiffers" in end.flags


@pytest.mark.parametrize(("again", "crossed"), [((95, 90, 90), False), ((100, 100, 40), True)])
def test_consensus_scores_that_cross_the_threshold_in_the_other_order_are_said_and_the_lower_mean_counts(
    again: tuple[int, int, int], crossed: bool
) -> None:
    def alter(turn: Turn, reply: Reply) -> Reply:
        if not isinstance(reply, Adjudication):
            return reply
        stance, overlap, confidence = again if "swapped" in turn.id else (100, 100, 100)
        return Adjudication(stance, overlap, 50, confidence, "They agree.")

    end = altered("panel", alter, adjudicator="model", swapped=True)

    assert isinstance(end.result, PanelResult)
    assert end.result.final_score == sum(again) * 10 // 3
    assert ("ordersDiffer" in end.flags) is crossed
    assert (why(end) == [("otherOrder", "1.adjudicator.swapped.1", ["dimensions"])]) is crossed


def test_a_decision_that_the_order_turned_has_the_flag_of_that_alone() -> None:
    def alter(turn: Turn, reply: Reply) -> Reply:
        swapped = "swapped" in turn.id
        return replace(reply, winner=formats.STANCES[1], confidence_level="LOW") if swapped else reply

    end = altered("stances", alter, swapped=True)

    assert end.flags == ("orderSensitive",)
    assert end.caps == (Cap("orderSensitive", "LOW"),)
    assert why(end) == [("otherOrder", "1.judge.swapped.1", ["winner", "confidenceLevel"])]


def test_an_outcome_that_leaves_out_what_a_second_take_changed_is_refused() -> None:
    def alter(turn: Turn, facts: Facts) -> Reply:
        given = quoting(SYNTHESIS)(turn, facts)
        return replace(given, conclusion="rejected") if turn.id == "1.moderator.2" else given

    *debate, last = drive(replace(a_start(), options=options_of("adversarial")), alter, findings=agreeing)
    assert isinstance(last, DebateConcluded)
    hidden = replace(last.outcome, differing=(), flags=(), caps=(), confidence_level="HIGH")

    replay(a_case(), [*debate, last])
    for forged in (hidden, replace(last.outcome, differing=())):
        with pytest.raises(IllegalEntry):
            replay(a_case(), [*debate, DebateConcluded(forged)])
