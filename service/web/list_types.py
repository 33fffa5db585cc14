"""The list of debates as HTTP answers it: debates, the cursor of the next page, and counts."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct, field

from service.debate.model import Status
from service.report.result.decision_types import Decision
from service.reviews import Page, Summary
from service.store.debate_query import Facet
from service.web.types import address


class ListedCaller(Struct, frozen=True, rename="camel"):
    """The actor of a debate's first record: an opaque id, and how it was authenticated (``none``: it was not)."""

    id: str
    via: Literal["keyboard", "databaseRole", "none"]


class DebateSummary(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A debate in a list, with its decision as its result has it, absent while it is queued or running.

    ``format`` is absent for a declined case; ``createdAt`` is that of the result. ``question``, ``metadata`` and the
    case's other members are absent once the payload of the debate's first record is.
    """

    decision: Decision | None = None
    debate_id: str
    question: str | None = None
    task_type: str
    format: str | None = None
    status: Status
    created_at: str
    flags: tuple[str, ...] = ()
    caller: ListedCaller
    use_case: str | None = None
    materiality: str | None = None
    estimated_downside_usd: str | None = field(name="estimatedDownsideUSD", default=None)
    metadata: dict[str, str] = {}
    href: str

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
            estimated_downside_usd=None if found.estimated_downside is None else f"{found.estimated_downside:f}",
            metadata=found.metadata,
            href=address(found.debate),
        )


class DebateCount(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How many debates there are; with ``atLeast`` there may be more."""

    count: int
    at_least: bool = False


class FacetValue(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A value, and how many debates have it; with ``atLeast`` there may be more."""

    value: str
    count: int
    at_least: bool = False


class DebateFacet(Struct, frozen=True, kw_only=True, rename="camel"):
    """The values that the filter of this name takes, the most frequent first, at most 100 of them."""

    always_sent: ClassVar = ("values",)

    facet: Facet
    values: tuple[FacetValue, ...]

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
    next: str | None = None
    total: DebateCount | None = None
    facets: tuple[DebateFacet, ...] = ()

    @classmethod
    def of(cls, page: Page, facets: tuple[Facet, ...]) -> DebateList:
        """A page with the facets that were asked for."""
        return cls(
            debates=tuple(map(DebateSummary.of, page.debates)),
            next=page.next,
            total=None if page.total is None else DebateCount(page.total.debates, page.total.at_least),
            facets=tuple(DebateFacet.of(facet, page) for facet in facets),
        )
