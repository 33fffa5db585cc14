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
    """The outcome of an adversarial debate in its own terms."""

    conclusion: Conclusion | None = None
    """The conclusion of the last moderation. Absent if none stands."""
    agrees_with_first_proposal: bool | None = None
    """Whether that is the conclusion of the first proposal."""
    ranking: tuple[RankedPosition, ...] = ()
    """Several positions in the moderator's order, the best supported first."""
    dissent: Dissent | None = None
    """The objections that stand, at full length."""


class StancesTerms(StancesResult, frozen=True, rename="camel", tag="stances", tag_field="format", omit_defaults=True):
    """The verdict, and ``raw``: the raw output of the stances' reference, with the statements that stand."""

    raw: dict[str, Any] | None = None
    """The raw output of the stances' reference, with the statements that stand."""


class ShownCast(Cast, frozen=True, rename="camel", omit_defaults=True):
    """A debater's vote in a phase: the option, absent for an abstention, and the vote's own words, if it has any."""

    vote: str | None = None
    """The option. Absent for an abstention."""
    written: str = ""
    """The vote in the debater's own words."""


class BallotTerms(BallotResult, frozen=True, rename="camel", tag="ballot", tag_field="format", omit_defaults=True):
    """The count of votes, with the nine lines of the bounded-debate pattern."""

    always_sent: ClassVar = ("debater_ids", "phase_sequence", "vote_tally", "speaker_schedule")
    votes: tuple[ShownCast, ...] = ()
    """Every vote, in the order in which they were given."""
    report: str = ""
    """The nine lines of the bounded-debate pattern, as a text."""
    speaker_selected_by: Literal["schedule"] | None = None
    """The rule by which speakers were chosen."""


class ConsensusStanding(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The standing of a panel after a round. The dimensions have the spelling of the panel's reference."""

    round: int
    """The round, from 1."""
    dimensions: dict[Dimension, float]
    """The dimensions of consensus: shares from 0 to 1, each absent if it is undefined."""
    overall: float
    """The mean of the counted dimensions, a share from 0 to 1."""
    threshold: float
    terminated: bool
    """Whether the round ended the deliberation."""
    notes: str
    """Why the round counts as it does, in words."""
    by: Literal["algorithmic", "model"]
    """What scored it: rules of code, or a model."""
    lagging: tuple[Dimension, ...] = ()
    """The dimensions that keep the panel from consensus. Absent if the round ended the deliberation."""
    unanswered_objections: int = 0
    """The number of strong objections that no other debater has answered. With one there is no consensus."""
    blind: bool = False
    """Whether the debaters had not read each other."""
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()


class ShownScores(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The scores of one debater. They measure conduct, and not truth."""

    seat: str
    factual_accuracy: int | None = None
    """From 0 to 100: how the others marked its claims, and which of its citations are verified. Absent where none of
    them could be compared."""
    logical_consistency: int
    """From 0 to 100: whether it contradicted itself without saying so."""
    evidence_quality: int
    """From 0 to 100: how many of its claims rest on verified citations or on grounds that it gives."""
    trajectory_score: int
    """From 0 to 100: whether it learned from the others. 50 without an answer after the blind round."""


class PanelTerms(
    Struct, frozen=True, kw_only=True, rename="camel", tag="panel", tag_field="format", omit_defaults=True
):
    """The result of a panel."""

    question_type: QuestionType
    """The type of the question by which the panel was measured."""
    trigger: str
    """What ends a panel of that type, in the reference's words."""
    rounds_completed: int
    """The number of rounds that were measured."""
    consensus_reached: bool
    """Whether the last of them reached consensus. Consensus does not make an answer right."""
    labels: dict[str, str]
    """The neutral name of each seat in the debate."""
    consensus: tuple[ConsensusStanding, ...] = ()
    """Where the panel stood after each round."""
    final_score: float | None = None
    """The mean of the dimensions in the last round, a share from 0 to 1."""
    synthesis: str | None = None
    """The answer that the synthesizer wrote."""
    synthesis_turn: TurnId | None = None
    """The turn that wrote it."""
    masked_synthesis: str | None = None
    """The answer that the synthesizer wrote without the passages that speak to a model, if it was asked for."""
    ideas: tuple[RankedIdea, ...] = ()
    """The ideas of a brainstorm, ranked."""
    accuracy: tuple[ShownScores, ...] = ()
    """The scores of each debater. They measure conduct, and not truth."""
    accuracy_by: Literal["algorithmic", "model"] | None = None
    """What scored the debaters: rules of code, or a model."""
    overall_confidence: float | None = None
    """The mean of the debaters' own last confidences, a share from 0 to 1, without the missing ones."""
    missing: tuple[str, ...] = ()
    """The seats of debaters that became silent on the way."""


class ConvergenceTerms(
    Struct, frozen=True, kw_only=True, rename="camel", tag="convergence", tag_field="format", omit_defaults=True
):
    """The final answer, its decider, and the similarity of the answers after each round."""

    rounds: int
    """The number of rounds after the independent round 0."""
    decided_by: Literal["judge", "majority", "nobody"]
    """What decided: the judge, the majority of the last answers, or `nobody`."""
    converged_in: int | None = None
    """The round whose answers were near enough, from 0. Absent if none was."""
    final_answer: str | None = None
    """The answer that was decided."""
    swapped_answer: str | None = None
    """The judge's answer in the reverse order, if it was asked for."""
    masked_answer: str | None = None
    """The judge's answer without the passages that speak to a model, if it was asked for."""
    votes: tuple[AnswerVotes, ...] = ()
    """The last answers, each with the seats that gave it."""
    tied: tuple[str, ...] = ()
    """The answers that share the lead."""
    similarities: tuple[float | None, ...] = ()
    """The least overlap of two answers by round: shares from 0 to 1, null where it is undefined."""
    blind_answers: tuple[AnswerVotes, ...] = ()
    """The answers of the independent round, each with the seats that gave it."""
    missing: tuple[str, ...] = ()
    """The seats of debaters that became silent on the way."""


Terms = AdversarialTerms | StancesTerms | BallotTerms | PanelTerms | ConvergenceTerms
