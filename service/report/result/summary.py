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
    agrees_with_first_proposal: bool | None = None
    ranking: tuple[RankedPosition, ...] = ()


class StancesFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="stances", tag_field="format", omit_defaults=True
):
    """The assigned stance that the winner names."""

    rounds: int
    winner_stance: str | None = None


class BallotFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="ballot", tag_field="format", omit_defaults=True
):
    """The latest votes, and how many were needed."""

    always_sent: ClassVar = ("vote_tally",)

    rounds_run: int
    consensus_threshold: int
    vote_tally: tuple[Tally, ...]
    decision: str
    decision_rule: Literal["threshold_vote", "max_rounds_exhausted", "cut_short"]
    votes_cast: int
    seats: int


class PanelFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="panel", tag_field="format", omit_defaults=True
):
    """Whether the panel agreed, and how far; ``finalScore`` and ``overallConfidence`` are shares."""

    question_type: QuestionType
    rounds_completed: int
    consensus_reached: bool
    final_score: float | None = None
    overall_confidence: float | None = None
    synthesis_turn: TurnId | None = None
    missing: tuple[str, ...] = ()


class ConvergenceFacts(
    Struct, frozen=True, kw_only=True, rename="camel", tag="convergence", tag_field="format", omit_defaults=True
):
    """Who decided, and whether the answers converged."""

    rounds: int
    decided_by: Literal["judge", "majority", "nobody"]
    converged_in: int | None = None
    missing: tuple[str, ...] = ()


FormatFacts = AdversarialFacts | StancesFacts | BallotFacts | PanelFacts | ConvergenceFacts

View = Literal["summary", "full"]
"""How much of a result: its summary, or the whole."""
VIEWS: tuple[View, ...] = get_args(View)

AnyFacts = TypeVar("AnyFacts", bound=Struct)


class Summary(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debate up to its latest entry, in short: see the whole result (``view=full``) for what the members mean.

    ``decision`` is absent while the debate is queued or running, as are ``stopReason``, ``concludedAt`` and
    ``result``, which has the decisive facts of the format. ``synthesis`` are the decider's words, whole. ``format`` is
    absent for a declined case that named none. A declined case has ``gate``, which says why.
    """

    decision: Decision | None = None
    view: Literal["summary"]
    debate_id: str
    status: Status
    stop_reason: StopReason | None = None
    question: str
    task_type: str
    format: str | None = None
    simulated: bool
    created_at: str
    concluded_at: str | None = None
    entries: int
    result: FormatFacts | None = None
    synthesis: str | None = None
    caps: tuple[Cap, ...]
    flags: tuple[str, ...]
    labels: Labels
    citation_counts: CitationCounts
    coverage_counts: CoverageCounts | None = None
    coverage_absent: CoverageAbsent | None = None
    gate: Gate | None = None
    links: ResultLinks


def summary_of(r: Result) -> Summary:
    """The summary of a result."""
    names = set(Summary.__struct_fields__) - {"view", "result", "gate"}
    gate = r.gate if r.status == "declined" else None
    return Summary(view="summary", result=_facts(r.result), gate=gate, **{name: getattr(r, name) for name in names})


def viewed(result: Result, view: View) -> Result | Summary:
    """As much of a result as the view has."""
    return result if view == "full" else summary_of(result)


def _facts(given: Terms | None) -> FormatFacts | None:
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
