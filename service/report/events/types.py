"""The shapes of the events that all formats share. Members are in camelCase; amounts are US dollars as strings.

Every event has its entry's number and time, every event of a seat that seat, and every event of a debater also the
letter and the caller's name for it, as the transcript has them (`service.report.events.speakers`). A member that has
nothing to say is left out. An event without a reference's shape has all members at the top (`Heading`). One with it has
the reference's members at the top, in that text's spelling, and all others in ``gainsay`` (`Placed`).

Shares, confidences and probabilities are from 0 to 1; the record has them as whole numbers, which decide.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import Struct, field

from service.debate.model import Pair, TurnId
from service.debate.replies import Conclusion, Framing, Objection, Shift
from service.report.result.argument_types import Argument
from service.report.result.notice_types import NoticeKind
from service.report.result.passage_types import PassageDetail
from service.report.result.shown_options import ShownOptions
from service.report.result.summary import Summary
from service.report.result.types import (
    CriticPosition,
    Gate,
    ModeratorEvaluation,
    ProposerPosition,
    RebuttalPosition,
    Result,
    WhyAsked,
)

EventName = Literal[
    "gate",
    "started",
    "asked",
    "round",
    "swapped",
    "verdict",
    "synthesis",
    "citations",
    "passages",
    "notice",
    "final",
    "classification",
    "adjudication",
    "measured",
    "consensus",
    "answers",
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


class Placed(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The entry's number and the time that its record claims: the first members of ``gainsay``."""

    n: int
    at: str


