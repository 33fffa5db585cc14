"""The events of a panel in the shapes of its reference, member by member and in that text's spelling.

Each has the reference's members, beside them ``debate_id``, ``n`` and ``at``, and our own members under ``details``.
Confidences and shares are from 0 to 1 as in the reference, scores of accuracy from 0 to 100. No decision uses these
numbers: it compares the whole numbers of the record. Debaters are ``model_a`` and so on, by the letters of the debate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from service.debate.entries import CheckFound, DebateStarted, TurnSpoke
from service.debate.findings import DIMENSIONS, AccuracyFound, ConsensusFound, DebaterScores, Dimension, Veto
from service.debate.model import Status
from service.debate.options import PanelOptions, debater_seats
from service.debate.panel_answers import are_awaited
from service.debate.panel_standing import measured_after, options_of, standing
from service.debate.replies import AccuracyReview, BlindAnswer, ObjectionAnswers, RevisedAnswer, Synthesis
from service.debate.replies.panel import ObjectionVerdict
from service.debate.results import ConsensusRound
from service.debate.script import Script
from service.debate.turns import turn_id
from service.errors import IllegalEntry
from service.report.events.types import SpokeEvent
from service.report.formats.panel import TELLING
from service.report.result.history import History
from service.report.result.summary import Summary, summary_of
from service.report.result.terms import PanelTerms
from service.report.result.types import Line, Result

PanelStatus = Literal["running", "completed", "failed", "aborted"]


class _Heading(Struct, frozen=True, kw_only=True):
    debate_id: str
    n: int
    at: str


class PanelClaim(Struct, frozen=True, kw_only=True):
    """A key claim with the debater's confidence in it."""

    claim: str
    confidence: float


class PanelBlind(_Heading, frozen=True, kw_only=True):
    """A debater's answer in the blind round."""

    event: Literal["round"] = "round"
    round: int
    model: str
    answer: str
    claims: tuple[PanelClaim, ...]
    overall_confidence: float
    assumptions: tuple[str, ...]
    details: SpokeEvent


class PanelDeliberation(_Heading, frozen=True, kw_only=True):
    """A debater's answer after it has read the others'."""

    event: Literal["round"] = "round"
    round: int
    model: str
    answer: str
    claims: tuple[PanelClaim, ...]
    overall_confidence: float
    learned_from_others: str
    corrections: str
    still_challenges: str
    unresolved: str
    details: SpokeEvent


class PanelObjectionReply(Struct, frozen=True, kw_only=True):
    """The answer to the strong objections of one debater."""

    model: str
    verdict: ObjectionVerdict
    text: str


class PanelObjections(_Heading, frozen=True, kw_only=True):
    """A debater's answers to the strong objections that stood after the last round; the reference has no such turn."""

    event: Literal["round"] = "round"
    round: int
    model: str
    answers: tuple[PanelObjectionReply, ...]
    details: SpokeEvent


class ConsensusDetails(Struct, frozen=True, kw_only=True, rename="camel"):
    """Our own members of a consensus: its scorer, and code's measures.

    ``threshold`` is per mille. ``counted`` are the dimensions in the mean: those that the type of the question uses and
    that are ``defined``. ``vetoes`` are facts that exclude consensus whatever the scores are. ``unansweredObjections``
    are strong objections of a devil's advocate that no other debater has answered: with one of them there is no
    consensus. Consensus does not mean that an answer is right.
    """

    by: Literal["algorithmic", "model"]
    threshold: int
    blind: bool
    counted: tuple[Dimension, ...]
    defined: tuple[Dimension, ...]
    vetoes: tuple[Veto, ...]
    unanswered_objections: int
    measured: ConsensusFound | None


class PanelConsensus(_Heading, frozen=True, kw_only=True):
    """The standing of the panel after a round.

    A score is a number, as in the reference. One that is undefined is 0, because nothing shows agreement there; it is
    not in ``details.defined``, and ``overall`` leaves it out.
    """

    event: Literal["consensus"] = "consensus"
    round: int
    scores: dict[Dimension, float]
    overall: float
    terminated: bool
    lagging_dimensions: tuple[Dimension, ...]
    notes: str
    details: ConsensusDetails


class PanelMeasured(_Heading, frozen=True, kw_only=True):
    """Code's measures after a round, if a model scores its consensus or objections are still to be answered."""

    event: Literal["measured"] = "measured"
    round: int
    engine: str
    finding: ConsensusFound


