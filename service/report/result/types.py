"""The shape of a result: the JSON that ``GET /v1/debates/{id}`` answers with. Modules beside this one have its parts.

Members are in camelCase; those of a result that do not apply are left out (`Result`). Amounts are US dollars as decimal
strings.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct, field

from service.audit.record import Actor, Via
from service.checks.coverage import DocumentCoverage
from service.debate.entries import Arrival, Entry, Rule
from service.debate.model import (
    Cap,
    Case,
    Pair,
    Status,
    StopReason,
    TurnId,
    ValidationFailure,
)
from service.debate.replies import (
    ConfidenceLevel,
    Framing,
)
from service.debate.suspicions import Suspicion
from service.report.result.argument_types import Argument
from service.report.result.bill import AttemptDetail, OverallCost
from service.report.result.citation_counts import CitationCounts
from service.report.result.decision_types import Decision
from service.report.result.notice_types import CheckDetail, Notice
from service.report.result.passage_types import PassageCounts, TurnPassages
from service.report.result.round_types import RoundDetail, RoundRecord
from service.report.result.seat_types import DifferingReplies, ScreeningDetail, SeatDetail, ShiftDetail, Weighed
from service.report.result.shown_options import ShownOptions
from service.report.result.summary_types import CoverageAbsent, CoverageCounts, Labels, ResultLinks
from service.report.result.terms import Terms
from service.report.result.would_change import GateChange

WhyAsked = Literal["first", "again", "repair", "fallback"]


UNNAMED = Actor("local", "unknown", "operator", "none")
"""The actor of an entry whose record is not there: it says that no caller was authenticated."""


class Acted(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Who did something, as its record says: an opaque id, and how it was authenticated."""

    subject: str
    """An opaque id. The register of subjects knows its name."""
    kind: Literal["person", "service", "unknown"]
    """What it is: a person or a service. It is `unknown` where no caller was authenticated."""
    role: str | None = None
    """The role in which it acted. Without authentication it is the record's claim. Absent in old records."""
    via: Via
    """How it was authenticated: `none` is not at all."""


class Line(Struct, frozen=True):
    """One recorded entry: its number in the debate from 0, the time that its record claims (RFC 3339), the entry.

    ``actor`` is who wrote it, as its envelope says.
    """

    n: int
    at: str
    entry: Entry
    actor: Actor = UNNAMED


