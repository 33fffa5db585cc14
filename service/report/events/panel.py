"""The events of a panel, most of them in the shapes of its reference (`service.report.events.panel_types`).

Confidences and shares are from 0 to 1 as in the reference, scores of accuracy from 0 to 100. No decision uses these
numbers: it compares the whole numbers of the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from service.debate.entries import CheckFound, DebateStarted, TurnSpoke
from service.debate.findings import AccuracyFound, ConsensusFound, DebaterScores
from service.debate.model import Status
from service.debate.options import PanelOptions, debater_seats
from service.debate.panel_answers import are_awaited
from service.debate.panel_result import ranked_ideas
from service.debate.panel_standing import measured_after, options_of, standing
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    BlindAnswer,
    Classification,
    ObjectionAnswers,
    RevisedAnswer,
    Synthesis,
)
from service.debate.replies.panel import StrongestObjection
from service.debate.results import ConsensusRound
from service.debate.script import Script
from service.debate.turns import is_masked, round_of, seat_of, turn_id
from service.errors import IllegalEntry
from service.report.events.panel_types import (
    AdjudicationEvent,
    AnsweredObjection,
    AnswersEvent,
    ClassificationEvent,
    ConsensusStanding,
    FinalTurn,
    Measured,
    MeasuredEvent,
    NamedClaim,
    ObjectionReplied,
    PanelAccuracy,
    PanelAccuracyReview,
    PanelBlind,
    PanelClaim,
    PanelConsensus,
    PanelDeliberation,
    PanelFinal,
    PanelIdea,
    PanelMark,
    PanelObjection,
    PanelScores,
    PanelStatus,
    PanelSynthesis,
    PanelTurn,
    Probability,
    ScoredByCode,
    ScoredByModel,
    SynthesisTurn,
    WholeFinalTurn,
    WholePanelFinal,
)
from service.report.events.replies import NamedEvent, beside, heading, of_debaters
from service.report.events.speakers import placed_reply
from service.report.formats.panel import TELLING
from service.report.result.history import History
from service.report.result.panel_findings import (
    checkable,
    shown_dimensions,
    shown_notes,
    shown_scores,
    shown_vetoes,
)
from service.report.result.shares import in_shares
from service.report.result.summary import View, summary_of
from service.report.result.terms import PanelTerms
from service.report.result.types import Line, Result


def said(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> NamedEvent:
    """A reply of a panel."""
    match entry.reply:
        case BlindAnswer() as reply:
            return "round", _blind(line, entry, debate_id, h, reply)
        case RevisedAnswer() as reply:
            return "round", _deliberation(line, entry, debate_id, h, reply)
        case ObjectionAnswers() as reply:
            answers = tuple(
                ObjectionReplied(label=answer.label, verdict=answer.verdict, text=answer.text)
                for answer in reply.answers
            )
            return "answers", AnswersEvent(**heading(line, entry, debate_id, h), answers=answers)
        case Classification(question_type, because):
            return "classification", ClassificationEvent(
                **heading(line, entry, debate_id, h), question_type=question_type, because=because
            )
        case Adjudication() as reply:
            scores = {d: percent(getattr(reply, d)) for d in checkable(h)}
            event = AdjudicationEvent(**heading(line, entry, debate_id, h), scores=scores, notes=reply.notes)
            return beside(entry.turn) or "adjudication", event
        case Synthesis() as reply:
            name: Literal["synthesis", "masked"] = "masked" if is_masked(entry.turn) else "synthesis"
            return name, _synthesis(line, entry, debate_id, h, reply, name)
        case AccuracyReview() as reply:
            return "accuracy", _reviewed(line, entry, debate_id, h, reply)
        case _:
            return of_debaters(line, entry, debate_id, h)


def _at_top(entry: TurnSpoke, debate_id: str, h: History, reply: BlindAnswer | RevisedAnswer) -> dict[str, Any]:
    """The reference's members of an answer that are the same in every round."""
    return {
        "event": "round",
        "debate_id": debate_id,
        "round": round_of(entry.turn),
        "model": model_of(h, seat_of(entry.turn)),
        "answer": reply.answer,
        "claims": _claims(reply),
        "overall_confidence": percent(reply.overall_confidence),
        "assumptions": reply.assumptions,
    }


