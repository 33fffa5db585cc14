"""A debate as a stream of events: one recorded entry, one event at most, its id the entry's number.

    case.received                  none: part of `gate`
    gate.decided                   gate
    debate.started                 started
    turn.asked                     asked
    turn.spoke                     round, or synthesis for the moderator
    attempt.failed, turn.silent    notice
    check.found                    citations, or notice for a critique and for documents
    budget.refused                 notice
    debate.stopped                 notice
    debate.concluded               final: the whole result, the same that is answered without a stream

A declined case has a gate event and nothing after it. What was said carries no verdicts yet in `round`: code looks
only then, and the `citations` that follow name the same turn and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from service.budget import Ledger
from service.debate.entries import (
    CaseReceived,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    GateDecided,
    TurnAsked,
    TurnSpoke,
)
from service.debate.findings import CitationsFound
from service.debate.model import Options, Pair, TurnId
from service.debate.money import usd
from service.debate.replies import Conclusion, Critique, Framing, Moderation, Objection, Proposal, Rebuttal, Shift
from service.errors import IllegalEntry
from service.report.account import tokens_of
from service.report.history import History, position, round_of, seat
from service.report.notices import notice
from service.report.rounds import arguments, critic_position, evaluation, proposer_position, rebuttal_position
from service.report.shape import (
    Argument,
    CriticPosition,
    Gate,
    Hashes,
    Line,
    ModeratorEvaluation,
    ProposerPosition,
    RebuttalPosition,
    SeatDetail,
    WhyAsked,
)
from service.report.telling import gate, hashes, result, seats

EventName = Literal["gate", "started", "asked", "round", "synthesis", "citations", "notice", "final"]


class Heading(Struct, frozen=True, kw_only=True, rename="camel"):
    """What every event but `final` begins with: the debate, the entry's number, the time that its record claims."""

    debate_id: str
    n: int
    at: str


class GateEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """The case and the gate's decision; ``status`` is ``declined`` or ``queued``."""

    status: Literal["declined", "queued"]
    question: str
    task_type: str
    gate: Gate


class StartedEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """Everything that is fixed before the first turn."""

    format: str
    options: Options
    seats: tuple[SeatDetail, ...]
    diversity: str
    pairs: tuple[Pair, ...]
    simulated: bool
    approved_by: str
    ceiling_usd: str = field(name="ceilingUSD")
    expected_usd: str = field(name="expectedUSD")
    hashes: Hashes


class AskedEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """An attempt is being made: its model (the catalogue's alias), the tokens going in and the money held for it.

    ``why`` is ``first``, or ``again`` after a failure; ``repair`` where the model is told what was wrong with its last
    reply, ``fallback`` where this model is asked for the first time in the place of the seat's own. ``leftUSD`` is what
    may still be reserved after that.
    """

    turn: TurnId
    round: int
    seat: str
    position: str | None
    attempt: int
    why: WhyAsked
    model: str
    input_tokens: int
    held_usd: str = field(name="heldUSD")
    left_usd: str = field(name="leftUSD")


class SpokeEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """What a seat said. The one of its positions that it gave is there, in the shape of the round record.

    ``chargeBasis`` is ``reserved`` where the provider did not tell its usage; ``tokens`` are then 0.
    """

    turn: TurnId
    round: int
    seat: str
    position: str | None
    attempt: int
    framing: Framing | None = None
    proposer_position: ProposerPosition | None = None
    critic_position: CriticPosition | None = None
    rebuttal_position: RebuttalPosition | None = None
    moderator_evaluation: ModeratorEvaluation | None = None
    objections: tuple[Objection, ...] = ()
    conclusion: Conclusion | None = None
    shift: Shift | None = None
    served_model: str | None
    tokens: int
    charged_usd: str = field(name="chargedUSD")
    charge_basis: Literal["usage", "reserved", "none"]
    spent_usd: str = field(name="spentUSD")
    left_usd: str = field(name="leftUSD")


class CitationsEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """The verdicts on every citation of the arguments of a turn, and what is struck for them."""

    turn: TurnId
    round: int
    seat: str
    position: str | None
    engine: str
    verified: int
    altered: int
    not_found: int
    struck: tuple[int, ...]
    arguments: tuple[Argument, ...]


