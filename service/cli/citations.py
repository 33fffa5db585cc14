"""``gainsay citations check``: the citation engine alone, on sources and citations from standard input."""

from __future__ import annotations

import sys
from typing import Any

import click
import msgspec
from msgspec import Struct

from service.citations import Sources, check_all
from service.cli import endings
from service.debate.findings import Citation, CitationVerdict
from service.errors import BadRequest


class _Source(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    text: str


class _Place(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    char_start: int


class _Citation(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    id: str
    quote: str
    source_id: str | None = None
    location: str | _Place | None = None


class _Request(Struct, frozen=True, forbid_unknown_fields=True):
    sources: tuple[_Source, ...]
    citations: tuple[_Citation, ...]


@click.group()
def citations() -> None:
    """The citation engine alone."""


@citations.command()
@click.option("--require-verified", is_flag=True, help="Exit with 1 unless every citation is verified.")
def check(require_verified: bool) -> int:
    """Check citations against sources, both from standard input as one JSON object.

    \b
    {"sources": [{"id": "D1", "text": "..."}],
     "citations": [{"id": "c1", "quote": "...", "sourceId": "D1", "location": null}]}

    Prints one verdict a line: verified, altered or not_found, the source, and the span in code points of the source,
    end exclusive. `location` may be a string or {"charStart": n}; `sourceId` may be left out.

    Exit codes: 0 done, whatever the verdicts; 1 with --require-verified when some are not; 2 unreadable input.
    """
    request = _read(sys.stdin.buffer.read())
    sources = Sources({source.id: source.text for source in request.sources})
    asked = [Citation(quote=c.quote, source_id=c.source_id, location=_location(c.location)) for c in request.citations]
    verdicts = check_all(asked, sources)
    for citation, verdict in zip(request.citations, verdicts, strict=True):
        click.echo(msgspec.json.encode(_line(citation.id, verdict)))
    missed = require_verified and any(v.verdict != "verified" for v in verdicts)
    return endings.NEGATIVE if missed else endings.DONE


def _read(given: bytes) -> _Request:
    try:
        request = msgspec.json.decode(given, type=_Request)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"expected sources and citations as JSON on standard input: {error}") from error
    ids = [source.id for source in request.sources]
    if len(set(ids)) != len(ids):
        raise BadRequest("expected sources with distinct ids, found one that is there twice")
    return request


def _location(location: str | _Place | None) -> str | None:
    return str(location.char_start) if isinstance(location, _Place) else location


def _line(id: str, verdict: CitationVerdict) -> dict[str, Any]:
    """The verdict's members after the citation's id; source and span are always there."""
    whole: dict[str, Any] = {"id": id, "verdict": verdict.verdict, "sourceId": verdict.source_id, "span": verdict.span}
    return {**whole, **msgspec.to_builtins(verdict)}
