"""The events that all formats share: the gate, the start, an attempt, a reply, verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from service.debate.amounts import usd
from service.debate.entries import (
    CheckFound,
    DebateStarted,
    GateDecided,
    TurnAsked,
    TurnSpoke,
)
from service.debate.findings import (
    AccuracyFound,
    CitationsFound,
    ConsensusFound,
    ConvergenceFound,
    CritiqueFound,
    InjectionFound,
    SynthesisFound,
    TextsFound,
    VoicesFound,
)
from service.debate.model import TurnId
from service.debate.options import role_of
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    Argument,
    Ballot,
    BlindAnswer,
    Classification,
    Critique,
    Framing,
    Judgement,
    Moderation,
    ObjectionAnswers,
    Position,
    Projection,
    Proposal,
    Rebuttal,
    Reply,
    RevisedAnswer,
    Ruling,
    Synthesis,
)
from service.debate.turns import round_of, seat_of
from service.money import Ledger
from service.report.events.convergence import overlapping
from service.report.events.formats import NamedEvents, options_among, stream_of
from service.report.events.panel import scored
from service.report.events.types import (
    AskedEvent,
    CitationsEvent,
    EventName,
    GateEvent,
    PassagesEvent,
    SpokeEvent,
    StartedEvent,
)
from service.report.formats import telling_of
from service.report.result.account import tokens_of
from service.report.result.build import build_gate, build_hashes, build_seats
from service.report.result.history import History, is_swapped, position_of
from service.report.result.passages import passages_of
from service.report.result.rounds import arguments, critic_position, evaluation, proposer_position, rebuttal_position
from service.report.result.transcript import spoken
from service.report.result.types import Line


def entry_events(line: Line, debate_id: str, before: Sequence[Line]) -> NamedEvents:
    """The events of an entry; empty for an entry that has a notice."""
    match line.entry:
        case GateDecided() as entry:
            return (("gate", _gate(line, entry, debate_id, before)),)
        case DebateStarted() as entry:
            return (("started", _started(line, entry, debate_id)),)
        case TurnAsked() as entry:
            first = stream_of(options_among(before)).before_asked(line, entry, debate_id, before)
            return (*first, ("asked", _asked(line, entry, debate_id, before)))
        case TurnSpoke() as entry:
            return (_said(line, entry, debate_id, History([*before, line])),)
        case CheckFound() as entry:
            return _found(line, entry, debate_id, [*before, line])
        case _:
            return ()


def settled_events(line: Line, debate_id: str, before: Sequence[Line]) -> NamedEvents:
    """The format's further events after the event of the entry that settles a round."""
    return stream_of(options_among(before)).settled(line, debate_id, before)


def _found(line: Line, entry: CheckFound, debate_id: str, lines: Sequence[Line]) -> NamedEvents:
    match entry.finding:
        case CitationsFound() as found:
            return (("citations", _citations(line, entry, found, debate_id, History(lines))),)
        case ConsensusFound() as found:
            options = options_among(lines)
            return stream_of(options).measured(line, entry, found, debate_id, options) if options else ()
        case AccuracyFound() as found:
            return (("accuracy", scored(line, entry, found, History(lines), debate_id)),)
        case ConvergenceFound() as found:
            return (overlapping(line, entry, found, debate_id),)
        case TextsFound() as found:
            return (("passages", _passages(line, entry, found, debate_id, History(lines))),)
        case CritiqueFound() | InjectionFound() | SynthesisFound() | VoicesFound():
            return ()


def _said(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> tuple[EventName, Struct]:
    """A reply under its own name, in the shape of its format."""
    event = _spoke(line, entry, debate_id, h)
    if event.swapped:
        return "swapped", event
    return _name(entry.reply), stream_of(h.options).said(line, entry, h, event) or event


def _name(reply: Reply) -> EventName:
    match reply:
        case Moderation() | Projection() | Synthesis() | Ruling():
            return "synthesis"
        case Position():
            return "debate.response"
        case Classification():
            return "classification"
        case Adjudication():
            return "adjudication"
        case AccuracyReview():
            return "accuracy"
        case Framing() | Proposal() | Critique() | Rebuttal() | Argument() | Judgement():
            return "round"
        case Ballot() | BlindAnswer() | RevisedAnswer() | ObjectionAnswers():
            return "round"


def _between_debaters(h: History, turn: TurnId) -> bool:
    """Whether a reply belongs neither to the round record nor to a transcript."""
    telling = telling_of(h.options)
    return (telling is None or not telling.by_rounds) and role_of(seat_of(turn)) != "debater"


def _gate(line: Line, entry: GateDecided, debate_id: str, before: Sequence[Line]) -> GateEvent:
    case = History(before).case
    return GateEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        status="queued" if entry.decision.debate else "declined",
        question=case.question,
        task_type=case.task_type,
        gate=build_gate(entry.decision),
    )


