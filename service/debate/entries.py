"""The entries of a debate, one type each, as they are encoded into the record.

case.received  gate.decided          the case and the decision (a declined case ends here)
debate.started                       all facts that are fixed before the first turn
turn.asked  turn.spoke               one attempt: intent with its reservation, then reply, usage and charge in one entry
turn.given                           a reply that an evaluation gives in the place of a model's
attempt.failed  turn.silent          an attempt without a reply; a turn that ended without a usable one
check.found                          the finding of a check
budget.refused                       turns that could not be funded
debate.stopped                       abort, deadline, pin, audit: every entitled actor may append it
debate.concluded                     the outcome
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.debate.findings import Finding
from service.debate.kinds import Kinds, Older
from service.debate.model import Case, Diversity, Options, Outcome, Pair, SeatPlan, TurnId
from service.debate.options import AskedOptions, EvaluationTerms
from service.debate.replies import Reply
from service.debate.replies.pruning import Dropped

Effect = Literal["debate", "decline", "informs"]
BelowFloor = Literal["input", "output"]
StoppedBy = Literal["abort", "deadline", "promptMismatch", "auditUnavailable", "fault"]


class Rule(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One rule of the gate: the observed value, the value it is compared with, and the effect on the decision."""

    rule: str
    """The name of the rule, such as `worthIt`."""
    observed: str
    """What the rule found in the case, in words."""
    threshold: str
    """What that is compared with, in words."""
    holds: bool
    """Whether the rule speaks for a debate, or for an informing rule, whether it is met."""
    effect: Effect
    """The effect on the decision: towards a debate, towards none, or only to inform."""


ChangedField = Literal[
    "taskType", "force", "contested", "estimatedDownside", "confidenceScore", "materiality", "singleAgentAnswer"
]
Relation = Literal["above", "atMost", "below", "atLeast", "in", "notIn", "leftOut", "hedging", "notHedging"]


