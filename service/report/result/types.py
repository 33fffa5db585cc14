"""The shape of a result: every type of the JSON that ``GET /v1/debates/{id}`` answers with.

Members are in camelCase; those of a result that do not apply are left out (`Result`). The round record and its parts
are those of EAAPL-MAG005, section 5.2, member by member and in that text's own spelling; `RoundDetail` has the other
facts of a round. Amounts are US dollars as decimal strings.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct, field

from service.checks.coverage import DocumentCoverage
from service.debate.entries import Entry, Rule
from service.debate.findings import Suspicion
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
    Concession,
    Conclusion,
    ConfidenceLevel,
    Framing,
    Objection,
)
from service.report.result.argument_types import Argument, CitedEvidence
from service.report.result.bill import AttemptDetail, OverallCost
from service.report.result.citation_counts import CitationCounts
from service.report.result.decision_types import Decision
from service.report.result.notice_types import CheckDetail, Notice
from service.report.result.passage_types import PassageCounts, TurnPassages
from service.report.result.seat_types import DifferingReplies, SeatDetail, ShiftDetail, Weighed
from service.report.result.shown_options import ShownOptions
from service.report.result.summary_types import CoverageAbsent, CoverageCounts, Labels, ResultLinks
from service.report.result.terms import Terms
from service.report.result.would_change import GateChange
from service.report.sent import EVERY

WhyAsked = Literal["first", "again", "repair", "fallback"]
Via = Literal["keyboard", "databaseRole", "none"]
"""How a caller was authenticated: `service.audit.record.Actor`."""


class Line(Struct, frozen=True):
    """One recorded entry: its number in the debate from 0, the time that its record claims (RFC 3339), the entry.

    ``via`` is how the actor of the record was authenticated, as its envelope says.
    """

    n: int
    at: str
    entry: Entry
    via: Via = "none"


class ProposerPosition(Struct, frozen=True, kw_only=True):
    """The case for the proposition, arguments in order of priority, and every citation once."""

    always_sent: ClassVar = EVERY
    thesis: str
    supporting_arguments: tuple[Argument, ...]
    evidence_cited: tuple[CitedEvidence, ...]


class CriticPosition(Struct, frozen=True, kw_only=True):
    """The case against, with the critic's own rating of its strength from 1 to 10."""

    always_sent: ClassVar = EVERY
    thesis: str
    counter_arguments: tuple[Argument, ...]
    evidence_cited: tuple[CitedEvidence, ...]
    challenge_strength: int = field(name="challengeStrength")


class RebuttalPosition(Struct, frozen=True, kw_only=True):
    """The answers to the critic's points by number, and the points that were granted."""

    always_sent: ClassVar = EVERY
    thesis: str
    rebuttals: tuple[Argument, ...]
    concessions: tuple[Concession, ...]


class ArgumentQualityScore(Struct, frozen=True, kw_only=True):
    """The moderator's scores from 1 to 10, its neutral labels read back as seats; null for a seat that had not spoken.

    With several positions, ``proposer`` and ``rebuttal`` are those of the position that it ranked first.
    """

    always_sent: ClassVar = EVERY
    proposer: int | None
    critic: int | None
    rebuttal: int | None


class ModeratorEvaluation(Struct, frozen=True, kw_only=True, rename="camel"):
    """The evaluation of the arguments, not of the positions."""

    always_sent: ClassVar = EVERY
    argument_quality_score: ArgumentQualityScore
    resolved_points: tuple[str, ...]
    unresolved_points: tuple[str, ...]
    recommend_another_round: bool
    synthesis: str
    confidence_level: ConfidenceLevel
    explicit_uncertainties: tuple[str, ...]


class TokenCost(Struct, frozen=True, kw_only=True):
    """Input and output tokens of all of a seat's attempts in the round, as far as the provider reported them."""

    proposer: int
    critic: int
    rebuttal: int
    moderator: int


class RoundRecord(Struct, frozen=True, kw_only=True, rename="camel"):
    """A round as EAAPL-MAG005, section 5.2 has it; a part that was not reached is null, since it names all."""

    always_sent: ClassVar = EVERY
    debate_id: str
    round_number: int
    question: str
    proposer_position: ProposerPosition | None
    critic_position: CriticPosition | None
    rebuttal_position: RebuttalPosition | None
    moderator_evaluation: ModeratorEvaluation | None
    token_cost: TokenCost


class Conclusions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Each seat's conclusion on the proposition; absent for a seat that had not spoken."""

    proposer: Conclusion | None = None
    critic: Conclusion | None = None
    rebuttal: Conclusion | None = None
    moderator: Conclusion | None = None


class PositionDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One of several positions in one round; ``rank`` is the moderator's in this round, 1 is best supported."""

    id: str
    text: str
    proposer_position: ProposerPosition | None = None
    rebuttal_position: RebuttalPosition | None = None
    objections: tuple[Objection, ...]
    proposer_conclusion: Conclusion | None = None
    rebuttal_conclusion: Conclusion | None = None
    proposer_score: int | None = None
    rebuttal_score: int | None = None
    rank: int | None = None


