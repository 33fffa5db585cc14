"""The events that all formats share: the gate, the start, an attempt, a reply, verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict

from service.debate.amounts import usd
from service.debate.entries import (
    Charge,
    CheckFound,
    DebateStarted,
    GateDecided,
    TurnAsked,
    TurnGiven,
    TurnSpoke,
)
from service.debate.findings import (
    AccuracyFound,
    CitationsFound,
    ConsensusFound,
    ConvergenceFound,
    CritiqueFound,
    SynthesisFound,
    TextsFound,
    VoicesFound,
)
from service.debate.model import TurnId
from service.debate.replies import Screening
from service.debate.suspicions import InjectionFound
from service.debate.turns import round_of
from service.money import Ledger
from service.report.events.convergence import overlapping
from service.report.events.formats import NamedEvents, options_among, stream_of
from service.report.events.panel import scored
from service.report.events.replies import NamedEvent, screened
from service.report.events.speakers import debaters_of, placed, turn_seat
from service.report.events.types import (
    AskedEvent,
    CitationsEvent,
    GateEvent,
    NoticeEvent,
    PassagesEvent,
    QuotedPassage,
    StartedEvent,
    StartedHashes,
    StartedSeat,
)
from service.report.result.build import build_gate
from service.report.result.history import History
from service.report.result.notices import notice
from service.report.result.passages import passages_of
from service.report.result.pins import pins_of
from service.report.result.rounds import arguments
from service.report.result.shown_options import shown_options
from service.report.result.types import Line


def entry_events(line: Line, debate_id: str, before: Sequence[Line]) -> NamedEvents:
    """The events of an entry; empty for an entry without one of its own, which may still settle a round."""
    match line.entry:
        case GateDecided() as entry:
            return (("gate", _gate(line, entry, debate_id, before)),)
        case DebateStarted() as entry:
            return (("started", _started(line, entry, debate_id, History([*before, line]))),)
        case TurnAsked() as entry:
            first = stream_of(options_among(before)).before_asked(line, entry, debate_id, before)
            return (*first, ("asked", _asked(line, entry, debate_id, before)))
        case TurnSpoke() as entry:
            return (_said(line, entry, debate_id, History([*before, line])),)
        case TurnGiven() as entry:
            first = stream_of(options_among(before)).before_asked(line, entry, debate_id, before)
            return (*first, *_noticed(line, debate_id, before), _given(line, entry, debate_id, before))
        case CheckFound() as entry:
            return _found(line, entry, debate_id, [*before, line]) or _noticed(line, debate_id, before)
        case _:
            return _noticed(line, debate_id, before)


def _said(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> NamedEvent:
    if isinstance(entry.reply, Screening):
        return screened(line, entry, debate_id, h, entry.reply)
    return stream_of(h.options).said(line, entry, debate_id, h)


def _given(line: Line, entry: TurnGiven, debate_id: str, before: Sequence[Line]) -> NamedEvent:
    """The event of a given reply: that of a spoken one, of no attempt and without a charge."""
    spoke = TurnSpoke(entry.turn, 0, entry.reply, Charge(0, "none"))
    return _said(line, spoke, debate_id, History([*before, line]))


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


def _noticed(line: Line, debate_id: str, before: Sequence[Line]) -> NamedEvents:
    found = notice(line)
    if found is None:
        return ()
    h = History([*before, line])
    event = NoticeEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        notice=found.notice,
        seats=tuple(turn_seat(h, turn) for turn in found.turns),
        reason=found.reason,
        detail=found.detail,
    )
    return (("notice", event),)


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


def _started(line: Line, entry: DebateStarted, debate_id: str, h: History) -> StartedEvent:
    return StartedEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        format=entry.format,
        format_reason=entry.format_reason or None,
        options=shown_options(entry.options),
        debaters=debaters_of(h, stances=True),
        seats=tuple(
            StartedSeat(
                seat=plan.seat,
                alias=plan.model,
                provider=plan.provider,
                model_name=plan.model_name,
                family=plan.family,
                wire=plan.wire,
                fallback=plan.fallback.model if plan.fallback else None,
            )
            for plan in entry.seats
        ),
        diversity=entry.diversity,
        pairs=entry.pairs,
        simulated=entry.simulated,
        approved_by=entry.approved_by,
        ceiling_usd=usd(entry.ceiling),
        expected_usd=usd(entry.expected_cost),
        hashes=StartedHashes(
            prompts_pin=entry.pin,
            pins=pins_of(entry, h.case),
            policy_hash=entry.policy_hash,
            price_hash=entry.price_hash,
            configuration_hash=entry.configuration_hash,
            build_hash=entry.build_hash,
            seed=entry.seed,
        ),
    )


def _asked(line: Line, entry: TurnAsked, debate_id: str, before: Sequence[Line]) -> AskedEvent:
    h = History([*before, line])
    return AskedEvent(
        debate_id=debate_id,
        **placed(line, h, entry.turn),
        round=round_of(entry.turn),
        attempt=entry.attempt,
        why=h.attempt(entry.turn, entry.attempt).why,
        model=entry.model,
        input_tokens=entry.input_tokens,
        held_usd=usd(entry.held),
        left_usd=usd(Ledger.of(known.entry for known in h.lines).remaining),
    )


def _citations(line: Line, entry: CheckFound, found: CitationsFound, debate_id: str, h: History) -> CitationsEvent:
    turn = TurnId(entry.check.partition("/")[0])
    verdicts = [v.verdict for argument in found.arguments for v in argument.verdicts]
    return CitationsEvent(
        debate_id=debate_id,
        **placed(line, h, turn),
        round=round_of(turn),
        engine=entry.engine,
        verified=verdicts.count("verified"),
        altered=verdicts.count("altered"),
        too_short=verdicts.count("too_short"),
        not_found=verdicts.count("not_found"),
        unchecked=verdicts.count("unchecked"),
        struck=tuple(a.n for a in found.arguments if a.struck),
        arguments=arguments(h, turn),
    )


def _passages(line: Line, entry: CheckFound, found: TextsFound, debate_id: str, h: History) -> PassagesEvent:
    turn = TurnId(entry.check.partition("/")[0])
    given = passages_of(h, turn, entry.engine, found)
    return PassagesEvent(
        debate_id=debate_id,
        **placed(line, h, turn),
        round=given.round,
        engine=given.engine,
        compared=sum(passage.kind != "verdict" for passage in given.passages),
        marked=len(found.marked),
        unclear=sum(passage.unclear for passage in found.passages),
        unchecked=sum(passage.unchecked for passage in found.passages),
        passages=tuple(QuotedPassage(**asdict(passage)) for passage in given.passages),
    )
