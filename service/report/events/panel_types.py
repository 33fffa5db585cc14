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
    """The claim in words."""
    confidence: float
    """The debater's confidence in it, from 0 to 1."""


class PanelMark(Struct, frozen=True, kw_only=True):
    """A debater's verdict on another's claim, by its number from 1, and its confidence in that verdict."""

    model: str
    """The debater that made the claim, such as `model_b`."""
    claim: int
    """The number of the claim, from 1."""
    mark: MarkAs
    """The verdict on it."""
    confidence: float
    """The confidence in that verdict, from 0 to 1."""


class PanelObjection(Struct, frozen=True, kw_only=True):
    """The devil's advocate: the strongest flaw in the majority's position, in a claim of ``model``."""

    model: str
    """The debater whose claim has the flaw, such as `model_b`."""
    claim: int
    """The number of the claim, from 1."""
    flaw: str
    """The strongest flaw in the majority's position."""
    severity: Severity
    """How grave the flaw is."""


class NamedClaim(Struct, frozen=True, kw_only=True):
    """A claim of another debater, by its number from 1."""

    model: str
    """The debater that made the claim, such as `model_b`."""
    claim: int
    """The number of the claim, from 1."""


class AnsweredObjection(Struct, frozen=True, kw_only=True):
    """A debater's answer to the objection that ``model`` raised in the round before."""

    model: str
    """The debater that raised the objection, such as `model_b`."""
    text: str
    """The answer to it."""


class Probability(Struct, frozen=True, kw_only=True):
    """A probability between two bounds, both included."""

    low: float
    """The lower bound of the probability, from 0 to 1, included."""
    high: float
    """The upper bound of the probability, from 0 to 1, included."""


