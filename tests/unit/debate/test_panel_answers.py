"""Answers to objections after a panel's last round, contested claims, and what a panel says of its agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate import kernel
from service.debate.entries import AttemptFailed, Charge, CheckFound, Entry, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.findings import ConsensusFound
from service.debate.kernel import decide, replay
from service.debate.model import Ask, Turn, TurnId, seat_of
from service.debate.panel import shown, table
from service.debate.panel_standing import labels_of
from service.debate.replies import Adjudication, Claim, RevisedAnswer
from service.debate.replies.panel import Challenge, NamedClaim, ObjectionAnswer, OpenPoint
from service.debate.script import Script
from tests.fixtures.debates import a_case, outcome, turns_asked
from tests.fixtures.panels import a_panel, agreeing, changed, debated, due, result, speak


def _strong(verdict: Any = "fails", *objectors: str, first: int = 3) -> Any:
    """Nobody agrees before the last round; then everybody does, over strong objections of these debaters."""

    def reply(turn: Turn, facts: Facts) -> Any:
        said = speak(turn, facts, mark="accept" if turn.round >= 3 else "reject", verdict=verdict, quoting=False)
        raises = turn.seat in (objectors or ("debater-1",)) and turn.round >= first
        if isinstance(said, RevisedAnswer) and said.objection and raises:
            return replace(said, objection=replace(said.objection, severity="high"))
        return said

    return reply


def _upto(entries: Sequence[Entry], turn: str) -> Facts:
    at = next(i for i, e in enumerate(entries) if isinstance(e, TurnSpoke) and e.turn == turn)
    return Facts.of(entries[:at])


def _silent(*turns: str) -> Any:
    return lambda turn, _nth: turn in turns


def _answers_asked(entries: list[Entry]) -> list[str]:
    return [turn for turn in turns_asked(entries) if ".answer." in turn]


# -- who answers


def test_each_other_debater_answers_a_strong_objection_that_stands_after_the_last_round() -> None:
    entries = debated(a_panel(3, 3), _strong())
    assert _answers_asked(entries) == ["3.debater-2.answer.1", "3.debater-3.answer.1"]
    assert (result(entries).consensus_reached, outcome(entries).stop_reason) == (True, "consensus")
    assert [r.unanswered_objections for r in result(entries).consensus] == [0, 0, 0]
    replay(a_case(), entries)


def test_two_that_object_answer_each_other() -> None:
    entries = debated(a_panel(2, 3), _strong("fails", "debater-1", "debater-2"))
    assert _answers_asked(entries) == ["3.debater-1.answer.1", "3.debater-2.answer.1"]
    assert result(entries).consensus_reached


def test_an_answer_sees_its_own_answer_the_latest_of_the_others_and_the_objection() -> None:
    entries = debated(a_panel(3, 3), _strong())
    turn = due(entries, TurnId("3.debater-2.answer.1"))
    assert turn.asks == "panel.answer"
    assert turn.sees[0] == "3.debater-2.1"
    assert sorted(turn.sees) == ["3.debater-1.1", "3.debater-2.1", "3.debater-3.1"]
    assert turn.fragments == ("panel.factual",)


def test_an_objection_of_an_earlier_round_is_shown_where_it_stands() -> None:
    def once(turn: Turn, facts: Facts) -> Any:
        said = _strong()(turn, facts)
        if turn.id == "4.debater-1.1":
            return replace(said, objection=replace(said.objection, severity="low"))
        return said

    turn = due(debated(a_panel(2, 4), once), TurnId("4.debater-2.answer.1"))
    assert sorted(turn.sees) == ["3.debater-1.1", "4.debater-1.1", "4.debater-2.1"]


@pytest.mark.parametrize("rounds", [1, 2])
def test_without_a_devils_advocate_nobody_is_asked_for_an_answer(rounds: int) -> None:
    assert not _answers_asked(debated(a_panel(2, rounds), _strong()))


def test_an_objection_that_was_answered_in_the_next_round_is_not_asked_about_again() -> None:
    def answers(turn: Turn, facts: Facts) -> Any:
        said = _strong()(turn, facts)
        if turn.id == "4.debater-1.1":
            return replace(said, objection=replace(said.objection, severity="low"), marks=_rejecting(said))
        if turn.id == "4.debater-2.1":
            label = labels_of(Script(facts.started, facts))["debater-1"]  # type: ignore[arg-type]
            return replace(
                said, answers_to_objections=(ObjectionAnswer(label, "It does not."),), marks=_rejecting(said)
            )
        return said

    assert not _answers_asked(debated(a_panel(2, 4), answers))


def _rejecting(said: RevisedAnswer) -> Any:
    return tuple(replace(mark, mark="reject") for mark in said.marks)


@pytest.mark.parametrize(("verdict", "ends"), [("fails", True), ("acceptedRisk", True), ("holds", False)])
def test_an_objection_that_holds_keeps_a_panel_from_consensus(verdict: str, ends: bool) -> None:
    entries = debated(a_panel(3, 3), _strong(verdict))
    assert result(entries).consensus_reached is ends
    assert ("noConsensus" in outcome(entries).flags) is not ends


def test_a_risk_that_is_accepted_leaves_it_moderate_and_asks_for_a_person() -> None:
    entries = debated(a_panel(3, 3), _strong("acceptedRisk"))
    ended = outcome(entries)
    assert "riskAccepted" in ended.flags
    assert ("riskAccepted", "MODERATE") in [(cap.reason, cap.at_most) for cap in ended.caps]
    assert ended.human_review.required
    assert "riskAccepted" not in outcome(debated(a_panel(3, 3), _strong("fails"))).flags


# -- silence, money, replay


def test_where_all_are_silent_the_objection_stands() -> None:
    entries = debated(a_panel(3, 3), _strong(), fails=_silent("3.debater-2.answer.1", "3.debater-3.answer.1"))
    assert (outcome(entries).status, result(entries).consensus_reached) == ("completed", False)
    assert result(entries).missing == ("debater-2", "debater-3")
    assert result(entries).consensus[-1].unanswered_objections == 1


def test_where_one_is_silent_the_answer_of_the_other_counts_and_it_is_missing() -> None:
    entries = debated(a_panel(3, 3), _strong(), fails=_silent("3.debater-2.answer.1"))
    assert result(entries).consensus_reached
    assert {"debaterMissing"} <= set(outcome(entries).flags)
    assert outcome(entries).human_review.required


def test_a_debater_that_was_silent_in_the_last_round_is_not_asked() -> None:
    entries = debated(a_panel(3, 3), _strong(), fails=_silent("3.debater-3.1"))
    assert _answers_asked(entries) == ["3.debater-2.answer.1"]


def test_the_synthesis_is_held_for_while_objections_are_answered() -> None:
    entries = debated(a_panel(3, 3, adjudicator="model"), _strong())
    at = next(i for i, e in enumerate(entries) if isinstance(e, TurnAsked) and ".answer." in e.turn)
    move = decide(Facts.of(entries[:at]))
    assert isinstance(move, Ask)
    assert [turn.id for turn in move.turns] == ["3.debater-2.answer.1", "3.debater-3.answer.1"]
    synthesizer, again, reviewer = move.holding
    assert (synthesizer.id, again.id, reviewer.id) == (
        "3.synthesizer.1",
        "3.synthesizer.2",
        "3.adjudicator.accuracy.1",
    )
    assert {"3.debater-2.answer.1", "3.debater-3.answer.1"} <= set(synthesizer.sees)


def test_when_money_ends_before_the_answers_what_was_said_is_synthesised() -> None:
    entries = debated(a_panel(3, 3), _strong(), refuses=lambda turns: any(".answer." in turn for turn in turns))
    ended = outcome(entries)
    assert (ended.status, ended.stop_reason, ended.confidence_level) == ("truncated", "budget", "LOW")
    assert turns_asked(entries)[-1] == "3.synthesizer.1"
    assert result(entries).synthesis == "Yes, the cap holds."
    assert not result(entries).consensus_reached


def test_each_debaters_answer_is_part_of_the_usual_course_where_there_is_a_devils_advocate() -> None:
    assert table(a_panel(3, 3).options).usual["debater-1"] == 4
    assert table(a_panel(3, 2).options).usual["debater-1"] == 2


def test_the_synthesizer_and_the_reviewer_see_the_answers_under_their_letters() -> None:
    entries = debated(a_panel(3, 3, adjudicator="model"), _strong())
    answer = TurnId("3.debater-2.answer.1")
    for turn_id in ("3.synthesizer.1", "3.adjudicator.1", "3.adjudicator.accuracy.1"):
        turn = due(entries, TurnId(turn_id))
        assert answer in turn.sees
        labels = shown(Script(_started(entries), Facts.of(entries)), turn)
        assert labels[answer] == result(entries).labels["debater-2"]


def test_an_adjudicator_is_asked_after_the_answers_and_only_then_may_end_it() -> None:
    entries = debated(a_panel(3, 3, adjudicator="model"), _strong())
    asked = turns_asked(entries)
    assert asked.index(TurnId("3.adjudicator.1")) > asked.index(TurnId("3.debater-3.answer.1"))
    assert result(entries).consensus_reached


def test_answers_are_one_to_each_objector() -> None:
    entries = debated(a_panel(3, 3), _strong("fails", "debater-1", "debater-2"))
    turn, facts = due(entries, TurnId("3.debater-3.answer.1")), _upto(entries, "3.debater-3.answer.1")
    reply: Any = facts.said.get(turn.id) or Facts.of(entries).said[turn.id]
    assert kernel.unusable(facts, turn, reply) is None
    for wrong in (reply.answers[:1], (*reply.answers, reply.answers[0])):
        message = kernel.unusable(facts, turn, replace(reply, answers=wrong))
        assert "exactly one answer to each of Model" in (message or "")


# -- claims that are accepted and contested


def _contesting(member: str, **more: Any) -> Any:
    def change(turn: Turn, said: Any) -> dict[str, Any] | None:
        if turn.id != "2.debater-1.1" or not said.marks:
            return None
        mark = said.marks[0]
        named = NamedClaim(mark.label, mark.n)
        contested = {
            "still_challenges": (Challenge(mark.label, mark.n, "It does not hold."),),
            "unresolved": (OpenPoint((named,), "The amount remains disputed."),),
        }
        return {member: contested[member], **more}

    return changed(speak_business, change)


def speak_business(turn: Turn, facts: Facts) -> Any:
    """A debate that needs marks, in which all accept all."""
    return speak(turn, facts)


@pytest.mark.parametrize("member", ["still_challenges", "unresolved"])
def test_a_debater_that_accepts_what_it_contests_is_asked_once_and_then_counts_as_unsure(member: str) -> None:
    entries = debated(a_panel(2, 2, "business"), agreeing)
    facts, turn = _upto(entries, "2.debater-1.1"), due(entries, TurnId("2.debater-1.1"))
    said = _contesting(member)(turn, facts)
    message = kernel.unusable(facts, turn, said)
    assert "which stillChallenges or unresolved contest" in (message or "")

    facts.add(TurnAsked(turn.id, 1, "wood0", "", "", 0, 0)) if turn.id not in facts.open else None
    facts.add(AttemptFailed(turn.id, 1, "malformedReply", message or "", Charge(0, "none")))
    assert kernel.unusable(facts, turn, said) is None, "asked once"

    rejecting = replace(said, marks=tuple(replace(mark, mark="unsure") for mark in said.marks))
    assert kernel.unusable(_upto(entries, "2.debater-1.1"), turn, rejecting) is None


def test_where_one_attempt_is_all_nobody_is_silenced_for_it() -> None:
    started = replace(a_panel(2, 2, "business"), attempts_per_turn=1)
    entries = debated(started, _contesting("still_challenges"))
    assert outcome(entries).status == "completed"
    found = Facts.of(entries).found["2/consensus"]
    assert isinstance(found, ConsensusFound)
    assert sorted(len(claim.unsure) for claim in found.claims) == [0, 1]
    assert not found.terminated


def test_a_contested_claim_is_one_that_was_shown() -> None:
    entries = debated(a_panel(2, 2, "business"), agreeing)
    facts, turn = _upto(entries, "2.debater-1.1"), due(entries, TurnId("2.debater-1.1"))
    said: Any = speak(turn, facts)
    strange = replace(said, still_challenges=(Challenge("Model C", 7, "No."),))
    assert "name 1 claims that were not shown; those are Model A 1; Model B 1" in (
        kernel.unusable(facts, turn, strange) or ""
    )


# -- what is said of the agreement


def _claims(turn: Turn, said: Any, texts: Sequence[str]) -> dict[str, Any] | None:
    if not turn.seat.startswith("debater-") or not hasattr(said, "claims"):
        return None
    text = texts[int(turn.seat.partition("-")[2]) - 1]
    return {"claims": (replace(said.claims[0], text=text),), "stance": "open", "framework": "other"}


def test_open_answers_that_agreed_from_the_start_did_not_agree_only_after_exchange() -> None:
    replies = changed(agreeing, lambda turn, said: _claims(turn, said, ["Caffeine improves alertness."] * 3))
    entries = debated(a_panel(3, 3), replies)
    assert (outcome(entries).stop_reason, result(entries).rounds_completed) == ("consensus", 1)
    assert outcome(entries).flags == ("decidedBlind",)


def test_open_answers_that_code_cannot_compare_blind_are_told_so_and_stay_moderate() -> None:
    texts = ("Caffeine improves alertness.", "Alertness improves with coffee.", "Alertness rises after coffee.")

    def reply(turn: Turn, facts: Facts) -> Any:
        said = speak(turn, facts)
        now = texts if turn.round == 1 else ("Caffeine improves alertness.",) * 3
        return replace(said, **(_claims(turn, said, now) or {}))

    entries = debated(a_panel(3, 3), reply)
    assert (outcome(entries).stop_reason, result(entries).rounds_completed) == ("consensus", 2)
    assert outcome(entries).flags == ("blindNotCompared",)
    assert outcome(entries).confidence_level == "MODERATE"
    assert outcome(entries).human_review.required


def test_a_brainstorm_is_not_told_to_have_agreed_late() -> None:
    entries = debated(a_panel(2, 3, "brainstorm"))
    assert result(entries).consensus_reached
    assert "agreedOnlyAfterExchange" not in outcome(entries).flags
    assert outcome(entries).human_review.required


def test_claims_that_excluded_each_other_blind_and_no_longer_do_agreed_only_after_exchange() -> None:
    amounts = ("The cap is EUR 5 million.", "The cap is EUR 6 million.")

    def reply(turn: Turn, facts: Facts) -> Any:
        said = speak(turn, facts)
        if not turn.seat.startswith("debater-") or not hasattr(said, "claims"):
            return said
        text = amounts[turn.seat == "debater-2" and turn.round == 1]
        return replace(said, claims=(replace(said.claims[0], text=text),))

    entries = debated(a_panel(2, 3), reply)
    assert result(entries).rounds_completed == 2
    assert outcome(entries).flags == ("agreedOnlyAfterExchange",)


FALSE = {
    "dates": ("The fee is due on 1 May 2026.", "The fee is due on 1 June 2026."),
    "polarity": ("The supplier is liable for data.", "The supplier is not liable for data."),
    "parties": ("The Supplier shall indemnify the Buyer.", "The Buyer shall indemnify the Supplier."),
    "currencies": ("The cap is EUR 5 million.", "The cap is USD 5 million."),
    "percentages": ("Interest runs at 5 %.", "Interest runs at 8 %."),
    "bounds": ("Notice takes at least 30 days.", "Notice takes at most 30 days."),
    "nothing": ("The supplier owes nothing whatever.", "The supplier owes EUR 5 million."),
    "no cap": ("There is no cap at all.", "The cap is EUR 5 million."),
    "period": ("The cap is EUR 5 million each year.", "The cap is EUR 5 million in total."),
}


@pytest.mark.parametrize("adjudicator", ["algorithmic", "model"])
@pytest.mark.parametrize("kind", ["factual", "normative", "business", "prediction", "belief"])
@pytest.mark.parametrize("texts", FALSE.values(), ids=FALSE)
def test_no_false_consensus_ends_high_or_without_a_person(texts: tuple[str, str], kind: Any, adjudicator: str) -> None:
    """Every stance, framework, confidence and mark says that they agree, and so does a model that adjudicates."""

    def change(turn: Turn, said: Any) -> dict[str, Any] | None:
        if isinstance(said, Adjudication):
            names = ("stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence")
            return dict.fromkeys(names, 100)
        made = _claims(turn, said, texts)
        return {"claims": made["claims"]} if made else None

    entries = debated(a_panel(2, 3, kind, adjudicator=adjudicator), changed(agreeing, change))
    ended = outcome(entries)
    assert not result(entries).consensus_reached
    assert (ended.confidence_level, ended.human_review.required) == ("LOW", True)
    for now in result(entries).consensus:
        assert any(veto.code == "claimsOpposed" for veto in now.vetoes)


def test_marks_that_are_all_unsure_end_low_with_a_person() -> None:
    entries = debated(a_panel(3, 3, "business"), lambda turn, facts: speak(turn, facts, mark="unsure"))
    assert (outcome(entries).confidence_level, outcome(entries).human_review.required) == ("LOW", True)


def test_a_model_does_not_end_it_over_a_claim_that_stands_although_others_reject_it() -> None:
    def reply(turn: Turn, facts: Facts) -> Any:
        said = speak(turn, facts, score=100, mark="reject" if turn.seat != "debater-1" else "accept")
        if turn.seat == "debater-1" and hasattr(said, "claims"):
            return replace(said, claims=(Claim(1, "The cap is void.", 90, (), "reasoning"),))
        return said

    entries = debated(a_panel(3, 2, adjudicator="model"), reply)
    last, found = result(entries).consensus[-1], Facts.of(entries).found["2/consensus"]
    assert isinstance(found, ConsensusFound)
    assert not last.terminated
    assert "claimsContested" in [veto.code for veto in last.vetoes]
    assert (last.dimensions["empirical_overlap"] or 0) <= (found.dimensions["empirical_overlap"] or 0)
    assert last.vetoes == found.vetoes


def test_lagging_dimensions_are_empty_where_a_round_ends_it() -> None:
    rounds = result(debated(a_panel(3, 3), _strong())).consensus
    assert [now.terminated for now in rounds] == [False, False, True]
    assert [bool(now.lagging) for now in rounds] == [True, True, False]


def test_every_veto_of_code_holds_for_a_model_with_the_same_words() -> None:
    entries = debated(a_panel(2, 3, adjudicator="model"), _strong("holds"))
    last = result(entries).consensus[-1]
    assert [veto.code for veto in last.vetoes] == ["objectionStands"]
    assert last.vetoes[0].text in last.notes


def _started(entries: Sequence[Entry]) -> Any:
    return Facts.of(entries).started


def test_consensus_is_measured_again_over_the_answers() -> None:
    entries = debated(a_panel(2, 3), _strong())
    checks = [e.check for e in entries if isinstance(e, CheckFound) and isinstance(e.finding, ConsensusFound)]
    assert checks == ["1/consensus", "2/consensus", "3/consensus", "3/answered"]
    assert seat_of(TurnId("3.debater-2.answer.1")) == "debater-2"