class PanelSynthesis(_Heading, frozen=True, kw_only=True):
    """The answer that the debate converged on; ``synthesis_id`` is the turn that `PanelFinal` refers to."""

    event: Literal["synthesis"] = "synthesis"
    synthesis_id: str
    synthesis: str
    details: SpokeEvent


class PanelScores(Struct, frozen=True, kw_only=True):
    """The scores of one debater, each from 0 to 100."""

    factual_accuracy: int
    logical_consistency: int
    evidence_quality: int
    trajectory_score: int


class PanelAccuracy(_Heading, frozen=True, kw_only=True):
    """The scores of every debater, by the letter that it had in the debate."""

    event: Literal["accuracy"] = "accuracy"
    scores: dict[str, PanelScores]
    details: dict[str, Any]


class PanelFinal(_Heading, frozen=True, kw_only=True):
    """The end of a panel, with the summary of the result.

    ``status`` has no word for a truncated debate: it counts as completed with a synthesis, and as failed without one;
    ``result`` has the true status.
    """

    event: Literal["final"] = "final"
    status: PanelStatus
    rounds_completed: int
    consensus_reached: bool
    final_consensus_score: float | None
    synthesis_id: str | None
    result: Summary


def blind_events(
    line: Line, entry: TurnSpoke, h: History, event: SpokeEvent
) -> PanelBlind | PanelDeliberation | PanelObjections | None:
    """A debater's answer, or ``None`` for any other reply."""
    reply = entry.reply
    if isinstance(reply, ObjectionAnswers):
        return _to_objections(line, reply, h, event)
    if not isinstance(reply, BlindAnswer | RevisedAnswer):
        return None
    place: dict[str, Any] = {"debate_id": event.debate_id, "n": line.n, "at": line.at}
    place |= {"round": event.round, "model": model_of(h, event.seat)}
    if isinstance(reply, BlindAnswer):
        return PanelBlind(
            **place,
            answer=reply.answer,
            claims=_claims(reply),
            overall_confidence=share(reply.overall_confidence, of=100),
            assumptions=reply.assumptions,
            details=event,
        )
    return PanelDeliberation(
        **place,
        answer=reply.answer,
        claims=_claims(reply),
        overall_confidence=share(reply.overall_confidence, of=100),
        learned_from_others=reply.learned_from_others,
        corrections=reply.corrections,
        still_challenges=" ".join(challenge.text for challenge in reply.still_challenges),
        unresolved=" ".join(point.text for point in reply.unresolved),
        details=event,
    )


def _to_objections(line: Line, reply: ObjectionAnswers, h: History, event: SpokeEvent) -> PanelObjections:
    return PanelObjections(
        debate_id=event.debate_id,
        n=line.n,
        at=line.at,
        round=event.round,
        model=model_of(h, event.seat),
        answers=tuple(
            PanelObjectionReply(model=_named(answer.label), verdict=answer.verdict, text=answer.text)
            for answer in reply.answers
        ),
        details=event,
    )


def synthesised(line: Line, entry: TurnSpoke, event: SpokeEvent) -> PanelSynthesis | None:
    """The synthesis, or ``None`` for any other reply."""
    if not isinstance(entry.reply, Synthesis):
        return None
    return PanelSynthesis(
        debate_id=event.debate_id,
        n=line.n,
        at=line.at,
        synthesis_id=entry.turn,
        synthesis=entry.reply.answer,
        details=event,
    )


def consensus_event(line: Line, debate_id: str, h: History, before: History) -> PanelConsensus | None:
    """The event of the panel's standing after a round, at the entry after which it no longer changes."""
    for r in h.rounds:
        if (now := _settled(h, r)) and not _settled(before, r):
            return _consensus(line, debate_id, h, now)
    return None


def _settled(h: History, r: int) -> ConsensusRound | None:
    """The panel's standing after a round; ``None`` before it is known, or before an adjudicator has been asked."""
    script = Script(_started(h), h.facts)
    now, again = standing(script, r), turn_id(r, "adjudicator", "swapped")
    alone = standing(script, r, alone=True)
    waiting = options_of(script).swapped and alone is not None and alone.by == "model" and alone.terminated
    unsettled = (waiting and not h.facts.answered(again)) or are_awaited(script, r, options_of(script).max_rounds)
    return None if unsettled else now