class PanelTurn(PlacedReply, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own members of a debater's answer."""

    stance: Stance
    """Where the debater stands on the question."""
    framework: Framework
    """How it reasons."""
    probability: Probability | None = None
    """The probability that it gives, for a prediction."""
    challenged_claims: tuple[NamedClaim, ...] = ()
    """The claims that `still_challenges` is about."""
    unresolved_claims: tuple[NamedClaim, ...] = ()
    """The claims between which the points of `unresolved` lie."""
    answers_to_objections: tuple[AnsweredObjection, ...] = ()
    """Its answers to the objections of the round before."""


class PanelBlind(Struct, frozen=True, kw_only=True):
    """A debater's answer in the blind round."""

    always_sent: ClassVar = ("claims", "assumptions")

    event: Literal["round"]
    """The name of the event."""
    debate_id: str
    round: int
    model: str
    """The debater, such as `model_a`."""
    answer: str
    """The debater's answer to the question."""
    claims: tuple[PanelClaim, ...]
    """Its claims, which others mark by their number."""
    overall_confidence: float
    """Its confidence in the answer, from 0 to 1."""
    assumptions: tuple[str, ...]
    """What the answer takes for given."""
    gainsay: PanelTurn
    """The members that the reference does not have."""


class PanelDeliberation(PanelBlind, frozen=True, kw_only=True, omit_defaults=True):
    """A debater's answer after it has read the others'."""

    learned_from_others: str
    """What it took from the others' answers."""
    corrections: str
    """What it corrects in its own."""
    still_challenges: str
    """What it still challenges in the others'."""
    unresolved: str
    """What it finds unresolved."""
    marks: tuple[PanelMark, ...] = ()
    """Its verdicts on the others' claims."""
    objection: PanelObjection | None = None
    """The devil's advocate's strongest objection, from round three on."""


class ObjectionReplied(Struct, frozen=True, kw_only=True):
    """The answer to the strong objections of one debater, by its letter."""

    label: str
    """The letter of the debater whose objections are answered."""
    verdict: ObjectionVerdict
    """Whether the objections fail, are a risk that is accepted, or hold."""
    text: str
    """The answer in words."""


class AnswersEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debater's answers to the strong objections that stood after the last round; the reference has no such turn."""

    always_sent: ClassVar = ("answers",)

    answers: tuple[ObjectionReplied, ...]
    """The answers, one for each debater that objected."""


class ClassificationEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The type of the question as a model reads it."""

    question_type: QuestionType
    """The type that the model reads the question as, by which the panel is measured."""
    because: str
    """Why, in the model's words."""


class AdjudicationEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A model's scores of a round; the `consensus` that follows has what code makes of them."""

    always_sent: ClassVar = ("scores",)

    scores: dict[Dimension, float]
    """The dimensions of consensus: shares from 0 to 1."""
    notes: str
    """Why, in the model's words."""


class Measured(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Code's measures after a round, as recorded, left out where they are undefined.

    ``scores``, ``overall``, ``terminated``, ``lagging``, ``notes``, ``counted`` and ``vetoes`` are left out where the
    consensus itself is code's, because it has them.
    """

    voices: int
    """The number of debaters that answered."""
    scores: dict[Dimension, float] = {}
    """The dimensions of consensus: shares from 0 to 1, each absent if it is undefined."""
    overall: float | None = None
    """The mean of the counted dimensions, a share from 0 to 1."""
    terminated: bool | None = None
    """Whether the round would have ended the deliberation by these measures."""
    lagging: tuple[Dimension, ...] = ()
    """The dimensions that keep the panel from consensus."""
    notes: str | None = None
    """Why the round counts as it does, in words."""
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    claims: tuple[ClaimAgreement, ...] = ()
    """The debaters' verdicts on each claim."""
    claim_jaccard: float | None = None
    """The mean over pairs of debaters of claims that both accept by those that either does, from 0 to 1."""
    beyond_chance: float | None = None
    """The agreement of the marks beyond chance, from -1 to 1: Cohen's kappa of two voices, Krippendorff's alpha of
    more."""
    wording_overlap: float | None = None
    """The share of words in common, from 0 to 1. No rule uses it."""
    new_ideas: float | None = None
    """The share of a brainstorm's claims that are new in the round, from 0 to 1."""
    unanswered: tuple[UnansweredObjection, ...] = ()
    """The strong objections that no other debater has answered."""
    opposed: tuple[NamedClaims, ...] = ()
    """Claims or answers that exclude each other."""


class ConsensusStanding(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own members of a consensus. Consensus does not mean that an answer is right."""

    by: Literal["algorithmic", "model"]
    """What scored the consensus: rules of code, or a model."""
    threshold: float
    blind: bool
    """Whether the debaters had not read each other."""
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    unanswered_objections: int
    """The number of strong objections that no other debater has answered. With one there is no consensus."""
    measured: Measured | None = None
    """Code's own measures of the round."""


class PanelConsensus(Struct, frozen=True, kw_only=True):
    """The standing of the panel after a round.

    A score that is undefined is left out, as ``overall`` leaves it out: 0 would stand for a comparison.
    ``empirical_overlap`` is undefined in a case without documents, since nothing could be checked.
    """

    always_sent: ClassVar = EVERY

    event: Literal["consensus"]
    """The name of the event."""
    debate_id: str
    round: int
    """The round, from 1."""
    scores: dict[Dimension, float]
    """The dimensions of consensus: shares from 0 to 1, each absent if it is undefined."""
    overall: float
    """The mean of the counted dimensions, a share from 0 to 1."""
    terminated: bool
    """Whether the round ended the deliberation."""
    lagging_dimensions: tuple[Dimension, ...]
    """The dimensions that keep the panel from consensus; empty if the round ended the deliberation."""
    notes: str
    """Why the round counts as it does, in words."""
    gainsay: ConsensusStanding
    """The members that the reference does not have."""


class MeasuredEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Code's measures after a round, if a model scores its consensus or objections are still to be answered."""

    round: int
    engine: str
    threshold: float
    measured: Measured
    """The measures."""


class PanelIdea(Struct, frozen=True, kw_only=True, rename="camel"):
    """An idea of a brainstorm, and the debaters that surfaced or endorsed it: more of them rank higher."""

    rank: int
    """The place of the idea, from 1."""
    idea: str
    """The idea in words."""
    endorsed_by: tuple[str, ...]
    """The debaters, by their labels, that surfaced or endorsed it."""


class SynthesisTurn(PlacedReply, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own members of the synthesis."""

    round: int
    confidence_level: ConfidenceLevel
    explicit_uncertainties: tuple[str, ...] = ()


class PanelSynthesis(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer that the debate converged on, or the one that was written with the flagged passages masked."""

    event: Literal["synthesis", "masked"]
    """The name of the event."""
    debate_id: str
    synthesis_id: str
    """The turn of the synthesis, which the end of the panel names."""
    synthesis: str
    """The answer that the debate converged on, or that combines what stands apart."""
    ideas: tuple[PanelIdea, ...] = ()
    """The ideas of a brainstorm, ranked."""
    gainsay: SynthesisTurn
    """The members that the reference does not have."""


class PanelScores(Struct, frozen=True, kw_only=True):
    """The scores of one debater."""

    factual_accuracy: int | None
    """From 0 to 100: how the others marked its claims, and which of its citations are verified. Left out where none of
    them could be compared."""
    logical_consistency: int
    """From 0 to 100: whether it contradicted itself without saying so."""
    evidence_quality: int
    """From 0 to 100: how many of its claims rest on verified citations or on grounds that it gives."""
    trajectory_score: int
    """From 0 to 100: whether it learned from the others. 50 without an answer after the blind round."""


class ScoredByCode(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The check that scored."""

    by: Literal["algorithmic"]
    """What scored: rules of code."""
    check: str
    """The id of the check."""
    engine: str
    unchecked: tuple[str, ...] = ()
    """The debaters without a factual accuracy, such as `model_a`."""


class ScoredByModel(PlacedReply, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The turn of the model that scored."""

    by: Literal["model"]
    """What scored: a model."""
    round: int
    unchecked: tuple[str, ...] = ()
    """The debaters without a factual accuracy, such as `model_a`."""


class PanelAccuracy(Struct, frozen=True, kw_only=True):
    """The scores of every debater by rules that code can follow, by the letter that it had in the debate."""

    always_sent: ClassVar = EVERY

    event: Literal["accuracy"]
    """The name of the event."""
    debate_id: str
    scores: dict[str, PanelScores]
    """The scores of each debater, such as `model_a`."""
    gainsay: ScoredByCode
    """The members that the reference does not have."""


class PanelAccuracyReview(Struct, frozen=True, kw_only=True):
    """The scores of every debater by a model, by the letter that it had in the debate."""

    always_sent: ClassVar = EVERY

    event: Literal["accuracy"]
    """The name of the event."""
    debate_id: str
    scores: dict[str, PanelScores]
    """The scores of each debater, such as `model_a`."""
    gainsay: ScoredByModel
    """The members that the reference does not have."""


class FinalTurn(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own member of the end: the summary of the result, the same as the answer without a stream."""

    result: Summary
    """The result in summary."""


class WholeFinalTurn(Placed, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Our own member of the end where the request says ``view=full``: the whole result."""

    result: Result
    """The whole result."""


class _PanelEnd(Struct, frozen=True, kw_only=True):
    always_sent: ClassVar = EVERY

    event: Literal["final"]
    """The name of the event."""
    debate_id: str
    status: PanelStatus
    """How the panel ended, in the words of its reference."""
    rounds_completed: int
    """The number of rounds that were measured."""
    consensus_reached: bool
    """Whether the last of them reached consensus. Consensus does not make an answer right."""
    final_consensus_score: float | None
    """The mean of the dimensions in the last round, a share from 0 to 1; null if no round was measured."""
    synthesis_id: TurnId | None
    """The turn of the synthesis; null without one."""


class PanelFinal(_PanelEnd, frozen=True, kw_only=True):
    """The end of a panel. ``status`` has no word for a truncated debate: it counts as completed with a synthesis, and
    as failed without one; ``gainsay.result`` has the true status."""

    gainsay: FinalTurn
    """The members that the reference does not have."""


class WholePanelFinal(_PanelEnd, frozen=True, kw_only=True):
    """The end of a panel where the request says ``view=full``: ``gainsay.result`` is then the whole result."""

    gainsay: WholeFinalTurn
    """The members that the reference does not have."""
