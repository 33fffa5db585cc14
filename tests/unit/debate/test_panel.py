"""Format panel/1: who is asked and sees what, when a deliberation ends, and what a panel comes to."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate import kernel
from service.debate.entries import BudgetRefused, CheckFound, DebateStarted, DebateStopped, Entry, TurnSilent, TurnSpoke
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, CitationVerdict, ConsensusFound, Finding
from service.debate.kernel import FORMATS, decide, replay
from service.debate.model import Ask, Check, Turn, TurnId, seat_of
from service.debate.panel import FORMAT, misfit, shown, table
from service.debate.panel_standing import TRIGGERS, labels_of
from service.debate.replies import Adjudication, Claim, RevisedAnswer
from service.debate.replies.panel import (
    DebaterReview,
    Endorsement,
    Idea,
    Interval,
    Mark,
    ObjectionAnswer,
    StrongestObjection,
)
from service.debate.script import Script
from service.debate.suspicions import InjectionFound, Suspicion
from tests.fixtures.debates import a_case, a_plan, a_start, outcome, turns_asked
from tests.fixtures.panels import (
    a_panel,
    agreeing,
    changed,
    checked,
    debated,
    due,
    others_claims,
    quarrelling,
    result,
    speak,
)


def upto(entries: Sequence[Entry], turn: TurnId) -> Facts:
    """What was known just before a turn spoke."""
    at = next(i for i, e in enumerate(entries) if isinstance(e, TurnSpoke) and e.turn == turn)
    return Facts.of(entries[:at])


def silent(*turns: TurnId) -> Any:
    """Every attempt of these turns fails."""
    return lambda turn, _nth: turn in turns


def seats(*, of: Sequence[TurnId]) -> list[str]:
    return [seat_of(turn) for turn in of]


# -- the blind round


def test_each_debater_answers_before_it_has_seen_any_other() -> None:
    entries = debated(a_panel(3), quarrelling)
    for seat in ("debater-1", "debater-2", "debater-3"):
        turn = due(entries, TurnId(f"1.{seat}.1"))
        assert (turn.asks, turn.sees) == ("panel.blind", ())


def test_a_round_is_asked_all_at_once_with_its_closing_turns_held_for() -> None:
    facts = Facts.of(debated(a_panel(3, adjudicator="model"))[:4])
    move = decide(facts)
    assert isinstance(move, Ask)
    assert [turn.id for turn in move.turns] == ["1.debater-1.1", "1.debater-2.1", "1.debater-3.1"]
    assert [turn.id for turn in move.holding] == ["1.synthesizer.1", "1.synthesizer.2", "1.adjudicator.accuracy.1"]
    assert set(move.holding[0].sees) == {turn.id for turn in move.turns}


@pytest.mark.parametrize("options", [{"max_rounds": 1}, {"typed_by": "classifier"}, {"adjudicator": "model"}])
def test_the_blind_round_is_always_round_one(options: dict[str, Any]) -> None:
    entries = debated(a_panel(2, **options), quarrelling)
    first = [due(entries, t) for t in turns_asked(entries) if seat_of(t).startswith("debater-")][:2]
    assert [(turn.round, turn.asks, turn.sees) for turn in first] == [(1, "panel.blind", ())] * 2


def test_a_panel_of_no_rounds_is_refused_so_the_blind_round_cannot_be_skipped() -> None:
    assert "1 to 10 rounds" in (misfit(a_panel(2, 0)) or "")


# -- classification


def test_every_seat_but_the_classifier_is_told_the_type_and_what_agreement_means_for_it() -> None:
    entries = debated(a_panel(2, 2, "normative", adjudicator="model"), quarrelling)
    for turn in turns_asked(entries):
        assert due(entries, turn).fragments[0] == "panel.normative"


def test_a_classifier_that_speaks_rules_the_debate() -> None:
    entries = debated(a_panel(2, 2, "factual", typed_by="classifier"), quarrelling)
    assert turns_asked(entries)[0] == "0.classifier.1"
    assert due(entries, TurnId("1.debater-1.1")).fragments == ("panel.business",)
    assert (result(entries).question_type, result(entries).trigger) == ("business", "Risk Stability")


def test_the_threshold_is_that_of_the_type_that_the_classifier_told() -> None:
    thresholds = {**dict.fromkeys(TRIGGERS, 750), "business": 910}
    entries = debated(a_panel(2, 1, "factual", typed_by="classifier", thresholds=thresholds))
    assert result(entries).consensus[0].threshold == 910


def test_a_silent_classifier_leaves_the_type_that_the_rules_found() -> None:
    entries = debated(a_panel(2, typed_by="classifier"), fails=silent(TurnId("0.classifier.1")))
    assert (result(entries).question_type, outcome(entries).status) == ("factual", "completed")
    assert result(entries).missing == ()


@pytest.mark.parametrize(("kind", "trigger"), TRIGGERS.items())
def test_every_type_has_the_trigger_of_the_reference(kind: Any, trigger: str) -> None:
    assert result(debated(a_panel(2, 1, kind))).trigger == trigger


def test_a_check_for_orders_in_the_documents_comes_before_anybody_is_asked() -> None:
    checks = [e.check for e in debated(a_panel(2)) if isinstance(e, CheckFound)]
    assert checks[0] == "case/injection"


# -- deliberation


def test_a_deliberation_sees_its_own_last_answer_and_the_latest_of_every_other() -> None:
    entries = debated(a_panel(3), quarrelling)
    turn = due(entries, TurnId("3.debater-2.1"))
    assert turn.asks == "panel.deliberation"
    assert turn.sees[0] == "2.debater-2.1"
    assert sorted(turn.sees) == ["2.debater-1.1", "2.debater-2.1", "2.debater-3.1"]


def test_others_are_known_by_letters_alone_and_by_the_same_letter_in_every_round() -> None:
    entries = debated(a_panel(4), quarrelling)
    names = set()
    for turn in (TurnId("2.debater-1.1"), TurnId("3.debater-4.1"), TurnId("3.synthesizer.1")):
        script = Script(_started(entries), upto(entries, turn))
        labels = shown(script, due(entries, turn))
        names |= {(seat_of(seen), label) for seen, label in labels.items()}
    assert {label for _, label in names} == {"Model A", "Model B", "Model C", "Model D"}
    assert len(names) == 4


def test_letters_are_drawn_from_the_seed() -> None:
    drawn = {tuple(result(debated(a_panel(4, 1, seed=f"{n:064x}"))).labels.items()) for n in range(12)}
    assert len(drawn) > 1


def test_the_order_in_which_others_are_seen_is_that_of_their_letters() -> None:
    entries = debated(a_panel(4), quarrelling)
    labels = result(entries).labels
    for seat in labels:
        others = [labels[seat_of(t)] for t in due(entries, TurnId(f"2.{seat}.1")).sees[1:]]
        assert others == sorted(others)


def test_a_debater_that_falls_silent_is_missing_and_its_latest_answer_stays() -> None:
    entries = debated(a_panel(3, 4), quarrelling, fails=silent(TurnId("2.debater-3.1")))
    asked = [turn for turn in turns_asked(entries) if seat_of(turn) == "debater-3"]
    assert set(asked) == {"1.debater-3.1", "2.debater-3.1"}
    assert TurnId("1.debater-3.1") in due(entries, TurnId("4.debater-1.1")).sees
    assert result(entries).missing == ("debater-3",)
    assert "debaterMissing" in outcome(entries).flags
    assert outcome(entries).status == "completed"


def test_a_silent_debater_is_no_voice() -> None:
    entries = debated(a_panel(3, 2), quarrelling, fails=silent(TurnId("2.debater-3.1")))
    voices = [e.finding.voices for e in entries if isinstance(e, CheckFound) and isinstance(e.finding, ConsensusFound)]
    assert voices == [3, 2]


def test_a_debater_that_was_silent_from_the_start_is_seen_by_nobody() -> None:
    entries = debated(a_panel(3, 2), quarrelling, fails=silent(TurnId("1.debater-1.1")))
    assert sorted(due(entries, TurnId("2.debater-2.1")).sees) == [TurnId("1.debater-2.1"), TurnId("1.debater-3.1")]


def test_instructions_reach_whoever_writes_an_answer_and_not_whoever_measures() -> None:
    entries = debated(a_panel(2, 2, adjudicator="model", instructions="Think of the regulator."), quarrelling)
    told = {seat_of(t) for t in turns_asked(entries) if "instructions" in due(entries, t).fragments}
    assert told == {"debater-1", "debater-2", "synthesizer"}


# -- replies that cannot be used


def refused(
    turn_id: TurnId, started: DebateStarted | None = None, findings: Any = checked, **members: Any
) -> str | None:
    """What is wrong with a reply that is agreeing but for these members."""
    entries = debated(started or a_panel(2, 4), quarrelling, findings=findings)
    facts, turn = upto(entries, turn_id), due(entries, turn_id)
    return kernel.unusable(facts, turn, replace(quarrelling(turn, facts), **members))


def test_an_answer_of_the_wrong_kind_is_refused() -> None:
    entries = debated(a_panel(2), quarrelling)
    facts = upto(entries, TurnId("2.debater-1.1"))
    blind = facts.said[TurnId("1.debater-1.1")]
    assert (
        kernel.unusable(facts, due(entries, TurnId("2.debater-1.1")), blind)
        == "expected the reply of a panel.deliberation"
    )


def marks(*claims: tuple[str, int]) -> tuple[Mark, ...]:
    return tuple(Mark(label, n, "accept", 80) for label, n in claims)


def test_every_claim_of_the_others_is_marked_exactly_once() -> None:
    entries = debated(a_panel(2, 2), quarrelling)
    ((other, n),) = others_claims(due(entries, TurnId("2.debater-1.1")), upto(entries, TurnId("2.debater-1.1")))
    own = ({"Model A", "Model B"} - {other}).pop()
    assert refused(TurnId("2.debater-1.1"), marks=marks((other, n))) is None
    left = f"every claim of the other answers must be marked; the marks leave out {other} 1"
    assert refused(TurnId("2.debater-1.1"), marks=()) == left
    assert "1 claims are marked again" in (refused(TurnId("2.debater-1.1"), marks=marks((other, n), (other, n))) or "")
    assert "name no claim that was shown" in (
        refused(TurnId("2.debater-1.1"), marks=marks((other, n), (other, 7))) or ""
    )
    assert "name no claim that was shown" in (
        refused(TurnId("2.debater-1.1"), marks=marks((other, n), ("Model C", 1))) or ""
    )
    assert refused(TurnId("2.debater-1.1"), marks=marks((other, n), (own, 1))) is None, "marking one's own withdraws it"


def test_a_struck_claim_is_shown_to_nobody_and_cannot_be_marked() -> None:
    def striking(check: Check, facts: Facts) -> Finding:
        if check.id == "1.debater-2.1/citations":
            return CitationsFound((ArgumentVerdict(TurnId("1.debater-2.1"), 1, (), "uncited"),))
        return checked(check, facts)

    assert refused(TurnId("2.debater-1.1"), findings=striking, marks=()) is None
    labels = result(debated(a_panel(2, 4), quarrelling)).labels
    assert "name no claim that was shown; those shown are none" in (
        refused(TurnId("2.debater-1.1"), findings=striking, marks=marks((labels["debater-2"], 1))) or ""
    )


@pytest.mark.parametrize(
    ("kind", "turn", "probability", "says"),
    [
        ("prediction", "1.debater-1.1", None, "the question is a prediction, so probability must give low and high"),
        ("prediction", "2.debater-1.1", None, "the question is a prediction, so probability must give low and high"),
        ("prediction", "1.debater-1.1", Interval(60, 70), None),
        ("factual", "1.debater-1.1", Interval(60, 70), "the question is no prediction, so probability must be null"),
    ],
)
def test_a_probability_belongs_to_predictions_alone(
    kind: Any, turn: TurnId, probability: Any, says: str | None
) -> None:
    wrong = refused(turn, a_panel(2, 2, kind), probability=probability)
    assert wrong is None if says is None else says in (wrong or "")


@pytest.mark.parametrize("turn", ["1.debater-1.1", "2.debater-1.1"])
@pytest.mark.parametrize(("count", "says"), [(12, None), (13, "give at most 12, the most important; 13 found")])
def test_nobody_makes_more_claims_than_the_others_can_mark(turn: TurnId, count: int, says: str | None) -> None:
    claims = tuple(Claim(n, f"Point {n}.", 50, (), "reasoning") for n in range(1, count + 1))
    wrong = refused(turn, a_panel(2, 2), claims=claims)
    assert wrong is None if says is None else says in (wrong or "")


# -- the devil's advocate


def test_from_the_third_round_on_every_debater_is_the_devils_advocate_too() -> None:
    entries = debated(a_panel(2, 4), quarrelling)
    devils = [t for t in turns_asked(entries) if "panel.devil" in due(entries, t).fragments]
    assert devils == ["3.debater-1.1", "3.debater-2.1", "4.debater-1.1", "4.debater-2.1"]


def test_with_two_rounds_the_devils_advocate_never_speaks() -> None:
    entries = debated(a_panel(2, 2), quarrelling)
    assert not any("panel.devil" in due(entries, t).fragments for t in turns_asked(entries))


def test_an_objection_is_asked_for_from_the_third_round_and_refused_before() -> None:
    assert "from round 3 on, objection must name" in (refused(TurnId("3.debater-1.1"), objection=None) or "")
    early = StrongestObjection("It leaks.", "Model A", 1, "low")
    assert (
        refused(TurnId("2.debater-1.1"), objection=early)
        == "no objection is asked for before round 3; objection must be null"
    )


@pytest.mark.parametrize(
    ("label", "n", "fits"),
    [("Model A", 1, True), ("Model B", 1, True), ("Model A", 2, False), ("Model C", 1, False)],
)
def test_an_objection_names_a_claim_that_was_shown_also_one_of_its_own(label: str, n: int, fits: bool) -> None:
    wrong = refused(TurnId("3.debater-1.1"), objection=StrongestObjection("It leaks.", label, n, "high"))
    assert (wrong is None) is fits


def test_only_objections_of_the_round_before_are_answered_and_never_ones_own() -> None:
    labels = result(debated(a_panel(2, 4), quarrelling)).labels
    mine, theirs = (ObjectionAnswer(labels[seat], "No.") for seat in ("debater-1", "debater-2"))
    assert "nobody, so that the list must be empty" in (
        refused(TurnId("3.debater-1.1"), answers_to_objections=(theirs,)) or ""
    )
    assert refused(TurnId("4.debater-1.1"), answers_to_objections=(theirs,)) is None
    assert "each objector of the round before once" in (
        refused(TurnId("4.debater-1.1"), answers_to_objections=(mine,)) or ""
    )
    assert refused(TurnId("4.debater-1.1"), answers_to_objections=(theirs, theirs)) is not None


def objecting(answered: bool) -> Any:
    """Nobody agrees before the third round; then everybody does, over an objection of debater-1 that is strong."""

    def reply(turn: Turn, facts: Facts) -> Any:
        said = speak(turn, facts, mark="accept" if turn.round > 2 else "reject", quoting=False, verdict="holds")
        if turn.id == "3.debater-1.1" and isinstance(said, RevisedAnswer) and said.objection:
            return replace(said, objection=replace(said.objection, severity="high"))
        if turn.id == "4.debater-2.1" and answered:
            label = labels_of(Script(_started_of(facts), facts))["debater-1"]
            return replace(said, answers_to_objections=(ObjectionAnswer(label, "It does not leak."),))
        return said

    return reply


def test_a_strong_unanswered_objection_keeps_a_deliberation_going_although_all_agree() -> None:
    now = result(debated(a_panel(2, 5), objecting(answered=False)))
    assert [(r.overall >= r.threshold, r.unanswered_objections, r.terminated) for r in now.consensus[2:]] == [
        (True, 1, False)
    ] * 3
    assert not now.consensus_reached


def test_an_objection_that_another_debater_answers_no_longer_does() -> None:
    entries = debated(a_panel(2, 5), objecting(answered=True))
    now = result(entries)
    assert [(r.unanswered_objections, r.terminated) for r in now.consensus[2:]] == [(1, False), (0, True)]
    assert outcome(entries).stop_reason == "consensus"


# -- when a deliberation ends


def test_consensus_ends_it_immediately_also_after_the_blind_round_alone() -> None:
    entries = debated(a_panel(3, 4))
    assert turns_asked(entries) == ["1.debater-1.1", "1.debater-2.1", "1.debater-3.1", "1.synthesizer.1"]
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("completed", "consensus")
    assert result(entries).consensus_reached


def test_consensus_is_measured_after_every_round_over_all_that_was_said() -> None:
    entries = debated(a_panel(2, 3), quarrelling)
    assert [r.round for r in result(entries).consensus] == [1, 2, 3]
    assert [r.blind for r in result(entries).consensus] == [True, False, False]
    at = next(i for i, e in enumerate(entries) if isinstance(e, CheckFound) and e.check == "2/consensus")
    move = decide(Facts.of(entries[:at]))
    assert [check.over for check in getattr(move, "checks", ())] == [
        ("1.debater-1.1", "1.debater-2.1", "2.debater-1.1", "2.debater-2.1")
    ]


def test_without_consensus_the_round_limit_ends_it_and_it_is_still_synthesised() -> None:
    entries = debated(a_panel(2, 3), quarrelling)
    came = result(entries)
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("completed", "roundCeiling")
    assert (came.rounds_completed, came.consensus_reached, came.synthesis) == (3, False, "Yes, the cap holds.")
    assert came.final_score == came.consensus[-1].overall
    assert outcome(entries).confidence_level == "LOW"


def test_lagging_dimensions_and_notes_say_what_keeps_them_apart() -> None:
    last = result(debated(a_panel(2, 2), quarrelling)).consensus[-1]
    assert last.lagging == ("stance_alignment", "empirical_overlap")
    assert "Claims stand although another debater rejects them" in last.notes


# -- a model that adjudicates


def scored(*scores: tuple[int, int, int, int], base: Any = quarrelling) -> Any:
    """The adjudicator's scores round by round; the swapped one says the same."""

    def change(turn: Turn, said: Any) -> dict[str, Any] | None:
        if not isinstance(said, Adjudication):
            return None
        names = ("stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence")
        return dict(zip(names, scores[min(turn.round, len(scores)) - 1], strict=True))

    return changed(base, change)


