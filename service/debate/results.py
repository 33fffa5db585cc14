"""The results of debates in the terms of their own formats; `model.Outcome` has the parts that all formats share."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct

from service.debate.findings import DebaterScores, Dimension, Veto
from service.debate.replies.panel import QuestionType
from service.debate.turns import TurnId


class Verdict(Struct, frozen=True, rename="camel"):
    """A judge's verdict in the shape of the stances' reference; null for a winner combines several stances."""

    always_sent: ClassVar = ("winner",)
    verdict: str
    """The judge's verdict in words."""
    winner: str | None
    """The stance that won; null if the verdict combines several."""
    reasoning: str
    """Why, in the judge's words."""


class StancesResult(Struct, frozen=True, rename="camel", tag="stances", tag_field="format", omit_defaults=True):
    """The standing verdict (none if the order or flagged passages decided), the others beside it, and the projection.

    ``winner_stance`` is the assigned stance that the winner names, null where it names none of them; ``output`` is the
    projection in the caller's shape.
    """

    rounds: int
    """The number of rounds that were debated."""
    verdict: Verdict | None = None
    """The verdict that stands. Absent if the order of presentation or flagged passages decided."""
    swapped_verdict: Verdict | None = None
    """The verdict in the reverse order, if it was asked for."""
    masked_verdict: Verdict | None = None
    """The verdict without the passages that the check of the case flagged, if it was asked for."""
    winner_stance: str | None = None
    """The assigned stance that the winner names. Absent where it names none of them."""
    output: Any = None
    """The projection: JSON that fits the case's output schema."""


class Tally(Struct, frozen=True, rename="camel"):
    """The number of latest votes for an option; ``abstention`` counts those that name none."""

    vote: str
    """The option, or `abstention` for votes that name none."""
    count: int
    """The number of latest votes for it."""


class Cast(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A debater's vote in a phase: the option, ``None`` for an abstention, and the vote's own words."""

    debater: str
    """The debater's name."""
    round: int
    phase: str
    """The phase of the vote."""
    vote: str | None
    written: str


class BallotResult(Struct, frozen=True, rename="camel", tag="ballot", tag_field="format", omit_defaults=True):
    """The nine fields of the bounded-debate report, with fields that explain them.

    ``blind_tally`` are the votes of the first proposals, before debaters see each other's. ``votes_cast`` of ``seats``
    is the number of latest votes that name an option. ``tied`` are the options that share the lead with equal counts.
    """

    debater_ids: tuple[str, ...]
    """The names of the debaters in the order in which they speak."""
    rounds_run: int
    """The number of rounds that were begun."""
    max_rounds: int
    """The most rounds that were allowed, at least 1."""
    phase_sequence: tuple[str, ...]
    """The phases of each round in their order."""
    consensus_threshold: int
    """The number of votes that decide, at least 1."""
    vote_tally: tuple[Tally, ...]
    """The latest votes, counted by option."""
    decision: str
    """The option that was chosen, or `escalate` where none was."""
    decision_rule: Literal["threshold_vote", "max_rounds_exhausted", "cut_short"]
    """Why it is decided: the threshold was reached, the rounds were used up, or the debate was cut short."""
    speaker_schedule: tuple[str, ...]
    """The order in which the debaters speak."""
    votes_cast: int
    """The number of latest votes that name an option."""
    seats: int
    """The number of debaters."""
    blind_tally: tuple[Tally, ...] = ()
    """The votes of the first proposals, which were given before a debater saw another's."""
    tied: tuple[str, ...] = ()
    """The options that share the lead with equal counts."""
    votes: tuple[Cast, ...] = ()
    models: int = 0
    """The number of different models among the debaters."""
    families: int = 0
    """The number of different families of models among the debaters."""


class ConsensusRound(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The standing of a panel after a round: four dimensions in per mille, null if undefined, and the mean that counts.

    ``counted`` are the dimensions in the mean, ``vetoes`` the facts that exclude consensus whatever the scores are.
    ``lagging`` is empty if the round ended the deliberation. ``threshold`` is per mille too.
    """

    round: int
    dimensions: dict[Dimension, int | None]
    overall: int
    threshold: int
    terminated: bool
    lagging: tuple[Dimension, ...]
    notes: str
    by: Literal["algorithmic", "model"]
    unanswered_objections: int = 0
    blind: bool = False
    counted: tuple[Dimension, ...] = ()
    vetoes: tuple[Veto, ...] = ()


class RankedIdea(Struct, frozen=True, rename="camel"):
    """An idea of a brainstorm, with the debaters (by label) that surfaced or endorsed it."""

    rank: int
    """The place of the idea, from 1."""
    idea: str
    """The idea in words."""
    endorsed_by: tuple[str, ...]
    """The debaters, by their labels, that surfaced or endorsed it."""


class PanelResult(Struct, frozen=True, rename="camel", tag="panel", tag_field="format", omit_defaults=True):
    """The result of a panel. ``labels`` maps seats to their letters in the debate.

    ``final_score`` is the last round's mean of the dimensions, per mille. ``overall_confidence`` is the mean of the
    debaters' last own confidences, in per cent, without the missing ones.
    """

    question_type: QuestionType
    trigger: str
    rounds_completed: int
    consensus_reached: bool
    consensus: tuple[ConsensusRound, ...]
    final_score: int | None
    labels: dict[str, str]
    synthesis: str | None = None
    synthesis_turn: TurnId | None = None
    masked_synthesis: str | None = None
    ideas: tuple[RankedIdea, ...] = ()
    accuracy: tuple[DebaterScores, ...] = ()
    accuracy_by: Literal["algorithmic", "model"] = "algorithmic"
    overall_confidence: int | None = None
    missing: tuple[str, ...] = ()


class AnswerVotes(Struct, frozen=True, rename="camel"):
    """A final answer as it was first written, and the seats that gave it."""

    answer: str
    """The final answer as it was first written."""
    seats: tuple[str, ...]
    """The seats that gave it."""


class ConvergenceResult(Struct, frozen=True, rename="camel", tag="convergence", tag_field="format", omit_defaults=True):
    """The final answer, its decider, and the similarity of the answers after each round.

    ``similarities`` are the least of all pairs by round in per mille, null if it is undefined.
    """

    rounds: int
    converged_in: int | None
    decided_by: Literal["judge", "majority", "nobody"]
    final_answer: str | None = None
    swapped_answer: str | None = None
    masked_answer: str | None = None
    votes: tuple[AnswerVotes, ...] = ()
    tied: tuple[str, ...] = ()
    similarities: tuple[int | None, ...] = ()
    blind_answers: tuple[AnswerVotes, ...] = ()
    missing: tuple[str, ...] = ()


FormatResult = StancesResult | BallotResult | PanelResult | ConvergenceResult
