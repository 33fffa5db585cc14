"""The list of debates as HTTP answers it: debates, the cursor of the next page, and counts."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from msgspec import Struct, field

from service.audit.record import Via
from service.debate.entries import EvaluationItem
from service.debate.model import Status
from service.report.result.decision_types import Decision
from service.reviews import Page, Summary
from service.store.debate_query import Facet
from service.web.types import address


class ListedCaller(Struct, frozen=True, rename="camel"):
    """The actor of a debate's first record: an opaque id, and how it was authenticated (``none``: it was not)."""

    id: str
    """The opaque id of the actor that submitted the case, as its first record has it."""
    via: Via
    """How that actor was authenticated; `none` means that it was not."""


class DebateSummary(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debate in a list, with its decision as its result has it, absent while it is queued or running.

    ``format`` is absent for a declined case; ``createdAt`` is that of the result. ``question``, ``metadata`` and the
    case's other members are absent once the payload of the debate's first record is.
    """

    decision: Decision | None = None
    """What was decided. Absent while the debate is queued or running."""
    debate_id: str
    question: str | None = None
    task_type: str
    format: str | None = None
    """The format and its version. Absent for a declined case."""
    status: Status
    """The state: `running` until the end is provable, and `failed` where it never will be (`records_lost`)."""
    created_at: str
    """The time of the debate's first record."""
    flags: tuple[str, ...] = ()
    """What a reader of the answer should know, as the result has it. Absent while the debate is queued or running."""
    caller: ListedCaller
    """Who submitted the case."""
    use_case: str | None = None
    """The use case that the caller named. Absent if none was named."""
    materiality: str | None = None
    """How material the caller says that the use case is. Absent if nothing was said."""
    estimated_downside_usd: Decimal | None = field(name="estimatedDownsideUSD", default=None)
    """US dollars that a wrong answer may cost, as the caller estimated them."""
    metadata: dict[str, str] = {}
    """The caller's own names and values for the case, such as the number of a ticket."""
    evaluation: EvaluationItem | None = None
    """The item of an evaluation that the debate is. Absent for a case that was brought to decide something."""
    href: str
    """The path of the debate."""

    @classmethod
    def of(cls, found: Summary) -> DebateSummary:
        """The same with its address."""
        return cls(
            decision=found.decision,
            debate_id=found.debate,
            question=found.question,
            task_type=found.task_type,
            format=found.format,
            status=found.status,
            created_at=found.created,
            flags=found.flags,
            caller=ListedCaller(found.caller.id, found.caller.via),
            use_case=found.use_case,
            materiality=found.materiality,
            estimated_downside_usd=None
            if found.estimated_downside is None
            else Decimal(f"{found.estimated_downside:f}"),
            metadata=found.metadata,
            evaluation=found.evaluation,
            href=address(found.debate),
        )


class DebateCount(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How many debates there are; with ``atLeast`` there may be more."""

    count: int
    """The number of debates that pass the filters, from 0 to 10000."""
    at_least: bool = False
    """Whether there may be more debates than the count."""


class FacetValue(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A value, and how many debates have it; with ``atLeast`` there may be more."""

    value: str
    """A value that the filter takes."""
    count: int
    """The number of debates that have the value, from 1 to 10000."""
    at_least: bool = False
    """Whether more debates may have it."""


class DebateFacet(Struct, frozen=True, kw_only=True, rename="camel"):
    """The values that the filter of this name takes, the most frequent first, at most 100 of them."""

    always_sent: ClassVar = ("values",)

    facet: Facet
    """The name of the filter."""
    values: tuple[FacetValue, ...]
    """The most frequent values, at most 100 of them, the most frequent first."""

    @classmethod
    def of(cls, facet: Facet, page: Page) -> DebateFacet:
        """The counts of one facet."""
        found = [each for each in page.counts if each.facet == facet]
        values = [FacetValue(value=f.value, count=f.found.debates, at_least=f.found.at_least) for f in found]
        return cls(facet=facet, values=tuple(values))


class DebateList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Debates in the order of ``sort``. ``next`` is the value of ``after`` for the next page, absent on the last.

    ``total`` and ``facets`` are there where ``facets`` was asked for. ``total`` counts the debates that pass all
    filters, a facet those that pass all filters but its own. Counts are exact up to 10,000 such debates; if there are
    more, the newest 10,000 are counted, and ``atLeast`` says so.
    """

    always_sent: ClassVar = ("debates",)

    debates: tuple[DebateSummary, ...]
    """The debates of the page, in the order of `sort`."""
    next: str | None = None
    """The value of `after` for the next page. Absent on the last page."""
    total: DebateCount | None = None
    """How many debates pass all filters. Absent unless `facets` was asked for."""
    facets: tuple[DebateFacet, ...] = ()
    """The counts that `facets` asked for, each over the debates that pass all filters but its own."""

    @classmethod
    def of(cls, page: Page, facets: tuple[Facet, ...]) -> DebateList:
        """A page with the facets that were asked for."""
        return cls(
            debates=tuple(map(DebateSummary.of, page.debates)),
            next=page.next,
            total=None if page.total is None else DebateCount(page.total.debates, page.total.at_least),
            facets=tuple(DebateFacet.of(facet, page) for facet in facets),
        )
