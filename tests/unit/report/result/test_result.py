"""The result of a debate, for every way that it can end and at every place where it can be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.amounts import micro
from service.debate.entries import (
    CaseReceived,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    TurnSilent,
    TurnSpoke,
)
from service.debate.facts import Facts
from service.debate.findings import (
    ArgumentVerdict,
    Citation,
    CitationsFound,
    CitationVerdict,
    CritiqueFound,
    Edit,
    Finding,
    Voice,
    VoicesFound,
)
from service.debate.model import Check, Turn, labels
from service.debate.replies import Critique, Moderation, Rebuttal, Reply, Shift
from service.debate.replies.pruning import Dropped
from service.debate.suspicions import InjectionFound, Neutralised, Suspicion
from service.errors import IllegalEntry
from service.money import Usage
from service.report import Line, Result, build_result
from service.report.result.argument_types import Dissent
from service.report.result.bill import Tokens
from service.report.result.unseen import UNSEEN_MAX
from tests.fixtures.debates import DECLINED, World, a_case, a_start, canned, drive, found, moderation, outcome
from tests.fixtures.results import adversarial, decided

ROUND_RECORD: dict[str, Any] = {
    "debateId": None,
    "roundNumber": None,
    "question": None,
    "proposerPosition": {"thesis", "supporting_arguments", "evidence_cited"},
    "criticPosition": {"thesis", "counter_arguments", "evidence_cited", "challengeStrength"},
    "rebuttalPosition": {"thesis", "rebuttals", "concessions"},
    "moderatorEvaluation": {
        "argumentQualityScore",
        "resolvedPoints",
        "unresolvedPoints",
        "recommendAnotherRound",
        "synthesis",
        "confidenceLevel",
        "explicitUncertainties",
    },
    "tokenCost": {"proposer", "critic", "rebuttal", "moderator"},
}
"""EAAPL-MAG005, section 5.2, member by member."""

SCHEMA = jsonschema.Draft202012Validator(msgspec.json.schema(Result))

ALWAYS = {
    *("view", "debateId", "status", "question", "taskType", "simulated", "createdAt", "entries", "askedBy", "case"),
    *("caps", "flags", "labels", "criticalValidationFailures", "struck", "citationCounts", "overallCost", "hashes"),
    "links",
}
ENDED = {"decision", "stopReason", "detail", "concludedAt"}
"""What every result has, and what every result of a debate that has ended has, as its documentation says."""

worlds = st.builds(
    World,
    st.integers(0, 10_000),
    failing=st.sampled_from([0, 30]),
    refusing=st.sampled_from([0, 5]),
    unverified=st.sampled_from([0, 15, 60]),
)
starts = st.builds(
    a_start,
    st.integers(1, 3),
    positions=st.sampled_from([(), ("adopt-x", "defer")]),
    ceiling=st.sampled_from([12_000, 30_000, 1_000_000]),
)


def objections(answer: Result) -> Dissent:
    found = adversarial(answer).dissent
    assert found is not None
    return found


def lines(entries: Sequence[Entry]) -> list[Line]:
    return [Line(n, f"2026-11-21T10:{n // 60:02d}:{n % 60:02d}Z", entry) for n, entry in enumerate(entries)]


def told(entries: Sequence[Entry]) -> Result:
    return build_result("d1", lines(entries))


def as_json(entries: Sequence[Entry]) -> dict[str, Any]:
    return msgspec.json.decode(msgspec.json.encode(told(entries)), type=dict[str, Any])


def test_the_round_record_has_exactly_the_members_of_the_reference() -> None:
    (record,) = as_json(drive(a_start()))["rounds"]

    assert list(record) == list(ROUND_RECORD)
    for member, inner in ROUND_RECORD.items():
        assert inner is None or set(record[member]) == inner
    assert set(record["moderatorEvaluation"]["argumentQualityScore"]) == {"proposer", "critic", "rebuttal"}


@given(worlds, starts, st.data())
def test_every_prefix_of_every_debate_has_a_result_that_its_schema_allows(
    world: World, start: DebateStarted, data: st.DataObject
) -> None:
    entries = world.drive(start, case=a_case(1, 2))
    cut = data.draw(st.integers(1, len(entries)))

    answer = as_json(entries[:cut])

    SCHEMA.validate(answer)
    assert set(answer) >= ALWAYS | (ENDED if "concludedAt" in answer else set())
    assert not [name for name, value in answer.items() if value in (None, [], {}) and name not in ALWAYS]


@given(worlds, starts)
def test_what_is_told_by_seat_and_by_round_is_always_all_that_was_charged(world: World, start: DebateStarted) -> None:
    cost = told(world.drive(start)).overall_cost

    whole = micro(cost.spent_usd) + micro(cost.excess_usd)
    assert sum(micro(account.amount_usd) for account in cost.by_seat.values()) == whole
    assert sum(micro(account.amount_usd) for account in cost.by_round.values()) == whole
    assert cost.held_usd == "0.00"


@given(worlds, starts)
def test_tokens_of_the_rounds_and_the_framing_are_always_those_of_the_seats(world: World, start: DebateStarted) -> None:
    answer = told(world.drive(start))

    in_rounds = sum(sum(msgspec.structs.astuple(record.token_cost)) for record in answer.rounds)
    by_kind = [sum(msgspec.structs.astuple(account.tokens)) for account in answer.overall_cost.by_seat.values()]
    assert in_rounds + answer.framing_token_cost == sum(by_kind)


@given(worlds, st.sampled_from(["11" * 32, "22" * 32, "33" * 32, "44" * 32]))
def test_scores_are_always_read_back_to_the_seat_that_the_label_hid(world: World, seed: str) -> None:
    """Every score is derived from the party behind the label, so a swap of labels would show; whatever comes first."""
    worth = {"proposer": 3, "critic": 5, "rebuttal": 8}

    def scored(turn: Turn, facts: Facts) -> Reply:
        hidden = {label: who for who, label in labels(turn).items()}
        if not hidden:
            return canned(turn, facts)
        reply = moderation(turn, scores=lambda label: worth[hidden[label]])
        return replace(reply, scores=tuple(reversed(reply.scores)))

    entries = drive(a_start(seed=seed), lambda t, f: scored(t, f) if t.seat == "moderator" else canned(t, f))

    (record,) = told(entries).rounds
    assert record.moderator_evaluation
    assert msgspec.structs.asdict(record.moderator_evaluation.argument_quality_score) == worth


def test_a_debate_that_completed_tells_its_outcome_and_what_it_rests_on() -> None:
    entries = drive(a_start(seed="11" * 32))

    answer = told(entries)

    assert (answer.status, answer.stop_reason) == ("completed", "moderatorSatisfied")
    assert (adversarial(answer).conclusion, decided(answer).confidence, answer.moderator_confidence_level) == (
        "modified",
        "HIGH",
        "HIGH",
    )
    assert (answer.created_at, answer.concluded_at) == ("2026-11-21T10:00:00Z", lines(entries)[-1].at)
    assert answer.synthesis == "The cap holds but for clause 12."
    assert answer.explicit_uncertainties == ("No court has read this clause.",)
    assert answer.first_draft == ("1.proposer.1",)
    assert adversarial(answer).agrees_with_first_proposal is False
    assert decided(answer).human_review == outcome(entries).human_review


def test_a_declined_case_tells_why_and_claims_no_review() -> None:
    answer = told([CaseReceived(a_case(), "local"), DECLINED])

    assert (answer.status, answer.stop_reason, answer.rounds) == ("declined", "declined", ())
    assert answer.gate
    assert not answer.gate.debate
    assert answer.gate.debate_cost_threshold_usd == "0.01"
    assert decided(answer).outcome == "declined"
    assert not decided(answer).human_review.required
    assert answer.overall_cost.ceiling_usd is None


def test_a_debate_is_queued_until_anything_follows_its_start_and_then_running_without_an_outcome() -> None:
    entries = drive(a_start())

    assert told(entries[:3]).status == "queued"
    for cut in range(4, len(entries)):
        answer = told(entries[:cut])
        assert answer.status == "running"
        assert (answer.decision, answer.result, answer.concluded_at) == (None, None, None)


def test_a_truncated_debate_keeps_the_state_that_it_reached() -> None:
    entries = drive(a_start(), refuses=lambda turns: "1.rebuttal.1" in turns)

    answer = told(entries)

    (record,) = answer.rounds
    assert (answer.status, answer.stop_reason) == ("truncated", "budget")
    assert "DEBATE_TRUNCATED" in answer.flags
    assert record.critic_position
    assert record.rebuttal_position is None
    assert record.moderator_evaluation
    assert record.moderator_evaluation.argument_quality_score.rebuttal is None
    assert [n.notice for n in answer.notices] == ["budgetRefused"]


def test_a_failed_and_an_aborted_debate_tell_the_rounds_that_were_reached() -> None:
    failed = told(drive(a_start(), fails=lambda turn, _: turn == "1.critic.1"))
    aborted = told(drive(a_start(), stops=lambda f: DebateStopped("abort", "changed my mind") if f.said else None))

    assert (failed.status, failed.stop_reason, aborted.status) == ("failed", "seatSilent", "aborted")
    assert failed.rounds[0].proposer_position
    assert failed.rounds[0].critic_position is None
    assert [n.notice for n in failed.notices] == ["attemptFailed"] * 3 + ["seatSilent"]
    assert [(n.notice, n.reason, n.detail) for n in aborted.notices] == [("stopped", "abort", "changed my mind")]
    assert failed.rounds[0].token_cost.critic == 0


def test_tokens_that_nobody_told_are_not_invented_but_said_to_be_missing() -> None:
    answer = told(drive(a_start(), used=lambda _: None))

    critic = answer.overall_cost.by_seat["critic"]
    assert answer.rounds[0].token_cost.critic == 0
    assert (critic.usage_untold, critic.attempts, critic.amount_usd) == (1, 1, "0.00325")


def test_tokens_of_every_kind_are_counted_and_told_apart() -> None:
    answer = told(drive(a_start(), used=lambda _: Usage(100, 10, 20, 30, 5)))

    assert answer.rounds[0].token_cost.critic == 165
    tokens = answer.overall_cost.by_seat["critic"].tokens
    assert tokens == Tokens(input=100, cached_input=20, cache_write=30, output=10, reasoning=5)


def test_attempts_that_failed_are_counted_among_all_attempts() -> None:
    answer = told(drive(a_start(), fails=lambda turn, nth: turn == "1.critic.1" and nth == 1))

    critic = answer.overall_cost.by_seat["critic"]
    assert (critic.attempts, critic.failed_attempts) == (2, 1)
    assert answer.overall_cost.by_round["1"].attempts == 5


def test_what_a_vendor_billed_above_its_reservation_is_told_and_noticed() -> None:
    answer = told(drive(a_start(), used=lambda turn: Usage(9_000, 500) if turn == "1.critic.1" else Usage(1, 1)))

    cost = answer.overall_cost
    assert cost.excess_usd == "0.00775"
    assert micro(cost.spent_usd) + micro(cost.excess_usd) == sum(micro(a.amount_usd) for a in cost.by_seat.values())
    overrun, refused, *_ = answer.notices
    assert (overrun.notice, overrun.turns) == ("providerOverrun", ("1.critic.1",))
    assert (refused.notice, refused.reason) == ("budgetRefused", "providerOverrun")


def test_what_was_left_out_of_a_reply_is_noticed_by_name_and_place() -> None:
    dropped = (
        Dropped("unknownMember", "$", "next_speaker"),
        Dropped("struckPoint", "$.rebuttals[1]", "2"),
        Dropped("unknownMember", "$.rebuttals[0]", 'a"\n\u202e'),
        Dropped("unaskedPoint", "$.concessions[0]", "9"),
    )
    entries = [
        replace(e, dropped=dropped, dropped_more=3) if isinstance(e, TurnSpoke) and e.turn == "1.rebuttal.1" else e
        for e in drive(a_start())
    ]

    left = [(n.turns, n.reason, n.detail) for n in told(entries).notices if n.notice == "partsLeftOut"]

    assert [(reason, detail) for _, reason, detail in left] == [
        (
            "unknownMember",
            'members that the schema does not have: "next_speaker" in $, "a\\"\\n\\u202e" in $.rebuttals[0]',
        ),
        ("struckPoint", "answers to points that were struck: 2 in $.rebuttals[1]"),
        ("unaskedPoint", "answers to points that the seat was not asked to answer: 9 in $.concessions[0]"),
        ("notNamed", "3 further parts of this reply, which the record does not name"),
    ]
    assert {turns for turns, _, _ in left} == {("1.rebuttal.1",)}


def _weak_once(check: Check, facts: Facts) -> Finding:
    finding = found(check, facts)
    if isinstance(finding, CritiqueFound) and check.id.startswith("1.critic.1"):
        return replace(finding, weak=("littleNovelty",))
    return finding


def test_a_critique_that_was_asked_again_is_kept_beside_the_record_with_the_reasons() -> None:
    def rated(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if isinstance(reply, Critique):
            return replace(reply, thesis=f"take {turn.id}", challenge_strength=4 if turn.id == "1.critic.1" else 8)
        return reply

    answer = told(drive(a_start(), rated, findings=_weak_once))

    first = answer.round_details[0].critic_first_take
    assert answer.rounds[0].critic_position
    assert (answer.rounds[0].critic_position.thesis, answer.rounds[0].critic_position.challenge_strength) == (
        "take 1.critic.2",
        8,
    )
    assert first
    assert (first.position.thesis, first.reasons, first.replaced) == (
        "take 1.critic.1",
        ("selfRating", "littleNovelty"),
        True,
    )


def test_a_weak_critique_that_money_could_not_repeat_stands_in_the_record_and_says_so() -> None:
    entries = drive(a_start(), findings=_weak_once, refuses=lambda turns: "1.critic.2" in turns)

    answer = told(entries)

    first = answer.round_details[0].critic_first_take
    assert answer.rounds[0].critic_position
    assert first
    assert first.replaced is False


def _fabricated(check: Check, facts: Facts) -> Finding:
    """The proposer's first citation is altered, the rebuttal's answer is not in the sources."""
    finding = found(check, facts)
    if not isinstance(finding, CitationsFound):
        return finding
    altered = CitationVerdict("altered", "D1", (4, 40), "as it stands", (Edit("number", "30", "90"),))
    verdict = {
        "1.proposer.1": altered,
        "1.rebuttal.1": CitationVerdict("not_found", "D1", found_in="D2", reason="unknownWords"),
    }.get(check.over[0])
    if verdict is None:
        return finding
    return CitationsFound(
        tuple(
            ArgumentVerdict(a.turn, a.n, (verdict,), "unverified_citation") if a.verdicts else a
            for a in finding.arguments
        )
    )


def test_an_unverified_citation_is_told_with_its_verdict_and_its_argument_as_struck() -> None:
    answer = told(drive(a_start(), findings=_fabricated))

    proposer = answer.rounds[0].proposer_position
    assert proposer
    (evidence,) = proposer.evidence_cited
    assert (evidence.verdict, evidence.span, evidence.text, evidence.arguments) == (
        "altered",
        (4, 40),
        "as it stands",
        (1,),
    )
    assert evidence.edits == (Edit("number", "30", "90"),)
    assert [a.struck for a in proposer.supporting_arguments] == ["unverified_citation", None]
    assert [(s.turn, s.seat, s.argument.n) for s in answer.struck] == [
        ("1.proposer.1", "proposer", 1),
        ("1.rebuttal.1", "rebuttal", 1),
    ]
    assert [(f.turn, f.reason) for f in answer.critical_validation_failures] == [
        ("1.proposer.1", "altered"),
        ("1.rebuttal.1", "not_found"),
    ]


def test_evidence_that_several_arguments_rest_on_is_listed_once() -> None:
    def twice(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if isinstance(reply, Critique):
            quote = (Citation("except for breach of clause 12", "D1"),)
            return replace(reply, points=tuple(replace(p, citations=quote * 2) for p in reply.points))
        return reply

    answer = told(drive(a_start(), twice))

    assert answer.rounds[0].critic_position
    assert [e.arguments for e in answer.rounds[0].critic_position.evidence_cited] == [(1, 2)]


def test_citations_have_no_verdict_before_code_has_looked() -> None:
    entries = drive(a_start())
    spoken = next(n for n, e in enumerate(entries) if isinstance(e, TurnSpoke) and e.turn == "1.proposer.1")

    answer = told(entries[: spoken + 1])

    assert answer.rounds[0].proposer_position
    assert [e.verdict for e in answer.rounds[0].proposer_position.evidence_cited] == [None]


def test_dissent_holds_what_was_neither_granted_nor_answered_by_an_argument_that_stands() -> None:
    answered = told(drive(a_start()))
    struck = told(drive(a_start(), findings=_fabricated))
    unanswered = told(drive(a_start(), lambda t, f: _silent_on_one(canned(t, f))))
    unreached = told(drive(a_start(), refuses=lambda turns: "1.rebuttal.1" in turns))

    def held(answer: Result) -> list[tuple[int, str]]:
        return [(m.point.n, m.why) for m in objections(answer).maintained]

    assert held(answered) == []
    assert objections(answered).unresolved_points == ("Whether fines are covered.",)
    assert held(struck) == [(1, "answerStruck")]
    assert held(unanswered) == [(1, "unanswered")]
    assert held(unreached) == [(1, "rebuttalNotReached"), (2, "rebuttalNotReached")]


def _silent_on_one(reply: Reply) -> Reply:
    return replace(reply, rebuttals=()) if isinstance(reply, Rebuttal) else reply


def test_a_struck_point_of_the_critic_is_not_held_against_the_proposition() -> None:
    def struck(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if isinstance(finding, CitationsFound) and check.id == "1.critic.1/citations":
            return CitationsFound(tuple(replace(a, struck="unverified_citation") for a in finding.arguments))
        return finding

    answer = told(drive(a_start(), findings=struck, refuses=lambda turns: "1.rebuttal.1" in turns))

    assert objections(answer).maintained == ()


def test_several_positions_stand_beside_the_record_that_shows_the_one_ranked_first() -> None:
    def scored(turn: Turn, facts: Facts) -> Reply:
        if turn.seat != "moderator":
            return canned(turn, facts)
        hidden = {label: who for who, label in labels(turn).items()}
        return moderation(
            turn,
            scores=lambda label: 9 if hidden[label].endswith("defer") else 4,
            best=lambda label: not hidden[label].endswith("defer"),
        )

    answer = told(drive(a_start(positions=("adopt-x", "adopt-y", "defer")), scored))

    (record,), (beside,) = answer.rounds, answer.round_details
    assert record.proposer_position
    assert record.moderator_evaluation
    assert record.proposer_position.thesis == "proposer.defer stands."
    assert msgspec.structs.astuple(record.moderator_evaluation.argument_quality_score) == (9, 4, 9)
    assert [(p.id, p.rank, p.proposer_score) for p in beside.positions if p.rank == 1] == [("defer", 1, 9)]
    assert sorted(p.rank or 0 for p in beside.positions) == [1, 2, 3]
    assert {p.id: p.proposer_position.thesis for p in beside.positions if p.proposer_position} == {
        name: f"proposer.{name} stands." for name in ("adopt-x", "adopt-y", "defer")
    }
    assert adversarial(answer).ranking[0].position == "defer"
    assert answer.first_draft == ("1.proposer.adopt-x.1", "1.proposer.adopt-y.1", "1.proposer.defer.1")


def test_how_each_seat_moved_is_told_with_the_documents_that_moved_it() -> None:
    answer = told(drive(a_start(2), case=a_case(1, 2)))

    assert [(s.round, s.seat, s.movement, s.documents) for s in answer.shifts] == [
        (2, seat, "weakened", ("D2",)) for seat in ("proposer", "critic", "rebuttal")
    ]
    assert answer.round_details[1].new_documents == ("D2",)


def test_a_shift_that_nobody_asked_for_is_not_told_as_one() -> None:
    def moved(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, shift=Shift("reversed", "A change of heart.")) if isinstance(reply, Critique) else reply

    answer = told(drive(a_start(), moved))

    assert answer.shifts == ()


def test_suspicious_passages_and_weak_critiques_are_noticed_and_clean_checks_are_only_listed() -> None:
    def suspicious(check: Check, facts: Facts) -> Finding:
        if check.kind == "injection":
            return InjectionFound((Suspicion("document", (3, 9), "address", "Words", "D1"),))
        return _weak_once(check, facts)

    answer = told(drive(a_start(), findings=suspicious))

    assert [(n.notice, n.reason) for n in answer.notices] == [
        ("documentsChecked", "suspected"),
        ("critiqueChecked", "weak"),
    ]
    assert [s.name for s in answer.suspicions] == ["D1"]
    kinds = {"injection": 1, "citations": 4, "critique": 2, "texts": 6, "voices": 1}
    assert Counter(c.kind for c in answer.checks) == kinds
    assert {c.engine for c in answer.checks} == {"canned/1"}


def test_characters_that_are_kept_from_the_models_are_noticed_without_a_cap_or_a_flag() -> None:
    taken = Neutralised("document", {"bidi": 2, "zeroWidth": 10}, "D1"), Neutralised("question", {"lineSeparator": 1})

    def unseen(check: Check, facts: Facts) -> Finding:
        return InjectionFound((), neutralised=taken) if check.kind == "injection" else found(check, facts)

    answer, plain = told(drive(a_start(), findings=unseen)), told(drive(a_start()))

    assert [(n.notice, n.reason, n.turns, n.detail) for n in answer.notices] == [
        (
            "neutralised",
            "unseen",
            (),
            "12 characters of document D1 kept from the models: 2 bidirectional, 10 zero-width",
        ),
        (
            "neutralised",
            "unseen",
            (),
            "1 character of question kept from the models or became line breaks: 1 line separator",
        ),
    ]
    assert (answer.flags, answer.moderator_confidence_level) == (plain.flags, plain.moderator_confidence_level)
    assert answer.suspicions == ()


def test_a_flood_of_texts_is_named_up_to_a_bound_and_counted() -> None:
    taken = tuple(Neutralised("outputSchema", {"tag": 1}, f"/{n}") for n in range(UNSEEN_MAX + 2))

    def unseen(check: Check, facts: Facts) -> Finding:
        return InjectionFound((), neutralised=taken) if check.kind == "injection" else found(check, facts)

    told_of = [n.detail for n in told(drive(a_start(), findings=unseen)).notices]

    assert len(told_of) == UNSEEN_MAX + 1
    assert told_of[-1] == "characters of 2 more texts kept from the models"


def test_a_turn_without_an_argument_of_its_own_is_noticed() -> None:
    def heard(check: Check, facts: Facts) -> Finding:
        return VoicesFound((Voice(check.over[-1], empty=(1,)),)) if check.kind == "voices" else found(check, facts)

    answer = told(drive(a_start(), findings=heard))

    (notice,) = answer.notices
    assert (notice.notice, notice.reason, notice.turns) == ("voicesChecked", "notArgued", ("1.rebuttal.1",))
    assert notice.detail == "1 turn: 0 arguments of their own; 0 repeat another side, 1 empty"


def test_the_models_that_served_a_seat_are_told_each_once() -> None:
    entries = [
        replace(e, served_model=f"served-{e.turn}") if isinstance(e, TurnSpoke) else e for e in drive(a_start(2))
    ]

    seats = {s.seat: s for s in told(entries).seats}

    assert seats["moderator"].family == "birch"
    assert seats["proposer"].served_models == ("served-1.proposer.1",)


def test_lines_that_do_not_begin_with_the_case_are_refused() -> None:
    entries = drive(a_start())

    for wrong in ([], entries[1:]):
        with pytest.raises(IllegalEntry, match=r"from case\.received on"):
            told(wrong)


def test_a_moderator_who_was_asked_out_of_turn_is_refused_rather_than_misread() -> None:
    entries = drive(a_start())
    early = next(e for e in entries if getattr(e, "turn", "") == "1.moderator.1")

    with pytest.raises(IllegalEntry, match="not due"):
        told([*entries[:3], early])


def test_silence_is_noticed_and_never_becomes_a_conclusion() -> None:
    entries = drive(a_start(), fails=lambda turn, _: turn == "1.moderator.1")

    answer = told(entries)

    assert any(isinstance(e, TurnSilent) for e in entries)
    assert isinstance(entries[-1], DebateConcluded)
    assert (answer.status, adversarial(answer).conclusion, answer.synthesis) == ("failed", None, None)
    assert not any(isinstance(r, Moderation) for r in Facts.of(entries).said.values())