def test_code_takes_the_mean_of_a_models_four_scores_and_compares() -> None:
    started = a_panel(2, 3, adjudicator="model", thresholds=dict.fromkeys(TRIGGERS, 750))
    entries = debated(started, scored((90, 60, 10, 60), (87, 79, 10, 72), base=agreeing))
    first, second = result(entries).consensus
    assert (first.overall, first.terminated, first.by) == (700, False, "model")
    assert (second.overall, second.terminated, second.lagging) == (793, True, ())
    assert first.lagging == ("empirical_overlap", "confidence_convergence"), "facts do not count the framework"
    assert second.notes == "They agree in part."
    assert outcome(entries).stop_reason == "consensus"


def test_the_adjudicator_sees_every_round_anonymously_and_takes_no_part() -> None:
    entries = debated(a_panel(3, 2, adjudicator="model"), quarrelling)
    turn = due(entries, TurnId("2.adjudicator.1"))
    assert sorted(turn.sees) == [f"{r}.debater-{i}.1" for r in (1, 2) for i in (1, 2, 3)]
    labels = shown(Script(_started(entries), Facts.of(entries)), turn)
    assert set(labels.values()) == {"Model A", "Model B", "Model C"}
    assert not any("adjudicator" in seats(of=due(entries, t).sees) for t in turns_asked(entries) if "debater" in t)