class FieldChange(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A field of the case and the values that it would have to have.

    A confidence that is left out counts as one below every limit.
    """

    field: ChangedField
    """The member of the case that would have to differ."""
    relation: Relation
    """How it would have to differ from the values."""
    values: tuple[str, ...] = ()
    """The values: one limit in US dollars, or as a share from 0 to 1, for above, atMost, below and atLeast; the values
    for in and notIn."""


class GateDecision(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Whether the question deserves a debate, with every reason.

    ``would_change`` has one row for each smallest set of changes that, made together, turn the decision round.
    """

    debate: bool
    decided_by: str
    rules: tuple[Rule, ...]
    debate_cost_threshold: MicroUSD
    factor: int
    policy_version: str
    policy_hash: str
    would_change: tuple[tuple[FieldChange, ...], ...] = ()


class Charge(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The cost of an attempt, in micro-dollars, and the tokens from which it was computed.

    The kinds of tokens do not overlap; ``tier`` is the vendor's service tier, empty for its usual one.
    ``basis`` is ``usage`` if the provider reported one, ``reserved`` if it did not (the amount is then the
    reservation), ``none`` if the attempt can have used no tokens. ``excess`` is the cost above the reservation.
    ``below_floor`` names what the reported usage has less of than the service itself has counted (decision 0025).
    """

    amount: MicroUSD
    basis: Literal["usage", "reserved", "none"]
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    excess: MicroUSD = 0
    cache_write_1h_tokens: int = 0
    tier: str = ""
    below_floor: BelowFloor | None = None


class EvaluationItem(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Which item of which evaluation a debate is; hashes are SHA-256 in hexadecimal digits."""

    id: str
    """The id of the evaluation."""
    plan: str
    """The hash of its registered plan."""
    set: str
    """The hash of the golden set."""
    item: str
    """The id of the item in that set."""
    arm: str
    """The name of the plan's arm."""
    repeat: int
    """The number of the run of the item in this arm, from 1."""

    @property
    def seed(self) -> str:
        """The seed of the debate, which follows from the plan: no writer can draw another one."""
        return sha256("\n".join((self.plan, self.item, self.arm, str(self.repeat))).encode()).hexdigest()


class Arrival(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How a case came, where that says more than that it came by ``POST /v1/debates``."""

    door: Literal["completions", "batch", "evaluation"] | None = None
    """The other way by which it came in: the endpoint of chat completions, a batch, or an evaluation."""
    trace: str | None = None
    """The id of the trace that its request took part in, as 32 hexadecimal digits (W3C Trace Context)."""
    batch: str | None = None
    """The id of the batch that it belongs to."""
    span: str | None = None
    """The id of that request within the trace, as 16 hexadecimal digits."""
    sampled: bool = False
    """Whether tracing systems keep that trace: its request's part of it, so that the debate's part is kept too."""
    evaluation: EvaluationItem | None = None
    """The item of an evaluation that it is. It is there where the door is an evaluation, and there alone."""


class _Arrived(Struct):
    """The one member of a ``case.received`` that says how the case came."""

    arrival: Arrival | None = None


_arrivals = msgspec.json.Decoder(_Arrived)


def arrival_of(payload: bytes) -> Arrival | None:
    """How a case came, by the payload of its ``case.received``, without the rest of it."""
    return _arrivals.decode(payload).arrival


class StandingTilt(Struct, frozen=True, rename="camel"):
    """A recorded finding that stood when a debate began: a moderator that tilts above policy's limit."""

    finding: str
    """The id of the finding, whose record is in the log of the tenant."""
    model: str
    """The alias of the model: a person decides where it moderates."""


class CaseReceived(Struct, frozen=True, rename="camel", tag="case.received", tag_field="kind", omit_defaults=True):
    """The case, its caller, how it came, and what the caller asked of the debate.

    ``asked`` are the options that the request names, ``None`` if it names none, and ``asked_ceiling`` is the most that
    it lets the debate cost, in micro-dollars. Policy gives what it leaves out. The start follows from them.
    ``terms`` are the options that only an evaluation asks for, and ``given`` its replies in the place of models', by
    turn.
    """

    case: Case
    subject: str
    asked: AskedOptions | None = None
    asked_ceiling: MicroUSD | None = None
    arrival: Arrival | None = None
    terms: EvaluationTerms | None = None
    given: dict[TurnId, Reply] = {}

    @property
    def evaluation(self) -> EvaluationItem | None:
        """The item of an evaluation that the case is, if it is one."""
        return self.arrival.evaluation if self.arrival else None


class GateDecided(Struct, frozen=True, rename="camel", tag="gate.decided", tag_field="kind", omit_defaults=True):
    """The gate's decision, and the versions by which the debate is recomputed (`service.debate.versions`)."""

    decision: GateDecision
    versions: dict[str, str] = {}


class DebateStarted(Struct, frozen=True, rename="camel", tag="debate.started", tag_field="kind", omit_defaults=True):
    """All facts that are fixed before the first turn.

    ``seed`` is the hash of the committed ``case.received`` leaf. Where ``seed_from`` says ``plan`` it follows from the
    plan of the evaluation that the case belongs to; ``pins`` maps each prompt's id to its version and SHA-256;
    ``configuration_hash`` covers prompts, policy (models, seats and parameters among it) and prices, and
    ``approved_by`` names the key of ``approval``, a signed note over it; ``expected_cost`` is the catalogue's estimate
    and ``ceiling`` the limit, both in micro-dollars. ``diversity`` is the least of all ``pairs``. ``format_reason`` is
    policy's reason for the format, if the case left the choice to policy. ``usage_floor_per_mille`` is the least share
    of our own count that a reported usage must have to be believed; 0 believes any.
    ``tilts`` are recorded findings about models that may moderate, as they stood at the start.
    """

    format: str
    options: Options
    seats: tuple[SeatPlan, ...]
    pins: dict[str, str]
    pin: str
    policy_hash: str
    price_hash: str
    configuration_hash: str
    build_hash: str
    seed: str
    ceiling: MicroUSD
    expected_cost: MicroUSD
    attempts_per_turn: int
    approved_by: str = "unapproved"
    approval: str = ""
    simulated: bool = False
    diversity: Diversity = "crossFamily"
    pairs: tuple[Pair, ...] = ()
    expected_by_seat: dict[str, MicroUSD] = {}
    turn_deadline_s: int = 300
    format_reason: str = ""
    usage_floor_per_mille: int = 0
    seed_from: Literal["plan"] | None = None
    tilts: tuple[StandingTilt, ...] = ()

    def seat(self, name: str) -> SeatPlan:
        """The plan of a seat; all seats that the format may ask have one."""
        return next(plan for plan in self.seats if plan.seat == name)


class TurnAsked(Struct, frozen=True, rename="camel", tag="turn.asked", tag_field="kind", omit_defaults=True):
    """An attempt is about to begin: the salted hash of its request, and its reservation.

    ``request_hash`` is SHA-256(salt || the whole request as rendered: messages, schema, parameters, model), hex, and
    ``wire_hash`` SHA-256(salt || the bytes that go out to the vendor). ``because`` is the reason for asking the seat's
    fallback in the place of its own model.
    """

    turn: TurnId
    attempt: int
    model: str
    request_salt: str
    request_hash: str
    input_tokens: int
    held: MicroUSD
    wire_hash: str = ""
    because: Literal["failed", "paused", "contextTooLong"] | None = None


class TurnSpoke(Struct, frozen=True, rename="camel", tag="turn.spoke", tag_field="kind", omit_defaults=True):
    """A reply with its raw usage and its charge: one entry, so that no crash can separate them.

    ``dropped`` names the parts of the response that are left out of ``reply``, and ``dropped_more`` counts those that
    are not named. Where there are any, ``said`` is the response as it came, cut if it is long.
    """

    turn: TurnId
    attempt: int
    reply: Reply
    charge: Charge
    usage: dict[str, Any] | None = None
    served_model: str | None = None
    request_id: str | None = None
    fingerprint: str | None = None
    dropped: tuple[Dropped, ...] = ()
    dropped_more: int = 0
    said: str | None = None


class TurnGiven(Struct, frozen=True, rename="camel", tag="turn.given", tag_field="kind", omit_defaults=True):
    """A turn that speaks with the reply that its case gives it: no model is asked and nothing is charged."""

    turn: TurnId
    reply: Reply


class AttemptFailed(Struct, frozen=True, rename="camel", tag="attempt.failed", tag_field="kind", omit_defaults=True):
    """An attempt without a usable reply. ``reason`` is ``lost`` if its worker died; ``final`` says that no further
    attempt with this model can help, and ``unavailable`` that its vendor took no calls at the time, whatever they
    asked: the model is then in backoff for ``pause_ms`` in this turn. ``said`` is the unusable response, cut if it is
    long."""

    turn: TurnId
    attempt: int
    reason: str
    detail: str
    charge: Charge
    usage: dict[str, Any] | None = None
    request_id: str | None = None
    final: bool = False
    served_model: str | None = None
    fingerprint: str | None = None
    said: str | None = None
    unavailable: bool = False
    pause_ms: int = 0


class TurnSilent(Struct, frozen=True, rename="camel", tag="turn.silent", tag_field="kind", omit_defaults=True):
    """The turn ended without a usable reply; its silence never counts as agreement."""

    turn: TurnId
    reason: str


class CheckFound(Struct, frozen=True, rename="camel", tag="check.found", tag_field="kind", omit_defaults=True):
    """The finding of a check, and the version of its engine."""

    check: str
    engine: str
    finding: Finding


class BudgetRefused(Struct, frozen=True, rename="camel", tag="budget.refused", tag_field="kind", omit_defaults=True):
    """Turns that could not be funded: ``needed`` and ``left`` are micro-dollars."""

    turns: tuple[TurnId, ...]
    limit: str
    needed: MicroUSD
    left: MicroUSD


class DebateStopped(Struct, frozen=True, rename="camel", tag="debate.stopped", tag_field="kind", omit_defaults=True):
    """The debate makes no further model calls and concludes."""

    by: StoppedBy
    why: str


class DebateConcluded(
    Struct, frozen=True, rename="camel", tag="debate.concluded", tag_field="kind", omit_defaults=True
):
    """The outcome; it is the last entry."""

    outcome: Outcome


Entry = (
    CaseReceived
    | GateDecided
    | DebateStarted
    | TurnAsked
    | TurnSpoke
    | TurnGiven
    | AttemptFailed
    | TurnSilent
    | CheckFound
    | BudgetRefused
    | DebateStopped
    | DebateConcluded
)

OLDER: Mapping[tuple[str, int], Older] = {}
"""The versions of payloads before today's, by kind and number."""
KINDS: Kinds[Entry] = Kinds(get_args(Entry), OLDER)

_encoder = msgspec.json.Encoder(order="sorted")


def encode(entry: Entry) -> bytes:
    """The entry as the bytes that are hashed, stored and served."""
    return _encoder.encode(entry)


def decode(payload: bytes, schema: int = 1) -> Entry:
    """The entry that these bytes hold, written in version ``schema`` of its kind (its envelope says which).

    Raises `msgspec.DecodeError` where they hold none, and `kinds.UnknownSchema` where no kind has that version.
    """
    return KINDS.decode(payload, schema)


def kind(entry: Entry) -> str:
    """The entry's kind, as in its record: ``turn.spoke``."""
    return str(entry.__struct_config__.tag)


def is_end(entry: Entry) -> bool:
    """Whether nothing can follow: an outcome, or a decision not to debate."""
    return isinstance(entry, DebateConcluded) or (isinstance(entry, GateDecided) and not entry.decision.debate)