def _started(line: Line, entry: DebateStarted, debate_id: str) -> StartedEvent:
    return StartedEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        format=entry.format,
        format_reason=entry.format_reason or None,
        options=entry.options,
        seats=build_seats(entry, {}),
        diversity=entry.diversity,
        pairs=entry.pairs,
        simulated=entry.simulated,
        approved_by=entry.approved_by,
        ceiling_usd=usd(entry.ceiling),
        expected_usd=usd(entry.expected_cost),
        hashes=build_hashes(entry, None, None),
    )


def _asked(line: Line, entry: TurnAsked, debate_id: str, before: Sequence[Line]) -> AskedEvent:
    return AskedEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        turn=entry.turn,
        round=round_of(entry.turn),
        seat=seat_of(entry.turn),
        position=position_of(entry.turn),
        attempt=entry.attempt,
        why=History([*before, line]).attempt(entry.turn, entry.attempt).why,
        model=entry.model,
        input_tokens=entry.input_tokens,
        held_usd=usd(entry.held),
        left_usd=usd(Ledger.of(known.entry for known in [*before, line]).remaining),
    )


def _spoke(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> SpokeEvent:
    reply, turn, ledger = entry.reply, entry.turn, Ledger.of(known.entry for known in h.lines)
    debater = reply if isinstance(reply, Proposal | Critique | Rebuttal) else None
    return SpokeEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        turn=turn,
        round=round_of(turn),
        seat=seat_of(turn),
        position=position_of(turn),
        attempt=entry.attempt,
        framing=reply if isinstance(reply, Framing) else None,
        proposer_position=proposer_position(h, turn),
        critic_position=critic_position(h, turn),
        rebuttal_position=rebuttal_position(h, turn),
        moderator_evaluation=evaluation(h, turn) if isinstance(reply, Moderation) else None,
        objections=reply.objections if isinstance(reply, Proposal) else (),
        conclusion=getattr(reply, "conclusion", None),
        shift=debater.shift if debater else None,
        spoken=spoken(h, turn) if role_of(seat_of(turn)) == "debater" else None,
        reply=msgspec.to_builtins(reply) if _between_debaters(h, turn) else None,
        swapped=is_swapped(turn),
        served_model=entry.served_model,
        tokens=tokens_of(entry.charge),
        charged_usd=usd(entry.charge.amount),
        charge_basis=entry.charge.basis,
        spent_usd=usd(ledger.spent),
        left_usd=usd(ledger.remaining),
    )


def _citations(line: Line, entry: CheckFound, found: CitationsFound, debate_id: str, h: History) -> CitationsEvent:
    turn = TurnId(entry.check.partition("/")[0])
    verdicts = [v.verdict for argument in found.arguments for v in argument.verdicts]
    return CitationsEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        turn=turn,
        round=round_of(turn),
        seat=seat_of(turn),
        position=position_of(turn),
        engine=entry.engine,
        verified=verdicts.count("verified"),
        altered=verdicts.count("altered"),
        too_short=verdicts.count("too_short"),
        not_found=verdicts.count("not_found"),
        struck=tuple(a.n for a in found.arguments if a.struck),
        arguments=arguments(h, turn),
    )


def _passages(line: Line, entry: CheckFound, found: TextsFound, debate_id: str, h: History) -> PassagesEvent:
    given = passages_of(h, TurnId(entry.check.partition("/")[0]), entry.engine, found)
    return PassagesEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        turn=given.turn,
        speaker=given.speaker,
        round=given.round,
        seat=given.seat,
        position=given.position,
        engine=given.engine,
        compared=len(given.passages),
        marked=len(found.marked),
        passages=given.passages,
    )