class CriticFirstTake(Struct, frozen=True, kw_only=True, rename="camel"):
    """A critique that was too weak and was asked for again.

    ``reasons`` are ``selfRating`` and the hard signs that code found. ``replaced`` says whether the second take came
    and stands.
    """

    turn: TurnId
    position: CriticPosition
    reasons: tuple[str, ...]
    replaced: bool


class CritiqueSigns(Struct, frozen=True, kw_only=True, rename="camel"):
    """The finding about the standing critique: hard signs of weakness, soft ones, and softening phrases."""

    weak: tuple[str, ...]
    soft: tuple[str, ...]
    softening: tuple[str, ...]


class SwappedModeration(Struct, frozen=True, kw_only=True, rename="camel"):
    """The closing moderation, asked for again in the reverse order. It never replaces the first one.

    ``labels`` are those that the moderator saw this time, in its order, ``ranking`` the positions as it ranked them;
    ``agrees`` is false if the other order led to another conclusion, or to another position ranked first.
    """

    turn: TurnId
    evaluation: ModeratorEvaluation
    conclusion: Conclusion
    labels: dict[str, str]
    ranking: tuple[str, ...]
    agrees: bool


class ModeratorFirstTake(Struct, frozen=True, kw_only=True, rename="camel"):
    """A moderation that quoted what does not stand where it says, and that a second take replaced.

    ``swapped`` says that it was asked for in the reverse order. `TurnPassages` of its turn has the passages.
    """

    turn: TurnId
    swapped: bool
    evaluation: ModeratorEvaluation
    conclusion: Conclusion


class RoundDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The details beside a round record.

    ``objections`` are those that the proposer answered in advance; ``newDocuments`` were introduced in this round;
    ``labels`` maps seats to the neutral labels that the moderator saw, in the seeded order in which it saw them.
    """

    round_number: int
    turns: dict[str, TurnId]
    conclusions: Conclusions
    objections: tuple[Objection, ...] = ()
    positions: tuple[PositionDetail, ...] = ()
    critic_first_take: CriticFirstTake | None = None
    critique_signs: CritiqueSigns | None = None
    labels: dict[str, str] = {}
    new_documents: tuple[str, ...] = ()
    swapped_moderation: SwappedModeration | None = None
    moderator_first_takes: tuple[ModeratorFirstTake, ...] = ()


class Spoken(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One turn of a debater in a format that has them.

    ``name`` is the caller's; ``stance`` is the assigned one, or in the debater's own words; ``label`` is the neutral
    one under which others see it; ``model`` is the alias that spoke. ``blind`` says that it had seen no reply of any
    other debater. ``text`` are its statements, if any, one in each paragraph, struck ones too; ``arguments`` the same
    with verdicts. ``vote`` is the option that it names, absent for an abstention, and ``confidence`` its own, a share.
    ``tokens`` and ``chargedUSD`` are of all its attempts.
    """

    always_sent: ClassVar = ("reply",)
    turn: TurnId
    round: int
    phase: str | None = None
    seat: str
    name: str | None = None
    stance: str | None = None
    label: str
    model: str
    blind: bool
    text: str = ""
    arguments: tuple[Argument, ...]
    vote: str | None = None
    answer: str | None = None
    confidence: float | None = None
    reply: dict[str, Any]
    tokens: int
    charged_usd: str = field(name="chargedUSD")


