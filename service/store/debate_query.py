"""What the list of debates is asked for: filters, an order, a page, and counts.

    filter         passes debates with
    since, until   a creation from ``since`` on and before ``until``
    tuples         one of the values; an empty tuple passes all
    metadata       all of the pairs, where a value of ``None`` passes any value under the key
    words          these words of the question, as ``websearch_to_tsquery`` of PostgreSQL reads them

Filters by facts of an end (a status after the end, outcome, confidence, flag, human review) pass a debate when its end
is provable: when a checkpoint covers it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

from service.debate.formats import FormatName
from service.debate.model import Status
from service.debate.replies import ConfidenceLevel
from service.report.result.decision_types import DecisionOutcome

Sort = Literal["-createdAt", "createdAt", "-spentUSD", "spentUSD", "-estimatedDownsideUSD", "estimatedDownsideUSD"]
"""An order, in the order of the ids where two are level; with a minus the greatest is first.

Debates without an end, whose cost is not known yet, come last in both orders of ``spentUSD``.
"""
SORTS: tuple[Sort, ...] = get_args(Sort)
Materiality = Literal["high", "moderate", "low"]
Purpose = Literal["decision", "evaluation"]
"""Why a case was brought: to decide something, or as an item of an evaluation."""
Facet = Literal[
    "taskType",
    "status",
    "format",
    "outcome",
    "confidence",
    "flag",
    "humanReview",
    "useCase",
    "materiality",
    "model",
]
FACETS: tuple[Facet, ...] = get_args(Facet)
COUNTED = 10_000
"""Debates are counted up to this number."""
FACET_VALUES = 100
"""The most values that a facet has."""


class Position(Struct, frozen=True):
    """The place behind a debate: its id, and the value that it is sorted by, absent in orders of time and where the
    debate has none."""

    debate: str
    key: str | None = None


class DebateQuery(Struct, frozen=True, kw_only=True):
    """A page of the debates that pass every filter."""

    since: datetime | None = None
    until: datetime | None = None
    task_type: tuple[str, ...] = ()
    use_case: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    status: tuple[Status, ...] = ()
    format: tuple[FormatName, ...] = ()
    outcome: tuple[DecisionOutcome, ...] = ()
    confidence: tuple[ConfidenceLevel, ...] = ()
    flag: tuple[str, ...] = ()
    materiality: tuple[Materiality, ...] = ()
    purpose: tuple[Purpose, ...] = ()
    human_review: bool | None = None
    metadata: tuple[tuple[str, str | None], ...] = ()
    words: str | None = None
    sort: Sort = "-createdAt"
    limit: int = 20
    after: str | None = None
    facets: tuple[Facet, ...] = ()


class Count(NamedTuple):
    """How many debates: exactly so many, or at least."""

    debates: int
    at_least: bool


class FacetCount(NamedTuple):
    """How many debates have a value."""

    facet: Facet
    value: str
    found: Count