def test_each_round_is_seen_in_an_order_of_its_own_from_the_seed() -> None:
    orders = set()
    for n in range(8):
        entries = debated(a_panel(3, 2, seed=f"{n:064x}", adjudicator="model"), quarrelling)
        sees = due(entries, TurnId("2.synthesizer.1")).sees
        assert [int(t[0]) for t in sees] == [1, 1, 1, 2, 2, 2]
        orders |= {tuple(seats(of=sees[:3])), tuple(seats(of=sees[3:]))}
    assert len(orders) > 2


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"stance": "negative"}, "One debater answers yes and another no."),
        ({"objection": "high"}, "has not been answered by another debater."),
    ],
)
def test_a_model_cannot_find_consensus_against_what_code_knows(members: dict[str, Any], why: str) -> None:
    def change(turn: Turn, said: Any) -> dict[str, Any] | None:
        if turn.id != "3.debater-1.1":
            return None
        return {"objection": replace(said.objection, severity="high")} if "objection" in members else members

    def holding(turn: Turn, facts: Facts) -> Any:
        return speak(turn, facts, verdict="holds")

    replies = changed(scored((0, 0, 0, 0), (0, 0, 0, 0), (99, 99, 99, 99), base=holding), change)
    entries = debated(a_panel(2, 3, adjudicator="model"), replies)
    now, found = result(entries).consensus[-1], Facts.of(entries).found["3/consensus"]
    assert isinstance(found, ConsensusFound)
    assert not now.terminated
    assert all((now.dimensions[name] or 0) <= (found.dimensions[name] or 0) for name in found.counted)
    assert why in now.notes


