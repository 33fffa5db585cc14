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
from service.report.result.round_types import CriticPosition, ModeratorEvaluation, ProposerPosition, RebuttalPosition
from service.report.result.shown_options import ShownOptions
from service.report.result.summary import Summary
from service.report.result.types import Gate, Result, WhyAsked

EventName = Literal[
    "gate",
    "started",
    "asked",
    "round",
    "swapped",
    "masked",
    "verdict",
    "synthesis",
    "citations",
    "passages",
    "screening",
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
    """The number of the entry in the debate, from 0."""
    at: str
    """The time of the entry's record."""


class PlacedTurn(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn and the seat that it asks."""

    turn: TurnId
    seat: str
    label: str | None = None
    """The debater's neutral name in this debate. Other seats have none."""
    name: str | None = None
    """The caller's name for the debater. Other seats have none."""
    position: str | None = None
    phase: str | None = None


class PlacedReply(PlacedTurn, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn with its reply: the attempt that spoke, its model and its cost."""

    attempt: int
    """The number of the attempt that spoke, from 1; 0 where an evaluation gave the reply."""
    served_model: str | None = None
    """The name of the model that answered, by the vendor's word."""
    tokens: int
    """Input and output tokens of the attempt; 0 if the vendor reported none."""
    charged_usd: str = field(name="chargedUSD")
    """US dollars charged for the attempt."""
    charge_basis: Literal["usage", "reserved", "none"]
    """What the charge is based on: reported usage, the reservation, or no use at all."""
    spent_usd: str = field(name="spentUSD")
    """US dollars that the debate has spent with it."""
    left_usd: str = field(name="leftUSD")
    """US dollars that may still be reserved."""


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
    """The debater's neutral name in this debate."""
    name: str | None = None
    """The caller's name for the debater."""
    stance: str | None = None
    """The stance that the caller assigned to it."""


class TurnSeat(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn that a notice concerns, and its seat as every event of that seat has it."""

    turn: TurnId
    round: int
    seat: str
    label: str | None = None
    """The debater's neutral name in this debate. Other seats have none."""
    name: str | None = None
    """The caller's name for the debater. Other seats have none."""
    position: str | None = None
    phase: str | None = None


class GateEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The case and the gate's decision."""

    status: Literal["declined", "queued"]
    """`queued` for a debate. After `declined` comes `final` at once."""
    question: str
    task_type: str
    gate: Gate
    """The gate's decision, with every rule."""


class StartedSeat(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The model behind a seat."""

    seat: str
    alias: str
    """The alias of the model in the catalogue."""
    provider: str
    model_name: str
    family: str
    wire: str
    fallback: str | None = None
    """The alias that is asked if the model cannot answer."""


class StartedHashes(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The hashes of what is fixed, as in a result."""

    always_sent: ClassVar = ("pins",)

    prompts_pin: str
    pins: dict[str, str]
    """The version and SHA-256 of every prompt, schema and layout that the debate may ask with, by name."""
    policy_hash: str
    price_hash: str
    configuration_hash: str
    build_hash: str
    seed: str
    """The SHA-256 that commits to the case, from which all orders are derived."""


class StartedEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """All facts that are fixed before the first turn."""

    always_sent: ClassVar = ("seats",)

    format: str
    """The format and its version."""
    format_reason: str | None = None
    """Why this format was chosen. Absent where the case named it."""
    options: ShownOptions
    """The debate's options, all resolved."""
    debaters: tuple[DebaterSeat, ...] = ()
    """The debaters, in formats that have them."""
    seats: tuple[StartedSeat, ...]
    """The model behind each seat."""
    diversity: str
    pairs: tuple[Pair, ...] = ()
    """The seats that should have models of different families."""
    simulated: bool
    approved_by: str
    """The key that approved the configuration, or `unapproved`."""
    ceiling_usd: str = field(name="ceilingUSD")
    """US dollars that the debate may cost at most."""
    expected_usd: str = field(name="expectedUSD")
    """US dollars by the catalogue's estimate."""
    hashes: StartedHashes
    """The hashes of what is fixed."""


class AskedEvent(TurnHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An attempt has begun: its model, the tokens of its request and its reservation."""

    attempt: int
    """The number of the attempt in its turn, from 1."""
    why: WhyAsked
    """Why it is made: the first, again after a failure, a repair of an unusable reply, or a fallback."""
    model: str
    """The alias of the model that is asked."""
    input_tokens: int
    """Tokens of the request by our own count."""
    held_usd: str = field(name="heldUSD")
    """US dollars reserved for the attempt."""
    left_usd: str = field(name="leftUSD")
    """US dollars that may still be reserved after that."""


class ArguedEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The reply of a seat of the adversarial format that argues, in the shape of the round record: one of four."""

    framing: Framing | None = None
    """The question as a proposition, by the framing seat."""
    proposer_position: ProposerPosition | None = None
    """The proposer's reply."""
    critic_position: CriticPosition | None = None
    """The critic's reply."""
    rebuttal_position: RebuttalPosition | None = None
    """The rebuttal's reply."""
    objections: tuple[Objection, ...] = ()
    """The objections that the proposer answers in advance."""
    conclusion: Conclusion | None = None
    """What the seat concludes on the proposition."""
    shift: Shift | None = None
    """How the seat moved when documents were introduced."""


class ModeratedEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The moderator's evaluation in the shape of the round record."""

    moderator_evaluation: ModeratorEvaluation
    """The moderator's evaluation."""
    conclusion: Conclusion
    """What the moderator concludes on the proposition."""
    ranking: tuple[str, ...] = ()
    """Several positions in the moderator's order, the best supported first."""


class DebaterEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The reply of a debater, without verdicts yet: the `citations` that follow name the same turn."""

    blind: bool
    """Whether it had seen no reply of any other debater."""
    stance: str | None = None
    """The assigned stance, or the debater's own in its words."""
    answer: str | None = None
    """Its answer, in formats whose debaters give one."""
    vote: str | None = None
    """The option that it votes for. Absent for an abstention and in formats without votes."""
    written: str | None = None
    """The vote in the debater's own words."""
    confidence: float | None = None
    """Its own confidence, a share from 0 to 1."""
    arguments: tuple[Argument, ...] = ()
    """Its arguments with their citations, not checked yet."""


class RoundStartedEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A round begins in which all debaters speak in parallel."""

    always_sent: ClassVar = ("debaters",)

    round: int
    independent: bool
    """Whether the debaters see no replies of others in this round."""
    debaters: tuple[DebaterSeat, ...]
    """The debaters that speak."""


class CitationsEvent(TurnHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The verdicts on every citation of the arguments of a turn, and the arguments struck for them."""

    engine: str
    verified: int
    """The number of citations whose words stand in the document."""
    altered: int
    """The number of citations with a material change."""
    too_short: int
    """The number of citations with too few words to compare."""
    not_found: int
    """The number of citations whose words stand nowhere."""
    unchecked: int
    """The number of citations of a case without documents, which were compared with nothing."""
    struck: tuple[int, ...] = ()
    """The numbers of the arguments that are struck, each from 1 to 99."""
    arguments: tuple[Argument, ...] = ()
    """The arguments of the turn, with the verdicts on their citations."""


class QuotedPassage(PassageDetail, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A passage as a result has it, without the members that do not apply."""

    source_id: str | None = None
    """The id of the document that has the words, or of which a clause is reported."""
    turn: TurnId | None = None
    """The turn whose reply has the words."""
    reason: str | None = None
    """The rule that decided."""
    mark: str | None = None
    """The words that a report shows beside the passage. Absent if it does not mislead."""


class PassagesEvent(TurnHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the texts of a turn's reply quote or report, and where it stands, counted as a result counts it."""

    engine: str
    compared: int
    """The number of passages that were compared."""
    marked: int
    """The number of passages that mislead: those that stand nowhere or only in a reply."""
    unclear: int
    """The number of passages of which code cannot say whether they mislead."""
    unchecked: int
    """The number of passages of a case without documents, which were compared with nothing."""
    passages: tuple[QuotedPassage, ...] = ()
    """What the texts of the reply quote or report, in their order."""


class NoticeEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A remark for the reader, as in a result."""

    notice: NoticeKind
    """The kind of the remark."""
    seats: tuple[TurnSeat, ...] = ()
    """The turns that it concerns, with their seats."""
    reason: str
    """The code of the reason."""
    detail: str
    """The remark in words."""


class FinalEvent(Summary, frozen=True, kw_only=True, rename="camel"):
    """The end of a debate or of a declined case: a summary, with the number and the time of the last entry."""

    n: int
    """The number of the last entry, from 0."""
    at: str
    """The time of the last entry's record."""


class WholeFinalEvent(Result, frozen=True, kw_only=True, rename="camel"):
    """The same end where the request says ``view=full``: the whole result, with number and time of the last entry."""

    n: int
    """The number of the last entry, from 0."""
    at: str
    """The time of the last entry's record."""
