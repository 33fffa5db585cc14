"""The shapes of the events that all formats share. Members are in camelCase; amounts are US dollars as strings."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from service.debate.model import Options, Pair, TurnId
from service.debate.replies import Conclusion, Framing, Objection, Shift
from service.report.result.argument_types import Argument
from service.report.result.passage_types import PassageDetail
from service.report.result.seat_types import SeatDetail
from service.report.result.types import (
    CriticPosition,
    Gate,
    Hashes,
    ModeratorEvaluation,
    ProposerPosition,
    RebuttalPosition,
    Spoken,
    WhyAsked,
)

EventName = Literal[
    "gate",
    "started",
    "asked",
    "round",
    "swapped",
    "synthesis",
    "citations",
    "passages",
    "notice",
    "final",
    "classification",
    "adjudication",
    "measured",
    "consensus",
    "accuracy",
    "debate.round_started",
    "debate.response",
    "debate.converged",
    "convergence",
]


class Event(NamedTuple):
    """An event: its name and its data, which is plain JSON."""

    name: EventName
    data: dict[str, Any]


class Heading(Struct, frozen=True, kw_only=True, rename="camel"):
    """The first members of every event but `final`: the debate, the entry's number, the time that its record claims."""

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
    """All facts that are fixed before the first turn. ``formatReason`` is null if the caller chose the format."""

    format: str
    format_reason: str | None
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
    """An attempt has begun: its model (the catalogue's alias), the tokens of its request and its reservation.

    ``why`` is ``first``, or ``again`` after a failure; ``repair`` if the request names the fault of the model's last
    reply, ``fallback`` if this model is asked for the first time in the place of the seat's own. ``leftUSD`` is the
    amount that may still be reserved after that.
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
    """The reply of a seat. Of the position members, the one that it gave is present, in the shape of the round record.

    In the formats between debaters ``spoken`` is a debater's turn, without verdicts yet, and ``reply`` is the recorded
    reply of any other seat. ``swapped`` says that a decider was asked again in the reverse order: that reply never
    replaces its first. ``chargeBasis`` is ``reserved`` if the provider reported no usage; ``tokens`` are then 0.
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
    spoken: Spoken | None = None
    reply: dict[str, Any] | None = None
    swapped: bool = False
    served_model: str | None
    tokens: int
    charged_usd: str = field(name="chargedUSD")
    charge_basis: Literal["usage", "reserved", "none"]
    spent_usd: str = field(name="spentUSD")
    left_usd: str = field(name="leftUSD")


class RoundStartedEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """A round begins in which all debaters speak in parallel; ``independent`` if they see no other replies."""

    round: int
    independent: bool
    seats: tuple[str, ...]


class CitationsEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """The verdicts on every citation of the arguments of a turn, and the arguments struck for them."""

    turn: TurnId
    round: int
    seat: str
    position: str | None
    engine: str
    verified: int
    altered: int
    too_short: int
    not_found: int
    struck: tuple[int, ...]
    arguments: tuple[Argument, ...]


class PassagesEvent(Heading, frozen=True, kw_only=True, rename="camel"):
    """What the texts of a turn's reply quote or report, and where it stands; ``marked`` counts what misleads."""

    turn: TurnId
    speaker: str
    round: int
    seat: str
    position: str | None
    engine: str
    compared: int
    marked: int
    passages: tuple[PassageDetail, ...]