class Gate(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whether the question deserved a debate, with every rule that was applied, in order.

    ``wouldChange`` lists the ways to the other decision: what would have had to be otherwise in the case, nothing more
    than needed, each with the values from which on the decision differs.
    """

    always_sent: ClassVar = ("rules",)
    debate: bool
    decided_by: str
    rules: tuple[Rule, ...]
    debate_cost_threshold_usd: str = field(name="debateCostThresholdUSD")
    factor: int
    policy_version: str
    policy_hash: str
    would_change: tuple[GateChange, ...] = ()


class Struck(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A struck argument, which later seats did not see: its evidence is not verified or not cited at all."""

    turn: TurnId
    round: int
    seat: str
    position: str | None = None
    argument: Argument


class LogPosition(Struct, frozen=True, kw_only=True, rename="camel"):
    """The place of a record: the log, the leaf's index, and the first checkpoint that covers it (``root`` is hex)."""

    log: str
    index: int
    size: int
    root: str


class Hashes(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The hashes of policy, prompts and records, SHA-256 in hexadecimal.

    ``promptsPin`` is that of the prompt manifest, ``pins`` those of the prompts, schemas and the layout that this
    debate may ask with, with their versions; ``configurationHash`` covers prompts, seats, parameters, policy and
    prices; ``seed`` commits to the case; ``lastRecord`` is the hash of the last record of this debate. ``log`` is the
    place of that record in the audit log, absent before the debate is over. ``used`` names those of the pins with which
    requests were made.
    """

    prompts_pin: str | None = None
    pins: dict[str, str] = {}
    used: tuple[str, ...] = ()
    policy_hash: str | None = None
    price_hash: str | None = None
    configuration_hash: str | None = None
    build_hash: str | None = None
    seed: str | None = None
    last_record: str | None = None
    log: LogPosition | None = None


class Result(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debate up to its latest entry, whole.

    A member that does not apply, or that is not known yet, is left out. Always there are ``view``, ``debateId``,
    ``status``, ``question``, ``taskType``, ``simulated``, ``createdAt``, ``entries``, ``subject``, ``askedVia``,
    ``case``, ``caps``, ``flags``, ``labels``, ``criticalValidationFailures``, ``struck``, ``citationCounts``,
    ``overallCost``, ``hashes`` and ``links``; once the debate has ended, also ``decision``, ``stopReason``, ``detail``
    and ``concludedAt``.

    ``decision`` is what was decided, the same members in every format. ``debateId`` names the debate; ``status`` is its
    state, ``stopReason`` why it ended, and ``detail`` the same in words. ``question``, ``taskType``, ``format`` and
    ``case`` are the request's, ``options`` are the debate's, and ``subject`` is an opaque id of the caller, who was
    authenticated by ``askedVia``, where ``none`` is not at all.
    ``simulated`` is true if no real model spoke. ``createdAt`` is the time of the first record, ``concludedAt`` that of
    the last, RFC 3339 in UTC.

    ``result`` is the outcome in the format's own terms. ``caps``, ``flags``, ``criticalValidationFailures`` are the
    outcome's, ``labels`` the words for their codes; ``synthesis`` and
    ``explicitUncertainties`` are those of the seat that closed, and so is its level before code lowered it:
    ``moderatorConfidenceLevel`` of a moderator, ``closingConfidenceLevel`` of a judge or a synthesizer.
    ``citationCounts`` count the verdicts on all citations. ``coverage`` has the cited and the uncited parts of each
    document, ``coverageCounts`` their sums; where there is none, ``coverageAbsent`` says why.
    ``firstDraft`` names the turns that spoke before any challenge.
    ``attempts`` are all calls in the order in which they were made. ``pairs`` are the seats that should have
    different model families, each with the diversity of their models. A confidence level is not a probability, and code
    can only lower it.

    ``transcript`` are the debaters' turns by round, phase and declared order, ``weighed`` those of the other seats in
    the order of the record; the adversarial format has ``rounds`` and ``roundDetails`` instead. ``formatReason`` says
    why this format was chosen.

    ``passages`` are what the texts of each compared reply quote or report, by turn in the order of the record, with
    spans in texts that stay as they were written, and ``passageCounts`` count them. ``differing`` are the replies of
    deciders to one question that differ in more than words.
    """

    decision: Decision | None = None
    view: Literal["full"]
    debate_id: str
    status: Status
    stop_reason: StopReason | None = None
    detail: str | None = None
    question: str
    task_type: str
    format: str | None = None
    simulated: bool
    created_at: str
    concluded_at: str | None = None
    entries: int
    subject: str
    asked_via: Via
    case: Case
    options: ShownOptions | None = None
    gate: Gate | None = None
    framing: Framing | None = None
    framing_token_cost: int = 0
    rounds: tuple[RoundRecord, ...] = ()
    round_details: tuple[RoundDetail, ...] = ()
    moderator_confidence_level: ConfidenceLevel | None = None
    closing_confidence_level: ConfidenceLevel | None = None
    caps: tuple[Cap, ...]
    flags: tuple[str, ...]
    labels: Labels
    critical_validation_failures: tuple[ValidationFailure, ...]
    synthesis: str | None = None
    explicit_uncertainties: tuple[str, ...] = ()
    first_draft: tuple[TurnId, ...] = ()
    struck: tuple[Struck, ...]
    citation_counts: CitationCounts
    coverage: tuple[DocumentCoverage, ...] = ()
    coverage_absent: CoverageAbsent | None = None
    coverage_counts: CoverageCounts | None = None
    shifts: tuple[ShiftDetail, ...] = ()
    overall_cost: OverallCost
    attempts: tuple[AttemptDetail, ...] = ()
    seats: tuple[SeatDetail, ...] = ()
    diversity: str | None = None
    pairs: tuple[Pair, ...] = ()
    approved_by: str | None = None
    hashes: Hashes
    notices: tuple[Notice, ...] = ()
    checks: tuple[CheckDetail, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    format_reason: str | None = None
    transcript: tuple[Spoken, ...] = ()
    weighed: tuple[Weighed, ...] = ()
    result: Terms | None = None
    passages: tuple[TurnPassages, ...] = ()
    passage_counts: PassageCounts | None = None
    differing: tuple[DifferingReplies, ...] = ()
    links: ResultLinks
