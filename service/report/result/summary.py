"""The summary of a result: what a caller decides by, in about two kilobytes.

Each member of a summary is one of the whole result, under the same name and with the same value, but for ``view``; its
objects may have fewer members. The whole result has everything.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeVar, get_args

from msgspec import Struct

from service.debate.model import Cap, RankedPosition, Status, StopReason, TurnId
from service.debate.replies import Conclusion
from service.debate.replies.panel import QuestionType
from service.debate.results import Tally
from service.report.result.citation_counts import CitationCounts
from service.report.result.decision_types import Decision
from service.report.result.summary_types import CoverageAbsent, CoverageCounts, Labels, ResultLinks
from service.report.result.terms import (
    AdversarialTerms,
    BallotTerms,
    ConvergenceTerms,
    PanelTerms,
    StancesTerms,
    Terms,
)
from service.report.result.types import Gate, Result


class AdversarialFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="adversarial", tag_field="format", omit_defaults=True
):
    """The conclusion, and whether it is that of the first proposal; or the order of several positions."""

    conclusion: Conclusion | None = None
    """The conclusion of the last moderation. Absent if none stands."""
    agrees_with_first_proposal: bool | None = None
    """Whether that is the conclusion of the first proposal."""
    ranking: tuple[RankedPosition, ...] = ()
    """Several positions in the moderator's order, the best supported first."""


class StancesFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="stances", tag_field="format", omit_defaults=True
):
    """The assigned stance that the winner names."""

    rounds: int
    """The number of rounds that were debated."""
    winner_stance: str | None = None
    """The assigned stance that the winner names. Absent where it names none of them."""


class BallotFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="ballot", tag_field="format", omit_defaults=True
):
    """The latest votes, and how many were needed."""

    always_sent: ClassVar = ("vote_tally",)

    rounds_run: int
    """The number of rounds that were begun."""
    consensus_threshold: int
    """The number of votes that decide, at least 1."""
    vote_tally: tuple[Tally, ...]
    """The latest votes, counted by option."""
    decision: str
    """The option that was chosen, or `escalate` where none was."""
    decision_rule: Literal["threshold_vote", "max_rounds_exhausted", "cut_short"]
    """Why it is decided: the threshold was reached, the rounds were used up, or the debate was cut short."""
    votes_cast: int
    """The number of latest votes that name an option."""
    seats: int
    """The number of debaters."""


class PanelFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="panel", tag_field="format", omit_defaults=True
):
    """Whether the panel agreed, and how far; ``finalScore`` and ``overallConfidence`` are shares."""

    question_type: QuestionType
    """The type of the question by which the panel was measured."""
    rounds_completed: int
    """The number of rounds that were measured."""
    consensus_reached: bool
    """Whether the last of them reached consensus. Consensus does not make an answer right."""
    final_score: float | None = None
    """The mean of the dimensions in the last round, a share from 0 to 1."""
    overall_confidence: float | None = None
    """The mean of the debaters' own last confidences, a share from 0 to 1, without the missing ones."""
    synthesis_turn: TurnId | None = None
    """The turn that wrote the synthesis."""
    missing: tuple[str, ...] = ()
    """The seats of debaters that became silent on the way."""


class ConvergenceFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="convergence", tag_field="format", omit_defaults=True
):
    """Who decided, and whether the answers converged."""

    rounds: int
    """The number of rounds after the independent round 0."""
    decided_by: Literal["judge", "majority", "nobody"]
    """What decided: the judge, the majority of the last answers, or `nobody`."""
    converged_in: int | None = None
    """The round whose answers were near enough, from 0. Absent if none was."""
    missing: tuple[str, ...] = ()
    """The seats of debaters that became silent on the way."""


FormatFacts = AdversarialFacts | StancesFacts | BallotFacts | PanelFacts | ConvergenceFacts

View = Literal["summary", "full"]
"""How much of a result: its summary, or the whole."""
VIEWS: tuple[View, ...] = get_args(View)

AnyFacts = TypeVar("AnyFacts", bound=Struct)


class Summary(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debate up to its latest entry, in short: each member is one of the whole result (``view=full``), under the same
    name and with the same value, but for ``view``; its objects may have fewer members.
    """

    decision: Decision | None = None
    """What was decided, in the same members in every format. Absent while the debate goes on."""
    view: Literal["summary"]
    """Which view this is: always `summary`."""
    debate_id: str
    status: Status
    """The state of the debate: truncated says that it ended before its rules were satisfied."""
    stop_reason: StopReason | None = None
    """Why the debate ended. Absent while it goes on."""
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
    result: FormatFacts | None = None
    """The decisive facts in the format's own terms. Absent while the debate goes on."""
    synthesis: str | None = None
    """The words of the seat that closed, whole."""
    caps: tuple[Cap, ...]
    """Why code lowered the confidence, and to what."""
    flags: tuple[str, ...]
    """Codes of what a reader has to know; `labels.flags` has them in words. Later versions may add codes."""
    labels: Labels
    """The words for the codes of this result."""
    citation_counts: CitationCounts
    """The verdicts on all citations, counted."""
    coverage_counts: CoverageCounts | None = None
    """The coverage of all documents, summed up."""
    coverage_absent: CoverageAbsent | None = None
    """Why there is no coverage."""
    gate: Gate | None = None
    """The gate's decision, of a declined case."""
    links: ResultLinks
    """The addresses of what belongs to the debate."""


def summary_of(r: Result) -> Summary:
    """The summary of a result."""
    names = set(Summary.__struct_fields__) - {"view", "result", "gate"}
    gate = r.gate if r.status == "declined" else None
    return Summary(view="summary", result=facts_of(r.result), gate=gate, **{name: getattr(r, name) for name in names})


def viewed(result: Result, view: View) -> Result | Summary:
    """As much of a result as the view has."""
    return result if view == "full" else summary_of(result)


def facts_of(given: Terms | None) -> FormatFacts | None:
    """The decisive facts of what was decided in a format's own terms."""
    match given:
        case None:
            return None
        case AdversarialTerms():
            return _some(AdversarialFacts, given)
        case StancesTerms():
            return _some(StancesFacts, given)
        case BallotTerms():
            return _some(BallotFacts, given)
        case PanelTerms():
            return _some(PanelFacts, given)
        case ConvergenceTerms():
            return _some(ConvergenceFacts, given)


def _some(kind: type[AnyFacts], given: Terms) -> AnyFacts:
    """The members of the terms that the facts have too."""
    return kind(**{name: getattr(given, name) for name in kind.__struct_fields__})