def _blind(line: Line, entry: TurnSpoke, debate_id: str, h: History, reply: BlindAnswer) -> PanelBlind:
    return PanelBlind(
        **_at_top(entry, debate_id, h, reply),
        gainsay=PanelTurn(**placed_reply(line, h, entry), **_answered(reply)),
    )


def _deliberation(line: Line, entry: TurnSpoke, debate_id: str, h: History, reply: RevisedAnswer) -> PanelDeliberation:
    challenges, points, flaw = reply.still_challenges, reply.unresolved, reply.objection
    return PanelDeliberation(
        **_at_top(entry, debate_id, h, reply),
        learned_from_others=reply.learned_from_others,
        corrections=reply.corrections,
        still_challenges=" ".join(challenge.text for challenge in challenges),
        unresolved=" ".join(point.text for point in points),
        marks=tuple(
            PanelMark(model=_named(m.label), claim=m.n, mark=m.mark, confidence=percent(m.confidence))
            for m in reply.marks
        ),
        objection=_objection(flaw) if flaw else None,
        gainsay=PanelTurn(
            **placed_reply(line, h, entry),
            **_answered(reply),
            challenged_claims=tuple(NamedClaim(model=_named(c.label), claim=c.n) for c in challenges),
            unresolved_claims=tuple(
                NamedClaim(model=_named(c.label), claim=c.n) for point in points for c in point.claims
            ),
            answers_to_objections=tuple(
                AnsweredObjection(model=_named(answer.label), text=answer.text)
                for answer in reply.answers_to_objections
            ),
        ),
    )


def _objection(raised: StrongestObjection) -> PanelObjection:
    return PanelObjection(model=_named(raised.label), claim=raised.n, flaw=raised.flaw, severity=raised.severity)


def _answered(reply: BlindAnswer | RevisedAnswer) -> dict[str, Any]:
    between = reply.probability
    return {
        "stance": reply.stance,
        "framework": reply.framework,
        "probability": between and Probability(low=percent(between.low), high=percent(between.high)),
    }


def _synthesis(
    line: Line, entry: TurnSpoke, debate_id: str, h: History, reply: Synthesis, name: Literal["synthesis", "masked"]
) -> PanelSynthesis:
    return PanelSynthesis(
        event=name,
        debate_id=debate_id,
        synthesis_id=entry.turn,
        synthesis=reply.answer,
        ideas=tuple(
            PanelIdea(rank=one.rank, idea=one.idea, endorsed_by=tuple(map(_named, one.endorsed_by)))
            for one in ranked_ideas(reply)
        ),
        gainsay=SynthesisTurn(
            **placed_reply(line, h, entry),
            round=round_of(entry.turn),
            confidence_level=reply.confidence_level,
            explicit_uncertainties=reply.explicit_uncertainties,
        ),
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
    found = measured_after(Script(_started(h), h.facts), now.round)
    return PanelConsensus(
        event="consensus",
        debate_id=debate_id,
        round=now.round,
        scores={d: share(value) for d, value in shown_dimensions(h, now.dimensions).items()},
        overall=share(now.overall),
        terminated=now.terminated,
        lagging_dimensions=now.lagging,
        notes=shown_notes(now.notes, now.by, now.vetoes),
        gainsay=ConsensusStanding(
            n=line.n,
            at=line.at,
            by=now.by,
            threshold=share(now.threshold),
            blind=now.blind,
            counted=now.counted,
            vetoes=shown_vetoes(now.vetoes),
            unanswered_objections=now.unanswered_objections,
            measured=_measured(found, beside_a_model=now.by == "model") if found else None,
        ),
    )


def measured(line: Line, entry: CheckFound, found: ConsensusFound, debate_id: str) -> MeasuredEvent:
    """The event of code's measures after a round, before they are its standing."""
    return MeasuredEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        round=int(entry.check.partition("/")[0]),
        engine=entry.engine,
        threshold=share(found.threshold),
        measured=_measured(found, beside_a_model=True),
    )


