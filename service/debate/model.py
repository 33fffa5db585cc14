"""Cases, seats, turns, checks, moves and outcomes.

The ids of turns are read and written in `turns`. Money is whole micro-dollars (``MicroUSD``).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from service.debate.amounts import MicroUSD
from service.debate.closed_lists import ClosedList, Row, in_order, table_of
from service.debate.options import (
    DEBATERS_MAX,
    ROUND_CEILING,
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    Position,
    StancesOptions,
    TrackRecord,
)
from service.debate.replies import Conclusion, ConfidenceLevel
from service.debate.results import FormatResult
from service.debate.turns import TurnId, once_more, party, round_of, seat_of, turn_id
from service.errors import IncompleteTable

__all__ = [
    "DEBATERS_MAX",
    "REWORDING",
    "ROUND_CEILING",
    "AdversarialOptions",
    "Ask",
    "BallotOptions",
    "Cap",
    "Case",
    "Check",
    "CheckKind",
    "Conclude",
    "ConvergenceOptions",
    "Debater",
    "Difference",
    "Differing",
    "Diversity",
    "Document",
    "Force",
    "HumanReview",
    "LongInput",
    "Measure",
    "Move",
    "Options",
    "Outcome",
    "Pair",
    "PanelOptions",
    "Position",
    "PriceRow",
    "RankedPosition",
    "Rates",
    "SeatPlan",
    "StancesOptions",
    "Status",
    "StopReason",
    "TrackRecord",
    "Turn",
    "TurnId",
    "ValidationFailure",
    "labels",
    "party",
    "reworded",
    "seat_of",
    "swapped",
]

Status = Literal["declined", "queued", "running", "completed", "truncated", "failed", "aborted"]
StopReason = Literal[
    "consensus",
    "moderatorSatisfied",
    "roundCeiling",
    "budget",
    "deadline",
    "seatSilent",
    "promptMismatch",
    "auditUnavailable",
    "fault",
    "aborted",
    "declined",
    "untilCritic",
]
Diversity = Literal["sameModel", "sameFamily", "crossFamily"]
CheckKind = Literal[
    "citations", "critique", "consensus", "convergence", "accuracy", "injection", "texts", "synthesis", "voices"
]
CHECK_KINDS: tuple[CheckKind, ...] = get_args(CheckKind)
_CHECKS = ClosedList("kind of check", "service/debate/model.py", "docs/how-to/change-a-rule.md", IncompleteTable)


def complete_checks(rows: Mapping[CheckKind, Row], layer: str, file: str) -> Mapping[CheckKind, Row]:
    """The table of a layer, in the order of `CHECK_KINDS`; ``file`` is the ``__file__`` of the module that holds it.

    Raises `IncompleteTable`, with the layer, the file and the kinds, unless there is a row for each kind and no other.
    """
    return in_order(CHECK_KINDS, rows, _CHECKS, table_of(layer, file))


class Document(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A source document of a case. Its text is stored apart; ``round`` is that of reference 14.3."""

    id: str
    """The document's id, as given or `D1`, `D2`, ... in order. Citations name it as `sourceId`."""
    title: str
    """The title, or the id where the case gave none."""
    commitment: str
    """The SHA-256 of a salt and the text, which proves the text without showing it."""
    characters: int
    """The length of the text in Unicode code points."""
    round: int = 1
    """The first round whose seats read it, from 1."""


