"""The shapes of a panel's events: those of its reference, with our members in ``gainsay``, and four of our own.

The members at the top are the reference's, whole, in that text's spelling. Beside them stands what its text asks for
without a name: ``objection`` (the devil's advocate, "alongside the model's regular deliberation fields"), ``marks`` on
the claims of others, and the ranked ``ideas`` of a brainstorm. Debaters are ``model_a`` and so on: ``model_a`` is the
``label`` Model A.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from service.debate.findings import ClaimAgreement, Dimension, NamedClaims, UnansweredObjection, Veto
from service.debate.model import TurnId
from service.debate.replies import ConfidenceLevel
from service.debate.replies.panel import Framework, MarkAs, ObjectionVerdict, QuestionType, Severity, Stance
from service.report.events.types import Heading, Placed, PlacedReply, ReplyHeading
from service.report.result.summary import Summary
from service.report.result.types import Result
from service.report.sent import EVERY

PanelStatus = Literal["running", "completed", "failed", "aborted"]


class PanelClaim(Struct, frozen=True, kw_only=True):
    """A key claim with the debater's confidence in it."""

    claim: str
    confidence: float


class PanelMark(Struct, frozen=True, kw_only=True):
    """A debater's verdict on another's claim, by its number from 1, and its confidence in that verdict."""

    model: str
    claim: int
    mark: MarkAs
    confidence: float


class PanelObjection(Struct, frozen=True, kw_only=True):
    """The devil's advocate: the strongest flaw in the majority's position, in a claim of ``model``."""

    model: str
    claim: int
    flaw: str
    severity: Severity


class NamedClaim(Struct, frozen=True, kw_only=True):
    """A claim of another debater, by its number from 1."""

    model: str
    claim: int


class AnsweredObjection(Struct, frozen=True, kw_only=True):
    """A debater's answer to the objection that ``model`` raised in the round before."""

    model: str
    text: str


class Probability(Struct, frozen=True, kw_only=True):
    """A probability between two bounds, both included."""

    low: float
    high: float


