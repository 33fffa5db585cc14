"""The endpoint of the citation check: citations against sources in the request. It stores nothing."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from litestar import Response, post
from msgspec import Struct

from service.checks.citations import ENGINE
from service.checks.citations.batch import Batch, explained, judge_batch
from service.debate.findings import CitationVerdict, Edit, Verdict
from service.errors import InvalidCase
from service.report.labels import REFUSED
from service.web import body
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller
from service.web.debates import answered, known_query

MOST_CITATIONS = 1_000
"""The most citations of one request: the work for each is bounded, so this bounds the wait."""


class CheckedCitation(Struct, frozen=True, kw_only=True, rename="camel"):
    """The verdict on a citation, with the caller's id."""

    id: str
    """The caller's id of the citation."""
    verdict: Verdict
    """Whether the words stand in the source."""
    source_id: str | None
    """The id of the source: the one that was named, or where the words were found."""
    span: tuple[int, int] | None
    """Start and end of the words in code points of the source, end exclusive."""
    text: str | None
    """The source's own words there."""
    edits: tuple[Edit, ...]
    """The differences of the quotation from the source."""
    found_in: str | None
    """The id of another source that has the words."""
    reason: str | None
    """The rule for which they could not be verified."""
    note: str | None
    """A remark that does not change the verdict, or what the rule asks for."""

    @classmethod
    def of(cls, id: str, found: CitationVerdict) -> CheckedCitation:
        """A verdict as the caller sees it."""
        return cls(
            id=id,
            verdict=found.verdict,
            source_id=found.source_id,
            span=found.span,
            text=found.text,
            edits=found.edits,
            found_in=found.found_in,
            reason=found.reason,
            note=found.note,
        )


class CheckedCitations(Struct, frozen=True, kw_only=True):
    """The verdicts in the order of the request, and the engine that gave them."""

    always_sent: ClassVar = ("verdicts",)

    engine: str
    verdicts: tuple[CheckedCitation, ...]
    """The verdicts, in the order of the request."""


@post("/v1/citations/check")
async def check(request: HttpRequest) -> Response[bytes]:
    """Verdicts on citations."""
    known_query(request, ())
    batch = await body.read(request, Batch, app_state(request).body_max_of(caller(request).tenant))
    return answered(await asyncio.to_thread(checked, batch))


def checked(batch: Batch) -> CheckedCitations:
    """The verdicts; raises `InvalidCase` for more citations than one request may have."""
    if len(batch.citations) > MOST_CITATIONS:
        raise InvalidCase(
            f"expected at most {MOST_CITATIONS} citations, found {len(batch.citations)}; send them in parts",
            pointers=("/citations",),
        )
    return CheckedCitations(
        engine=ENGINE,
        verdicts=tuple(CheckedCitation.of(id, explained(found, REFUSED)) for id, found in judge_batch(batch)),
    )