def test_a_model_cannot_find_consensus_among_answers_of_which_nothing_stands() -> None:
    def struck(check: Check, facts: Facts) -> Finding:
        given = checked(check, facts)
        if not isinstance(given, CitationsFound):
            return given
        return CitationsFound(tuple(replace(a, struck="uncited") for a in given.arguments))

    entries = debated(a_panel(2, 2, adjudicator="model"), scored((99, 99, 99, 99)), findings=struck)
    now = result(entries).consensus[-1]
    assert (now.terminated, now.by) == (False, "model")
    assert "Fewer than two debaters have a claim that stands, and" in now.notes


def test_a_yes_and_a_no_may_share_a_foundation_of_belief() -> None:
    adjudicated = scored((99, 99, 99, 99), base=agreeing)
    replies = changed(adjudicated, lambda t, _: {"stance": "negative"} if t.seat == "debater-1" else None)
    assert result(debated(a_panel(2, 2, "belief", adjudicator="model"), replies)).consensus_reached


def test_where_the_adjudicator_stays_silent_code_measures_instead() -> None:
    entries = debated(a_panel(2, 2, adjudicator="model"), quarrelling, fails=silent(TurnId("1.adjudicator.1")))
    assert [r.by for r in result(entries).consensus] == ["algorithmic", "model"]
    assert "adjudicatorSilent" in outcome(entries).flags