class Spoken(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One turn of a debater in a format that has them. ``tokens`` and ``chargedUSD`` are of all its attempts."""

    always_sent: ClassVar = ("reply",)
    turn: TurnId
    round: int
    phase: str | None = None
    seat: str
    name: str | None = None
    """The caller's name for the debater."""
    stance: str | None = None
    """The assigned stance, or the debater's own in its words."""
    label: str
    """The neutral name under which others see it."""
    model: str | None = None
    """The alias of the model that spoke. Absent where an evaluation gave the reply."""
    blind: bool
    """Whether it had seen no reply of any other debater."""
    text: str = ""
    """Its statements, one in each paragraph, struck ones too."""
    arguments: tuple[Argument, ...]
    """The same statements with their citations and verdicts."""
    vote: str | None = None
    """The option that it votes for. Absent for an abstention and in formats without votes."""
    answer: str | None = None
    """Its answer, in formats whose debaters give one."""
    confidence: float | None = None
    """Its own confidence, a share from 0 to 1."""
    reply: dict[str, Any]
    """The whole reply as JSON, in the form of the format's own schema."""
    tokens: int
    """Input and output tokens of all attempts of the turn."""
    charged_usd: str = field(name="chargedUSD")


class Gate(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whether the question deserved a debate, with every rule that was applied, in order."""

    always_sent: ClassVar = ("rules",)
    debate: bool
    """Whether the case gets a debate."""
    decided_by: str
    """The rule that decided, `merits` if all rules of merit hold."""
    rules: tuple[Rule, ...]
    """Every rule that was applied, in order."""
    debate_cost_threshold_usd: str = field(name="debateCostThresholdUSD")
    """US dollars: the cost that the downside is compared with."""
    factor: int
    """How many times that cost the downside has to exceed, at least 1."""
    policy_version: str
    policy_hash: str
    would_change: tuple[GateChange, ...] = ()
    """The ways to the other decision, each as little as is needed."""


class Struck(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A struck argument, which later seats did not see: its evidence is not verified or not cited at all."""

    turn: TurnId
    round: int
    seat: str
    position: str | None = None
    argument: Argument
    """The argument, which later seats did not see."""


class LogPosition(Struct, frozen=True, kw_only=True, rename="camel"):
    """The place of a record: the log, the leaf's index, and the first checkpoint that covers it."""

    log: str
    """The name of the log: host, tenant and number."""
    index: int
    """The index of the record's leaf, from 0."""
    size: int
    """The number of records under the first checkpoint that covers it, at least 1."""
    root: str
    """The root of that checkpoint, SHA-256 in hexadecimal."""


class Hashes(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The hashes of policy, prompts and records."""

    prompts_pin: str | None = None
    pins: dict[str, str] = {}
    """The version and SHA-256 of every prompt, schema and layout that the debate may ask with, by name."""
    used: tuple[str, ...] = ()
    """The names of those of the pins with which requests were made."""
    policy_hash: str | None = None
    price_hash: str | None = None
    configuration_hash: str | None = None
    build_hash: str | None = None
    seed: str | None = None
    """The SHA-256 that commits to the case, from which all orders are derived."""
    last_record: str | None = None
    """The SHA-256 of the debate's last record."""
    log: LogPosition | None = None
    """The place of that record in the audit log. Absent before the debate is over and provable."""


class Result(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debate up to its latest entry, whole.

    A member that does not apply, or that is not known yet, is left out. Always there are ``view``, ``debateId``,
    ``status``, ``question``, ``taskType``, ``simulated``, ``createdAt``, ``entries``, ``askedBy``, ``case``,
    ``caps``, ``flags``, ``labels``, ``criticalValidationFailures``, ``struck``, ``citationCounts``, ``overallCost``,
    ``hashes`` and ``links``; once the debate has ended, also ``decision``, ``stopReason``, ``detail``
    and ``concludedAt``.

    A confidence level is not a probability, and code can only lower it. The adversarial format has ``rounds`` and
    ``roundDetails``, the others ``transcript`` and ``weighed`` instead. Spans of passages are in texts that stay as
    they were written.
    """

    decision: Decision | None = None
    """What was decided, in the same members in every format. Absent while the debate goes on."""
    view: Literal["full"]
    """Which view this is: always `full`."""
    debate_id: str
    status: Status
    """The state of the debate: truncated says that it ended before its rules were satisfied."""
    stop_reason: StopReason | None = None
    """Why the debate ended."""
    detail: str | None = None
    """The same in words."""
    question: str
    task_type: str
    format: str | None = None
    """The format and its version. Absent for a declined case that named none."""
    simulated: bool
    created_at: str
    """The time of the debate's first record."""
    concluded_at: str | None = None
    """The time of its last record. Absent while it goes on."""
    entries: int
    """The number of entries so far."""
    asked_by: Acted
    """Who submitted the case."""
    arrival: Arrival | None = None
    """How the case came. Absent where it came by POST /v1/debates and its request took part in no trace."""
    aborted_by: Acted | None = None
    """Who aborted the debate. Absent where it was not aborted."""
    case: Case
    """The case as it was received."""
    options: ShownOptions | None = None
    """The debate's options, all resolved."""
    gate: Gate | None = None
    """The gate's decision."""
    framing: Framing | None = None
    """The question as a proposition, in the adversarial format."""
    framing_token_cost: int = 0
    """Input and output tokens of the framing seat. Absent in formats without one."""
    rounds: tuple[RoundRecord, ...] = ()
    """The rounds of an adversarial debate, as EAAPL-MAG005 records them."""
    round_details: tuple[RoundDetail, ...] = ()
    """What else is known of each of these rounds."""
    moderator_confidence_level: ConfidenceLevel | None = None
    """The moderator's confidence before code lowered it."""
    closing_confidence_level: ConfidenceLevel | None = None
    """The confidence of a judge or a synthesizer before code lowered it."""
    caps: tuple[Cap, ...]
    """Why code lowered the confidence, and to what."""
    flags: tuple[str, ...]
    """Codes of what a reader has to know; `labels.flags` has them in words. Later versions may add codes."""
    labels: Labels
    """The words for the codes of this result."""
    critical_validation_failures: tuple[ValidationFailure, ...]
    """Evidence that is not in the sources, or that was not cited at all."""
    synthesis: str | None = None
    """The words of the seat that closed, whole."""
    explicit_uncertainties: tuple[str, ...] = ()
    first_draft: tuple[TurnId, ...] = ()
    """The turns that spoke before any challenge."""
    struck: tuple[Struck, ...]
    """The arguments that were struck."""
    citation_counts: CitationCounts
    """The verdicts on all citations, counted."""
    coverage: tuple[DocumentCoverage, ...] = ()
    """The cited and the uncited parts of each document."""
    coverage_absent: CoverageAbsent | None = None
    """Why there is no coverage."""
    coverage_counts: CoverageCounts | None = None
    """The coverage of all documents, summed up."""
    shifts: tuple[ShiftDetail, ...] = ()
    """How seats moved when documents were introduced."""
    overall_cost: OverallCost
    """What the debate cost, in all and in parts."""
    attempts: tuple[AttemptDetail, ...] = ()
    """Every call of a model, in the order in which they were made."""
    seats: tuple[SeatDetail, ...] = ()
    """The model behind each seat."""
    diversity: str | None = None
    pairs: tuple[Pair, ...] = ()
    """The seats that should have models of different families."""
    approved_by: str | None = None
    """The key that approved the configuration, or `unapproved`."""
    hashes: Hashes
    """The hashes of what the debate went by, and of its records."""
    notices: tuple[Notice, ...] = ()
    """Remarks on what happened beside the arguments."""
    checks: tuple[CheckDetail, ...] = ()
    """What code checked, with the finding in few words."""
    suspicions: tuple[Suspicion, ...] = ()
    """Passages of the case, in any field of a caller's text, that speak to a model as if they were instructions."""
    screening: ScreeningDetail | None = None
    """What the screener replied. Absent where policy seats none, or it has not spoken."""
    format_reason: str | None = None
    """Why this format was chosen, where policy chose it."""
    transcript: tuple[Spoken, ...] = ()
    """The turns of the debaters, by round, phase and declared order. Absent in the adversarial format."""
    weighed: tuple[Weighed, ...] = ()
    """The replies of the other seats, in the order of the record. Absent in the adversarial format."""
    result: Terms | None = None
    """The outcome in the format's own terms."""
    passages: tuple[TurnPassages, ...] = ()
    """What the texts of each compared reply quote or report."""
    passage_counts: PassageCounts | None = None
    """These passages, counted by where they stand."""
    differing: tuple[DifferingReplies, ...] = ()
    """The replies of deciders to one question that differ in more than words."""
    links: ResultLinks
    """The addresses of what belongs to the debate."""