def _measured(found: ConsensusFound, *, beside_a_model: bool) -> Measured:
    own: dict[str, Any] = {
        "scores": {d: share(value) for d, value in found.dimensions.items() if value is not None},
        "overall": share(found.overall),
        "terminated": found.terminated,
        "lagging": found.lagging,
        "notes": in_shares(found.notes),
        "counted": found.counted,
        "vetoes": shown_vetoes(found.vetoes),
    }
    return Measured(
        voices=found.voices,
        **(own if beside_a_model else {}),
        claims=found.claims,
        claim_jaccard=_share(found.claim_jaccard),
        beyond_chance=_share(found.beyond_chance),
        wording_overlap=_share(found.wording_overlap),
        new_ideas=_share(found.new_ideas),
        unanswered=found.unanswered,
        opposed=found.opposed,
    )


def _started(h: History) -> DebateStarted:
    if h.facts.started is None:
        raise IllegalEntry("expected debate.started before anything of a panel")
    return h.facts.started


def _reviewed(line: Line, entry: TurnSpoke, debate_id: str, h: History, reply: AccuracyReview) -> PanelAccuracyReview:
    seats = {_letter(h, seat): seat for seat in _seats(h)}
    given = [
        DebaterScores(
            seats.get(one.label, one.label),
            one.factual_accuracy,
            one.logical_consistency,
            one.evidence_quality,
            one.trajectory_score,
        )
        for one in reply.reviews
    ]
    scores = _scores(h, given)
    own: dict[str, Any] = {"by": "model", "round": round_of(entry.turn), "unchecked": _unchecked(scores)}
    return PanelAccuracyReview(
        event="accuracy",
        debate_id=debate_id,
        scores=scores,
        gainsay=ScoredByModel(**placed_reply(line, h, entry), **own),
    )


def scored(line: Line, entry: CheckFound, found: AccuracyFound, h: History, debate_id: str) -> PanelAccuracy:
    """The scores of the debaters by rules that code can follow."""
    scores = _scores(h, found.scores)
    own: dict[str, Any] = {"check": entry.check, "engine": entry.engine, "unchecked": _unchecked(scores)}
    return PanelAccuracy(
        event="accuracy",
        debate_id=debate_id,
        scores=scores,
        gainsay=ScoredByCode(n=line.n, at=line.at, by="algorithmic", **own),
    )


def ended(result: Result, n: int, at: str, view: View) -> PanelFinal | WholePanelFinal:
    """The last event of a panel, with this view of its result."""
    if view == "full":
        return WholePanelFinal(**_reference_end(result), gainsay=WholeFinalTurn(n=n, at=at, result=result))
    return PanelFinal(**_reference_end(result), gainsay=FinalTurn(n=n, at=at, result=summary_of(result)))


def _reference_end(result: Result) -> dict[str, Any]:
    """The members that the panel's reference gives its last event."""
    found = result.result if isinstance(result.result, PanelTerms) else None
    return {
        "event": "final",
        "debate_id": result.debate_id,
        "status": status(result.status, synthesised=bool(found and found.synthesis_turn)),
        "rounds_completed": found.rounds_completed if found else 0,
        "consensus_reached": bool(found and found.consensus_reached),
        "final_consensus_score": found.final_score if found else None,
        "synthesis_id": found.synthesis_turn if found else None,
    }


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


def share(value: int) -> float:
    """A share per mille as a fraction of one, as in the reference; no decision compares it."""
    return value / 1_000


def _share(value: int | None) -> float | None:
    return None if value is None else share(value)


def percent(value: int) -> float:
    """A whole number of per cent as a fraction of one."""
    return value / 100


def _seats(h: History) -> tuple[str, ...]:
    options = h.facts.started.options if h.facts.started else None
    return debater_seats(options) if isinstance(options, PanelOptions) else ()


def _claims(reply: BlindAnswer | RevisedAnswer) -> tuple[PanelClaim, ...]:
    return tuple(PanelClaim(claim=c.text, confidence=percent(c.confidence)) for c in reply.claims)


def _scores(h: History, given: Iterable[DebaterScores]) -> dict[str, PanelScores]:
    named = {
        model_of(h, one.seat): PanelScores(
            factual_accuracy=one.factual_accuracy,
            logical_consistency=one.logical_consistency,
            evidence_quality=one.evidence_quality,
            trajectory_score=one.trajectory_score,
        )
        for one in shown_scores(h, given)
    }
    return dict(sorted(named.items()))


def _unchecked(scores: Mapping[str, PanelScores]) -> tuple[str, ...]:
    return tuple(name for name, of in scores.items() if of.factual_accuracy is None)
