"""Cases without documents: the references' own examples, and what models quote where nothing can be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from service.checks import given
from service.debate.facts import Facts
from service.debate.findings import Citation, CitationsFound, ConsensusFound, TextsFound
from service.debate.model import Case, Outcome, Turn
from service.debate.options import BallotOptions, personas_of
from service.debate.replies import (
    Argument,
    Ballot,
    BlindAnswer,
    Framing,
    Judgement,
    Moderation,
    Position,
    Projection,
    Proposal,
    Reply,
    RevisedAnswer,
    Ruling,
    Synthesis,
    statements,
)
from service.debate.results import BallotResult, PanelResult
from service.debate.turns import TurnId
from service.running.checker import Checker
from tests.fixtures.debates import a_start, canned, drive, outcome
from tests.unit.simulated.debates import Source
from tests.unit.simulated.debates import play as play_adversarial
from tests.unit.simulated.formats import FORMATS, Played, play
from tests.vectors.played import ballot, convergence, panel, stances

VOTERS = [{"name": name} for name in ("alpha", "beta", "gamma")]
EXAMPLES: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "DebateTalk, factual": ("panel", "What are the proven health effects of caffeine?", {"questionType": "factual"}),
    "DebateTalk, normative": ("panel", "Should AI-generated content be labeled?", {"questionType": "normative"}),
    "DebateTalk, business": (
        "panel",
        "Should a Series A startup expand internationally in year one?",
        {"questionType": "business", "adjudicator": "model"},
    ),
    "DebateTalk, prediction": (
        "panel",
        "Will electric vehicles account for more than 50% of new car sales by 2035?",
        {"questionType": "prediction"},
    ),
    "DebateTalk, brainstorm": (
        "panel",
        "What are unconventional marketing strategies for a B2B SaaS product?",
        {"questionType": "brainstorm"},
    ),
    "DebateTalk, belief": (
        "panel",
        "Does consciousness require a biological substrate?",
        {"questionType": "belief", "maxRounds": 3},
    ),
    "flow-state": (
        "stances",
        "Should we ship feature X this week?",
        {
            "debaters": [
                {"name": "advocate", "stance": "ship now"},
                {"name": "skeptic", "stance": "do not ship now"},
            ],
            "outputSchema": {
                "type": "object",
                "properties": {"decision": {"type": "string"}, "rationale": {"type": "string"}},
                "required": ["decision", "rationale"],
            },
        },
    ),
    "bounded debate": (
        "ballot",
        "Should the risky migration be released?",
        {"debaters": VOTERS, "votes": ["release", "revise"], "consensusThreshold": 2},
    ),
    "loomflow": ("convergence", "Should we adopt agent harnesses for our customer support stack?", {"debaters": 3}),
    "loomflow, without a judge": (
        "convergence",
        "Should we adopt agent harnesses for our customer support stack?",
        {"debaters": 3, "judge": False},
    ),
}
"""The questions of the four references as they stand there, with their debaters."""


def bare(played: Outcome) -> None:
    """What the end of every case without documents has in common."""
    assert played.confidence_level in ("MODERATE", "LOW")
    assert ("noDocuments", "MODERATE") in {(cap.reason, cap.at_most) for cap in played.caps}
    assert "nothingVerified" not in {cap.reason for cap in played.caps}
    assert "noDocuments" in played.flags
    assert played.critical_validation_failures == ()
    assert played.human_review.required
    assert "noDocuments" in played.human_review.reasons


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_a_reference_is_debated_as_it_stands_there(name: str) -> None:
    form, question, asked = EXAMPLES[name]

    played = play(form, question, (), asked)

    assert played.outcome.status == "completed"
    bare(played.outcome)
    assert not any(a.struck for a in played.arguments())
    assert all(argument.basis == "reasoning" for reply in played.facts.said.values() for argument in statements(reply))
    assert all(turns_own(played, turn) for turn in played.requests)


def turns_own(played: Played, turn: str) -> bool:
    """Whether a request has the system prompt for such cases, no document, and no prompt that asks for quotations."""
    house, case, *_, seat = played.requests[turn].messages
    return (
        house.pins == ("house.undocumented",)
        and " begin document " not in case.content
        and seat.pins[0].endswith(".undocumented")
        and "`document` block" not in house.content + seat.content
    )


def test_the_bounded_debates_two_results_are_counted_without_documents() -> None:
    """Its own assertions: release 1 and revise 2 decide; one vote each is escalated."""
    tallies = {}
    for name, votes in {"first": ("release", "revise", "revise"), "split": ("release", "revise", "escalate")}.items():
        vote = dict(zip(("debater-1", "debater-2", "debater-3"), votes, strict=True))

        def said(turn: Turn, facts: Facts, vote: Mapping[str, str] = vote) -> Reply:
            return replace(canned(turn, facts), vote=vote[turn.seat])

        started = ballot(3, rounds=1)
        assert isinstance(started.options, BallotOptions)
        options = replace(started.options, votes=("release", "revise", "escalate"))
        end = quoting(replace(started, options=options), said)[1]
        assert isinstance(end.result, BallotResult)
        tallies[name] = ({one.vote: one.count for one in end.result.vote_tally}, end.result.decision)
        bare(end)

    assert tallies == {
        "first": ({"release": 1, "revise": 2}, "revise"),
        "split": ({"release": 1, "revise": 1, "escalate": 1}, "escalate"),
    }


# -- models that quote all the same

INVENTED = 'The framework agreement states that "the Supplier bears every loss of the Bank without any limit at all".'
CITED = (Citation("the Supplier bears every loss of the Bank without any limit at all", "D1", "clause 9"),)
STARTED: Mapping[str, Callable[[], Any]] = {
    "stances": lambda: stances(rounds=1),
    "ballot": lambda: ballot(rounds=1),
    "panel": lambda: panel(2, 2),
    "convergence": lambda: convergence(2, 1),
    "adversarial": a_start,
}


def invents(turn: Turn, facts: Facts) -> Reply:
    """Every seat quotes what stands nowhere, in its citations and in its words, and every decider is sure."""
    match canned(turn, facts):
        case Argument() | Position() as reply:
            return replace(reply, arguments=tuple(replace(a, text=INVENTED, citations=CITED) for a in reply.arguments))
        case Ballot() as reply:
            return replace(reply, rationale=tuple(replace(a, text=INVENTED, citations=CITED) for a in reply.rationale))
        case BlindAnswer() | RevisedAnswer() as reply:
            return replace(reply, claims=tuple(replace(c, text=INVENTED, citations=CITED) for c in reply.claims))
        case Proposal() as reply:
            return replace(reply, arguments=tuple(replace(a, text=INVENTED, citations=CITED) for a in reply.arguments))
        case Judgement() as reply:
            return replace(reply, reasoning=INVENTED, confidence_level="HIGH")
        case Synthesis() as reply:
            return replace(reply, answer=INVENTED, confidence_level="HIGH")
        case Ruling() as reply:
            return replace(reply, justification=INVENTED, confidence_level="HIGH")
        case Framing() as reply:
            return replace(reply, key_documents=())
        case Moderation() as reply:
            return replace(reply, synthesis=INVENTED, confidence_level="HIGH")
        case reply:
            return reply


def quoting(started: Any, said: Callable[[Turn, Facts], Reply]) -> tuple[Facts, Outcome]:
    """A debate of a case without documents, checked by the real engines."""
    case = Case("Does the agreement cap the Supplier's liability?", "contract", (), Decimal(500_000))
    checker = Checker({})
    entries = drive(started, said, case=case, findings=lambda check, facts: checker.check(case, facts, check).finding)
    return Facts.of(entries), outcome(entries)


@pytest.mark.parametrize("form", STARTED)
def test_what_models_quote_all_the_same_is_unchecked_and_a_person_has_to_decide(form: str) -> None:
    facts, end = quoting(STARTED[form](), invents)

    assert end.status == "completed"
    bare(end)
    assert "uncheckedEvidence" in end.flags
    assert not {"inventedQuotation", "unfoundQuotation"} & {cap.reason for cap in end.caps}
    verdicts = [
        (argument.struck, verdict.verdict)
        for found in facts.found.values()
        if isinstance(found, CitationsFound)
        for argument in found.arguments
        for verdict in argument.verdicts
    ]
    assert set(verdicts) == {(None, "unchecked")}
    texts = {turn: found for turn, found in facts.found.items() if isinstance(found, TextsFound)}
    said = [passage.status for found in texts.values() for passage in found.passages]
    assert "unchecked" in said
    assert not {"nowhere", "onlyInDebate", "inDocument", "unclear"} & set(said)


@pytest.mark.parametrize("form", [form for form in STARTED if form != "ballot"])
def test_no_decider_is_asked_again_for_words_that_nobody_can_compare(form: str) -> None:
    facts, _ = quoting(STARTED[form](), invents)

    deciders = ("judge", "synthesizer", "moderator")
    assert not [t for t in facts.said if t.split(".")[1] in deciders and t.endswith(".2")]


def test_words_that_another_seat_is_said_to_have_used_are_still_compared() -> None:
    false = 'Debater 1 wrote word for word: "I concede that the cap does not protect the Bank in any case".'

    def said(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, reasoning=false) if isinstance(reply, Judgement) else reply

    _, end = quoting(stances(rounds=1), said)

    assert "inventedQuotation" in end.flags
    assert end.confidence_level == "LOW"


def test_evidence_that_is_claimed_and_not_cited_stands_and_is_flagged() -> None:
    def said(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if isinstance(reply, Argument):
            bare_ = tuple(replace(a, citations=(), basis="evidence") for a in reply.arguments)
            return replace(reply, arguments=bare_)
        return reply

    facts, end = quoting(stances(rounds=1), said)

    found = [a for f in facts.found.values() if isinstance(f, CitationsFound) for a in f.arguments]
    assert found
    assert not any(argument.struck or argument.verdicts for argument in found)
    assert "uncheckedEvidence" in end.flags
    bare(end)


def test_a_projection_of_a_judgement_is_made_as_in_any_case() -> None:
    facts, _ = quoting(stances(rounds=1), canned)

    assert any(isinstance(reply, Projection) for reply in facts.said.values())


def test_the_words_of_such_a_case_are_those_of_the_question_and_of_the_callers_texts() -> None:
    facts, _ = quoting(stances(rounds=1, instructions="Weigh the churn of customers."), canned)
    attacked, _ = quoting(a_start(personas=("critic",)), invents)
    assert facts.case is not None
    assert attacked.case is not None
    answered = replace(facts.case, single_agent_answer="Yes, because the rollback is quick.")

    heard = given.VOICES["judgement/1"](answered, facts, (TurnId("1.debater-1.1"), TurnId("1.debater-2.1")))
    judged = given.CRITIQUES["judgement/1"](attacked.case, attacked, (TurnId("1.proposer.1"), TurnId("1.critic.1")))

    assert heard.documents == judged.documents == ()
    texts = {answered.question, "Weigh the churn of customers.", "Yes, because the rollback is quick."}
    assert texts <= set(heard.asked)
    persona = personas_of(attacked.started.options)["critic"] if attacked.started else ""
    assert {attacked.case.question, persona} <= set(judged.asked)


# -- what a panel counts


def test_empirical_overlap_is_undefined_and_does_not_count() -> None:
    played = play("panel", EXAMPLES["DebateTalk, business"][1], (), {"questionType": "business", "maxRounds": 3})

    for found in (f for f in played.facts.found.values() if isinstance(f, ConsensusFound)):
        assert found.dimensions["empirical_overlap"] is None
        assert found.counted == ("stance_alignment", "confidence_convergence")
        assert "empirical_overlap" not in found.lagging
        assert not any(claim.supported for claim in found.claims)


def test_a_models_score_of_empirical_overlap_does_not_count_either() -> None:
    played = play("panel", *EXAMPLES["DebateTalk, business"][1:2], (), EXAMPLES["DebateTalk, business"][2])

    assert isinstance(played.outcome.result, PanelResult)
    for standing in played.outcome.result.consensus:
        assert standing.by == "model"
        assert "empirical_overlap" not in standing.counted
        scores = [standing.dimensions[name] or 0 for name in standing.counted]
        assert standing.overall == sum(scores) // len(scores)


def test_blind_answers_of_one_kind_are_no_consensus_without_a_passage_that_code_could_compare() -> None:
    """All say yes with one confidence; nothing but that is alike, and code compares no claims without passages."""
    facts, end = quoting(panel(3, 1), invents)

    first = facts.found["1/consensus"]
    assert isinstance(first, ConsensusFound)
    assert not first.terminated
    assert "claimsNotCompared" in {veto.code for veto in first.vetoes}
    assert end.confidence_level == "LOW"


def test_an_invented_citation_earns_no_score() -> None:
    cited, uncited = (quoting(panel(2, 2), said)[0].found["2/accuracy"] for said in (invents, plain_claims))

    assert [s.evidence_quality for s in cited.scores] == [s.evidence_quality for s in uncited.scores]  # type: ignore[union-attr]
    assert [s.factual_accuracy for s in cited.scores] == [s.factual_accuracy for s in uncited.scores]  # type: ignore[union-attr]


def plain_claims(turn: Turn, facts: Facts) -> Reply:
    """The same claims without their citations."""
    match invents(turn, facts):
        case BlindAnswer() | RevisedAnswer() as reply:
            return replace(reply, claims=tuple(replace(c, citations=(), basis="reasoning") for c in reply.claims))
        case reply:
            return reply


# -- the adversarial format, where policy allows it


def test_an_adversarial_debate_without_documents_is_played_to_its_end() -> None:
    played = play_adversarial("Should we ship feature X this week?", list[Source](), models=MODELS)

    assert played.outcome.status == "completed"
    assert played.outcome.conclusion is not None
    bare(played.outcome)


MODELS = {
    "framing": "cedar-small",
    "proposer": "alder-large",
    "critic": "birch-large",
    "rebuttal": "alder-small",
    "moderator": "cedar-large",
}


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_question_with_a_document_asks_by_the_usual_texts(form: str) -> None:
    document = {"id": "D1", "title": "Note", "text": "Feature X was tested for two weeks and no fault was found in it."}
    name = next(name for name, (own, _, _) in EXAMPLES.items() if own == form)

    played = play(form, EXAMPLES[name][1], [document], EXAMPLES[name][2])

    assert not any("undocumented" in pin for r in played.requests.values() for m in r.messages for pin in m.pins)
    assert not {"noDocuments", "uncheckedEvidence"} & set(played.outcome.flags)
