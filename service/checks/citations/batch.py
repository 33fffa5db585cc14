"""One request for verdicts alone, over HTTP or on standard input: sources, citations, a verdict for each.

asked     {"sources": [{"id", "text"}], "citations": [{"id", "quote", "sourceId"?, "location"?}]}
answered  {"id", "verdict", "sourceId", "span", "text"?, "edits"?, "foundIn"?, "reason"?, "note"?} for each citation
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, structs

from service.checks.citations.verdict.judge import Sources, check
from service.checks.citations.verdict.strike import UNCHECKED
from service.debate.findings import Citation, CitationVerdict
from service.errors import BadRequest


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """A document to check against."""

    id: str
    """The caller's id of the source, distinct in the request."""
    text: str
    """The whole text of the source. Spans count its Unicode code points."""


class CharStart(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A location in code points of the source."""

    char_start: int
    """Where the caller places the quotation, in code points from 0. It is compared and never decides."""


class Asked(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A citation to check, with the caller's own id; without ``source_id`` all sources are searched."""

    id: str
    """The caller's id of the citation, which its verdict repeats."""
    quote: str
    """The words that are given as the source's."""
    source_id: str | None = None
    """The id of the source to search. Left out, all sources are searched."""
    location: str | CharStart | None = None
    """Where the caller places the quotation: a clause, a page or another place in words, or a position. A wrong one
    gives a note and does not change the verdict."""


class Batch(Struct, frozen=True, forbid_unknown_fields=True):
    """Citations to check against sources; the sources' ids are distinct."""

    sources: tuple[Source, ...]
    """The texts to compare with. Without any, each verdict is `unchecked`."""
    citations: tuple[Asked, ...]
    """The quotations to check, at most 1,000."""

    def __post_init__(self) -> None:
        ids = [source.id for source in self.sources]
        if len(set(ids)) != len(ids):
            raise ValueError("expected sources with distinct ids, found one that is there twice")


def read_batch(given: bytes) -> Batch:
    """Decode a request; raises `BadRequest` if it is not JSON of that form, or two sources have one id."""
    try:
        return msgspec.json.decode(given, type=Batch)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"expected sources and citations as JSON: {error}") from error


def judge_batch(batch: Batch) -> Iterator[tuple[str, CitationVerdict]]:
    """The id of each citation with its verdict, in the order asked; `unchecked` where no source is given at all."""
    sources = Sources({source.id: source.text for source in batch.sources})
    for asked in batch.citations:
        citation = Citation(asked.quote, asked.source_id, _location(asked.location))
        yield asked.id, check(citation, sources) if batch.sources else UNCHECKED


def explained(verdict: CitationVerdict, refusals: Mapping[str, str]) -> CitationVerdict:
    """The same verdict; if a rule refused before words were compared, the note gives its reason and a remedy.

    ``refusals`` are the words for each code of a rule.
    """
    if verdict.reason is None or verdict.note is not None:
        return verdict
    words = refusals.get(verdict.reason)
    return structs.replace(verdict, note=f"not verified: {words}") if words else verdict


def line(id: str, verdict: CitationVerdict) -> dict[str, Any]:
    """A verdict as the caller sees it; its source and span are always there, null if there is none."""
    whole: dict[str, Any] = {"id": id, "verdict": verdict.verdict, "sourceId": verdict.source_id, "span": verdict.span}
    return {**whole, **msgspec.to_builtins(verdict)}


def _location(location: str | CharStart | None) -> str | None:
    return f"chars {location.char_start}" if isinstance(location, CharStart) else location
