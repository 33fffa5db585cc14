"""The replies of the panel format's seats.

The shapes follow the panel's reference member by member. They have additional members by which code measures consensus:
numbered claims with citations, typed verdicts and frameworks, marks on each other's claims, typed objections.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.debate.findings import Citation
from service.debate.replies.parts import Basis, ConfidenceLevel, Number, Percent, Words, numbered

QuestionType = Literal["factual", "normative", "business", "prediction", "brainstorm", "belief"]
Stance = Literal["affirmative", "qualified", "negative", "open"]
"""The stance of an answer: yes, yes under conditions, no; ``open`` if no yes or no is possible."""
Framework = Literal[
    "textual", "empirical", "riskAssessment", "costBenefit", "consequences", "rightsAndDuties", "precedent", "other"
]
"""The basis of an answer's reasoning: the words of the documents, data, risks, costs against benefits, and so on."""
MarkAs = Literal["accept", "reject", "unsure"]
Severity = Literal["low", "medium", "high"]
ObjectionVerdict = Literal["fails", "acceptedRisk", "holds"]
"""What becomes of an objection: it fails, it is a risk that the answer accepts and names, or it holds."""
Remark = Annotated[str, Meta(max_length=20_000)]
"""Text that may be empty."""


class Claim(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A key claim with the seat's confidence in it, in per cent, and the citations that it rests on."""

    n: Number
    text: Words
    confidence: Percent
    citations: tuple[Citation, ...] = ()
    basis: Basis = "evidence"


class Interval(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A probability between two bounds, in per cent, both included."""

    low: Percent
    high: Percent

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low must not be above high")


class Mark(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A debater's verdict on claim ``n`` of another's latest answer, and its confidence in it, in per cent."""

    label: str
    n: Number
    mark: MarkAs
    confidence: Percent


class NamedClaim(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A claim by the label of its author and its number in that answer."""

    label: str
    n: Number


class Challenge(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A claim that a debater still contests, with the reason; it may not accept that claim."""

    label: str
    n: Number
    text: Words


class OpenPoint(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A point of disagreement that remains, and the claims between which it lies; none of them may be accepted."""

    claims: Annotated[tuple[NamedClaim, ...], Meta(min_length=1)]
    text: Words


class StrongestObjection(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The devil's advocate: the strongest flaw in the majority's position, in claim ``n`` of ``target``."""

    flaw: Words
    label: str
    n: Number
    severity: Severity


class ObjectionAnswer(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An answer to the objection that ``label`` raised in the round before."""

    label: str
    text: Words


class ObjectionReply(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A debater's verdict on a strong objection of ``label`` that still stands."""

    label: str
    verdict: ObjectionVerdict
    text: Words


class Endorsement(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A claim that supports an idea: its author's label, and its number in that debater's last answer."""

    label: str
    n: Number


class Idea(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An idea of a brainstorm, and the claims in which debaters surfaced or endorsed it; code counts and ranks."""

    idea: Words
    endorsed_by: Annotated[tuple[Endorsement, ...], Meta(min_length=1)]


class DebaterReview(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The review of one debater, under its neutral label: four scores from 0 to 100."""

    label: str
    factual_accuracy: Percent
    logical_consistency: Percent
    evidence_quality: Percent
    trajectory_score: Percent


class Classification(
    Struct, frozen=True, rename="camel", tag="panel.classifier", tag_field="seat", forbid_unknown_fields=True
):
    """The type of the question, with the reason."""

    question_type: QuestionType
    because: Words


class BlindAnswer(
    Struct,
    frozen=True,
    rename="camel",
    tag="panel.blind",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """A debater's own answer before it has seen any other. ``probability`` belongs to predictions alone."""

    answer: Words
    stance: Stance
    framework: Framework
    claims: Annotated[tuple[Claim, ...], Meta(min_length=1)]
    overall_confidence: Percent
    assumptions: tuple[Words, ...]
    probability: Interval | None = None

    def __post_init__(self) -> None:
        numbered("claims", [c.n for c in self.claims])


class RevisedAnswer(
    Struct,
    frozen=True,
    rename="camel",
    tag="panel.deliberation",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """A debater's answer after it has read the others': its lessons, corrections, challenges and open points.

    ``marks`` are its verdicts on every claim in its request; ``objection`` is required from round three.
    """

    answer: Words
    stance: Stance
    framework: Framework
    claims: Annotated[tuple[Claim, ...], Meta(min_length=1)]
    overall_confidence: Percent
    assumptions: tuple[Words, ...]
    learned_from_others: Remark
    corrections: Remark
    still_challenges: tuple[Challenge, ...]
    unresolved: tuple[OpenPoint, ...]
    marks: tuple[Mark, ...]
    probability: Interval | None = None
    objection: StrongestObjection | None = None
    answers_to_objections: tuple[ObjectionAnswer, ...] = ()

    def __post_init__(self) -> None:
        numbered("claims", [c.n for c in self.claims])

    @property
    def contested(self) -> frozenset[tuple[str, int]]:
        """The claims, by label and number, that it still challenges or names in an open point."""
        challenged = {(claim.label, claim.n) for claim in self.still_challenges}
        return frozenset(challenged | {(claim.label, claim.n) for point in self.unresolved for claim in point.claims})


class ObjectionAnswers(
    Struct, frozen=True, rename="camel", tag="panel.answer", tag_field="seat", forbid_unknown_fields=True
):
    """A debater's answers to the strong objections of others that stand after the last round."""

    answers: Annotated[tuple[ObjectionReply, ...], Meta(min_length=1)]


class Adjudication(
    Struct, frozen=True, rename="camel", tag="panel.adjudicator", tag_field="seat", forbid_unknown_fields=True
):
    """A model's four consensus scores of a round, in per cent; code combines them and compares with the threshold."""

    stance_alignment: Percent
    empirical_overlap: Percent
    framework_agreement: Percent
    confidence_convergence: Percent
    notes: Words


class AccuracyReview(
    Struct, frozen=True, rename="camel", tag="panel.accuracy", tag_field="seat", forbid_unknown_fields=True
):
    """A model's scores of every debater after the synthesis."""

    reviews: Annotated[tuple[DebaterReview, ...], Meta(min_length=1)]


class Synthesis(
    Struct,
    frozen=True,
    rename="camel",
    tag="panel.synthesizer",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The answer that the debate converged on, for the question itself. ``ideas`` belong to brainstorms alone."""

    answer: Words
    confidence_level: ConfidenceLevel
    explicit_uncertainties: Annotated[tuple[Words, ...], Meta(min_length=1)]
    ideas: tuple[Idea, ...] = ()