def _consensus(line: Line, debate_id: str, h: History, now: ConsensusRound) -> PanelConsensus:
    defined = tuple(d for d in DIMENSIONS if now.dimensions.get(d) is not None)
    return PanelConsensus(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        round=now.round,
        scores={d: share(now.dimensions.get(d) or 0) for d in DIMENSIONS},
        overall=share(now.overall),
        terminated=now.terminated,
        lagging_dimensions=now.lagging,
        notes=now.notes,
        details=ConsensusDetails(
            by=now.by,
            threshold=now.threshold,
            blind=now.blind,
            counted=now.counted,
            defined=defined,
            vetoes=now.vetoes,
            unanswered_objections=now.unanswered_objections,
            measured=measured_after(Script(_started(h), h.facts), now.round),
        ),
    )


def measured(line: Line, entry: CheckFound, found: ConsensusFound, debate_id: str) -> PanelMeasured:
    """The event of code's measures after a round, before they are its standing."""
    r = int(entry.check.partition("/")[0])
    return PanelMeasured(debate_id=debate_id, n=line.n, at=line.at, round=r, engine=entry.engine, finding=found)


def _started(h: History) -> DebateStarted:
    if h.facts.started is None:
        raise IllegalEntry("expected debate.started before anything of a panel")
    return h.facts.started


def reviewed(line: Line, entry: TurnSpoke, h: History, event: SpokeEvent) -> PanelAccuracy | None:
    """A model's scores of the debaters, or ``None`` for any other reply."""
    if not isinstance(entry.reply, AccuracyReview):
        return None
    seats = {_letter(h, seat): seat for seat in _seats(h)}
    given = [
        DebaterScores(
            seats.get(one.label, one.label),
            one.factual_accuracy,
            one.logical_consistency,
            one.evidence_quality,
            one.trajectory_score,
        )
        for one in entry.reply.reviews
    ]
    return PanelAccuracy(
        debate_id=event.debate_id,
        n=line.n,
        at=line.at,
        scores=_scores(h, given),
        details={"by": "model", **msgspec.to_builtins(event)},
    )


def scored(line: Line, entry: CheckFound, found: AccuracyFound, h: History, debate_id: str) -> PanelAccuracy:
    """The scores of the debaters by rules that code can follow."""
    return PanelAccuracy(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        scores=_scores(h, found.scores),
        details={"by": "algorithmic", "check": entry.check, "engine": entry.engine},
    )


def ended(result: Result, n: int, at: str) -> PanelFinal:
    """The last event of a panel."""
    found = result.result if isinstance(result.result, PanelTerms) else None
    score = found.final_score if found else None
    return PanelFinal(
        debate_id=result.debate_id,
        n=n,
        at=at,
        status=status(result.status, synthesised=bool(found and found.synthesis_turn)),
        rounds_completed=found.rounds_completed if found else 0,
        consensus_reached=bool(found and found.consensus_reached),
        final_consensus_score=score,
        synthesis_id=found.synthesis_turn if found else None,
        result=summary_of(result),
    )


def status(of: Status, *, synthesised: bool) -> PanelStatus:
    """The status in one of the four words of the panel's reference."""
    match of:
        case "queued" | "running":
            return "running"
        case "completed" | "failed" | "aborted":
            return of
        case _:
            return "completed" if synthesised else "failed"


def model_of(h: History, seat: str) -> str:
    """The name of a debater in the events of a panel: ``model_a`` for the label ``Model A``."""
    return _named(_letter(h, seat))


def _named(label: str) -> str:
    return label.lower().replace(" ", "_")


def _letter(h: History, seat: str) -> str:
    return TELLING.label(h, seat)


def share(value: int, *, of: int = 1_000) -> float:
    """A whole number as a fraction of one, as in the reference; no decision compares it."""
    return value / of


def _seats(h: History) -> tuple[str, ...]:
    options = h.facts.started.options if h.facts.started else None
    return debater_seats(options) if isinstance(options, PanelOptions) else ()


def _claims(reply: BlindAnswer | RevisedAnswer) -> tuple[PanelClaim, ...]:
    return tuple(PanelClaim(claim=c.text, confidence=share(c.confidence, of=100)) for c in reply.claims)


def _scores(h: History, given: Iterable[DebaterScores]) -> dict[str, PanelScores]:
    named = {
        model_of(h, one.seat): PanelScores(
            factual_accuracy=one.factual_accuracy,
            logical_consistency=one.logical_consistency,
            evidence_quality=one.evidence_quality,
            trajectory_score=one.trajectory_score,
        )
        for one in given
    }
    return dict(sorted(named.items()))