# -- asked twice, with the order turned round


def swapping(**second: int) -> Any:
    """An adjudicator that always finds consensus, and scores so when the order is turned round: by round."""

    def reply(turn: Turn, facts: Facts) -> Any:
        score = second.get(f"r{turn.round}", 90) if ".swapped." in turn.id else 90
        return speak(turn, facts, score=score)

    return reply


def test_the_second_time_it_sees_each_round_in_exactly_the_reverse_order() -> None:
    entries = debated(a_panel(3, 3, adjudicator="model", swapped=True), swapping())
    once, again = due(entries, TurnId("1.adjudicator.1")), due(entries, TurnId("1.adjudicator.swapped.1"))
    assert again.sees == once.sees[::-1]
    assert again.asks == once.asks


def test_consensus_in_both_orders_is_consensus() -> None:
    entries = debated(a_panel(3, 3, adjudicator="model", swapped=True), swapping())
    assert "1.adjudicator.swapped.1" in turns_asked(entries)
    assert (outcome(entries).stop_reason, outcome(entries).flags) == ("consensus", ("decidedBlind",))


def test_consensus_in_one_order_alone_is_none_and_the_deliberation_goes_on() -> None:
    entries = debated(a_panel(3, 3, adjudicator="model", swapped=True), swapping(r1=50))
    first, second = result(entries).consensus
    assert (first.terminated, second.terminated) == (False, True)
    assert "With the order of the answers turned round" in first.notes
    assert "orderSensitive" not in outcome(entries).flags, "the last pair agrees"


def test_the_last_pair_that_disagrees_makes_it_order_sensitive_with_low_confidence_and_a_person_to_decide() -> None:
    entries = debated(a_panel(3, 2, adjudicator="model", swapped=True), swapping(r1=50, r2=50))
    ended = outcome(entries)
    assert (ended.stop_reason, ended.confidence_level) == ("roundCeiling", "LOW")
    assert "orderSensitive" in ended.flags
    assert ended.human_review.required


def test_a_second_answer_that_never_comes_leaves_the_first_unchecked_and_the_confidence_moderate() -> None:
    entries = debated(
        a_panel(3, 3, adjudicator="model", swapped=True), agreeing, fails=silent(TurnId("1.adjudicator.swapped.1"))
    )
    ended = outcome(entries)
    assert (ended.stop_reason, ended.confidence_level) == ("consensus", "MODERATE")
    assert "orderUnchecked" in ended.flags
    assert "orderUnchecked" in [cap.reason for cap in ended.caps]


def test_nobody_is_asked_twice_below_the_stake_or_without_a_consensus_or_where_code_adjudicates() -> None:
    for started, replies in (
        (a_panel(2, 2, adjudicator="model"), agreeing),
        (a_panel(2, 2, adjudicator="model", swapped=True), quarrelling),
        (a_panel(2, 2, swapped=True), agreeing),
    ):
        assert not any("swapped" in turn for turn in turns_asked(debated(started, replies)))


# -- synthesis


def test_the_synthesizer_sees_all_rounds_of_all_debaters_and_nobody_elses_judgement() -> None:
    entries = debated(a_panel(3, 3, adjudicator="model"), quarrelling)
    turn = due(entries, TurnId("3.synthesizer.1"))
    assert sorted(turn.sees) == [f"{r}.debater-{i}.1" for r in (1, 2, 3) for i in (1, 2, 3)]
    assert outcome(entries).final_turn == result(entries).synthesis_turn == "3.synthesizer.1"


def test_a_silent_synthesizer_fails_the_debate_that_has_no_answer_then() -> None:
    entries = debated(a_panel(2, 1), fails=silent(TurnId("1.synthesizer.1")))
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("failed", "seatSilent")
    assert result(entries).synthesis is None


def test_a_brainstorm_is_synthesised_as_ideas_ranked_by_how_many_debaters_endorse_them() -> None:
    def endorsed(*letters: str) -> tuple[Endorsement, ...]:
        return tuple(Endorsement(f"Model {letter}", 1) for letter in letters)

    ideas = (
        Idea("A newsletter.", endorsed("C")),
        Idea("A prize.", endorsed("B", "B")),  # twice by one is one
        Idea("A podcast.", endorsed("B", "C")),
        Idea("A fair.", endorsed("A", "C")),
    )
    replies = changed(quarrelling, lambda turn, _: {"ideas": ideas} if turn.seat == "synthesizer" else None)
    entries = debated(a_panel(3, 2, "brainstorm"), replies)
    assert "panel.ideas" in due(entries, TurnId("2.synthesizer.1")).fragments
    assert [(idea.rank, idea.idea, len(idea.endorsed_by)) for idea in result(entries).ideas] == [
        (1, "A fair.", 2),
        (2, "A podcast.", 2),
        (3, "A prize.", 1),
        (4, "A newsletter.", 1),
    ]


