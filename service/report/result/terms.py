"""The outcome of a debate in the terms of its own format, as a result shows it: ``Result.result``.

A share is a number from 0 to 1; records keep the same in whole per mille.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct

from service.debate.findings import Dimension, Veto
from service.debate.model import RankedPosition, TurnId
from service.debate.replies import Conclusion
from service.debate.replies.panel import QuestionType
from service.debate.results import AnswerVotes, BallotResult, Cast, RankedIdea, StancesResult
from service.report.result.argument_types import Dissent


class AdversarialTerms(
    Struct, frozen=True, kw_only=True, rename="camel", tag="adversarial", tag_field="format", omit_defaults=True
):
    """The conclusion of the last moderation, absent if none stands, and whether it is that of the first proposal.

    ``ranking`` are several positions in the moderator's order. ``dissent`` are the standing objections at full length.
    """

    conclusion: Conclusion | None = None
    agrees_with_first_proposal: bool | None = None
    ranking: tuple[RankedPosition, ...] = ()
    dissent: Dissent | None = None


class StancesTerms(StancesResult, frozen=True, rename="camel", tag="stances", tag_field="format", omit_defaults=True):
    """The verdict, and ``raw``: the raw output of the stances' reference, with the statements that stand."""

    raw: dict[str, Any] | None = None


class ShownCast(Cast, frozen=True, rename="camel", omit_defaults=True):
    """A debater's vote in a phase: the option, absent for an abstention, and the vote's own words, if it has any."""

    vote: str | None = None
    written: str = ""


class BallotTerms(BallotResult, frozen=True, rename="camel", tag="ballot", tag_field="format", omit_defaults=True):
    """The count of votes, with ``report``: the nine lines of the bounded-debate pattern, a text.

    ``speakerSelectedBy`` is the rule behind the last of them.
    """

    always_sent: ClassVar = ("debater_ids", "phase_sequence", "vote_tally", "speaker_schedule")
    votes: tuple[ShownCast, ...] = ()
    report: str = ""
    speaker_selected_by: Literal["schedule"] | None = None


class ConsensusStanding(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The standing of a panel after a round: four dimensions, absent if undefined, and the mean that counts.

    All are shares, ``threshold`` too. ``counted`` are the dimensions in the mean, ``vetoes`` the facts that exclude
    consensus whatever the scores are. ``lagging`` is absent if the round ended the deliberation. The dimensions have
    the spelling of the panel's reference.
    """

    round: int
    dimensions: dict[Dimension, float]
    overall: float
    threshold: float
    terminated: bool
    notes: str
    by: Literal["algorithmic", "model"]
    lagging: tuple[Dimension, ...] = ()
    unanswered_objections: int = 0
    blind: bool = False
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()


class ShownScores(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The scores of one debater, each from 0 to 100; they measure conduct, and not truth.

    ``factualAccuracy`` is absent where it is unchecked: none of the debater's citations could be compared.
    """

    seat: str
    factual_accuracy: int | None = None
    logical_consistency: int
    evidence_quality: int
    trajectory_score: int


class PanelTerms(
    Struct, frozen=True, kw_only=True, rename="camel", tag="panel", tag_field="format", omit_defaults=True
):
    """The result of a panel. ``labels`` maps seats to their letters in the debate.

    ``finalScore`` is the last round's mean of the dimensions, a share. ``overallConfidence`` is the mean of the
    debaters' last own confidences, a share, without the missing ones.
    """

    question_type: QuestionType
    trigger: str
    rounds_completed: int
    consensus_reached: bool
    labels: dict[str, str]
    consensus: tuple[ConsensusStanding, ...] = ()
    final_score: float | None = None
    synthesis: str | None = None
    synthesis_turn: TurnId | None = None
    ideas: tuple[RankedIdea, ...] = ()
    accuracy: tuple[ShownScores, ...] = ()
    accuracy_by: Literal["algorithmic", "model"] | None = None
    overall_confidence: float | None = None
    missing: tuple[str, ...] = ()


class ConvergenceTerms(
    Struct, frozen=True, kw_only=True, rename="camel", tag="convergence", tag_field="format", omit_defaults=True
):
    """The final answer, its decider, and the similarity of the answers after each round.

    ``similarities`` are the least of all pairs by round, shares; null keeps the place of a round in which it is
    undefined.
    """

    rounds: int
    decided_by: Literal["judge", "majority", "nobody"]
    converged_in: int | None = None
    final_answer: str | None = None
    swapped_answer: str | None = None
    votes: tuple[AnswerVotes, ...] = ()
    tied: tuple[str, ...] = ()
    similarities: tuple[float | None, ...] = ()
    blind_answers: tuple[AnswerVotes, ...] = ()
    missing: tuple[str, ...] = ()


Terms = AdversarialTerms | StancesTerms | BallotTerms | PanelTerms | ConvergenceTerms