class PlacedTurn(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn and the seat that it asks.

    ``label`` is a debater's letter or number in this debate and ``name`` the caller's name for it; other seats have
    neither. ``position`` is the one of several for which a proposer or a rebuttal speaks, ``phase`` a ballot's.
    """

    turn: TurnId
    seat: str
    label: str | None = None
    name: str | None = None
    position: str | None = None
    phase: str | None = None


class PlacedReply(PlacedTurn, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn with its reply: the attempt that spoke, its model and its cost.

    ``chargeBasis`` is ``reserved`` if the provider reported no usage; ``tokens`` are then 0. ``leftUSD`` is the amount
    that may still be reserved.
    """

    attempt: int
    served_model: str | None = None
    tokens: int
    charged_usd: str = field(name="chargedUSD")
    charge_basis: Literal["usage", "reserved", "none"]
    spent_usd: str = field(name="spentUSD")
    left_usd: str = field(name="leftUSD")


class Heading(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The common members of every event: the debate beside number and time."""

    debate_id: str


class TurnHeading(PlacedTurn, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The common members of every event of a seat."""

    debate_id: str
    round: int


class ReplyHeading(PlacedReply, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The common members of every reply."""

    debate_id: str
    round: int


class DebaterSeat(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debater: its seat, its letter, the caller's name for it, and the stance that the caller assigned to it."""

    seat: str
    label: str | None = None
    name: str | None = None
    stance: str | None = None


class TurnSeat(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn that a notice concerns, and its seat as every event of that seat has it."""

    turn: TurnId
    round: int
    seat: str
    label: str | None = None
    name: str | None = None
    position: str | None = None
    phase: str | None = None


class GateEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The case and the gate's decision. ``status`` is ``declined``, and `final` follows at once, or ``queued``."""

    status: Literal["declined", "queued"]
    question: str
    task_type: str
    gate: Gate


class StartedSeat(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The model behind a seat. ``wire`` is the format of its usage object, ``fallback`` the alias that may stand in."""

    seat: str
    alias: str
    provider: str
    model_name: str
    family: str
    wire: str
    fallback: str | None = None


class StartedHashes(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The hashes of what is fixed, as in a result; ``pins`` are those of the texts that this debate may ask with."""

    always_sent: ClassVar = ("pins",)

    prompts_pin: str
    pins: dict[str, str]
    policy_hash: str
    price_hash: str
    configuration_hash: str
    build_hash: str
    seed: str


class StartedEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """All facts that are fixed before the first turn.

    ``formatReason`` is there if policy chose the format. ``debaters`` lists those of the formats that have them.
    """

    always_sent: ClassVar = ("seats",)

    format: str
    format_reason: str | None = None
    options: ShownOptions
    debaters: tuple[DebaterSeat, ...] = ()
    seats: tuple[StartedSeat, ...]
    diversity: str
    pairs: tuple[Pair, ...] = ()
    simulated: bool
    approved_by: str
    ceiling_usd: str = field(name="ceilingUSD")
    expected_usd: str = field(name="expectedUSD")
    hashes: StartedHashes


class AskedEvent(TurnHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An attempt has begun: its model (the catalogue's alias), the tokens of its request and its reservation.

    ``why`` is ``first``, or ``again`` after a failure; ``repair`` if the request names the fault of the model's last
    reply, ``fallback`` if this model is asked for the first time in the place of the seat's own. ``leftUSD`` is the
    amount that may still be reserved after that.
    """

    attempt: int
    why: WhyAsked
    model: str
    input_tokens: int
    held_usd: str = field(name="heldUSD")
    left_usd: str = field(name="leftUSD")


class ArguedEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The reply of a seat of the adversarial format that argues, in the shape of the round record: one of four."""

    framing: Framing | None = None
    proposer_position: ProposerPosition | None = None
    critic_position: CriticPosition | None = None
    rebuttal_position: RebuttalPosition | None = None
    objections: tuple[Objection, ...] = ()
    conclusion: Conclusion | None = None
    shift: Shift | None = None


class ModeratedEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The moderator's evaluation in the shape of the round record; ``ranking`` are the positions, best first."""

    moderator_evaluation: ModeratorEvaluation
    conclusion: Conclusion
    ranking: tuple[str, ...] = ()


class DebaterEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The reply of a debater, without verdicts yet: the `citations` that follow name the same turn.

    ``blind`` says that it had seen no reply of another debater. ``stance`` is the assigned one, or in its own words;
    ``vote`` is the option that it votes for, missing in an abstention, and ``written`` the vote in its own words.
    """

    blind: bool
    stance: str | None = None
    answer: str | None = None
    vote: str | None = None
    written: str | None = None
    confidence: float | None = None
    arguments: tuple[Argument, ...] = ()


class RoundStartedEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A round begins in which all debaters speak in parallel; ``independent`` if they see no other replies."""

    always_sent: ClassVar = ("debaters",)

    round: int
    independent: bool
    debaters: tuple[DebaterSeat, ...]


class CitationsEvent(TurnHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The verdicts on every citation of the arguments of a turn, and the arguments struck for them."""

    engine: str
    verified: int
    altered: int
    too_short: int
    not_found: int
    unchecked: int
    struck: tuple[int, ...] = ()
    arguments: tuple[Argument, ...] = ()


class QuotedPassage(PassageDetail, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A passage as a result has it, without the members that do not apply."""

    source_id: str | None = None
    turn: TurnId | None = None
    reason: str | None = None
    mark: str | None = None


class PassagesEvent(TurnHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the texts of a turn's reply quote or report, and where it stands.

    ``marked``, ``unclear`` and ``unchecked`` count passages as ``passageCounts`` of a result does.
    """

    engine: str
    compared: int
    marked: int
    unclear: int
    unchecked: int
    passages: tuple[QuotedPassage, ...] = ()


class NoticeEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A remark for the reader, as in a result; ``seats`` are the turns that it concerns, with their seats."""

    notice: NoticeKind
    seats: tuple[TurnSeat, ...] = ()
    reason: str
    detail: str


class FinalEvent(Summary, frozen=True, kw_only=True, rename="camel"):
    """The end of a debate or of a declined case: a summary, with the number and the time of the last entry."""

    n: int
    at: str


class WholeFinalEvent(Result, frozen=True, kw_only=True, rename="camel"):
    """The same end where the request says ``view=full``: the whole result, with number and time of the last entry."""

    n: int
    at: str
