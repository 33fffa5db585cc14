"""The members that a summary and a whole result share: words for codes, counts of coverage, and links."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

CoverageAbsent = Literal["noDocuments", "notConcluded", "noRound"]
"""Why a result has no coverage: the case has no documents, the debate goes on, or none of its rounds began."""


class Labels(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The words for the codes of this result: of its flags, and of the reasons of its caps and of human review."""

    flags: dict[str, str] = {}
    """The words for each flag, by its code."""
    reasons: dict[str, str] = {}
    """The words for each reason of a cap or of human review, by its code."""


class CoverageCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """The documents of the case, those with a verified citation, and the share of all characters that these cover.

    A document of a round that was not reached does not count.
    """

    documents: int
    """The number of documents that a round brought in."""
    documents_cited: int
    """The number of these with a verified citation."""
    cited_share: float
    """The share of all their characters that verified citations cover, from 0 to 1."""


class ResultLinks(Struct, frozen=True, kw_only=True, rename="camel"):
    """The paths of the whole result, the events, the report and the audit bundle, which exists once it has ended."""

    full: str
    """The path of the whole result."""
    events: str
    """The path of the stream of events."""
    report: str
    """The path of the report."""
    audit: str
    """The path of the audit bundle, which exists once the debate has ended."""