class PanelTurn(PlacedReply, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own members of a debater's answer.

    ``challengedClaims`` are those that ``still_challenges`` is about, and ``unresolvedClaims`` those between which the
    points of ``unresolved`` lie. ``answersToObjections`` are to those of the round before.
    """

    stance: Stance
    framework: Framework
    probability: Probability | None = None
    challenged_claims: tuple[NamedClaim, ...] = ()
    unresolved_claims: tuple[NamedClaim, ...] = ()
    answers_to_objections: tuple[AnsweredObjection, ...] = ()


class PanelBlind(Struct, frozen=True, kw_only=True):
    """A debater's answer in the blind round."""

    always_sent: ClassVar = ("claims", "assumptions")

    event: Literal["round"]
    debate_id: str
    round: int
    model: str
    answer: str
    claims: tuple[PanelClaim, ...]
    overall_confidence: float
    assumptions: tuple[str, ...]
    gainsay: PanelTurn


class PanelDeliberation(PanelBlind, frozen=True, kw_only=True, omit_defaults=True):
    """A debater's answer after it has read the others'; ``objection`` from round three on."""

    learned_from_others: str
    corrections: str
    still_challenges: str
    unresolved: str
    marks: tuple[PanelMark, ...] = ()
    objection: PanelObjection | None = None


class ObjectionReplied(Struct, frozen=True, kw_only=True):
    """The answer to the strong objections of one debater, by its letter."""

    label: str
    verdict: ObjectionVerdict
    text: str


class AnswersEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debater's answers to the strong objections that stood after the last round; the reference has no such turn."""

    always_sent: ClassVar = ("answers",)

    answers: tuple[ObjectionReplied, ...]


class ClassificationEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The type of the question as a model reads it."""

    question_type: QuestionType
    because: str


class AdjudicationEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A model's scores of a round; the `consensus` that follows has what code makes of them."""

    always_sent: ClassVar = ("scores",)

    scores: dict[Dimension, float]
    notes: str


class Measured(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Code's measures after a round, as recorded; shares are from 0 to 1 and left out where they are undefined.

    ``scores``, ``overall``, ``terminated``, ``lagging``, ``notes``, ``counted`` and ``vetoes`` are left out where the
    consensus itself is code's, because it has them. ``beyondChance`` is from -1 to 1.
    """

    voices: int
    scores: dict[Dimension, float] = {}
    overall: float | None = None
    terminated: bool | None = None
    lagging: tuple[Dimension, ...] = ()
    notes: str | None = None
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    claims: tuple[ClaimAgreement, ...] = ()
    claim_jaccard: float | None = None
    beyond_chance: float | None = None
    wording_overlap: float | None = None
    new_ideas: float | None = None
    unanswered: tuple[UnansweredObjection, ...] = ()
    opposed: tuple[NamedClaims, ...] = ()


class ConsensusStanding(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own members of a consensus: its scorer, the threshold, and code's measures.

    ``counted`` are the dimensions in the mean: those that the type of the question uses and that have a score.
    ``vetoes`` are facts that exclude consensus whatever the scores are. ``unansweredObjections`` are strong objections
    of a devil's advocate that no other debater has answered: with one of them there is no consensus. Consensus does not
    mean that an answer is right.
    """

    by: Literal["algorithmic", "model"]
    threshold: float
    blind: bool
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    unanswered_objections: int
    measured: Measured | None = None


class PanelConsensus(Struct, frozen=True, kw_only=True):
    """The standing of the panel after a round.

    A score that is undefined is left out, as ``overall`` leaves it out: 0 would stand for a comparison.
    ``empirical_overlap`` is undefined in a case without documents, since nothing could be checked.
    """

    always_sent: ClassVar = EVERY

    event: Literal["consensus"]
    debate_id: str
    round: int
    scores: dict[Dimension, float]
    overall: float
    terminated: bool
    lagging_dimensions: tuple[Dimension, ...]
    notes: str
    gainsay: ConsensusStanding


class MeasuredEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Code's measures after a round, if a model scores its consensus or objections are still to be answered."""

    round: int
    engine: str
    threshold: float
    measured: Measured


class PanelIdea(Struct, frozen=True, kw_only=True, rename="camel"):
    """An idea of a brainstorm, and the debaters that surfaced or endorsed it: more of them rank higher."""

    rank: int
    idea: str
    endorsed_by: tuple[str, ...]


class SynthesisTurn(PlacedReply, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own members of the synthesis."""

    round: int
    confidence_level: ConfidenceLevel
    explicit_uncertainties: tuple[str, ...] = ()


class PanelSynthesis(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer that the debate converged on; ``synthesis_id`` is the turn that `PanelFinal` refers to."""

    event: Literal["synthesis"]
    debate_id: str
    synthesis_id: str
    synthesis: str
    ideas: tuple[PanelIdea, ...] = ()
    gainsay: SynthesisTurn


class PanelScores(Struct, frozen=True, kw_only=True):
    """The scores of one debater, each from 0 to 100.

    ``factual_accuracy`` is left out where it is unchecked: none of the debater's citations could be compared.
    """

    factual_accuracy: int | None
    logical_consistency: int
    evidence_quality: int
    trajectory_score: int


class ScoredByCode(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The check that scored. ``unchecked`` are the debaters without a factual accuracy."""

    by: Literal["algorithmic"]
    check: str
    engine: str
    unchecked: tuple[str, ...] = ()


class ScoredByModel(PlacedReply, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The turn of the model that scored. ``unchecked`` are the debaters without a factual accuracy."""

    by: Literal["model"]
    round: int
    unchecked: tuple[str, ...] = ()


class PanelAccuracy(Struct, frozen=True, kw_only=True):
    """The scores of every debater by rules that code can follow, by the letter that it had in the debate."""

    always_sent: ClassVar = EVERY

    event: Literal["accuracy"]
    debate_id: str
    scores: dict[str, PanelScores]
    gainsay: ScoredByCode


class PanelAccuracyReview(Struct, frozen=True, kw_only=True):
    """The scores of every debater by a model, by the letter that it had in the debate."""

    always_sent: ClassVar = EVERY

    event: Literal["accuracy"]
    debate_id: str
    scores: dict[str, PanelScores]
    gainsay: ScoredByModel


class FinalTurn(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own member of the end: the summary of the result, the same as the answer without a stream."""

    result: Summary


class WholeFinalTurn(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own member of the end where the request says ``view=full``: the whole result."""

    result: Result


class _PanelEnd(Struct, frozen=True, kw_only=True):
    always_sent: ClassVar = EVERY

    event: Literal["final"]
    debate_id: str
    status: PanelStatus
    rounds_completed: int
    consensus_reached: bool
    final_consensus_score: float | None
    synthesis_id: TurnId | None


class PanelFinal(_PanelEnd, frozen=True, kw_only=True):
    """The end of a panel. ``status`` has no word for a truncated debate: it counts as completed with a synthesis, and
    as failed without one; ``gainsay.result`` has the true status."""

    gainsay: FinalTurn


class WholePanelFinal(_PanelEnd, frozen=True, kw_only=True):
    """The end of a panel where the request says ``view=full``: ``gainsay.result`` is then the whole result."""

    gainsay: WholeFinalTurn
