"""The verdict on a citation: verified, altered or not found. Made by code alone, and closed when in doubt.

    1  an unknown source was named                           not_found   unknown_source
    2  fewer than 12 letters and digits                      not_found   too_short
    3  the words stand in the source (any, if none is named) verified    with their span
    4  the words stand in another given source only          not_found   foundIn
    5  most of the words stand in the source, but not all    altered     with span and edits
    6  anything else                                         not_found
    *  the work allowed was used up                          not_found   out_of_steps

Words are compared after folding, one by one: see ``fold`` for what that overlooks, ``bounds`` for where a quotation may
begin and end, ``find`` for ellipses. Similarity only ever explains a refusal (``align``); nothing is verified by it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from service.citations.align import align
from service.citations.changes import edits
from service.citations.find import Quote, find, read_quote
from service.citations.fold import Folded, fold
from service.citations.steps import MAX_STEPS, OutOfSteps, Steps
from service.debate.findings import Citation, CitationVerdict

ENGINE = f"citations/1+unicode{unicodedata.unidata_version}"
"""The rules' version, with that of the character tables they rest on: recorded beside every finding."""
LEAST_LETTERS = 12
LEAST_SHARE = 60
"""Per cent of the quotation's words that a passage must share to be called altered."""


class Sources:
    """Documents by id, each folded once, when it is first needed. The order given is the order searched."""

    __slots__ = ("_folded", "_texts")

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)
        self._folded: dict[str, Folded] = {}

    def __contains__(self, source_id: str) -> bool:
        return source_id in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def folded(self, source_id: str) -> Folded:
        """A document ready to be searched."""
        if source_id not in self._folded:
            self._folded[source_id] = fold(self._texts[source_id])
        return self._folded[source_id]


def check(citation: Citation, sources: Sources, max_steps: int = MAX_STEPS) -> CitationVerdict:
    """Judge one citation; never raises, whatever the quotation and the documents hold."""
    try:
        return _judge(citation, sources, Steps(max_steps))
    except OutOfSteps as end:
        return CitationVerdict("not_found", reason=end.code)


def check_all(citations: Iterable[Citation], sources: Sources) -> tuple[CitationVerdict, ...]:
    """Judge citations against the same documents, one verdict for each, in their order."""
    return tuple(check(citation, sources) for citation in citations)


def _judge(citation: Citation, sources: Sources, steps: Steps) -> CitationVerdict:
    named = citation.source_id
    quote = read_quote(citation.quote)
    if named is not None and named not in sources:
        return CitationVerdict("not_found", found_in=_elsewhere(quote, sources, None, steps), reason="unknown_source")
    if quote.letters < LEAST_LETTERS:
        return CitationVerdict("not_found", reason="too_short")
    given = tuple(sources) if named is None else (named,)
    for source in given:
        document = sources.folded(source)
        if span := find(quote, document, citation.location, steps):
            return CitationVerdict("verified", source_id=source, span=span, text=document.original[slice(*span)])
    if named is not None and (other := _elsewhere(quote, sources, named, steps)):
        return CitationVerdict("not_found", found_in=other)
    return _nearest(quote, given, sources, steps) or CitationVerdict("not_found")


def _elsewhere(quote: Quote, sources: Sources, named: str | None, steps: Steps) -> str | None:
    """The first source beside the named one that has the quotation's words."""
    if quote.letters < LEAST_LETTERS:
        return None
    others = (source for source in sources if source != named)
    return next((source for source in others if find(quote, sources.folded(source), None, steps)), None)


def _nearest(quote: Quote, given: Iterable[str], sources: Sources, steps: Steps) -> CitationVerdict | None:
    """The passage that shares most words with the quotation, as an ``altered`` verdict."""
    best, share = None, LEAST_SHARE
    for source in given:
        document = sources.folded(source)
        if found := align(quote.folded, document, share, steps):
            best = source, document, found
            share = max(share, len(found.pairs) * 100 // len(found.quote) + 1)
    if best is None:
        return None
    source, document, found = best
    span = document.reach(*found.span)
    return CitationVerdict(
        "altered",
        source_id=source,
        span=span,
        text=document.original[slice(*span)],
        edits=edits(found, quote.folded, document),
    )