@pytest.mark.parametrize(
    ("kind", "ideas", "says"),
    [
        ("brainstorm", (), "ideas must list at least one idea"),
        ("brainstorm", (Idea("x", (Endorsement("Model A", 2),)),), "ideas [1] name claims that are in no"),
        ("brainstorm", (Idea("x", (Endorsement("Model D", 1),)),), "ideas [1] name claims that are in no"),
        ("factual", (Idea("x", (Endorsement("Model A", 1),)),), "ideas must be empty here"),
        ("factual", (), None),
    ],
)
def test_ideas_belong_to_brainstorms_and_name_claims_of_the_last_answers(
    kind: Any, ideas: Any, says: str | None
) -> None:
    wrong = refused(TurnId("2.synthesizer.1"), a_panel(2, 2, kind), ideas=ideas)
    assert wrong is None if says is None else says in (wrong or "")


# -- accuracy


def test_every_debater_is_scored_after_the_synthesis_by_code() -> None:
    entries = debated(a_panel(3, 2), quarrelling)
    checks = [(e.check if isinstance(e, CheckFound) else getattr(e, "turn", "")) for e in entries]
    assert checks.index("2/accuracy") > checks.index("2.synthesizer.1")
    assert [one.seat for one in result(entries).accuracy] == ["debater-1", "debater-2", "debater-3"]
    assert result(entries).accuracy_by == "algorithmic"


def test_a_model_that_adjudicates_scores_every_debater_and_sees_the_synthesis() -> None:
    entries = debated(a_panel(3, 2, adjudicator="model"), quarrelling)
    turn = due(entries, TurnId("2.adjudicator.accuracy.1"))
    assert (turn.seat, turn.asks, turn.sees[-1]) == ("adjudicator", "panel.accuracy", "2.synthesizer.1")
    assert (result(entries).accuracy_by, result(entries).accuracy[0].factual_accuracy) == ("model", 91)
    assert [one.seat for one in result(entries).accuracy] == ["debater-1", "debater-2", "debater-3"]


def test_where_it_stays_silent_code_scores_instead_and_says_so() -> None:
    entries = debated(a_panel(3, 2, adjudicator="model"), quarrelling, fails=silent(TurnId("2.adjudicator.accuracy.1")))
    assert (outcome(entries).status, result(entries).accuracy_by) == ("completed", "algorithmic")
    assert len(result(entries).accuracy) == 3


def test_reviews_are_of_exactly_the_letters_that_spoke() -> None:
    review = DebaterReview("Model A", 1, 2, 3, 4)
    started = a_panel(2, 1, adjudicator="model")
    wrong = "reviews must score exactly the labels ['Model A', 'Model B'], each once"
    assert refused(TurnId("1.adjudicator.accuracy.1"), started, reviews=(review,)) == wrong
    assert refused(TurnId("1.adjudicator.accuracy.1"), started, reviews=(review, review)) == wrong
    assert (
        refused(TurnId("1.adjudicator.accuracy.1"), started, reviews=(review, replace(review, label="Model B"))) is None
    )


# -- how it may start


@pytest.mark.parametrize(
    ("debaters", "rounds", "starts"),
    [(1, 3, False), (2, 1, True), (10, 10, True), (11, 3, False), (3, 0, False), (3, 11, False)],
)
def test_a_panel_has_two_to_ten_debaters_and_one_to_ten_rounds(debaters: int, rounds: int, starts: bool) -> None:
    assert (misfit(a_panel(debaters, rounds)) is None) is starts


def seated(started: DebateStarted, **models: str) -> DebateStarted:
    """A start with other models in some seats (seats with ``_`` for ``-``), given as family names."""
    by_seat = {seat.replace("_", "-"): family for seat, family in models.items()}
    return replace(
        started, seats=tuple(a_plan(p.seat, by_seat[p.seat]) if p.seat in by_seat else p for p in started.seats)
    )


@pytest.mark.parametrize(
    ("alike", "says"),
    [
        (("synthesizer", "debater_2"), "the synthesizer's model, or its fallback, also sits in ['debater-2']"),
        (("adjudicator", "debater_1"), "the adjudicator's model, or its fallback, also sits in ['debater-1']"),
        (("adjudicator", "synthesizer"), "the adjudicator's model, or its fallback, also sits in ['synthesizer']"),
        (("debater_1", "debater_2"), None),
    ],
)
def test_who_judges_or_writes_the_answer_does_not_debate(alike: tuple[str, str], says: str | None) -> None:
    wrong = misfit(seated(a_panel(3, 3, adjudicator="model"), **dict.fromkeys(alike, "oak")))
    assert wrong is None if says is None else says in (wrong or "")


def test_a_fallback_may_not_break_what_the_models_keep() -> None:
    started = a_panel(2)
    fallback = replace(started.seat("debater-1"), seat="synthesizer", model="another alias")
    plans = tuple(replace(p, fallback=fallback) if p.seat == "synthesizer" else p for p in started.seats)
    assert "the synthesizer's model, or its fallback" in (misfit(replace(started, seats=plans)) or "")


def test_an_automatic_panel_is_never_of_one_family_a_chosen_one_may_be() -> None:
    same = {"debater_1": "oak", "debater_2": "oak", "debater_3": "oak"}
    assert "of one family" in (misfit(seated(a_panel(3, mode="auto"), **same)) or "")
    assert misfit(seated(a_panel(3, mode="manual"), **same)) is None