def event(
    line: Line, debate_id: str, before: Sequence[Line], *, last_record: str | None = None
) -> tuple[EventName, dict[str, Any]] | None:
    """The event of an entry, its name and JSON data, or ``None`` where the entry has none of its own.

    ``before`` are all lines before this one, from the first: amounts left and the seats behind the moderator's labels
    follow from them. ``last_record`` goes into the result that `final` carries. Raises `IllegalEntry` where ``before``
    does not begin with the case.
    """
    if isinstance(line.entry, CaseReceived):
        return None
    if isinstance(line.entry, DebateConcluded):
        return "final", msgspec.to_builtins(result(debate_id, [*before, line], last_record=last_record))
    told = _tell(line, debate_id, before)
    if told:
        return told[0], msgspec.to_builtins(told[1])
    if found := notice(line):
        return "notice", {"debateId": debate_id, **msgspec.to_builtins(found)}
    raise IllegalEntry(f"entry {line.n} has no event; expected an entry of a known kind")


def _tell(line: Line, debate_id: str, before: Sequence[Line]) -> tuple[EventName, Heading] | None:
    match line.entry:
        case GateDecided() as entry:
            return "gate", _gate(line, entry, debate_id, before)
        case DebateStarted() as entry:
            return "started", _started(line, entry, debate_id)
        case TurnAsked() as entry:
            return "asked", _asked(line, entry, debate_id, before)
        case TurnSpoke() as entry:
            name: EventName = "synthesis" if isinstance(entry.reply, Moderation) else "round"
            return name, _spoke(line, entry, debate_id, History([*before, line]))
        case CheckFound(finding=CitationsFound() as found) as entry:
            return "citations", _citations(line, entry, found, debate_id, History([*before, line]))
    return None


def _gate(line: Line, entry: GateDecided, debate_id: str, before: Sequence[Line]) -> GateEvent:
    case = History(before).case
    return GateEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        status="queued" if entry.decision.debate else "declined",
        question=case.question,
        task_type=case.task_type,
        gate=gate(entry.decision),
    )


def _started(line: Line, entry: DebateStarted, debate_id: str) -> StartedEvent:
    return StartedEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        format=entry.format,
        options=entry.options,
        seats=seats(entry, {}),
        diversity=entry.diversity,
        pairs=entry.pairs,
        simulated=entry.simulated,
        approved_by=entry.approved_by,
        ceiling_usd=usd(entry.ceiling),
        expected_usd=usd(entry.expected_cost),
        hashes=hashes(entry, None, None),
    )


def _asked(line: Line, entry: TurnAsked, debate_id: str, before: Sequence[Line]) -> AskedEvent:
    return AskedEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        turn=entry.turn,
        round=round_of(entry.turn),
        seat=seat(entry.turn),
        position=position(entry.turn),
        attempt=entry.attempt,
        why=History([*before, line]).attempt(entry.turn, entry.attempt).why,
        model=entry.model,
        input_tokens=entry.input_tokens,
        held_usd=usd(entry.held),
        left_usd=usd(Ledger.of(known.entry for known in [*before, line]).left),
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
        seat=seat(turn),
        position=position(turn),
        attempt=entry.attempt,
        framing=reply if isinstance(reply, Framing) else None,
        proposer_position=proposer_position(h, turn),
        critic_position=critic_position(h, turn),
        rebuttal_position=rebuttal_position(h, turn),
        moderator_evaluation=evaluation(h, turn) if isinstance(reply, Moderation) else None,
        objections=reply.objections if isinstance(reply, Proposal) else (),
        conclusion=getattr(reply, "conclusion", None),
        shift=debater.shift if debater else None,
        served_model=entry.served_model,
        tokens=tokens_of(entry.charge),
        charged_usd=usd(entry.charge.amount),
        charge_basis=entry.charge.basis,
        spent_usd=usd(ledger.spent),
        left_usd=usd(ledger.left),
    )


def _citations(line: Line, entry: CheckFound, found: CitationsFound, debate_id: str, h: History) -> CitationsEvent:
    turn = entry.check.partition("/")[0]
    verdicts = [v.verdict for argument in found.arguments for v in argument.verdicts]
    return CitationsEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        turn=turn,
        round=round_of(turn),
        seat=seat(turn),
        position=position(turn),
        engine=entry.engine,
        verified=verdicts.count("verified"),
        altered=verdicts.count("altered"),
        not_found=verdicts.count("not_found"),
        struck=tuple(a.n for a in found.arguments if a.struck),
        arguments=arguments(h, turn),
    )