class Force(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A caller's order to the gate, with its reason."""

    debate: bool
    """Whether there is to be a debate."""
    reason: str
    """Why the gate is overruled. It is recorded."""


OnDisconnect = Literal["continue", "abort"]
"""The effect on a debate when its last listener has gone: none, or an abort."""


class Case(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A request for review, as it was received."""

    question: str
    task_type: str
    documents: tuple[Document, ...]
    """The source documents, without their texts."""
    estimated_downside: Decimal
    """US dollars that a wrong answer may cost, as a decimal string."""
    confidence_score: Decimal | None = None
    """The caller's confidence in its answer, from 0 to 1, as a decimal string. Absent if it gave none."""
    downside_basis: str | None = None
    """How the caller estimated the downside."""
    single_agent_answer: str | None = None
    """The answer of a single agent, which seats read as the answer under review."""
    contested: bool | None = None
    """Whether the caller declared the matter contested. Absent, it counts as contested."""
    use_case: str | None = None
    """The use case in the caller's inventory."""
    intended_use: str | None = None
    """What the answer is used for."""
    materiality: str | None = None
    """How material the use is, by the caller's own classes."""
    format: str | None = None
    """The format that the case asked for, or `auto`. Absent where it left that to policy."""
    force: Force | None = None
    """The caller's order to the gate."""
    deadline: str | None = None
    """When the debate has to end."""
    metadata: dict[str, str] = {}
    """The caller's own keys and values, such as a ticket number."""
    on_disconnect: OnDisconnect = "continue"
    """What happens when the last listener has gone: the debate continues, or is aborted."""
    asked_task_type: str | None = None
    """The task type that the caller wrote, where policy put `taskType` in its place."""


def documents_of_round(case: Case, round_: int) -> tuple[str, ...]:
    """The ids of the documents that the seats of a round are given."""
    return tuple(d.id for d in case.documents if d.round <= max(round_, 1))


class Rates(Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """Micro-dollars per million tokens, by kind. ``cache_write_1h`` is ``None`` if an hour's cache has no price."""

    input: MicroUSD
    output: MicroUSD
    cached_input: MicroUSD
    cache_write: MicroUSD
    reasoning: MicroUSD
    cache_write_1h: MicroUSD | None = None


class LongInput(Struct, frozen=True, rename="camel"):
    """The rates of a whole call whose input (fresh, cached and written to a cache) is above ``above`` tokens."""

    above: int
    rates: Rates


class PriceRow(Rates, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The price of a model from a date on, in micro-dollars per million tokens.

    ``tiers`` are the vendor's service tiers by their name in its responses (``priority``, ``flex``), each with rates of
    its own; a tier that is not listed has no price.
    """

    model: str
    effective: str
    source: str
    long_input: LongInput | None = None
    tiers: dict[str, Rates] = {}


class SeatPlan(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The plan of a seat: its model, and the most output tokens of one turn.

    ``wire`` is the format of its usage object. ``reasoning`` says whether completion tokens include reasoning tokens,
    if the server's object leaves that open. ``tokenizer_id`` names the tokenizer with its rank file.
    ``overhead_tokens`` are those that a vendor adds to every request beyond the text that we count. ``fallback`` is
    asked if the model itself cannot answer.
    """

    seat: str
    model: str
    provider: str
    model_name: str
    family: str
    tokenizer: str
    safety_per_mille: int
    context_window: int
    allowance: int
    price: PriceRow
    parameters: dict[str, Any] = {}
    wire: str = "offline"
    overhead_tokens: int = 0
    fallback: SeatPlan | None = None
    reasoning: Literal["inside", "outside"] = "inside"
    tokenizer_id: str = ""

    @property
    def with_fallback(self) -> tuple[SeatPlan, ...]:
        """The plans of the seat's models, in the order in which they are asked: its own, then its fallback."""
        return (self, self.fallback) if self.fallback else (self,)

    def of(self, model: str) -> SeatPlan:
        """The plan by which an attempt was made: this one, or its fallback."""
        return self.fallback if self.fallback and model == self.fallback.model else self


class Pair(Struct, frozen=True, rename="camel"):
    """Two seats that should have different model families, and the diversity of their models."""

    seats: tuple[str, str]
    """The two seats."""
    diversity: Diversity
    """How far apart the models of the two seats are."""


class Turn(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One seat asked once. ``sees`` names exactly the replies that enter its request, in their order there.

    ``kind`` is the kind of its reply, a name of `replies.REPLY_TYPES` (empty: the seat's own name). ``prompt`` is a
    pinned prompt in the place of that kind's own.
    """

    id: TurnId
    seat: str
    sees: tuple[TurnId, ...] = ()
    fragments: tuple[str, ...] = ()
    kind: str = ""
    prompt: str = ""

    @property
    def asks(self) -> str:
        """The kind of its reply, which names its schema, and its prompt unless ``prompt`` does."""
        return self.kind or self.seat

    @property
    def round(self) -> int:
        """The round that the turn belongs to; 0 comes before the first."""
        return round_of(self.id)

    @property
    def party(self) -> str:
        """The seat, with the phase if there is one: the speaker in every round and take."""
        return party(self.id)


def labels(turn: Turn) -> dict[str, str]:
    """The neutral labels under which a turn sees the parties, in the order of ``sees``: party -> ``Statement 1``..."""
    found: dict[str, str] = {}
    for seen in turn.sees:
        who = party(seen)
        if seat_of(seen) not in ("framing", "moderator") and who not in found:
            found[who] = f"Statement {len(found) + 1}"
    return found


def swapped(turn: Turn) -> Turn:
    """The turn that asks a decider the same again, with the replies of each round in exactly the reverse order."""
    backwards = turn.sees[::-1]
    sees = tuple(sorted(backwards, key=round_of))  # a sort keeps the order of equals
    return Turn(turn_id(turn.round, turn.seat, "swapped"), turn.seat, sees, turn.fragments, turn.kind, turn.prompt)


REWORDING = "texts.retry"
"""The fragment that asks a decider once more, because its words quote what stands nowhere."""


def reworded(turn: Turn) -> Turn:
    """The turn that asks a decider once more; it sees its own former reply, with the marks of code, as the last one."""
    sees, fragments = (*turn.sees, turn.id), (*turn.fragments, REWORDING)
    return replace(turn, id=once_more(turn.id), sees=sees, fragments=fragments)


class Check(Struct, frozen=True, rename="camel"):
    """A check by code: recorded with its engine's version, never recomputed to decide."""

    id: str
    kind: CheckKind
    over: tuple[TurnId, ...]


class Ask(Struct, frozen=True, tag="ask"):
    """Ask these turns, all due and unanswered; they are funded together or refused together.

    ``holding`` are the closing turns as they would be if money ended after these.
    """

    turns: tuple[Turn, ...]
    holding: tuple[Turn, ...] = ()


class Measure(Struct, frozen=True, tag="measure"):
    """Run these checks and record their findings."""

    checks: tuple[Check, ...]


class Cap(Struct, frozen=True, rename="camel"):
    """A reason for which code lowered the confidence, and the level that it allows at most."""

    reason: str
    """The code of the reason; `labels.reasons` has it in words."""
    at_most: ConfidenceLevel
    """The highest confidence that this reason allows."""


class HumanReview(Struct, frozen=True, rename="camel"):
    """Whether a person has to decide, and why."""

    required: bool
    """Whether a person has to decide."""
    reasons: tuple[str, ...] = ()
    """The codes of the reasons; `labels.reasons` has them in words."""


class ValidationFailure(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A critical validation failure: evidence that is not in the sources, or is not cited at all (reference 10.3)."""

    turn: TurnId
    n: int
    """The number of the argument, from 1 to 99."""
    reason: Literal["altered", "too_short", "not_found", "uncited"]
    """The verdict on the citation, or `uncited` for evidence without a citation."""
    quote: str | None = None
    """The words that were given as the source's."""
    source_id: str | None = None
    """The id of the document that the citation names."""
    found_in: str | None = None
    """The id of another given document that has the words."""


class RankedPosition(Struct, frozen=True, rename="camel"):
    """A position in the moderator's order, best first."""

    rank: int
    """The place in the moderator's order, from 1, the best supported."""
    position: str
    """The id of the position."""
    score: int
    """The moderator's score of its arguments, from 1 to 10."""


class Difference(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A typed member that two replies of one decider give differently.

    ``first`` and ``second`` are its values as text; a member in free words has none, because the replies have them.
    """

    member: str
    """The name of the member that differs."""
    first: str | None = None
    """Its value in the first reply, as text."""
    second: str | None = None
    """Its value in the second reply, as text."""


class Differing(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Two replies of a decider to one question that differ in more than words.

    ``second`` is the take that stands, or the reply in the reverse order or to a masked request where ``first`` stands.
    A ``repair`` stands in the place of the unusable reply of ``first`` at ``attempt``.
    """

    why: Literal["secondTake", "repair", "otherOrder", "masked"]
    first: TurnId
    second: TurnId
    members: tuple[Difference, ...]
    attempt: int | None = None


class Outcome(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How a debate ended.

    ``final_turn`` is the turn of the decider (moderator, judge, synthesizer) that it rests on, if there was one;
    ``result`` is the outcome in the terms of its own format, and absent from the adversarial one. ``differing`` are the
    replies of its deciders that differ (`service.debate.takes`).
    """

    status: Status
    stop_reason: StopReason
    detail: str
    confidence_level: ConfidenceLevel | None = None
    conclusion: Conclusion | None = None
    agrees_with_first_proposal: bool | None = None
    final_turn: TurnId | None = None
    caps: tuple[Cap, ...] = ()
    flags: tuple[str, ...] = ()
    critical_validation_failures: tuple[ValidationFailure, ...] = ()
    human_review: HumanReview = HumanReview(required=False)
    ranking: tuple[RankedPosition, ...] = ()
    result: FormatResult | None = None
    differing: tuple[Differing, ...] = ()


class Conclude(Struct, frozen=True, tag="conclude"):
    """The debate is over."""

    outcome: Outcome


Move = Ask | Measure | Conclude