@pytest.mark.parametrize("replies", [agreeing, quarrelling])
@pytest.mark.parametrize("adjudicator", ["algorithmic", "model"])
def test_the_mode_changes_nothing_in_how_a_panel_runs(replies: Any, adjudicator: str) -> None:
    chosen, drawn = (debated(a_panel(3, 3, adjudicator=adjudicator, mode=mode), replies) for mode in ("manual", "auto"))

    assert [due(drawn, turn) for turn in turns_asked(drawn)] == [due(chosen, turn) for turn in turns_asked(chosen)]
    assert outcome(drawn) == outcome(chosen)


@pytest.mark.parametrize(
    ("started", "says"),
    [
        (replace(a_start(), format=FORMAT), "found those of another format"),
        (replace(a_panel(3), seats=a_panel(2).seats), "no plan for the seats ['debater-3']"),
        (a_panel(2, thresholds={"factual": 800}), "no threshold for questions of the types"),
    ],
)
def test_a_start_that_cannot_be_played_is_refused(started: DebateStarted, says: str) -> None:
    assert says in (misfit(started) or "")


@pytest.mark.parametrize("kind", ["factual", "brainstorm"])
def test_the_table_asks_of_the_first_round_what_the_debate_asks(kind: Any) -> None:
    """What a ceiling has to be at least is reckoned by it."""
    started = a_panel(3, 1, kind, adjudicator="model", instructions="Think of the regulator.", typed_by="classifier")
    named = {turn.id: turn for turn in table(started.options).beginning}
    entries = debated(started, changed(quarrelling, lambda t, _: {"question_type": kind} if t.round == 0 else None))
    for turn in (TurnId("0.classifier.1"), TurnId("1.debater-2.1"), TurnId("1.synthesizer.1")):
        asked = due(entries, turn)
        assert replace(named[turn], sees=asked.sees) == asked
        assert sorted(named[turn].sees) == sorted(asked.sees)
    assert len(named[TurnId("1.adjudicator.1")].sees) == len(due(entries, TurnId("1.adjudicator.accuracy.1")).sees)


# -- how else it may end


def test_fewer_than_two_voices_in_a_round_fail_it_without_a_synthesis() -> None:
    entries = debated(a_panel(3, 3), quarrelling, fails=silent(TurnId("2.debater-1.1"), TurnId("2.debater-2.1")))
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("failed", "seatSilent")
    assert (result(entries).synthesis, result(entries).rounds_completed) == (None, 1)
    assert not any("synthesizer" in turn for turn in turns_asked(entries))


def test_a_failed_debate_keeps_what_was_said() -> None:
    entries = debated(a_panel(3, 3), quarrelling, fails=silent(TurnId("2.debater-1.1"), TurnId("2.debater-2.1")))
    assert len(result(entries).consensus) == 1
    assert result(entries).missing == ("debater-1", "debater-2")


@pytest.mark.parametrize(
    ("by", "status", "reason"), [("abort", "aborted", "aborted"), ("deadline", "truncated", "deadline")]
)
def test_a_stopped_debate_keeps_its_rounds_and_is_not_synthesised(by: Any, status: str, reason: str) -> None:
    def stops(facts: Facts) -> DebateStopped | None:
        return DebateStopped(by, "the client disconnected") if "2.debater-1.1" in facts.said else None

    entries = debated(a_panel(2, 3), quarrelling, stops=stops)
    ended = outcome(entries)
    assert (ended.status, ended.stop_reason, ended.confidence_level) == (status, reason, "LOW")
    assert (result(entries).rounds_completed, result(entries).synthesis) == (1, None)
    assert not any("synthesizer" in turn for turn in turns_asked(entries))


def refusing(*turns: TurnId) -> Any:
    return lambda asked: bool(set(asked) & set(turns))


def test_when_the_money_ends_what_was_said_is_still_synthesised_and_scored() -> None:
    entries = debated(a_panel(2, 3, adjudicator="model"), quarrelling, refuses=refusing(TurnId("2.debater-1.1")))
    assert turns_asked(entries)[-2:] == ["1.synthesizer.1", "1.adjudicator.accuracy.1"]
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("truncated", "budget")
    assert result(entries).synthesis == "Yes, the cap holds."
    assert {"DEBATE_TRUNCATED", "noConsensus"} <= set(outcome(entries).flags)
    assert outcome(entries).confidence_level == "LOW"


def test_when_the_money_ends_before_two_have_spoken_there_is_nothing_to_synthesise() -> None:
    entries = debated(a_panel(2, 3), refuses=refusing(TurnId("1.debater-1.1")))
    assert turns_asked(entries) == []
    assert outcome(entries).status == "truncated"


def test_one_answer_alone_is_nothing_to_synthesise() -> None:
    entries = debated(
        a_panel(2, 3),
        fails=lambda turn, nth: (turn, nth) == ("1.debater-2.1", 1),
        refuses=lambda asked: tuple(asked) == ("1.debater-2.1",),
    )
    assert [e.turn for e in entries if isinstance(e, TurnSpoke)] == ["1.debater-1.1"]
    assert (outcome(entries).status, result(entries).synthesis_turn) == ("truncated", None)


def test_after_a_second_refusal_nobody_is_asked_any_more() -> None:
    started = a_panel(2, 3, adjudicator="model")
    entries = debated(started, quarrelling, refuses=refusing(TurnId("2.debater-1.1"), TurnId("1.synthesizer.1")))
    assert turns_asked(entries)[-1] == "1.adjudicator.1"
    assert sum(isinstance(e, BudgetRefused) for e in entries) == 2
    assert (outcome(entries).status, result(entries).synthesis) == ("truncated", None)


# -- confidence


def caps(entries: Sequence[Entry]) -> list[str]:
    return [cap.reason for cap in outcome(list(entries)).caps]


