"""The members that a summary and a whole result share: words for codes, counts of coverage, and links."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

CoverageAbsent = Literal["noDocuments", "notConcluded", "noRound"]
"""Why a result has no coverage: the case has no documents, the debate goes on, or none of its rounds began."""


class Labels(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The words for the codes of this result: of its flags, and of the reasons of its caps and of human review."""

    flags: dict[str, str] = {}
    reasons: dict[str, str] = {}


class CoverageCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """The documents of the case, those with a verified citation, and the share of all characters that these cover.

    A document of a round that was not reached does not count.
    """

    documents: int
    documents_cited: int
    cited_share: float


class ResultLinks(Struct, frozen=True, kw_only=True, rename="camel"):
    """The paths of the whole result, the events, the report and the audit bundle, which exists once it has ended."""

    full: str
    events: str
    report: str
    audit: str