def late(turn: Turn, facts: Facts) -> Any:
    """One says no in the blind round, and agrees afterwards."""
    said = speak(turn, facts)
    return replace(said, stance="negative") if turn.id == "1.debater-1.1" else said


def test_agreement_of_blind_drafts_that_all_still_hold_surely_after_they_were_read_is_high() -> None:
    entries = debated(a_panel(3, 3, "business"))
    assert result(entries).rounds_completed == 2
    assert (outcome(entries).confidence_level, caps(entries)) == ("HIGH", [])
    assert not outcome(entries).human_review.required


def test_consensus_of_a_round_in_which_nobody_had_read_another_is_for_a_person_to_look_at() -> None:
    entries = debated(a_panel(3, 3))
    assert (result(entries).rounds_completed, outcome(entries).flags) == (1, ("decidedBlind",))
    assert (outcome(entries).confidence_level, caps(entries)) == ("MODERATE", ["decidedBlind"])
    assert outcome(entries).human_review.required


def test_agreement_after_exchange_is_weaker_evidence() -> None:
    entries = debated(a_panel(3, 3), late)
    assert (outcome(entries).stop_reason, outcome(entries).confidence_level) == ("consensus", "MODERATE")
    assert caps(entries) == ["agreedOnlyAfterExchange"]


def test_debaters_that_are_not_sure_leave_it_moderate() -> None:
    unsure = changed(agreeing, lambda t, _: {"overall_confidence": 79} if "debater" in t.seat else None)
    entries = debated(a_panel(3, 3), unsure)
    assert (outcome(entries).confidence_level, caps(entries)) == ("MODERATE", ["debatersUnsure", "decidedBlind"])
    assert result(entries).overall_confidence == 79


@pytest.mark.parametrize(("sure", "level"), [(50, "MODERATE"), (49, "LOW"), (0, "LOW")])
def test_debaters_that_hold_their_answers_for_more_likely_wrong_leave_it_low(sure: int, level: str) -> None:
    unsure = changed(agreeing, lambda t, _: {"overall_confidence": sure} if "debater" in t.seat else None)
    entries = debated(a_panel(3, 3), unsure)
    assert (outcome(entries).confidence_level, caps(entries)) == (level, ["debatersUnsure", "decidedBlind"])


def test_how_sure_a_missing_debater_was_counts_no_more() -> None:
    boasting = changed(
        quarrelling,
        lambda t, _: {"overall_confidence": 100 if t.seat == "debater-3" else 40} if "debater" in t.seat else None,
    )
    assert result(debated(a_panel(3, 2), boasting, fails=silent(TurnId("2.debater-3.1")))).overall_confidence == 40


def test_a_missing_debater_leaves_it_moderate() -> None:
    entries = debated(a_panel(3, 3), fails=silent(TurnId("1.debater-3.1")))
    assert (outcome(entries).confidence_level, caps(entries)) == ("MODERATE", ["debaterMissing", "decidedBlind"])


def test_the_synthesizers_own_level_is_never_passed() -> None:
    modest = changed(agreeing, lambda t, _: {"confidence_level": "LOW"} if t.seat == "synthesizer" else None)
    entries = debated(a_panel(3, 3), modest)
    assert (outcome(entries).confidence_level, caps(entries)) == ("LOW", ["decidedBlind"])


def test_orders_in_the_documents_and_citations_that_do_not_hold_lower_it_as_in_every_format() -> None:
    def wrong(check: Check, facts: Facts) -> Finding:
        if check.kind == "injection":
            return InjectionFound((Suspicion("document", (3, 9), "address", "Words", "D1"),))
        if check.id == "1.debater-1.1/citations":
            lost = (CitationVerdict("not_found"),)
            return CitationsFound((ArgumentVerdict(TurnId("1.debater-1.1"), 1, lost, "unverified_citation"),))
        return checked(check, facts)

    entries = debated(a_panel(3, 1), findings=wrong)
    assert {"injectionSuspected", "criticalValidationFailure"} <= set(caps(entries))
    assert len(outcome(entries).critical_validation_failures) == 1


# -- whatever the order


@pytest.mark.parametrize("adjudicator", ["algorithmic", "model"])
@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_arrival_changes_no_outcome(seed: int, adjudicator: str) -> None:
    started = a_panel(3, 3, adjudicator=adjudicator)
    entries = debated(started, quarrelling, order=Random(seed), fails=silent(TurnId("2.debater-2.1")))
    assert outcome(entries) == outcome(debated(started, quarrelling, fails=silent(TurnId("2.debater-2.1"))))
    replay(a_case(), entries)


def test_two_claims_of_one_answer_are_both_marked() -> None:
    def change(turn: Turn, said: Any) -> dict[str, Any] | None:
        more = Claim(2, "It is usual.", 80, (), "reasoning")
        return {"claims": (*said.claims, more)} if "debater" in turn.seat else None

    twice = changed(quarrelling, change)
    entries = debated(a_panel(2, 2), twice)
    found = [e.finding for e in entries if isinstance(e, CheckFound) and e.check == "2/consensus"]
    assert isinstance(found[0], ConsensusFound)
    assert len(found[0].claims) == 4
    assert not any(isinstance(e, TurnSilent) for e in entries)


def test_panel_is_a_format_of_the_kernel() -> None:
    assert FORMATS[FORMAT].shown is shown


def _started(entries: Sequence[Entry]) -> DebateStarted:
    return _started_of(Facts.of(entries))


def _started_of(facts: Facts) -> DebateStarted:
    assert facts.started
    return facts.started
