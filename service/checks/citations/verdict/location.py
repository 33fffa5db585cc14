"""The location that a citation gives, and the place where its words are.

    "chars 1200", "1200", "offset 1200-1300"            an offset in code points: a hint between several places
    "line 120", "lines 120-130"                         lines, counted from 1
    "p. 12", "page 12"                                  a page, if the document has page marks
    "Section 8.2(a)", "clause 9", "§ 1015.3", "4.1.2"   a clause, or a heading with that number
    "Section C7.1", "clause A-3"                        the same, with the letter of its annex
    "Article IV", "Schedule A", "Exhibit B-2"           a division; "Article 4.2" is a clause of one
    "Termination for Convenience"                       a heading's or a clause's title

A location never changes a verdict. A note reports a location that is wrong or cannot be understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from service.checks.citations.text.document import Document
from service.checks.citations.text.outline import NamedPlace
from service.checks.patterns import lazily

Span = tuple[int, int]

_OFFSET = lazily(
    r"\s*(?:(?:code ?points?|char(?:acter)?s?|offset)\s*[:=@]?\s*)?(\d{1,9})(?:\s*(?:-|–|\.\.)\s*\d{1,9})?\s*",
    re.IGNORECASE,
)
_LINES = lazily(r"\b(?:lines?|ll?\.|L)\s*(\d{1,7})(?:\s*(?:-|–|to|and)\s*L?(\d{1,7}))?\b", re.IGNORECASE)
_PAGE = lazily(r"\b(?:pages?|pp?\.?|pg\.?)\s*(\d{1,5})\b", re.IGNORECASE)
_DIVISION = lazily(
    r"\b(article|art\.|schedule|exhibit|annex|appendix|part|chapter|title|attachment|subpart)\s+(?:no\.?\s+)?"
    r"(\d{1,4}(?:[.-]\d{1,3}){0,5}|[ivxlc]{1,7}|(?-i:[A-Z]{2})(?:-?\d{1,3})?|[a-z](?:-?\d{1,3})?)\b(?!-?\w)",
    re.IGNORECASE,
)
_CLAUSE = lazily(
    r"(?:\b(?:sections?|sec\.?|clauses?|cl\.|paragraphs?|para\.?)|§{1,2})\s*"
    r"((?:[a-z]-?)?\d{1,4}(?:\.\d{1,4}){0,5}(?:-\d{1,3})?)",
    re.IGNORECASE,
)
_NUMBER = lazily(
    r"\s*(\d{1,4}(?:\.\d{1,4}){1,5}|[a-ko-z]-?\d{1,4}(?:\.\d{1,4}){0,5})(?:\s*\([a-z0-9]{1,4}\))*\.?(?:\s.*)?",
    re.IGNORECASE,
)
"""A number alone; "L12" is a line and "p12" a page, which are read before it."""
_LETTER = lazily(r"([a-z])-(?=\d)")
_SHORTEST_TITLE = 3


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed location: ``spans`` are the parts of the document that it names, empty if there are none."""

    kind: Literal["offset", "place", "unknown"]
    spans: tuple[Span, ...] = ()

    @property
    def near(self) -> int | None:
        """The code point nearest to which the words are expected."""
        return self.spans[0][0] if self.spans else None

    def holds(self, span: Span) -> bool:
        """Whether a stretch begins in a part that the location names."""
        return any(start <= span[0] < max(end, start + 1) for start, end in self.spans)


def locate(given: str | None, document: Document) -> Location | None:
    """Parse a location for one document; ``None`` if the citation gives none."""
    if given is None or not given.strip():
        return None
    if offset := _OFFSET.fullmatch(given):
        return Location("offset", ((int(offset[1]), int(offset[1])),))
    spans = _spans(given[:300], document)
    return Location("unknown") if spans is None else Location("place", tuple(spans))


def note(given: str | None, location: Location | None, document: Document, span: Span) -> str | None:
    """The note on a location, or ``None`` if the words stand there."""
    if location is None or location.kind == "offset" or location.holds(span):
        return None
    if location.kind == "unknown":
        return "location not understood"
    at = stands_in(document, span)
    if not location.spans and at is None:
        return None
    wrong = f'not in "{given}"' if location.spans else f'the document has no "{given}" that can be told'
    return f"{wrong}; stands {at}" if at else wrong


def stands_in(document: Document, span: Span) -> str | None:
    """The narrowest named part of a document in which a stretch begins, in words."""
    holding = [p for p in document.outline if p.span[0] <= span[0] < p.span[1]]
    named = [p for p in holding if p.kind in ("clause", "heading", "division")]
    if named:
        return f"in {_name(max(named, key=lambda p: (p.span[0], p.level)))}"
    page = next((p for p in holding if p.kind == "page"), None)
    return f"on {page.label}" if page else None


def _name(place: NamedPlace) -> str:
    if place.label:
        return place.label
    return f'"{place.title[:80]}"'


def _spans(given: str, document: Document) -> list[Span] | None:
    """The parts of the document that a location names; ``None`` if it cannot be parsed."""
    if lines := _LINES.search(given):
        return _line_spans(document.original, int(lines[1]), int(lines[2] or lines[1]))
    if page := _PAGE.match(given):
        return _paged(document, page[1])
    if clause := _CLAUSE.search(given) or _NUMBER.fullmatch(given):
        return _numbered(document, clause[1].lower())
    if division := _DIVISION.search(given):
        return _divided(document, division[1].lower().replace("art.", "article"), division[2].lower())
    if page := _PAGE.search(given):
        return _paged(document, page[1])
    return list(_titled(document, given)) or None


def _paged(document: Document, number: str) -> list[Span]:
    return [p.span for p in document.outline if p.kind == "page" and p.number == number.lstrip("0")]


def _divided(document: Document, word: str, numeral: str) -> list[Span]:
    """The divisions with a word and a numeral, or the clause of an article, or the places with that title."""
    label = f"{word} {numeral}"
    found = [p.span for p in document.outline if p.kind == "division" and p.label.lower() == label]
    if not found and word == "article" and "." in numeral:
        return _numbered(document, numeral)
    return found or list(_titled(document, label))


def _numbered(document: Document, number: str) -> list[Span]:
    """The clauses and headings with a number, or with that of the clause above it."""
    number = _LETTER.sub(r"\1", number)
    while number:
        found = [
            p.span
            for p in document.outline
            if p.kind in ("clause", "heading", "division") and _LETTER.sub(r"\1", p.number) == number
        ]
        if found or "." not in number:
            return found
        number = number.rpartition(".")[0]
        if "." not in number and any(p.number.startswith(f"{number}.") for p in document.outline):
            return []
    return []


def _titled(document: Document, title: str) -> Iterator[Span]:
    plain = _plain(title)
    if len(plain) < _SHORTEST_TITLE:
        return
    for place in document.outline:
        if place.title and (_plain(place.title) == plain or _plain(f"{place.number} {place.title}") == plain):
            yield place.span


def _plain(title: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))


def _line_spans(text: str, first: int, last: int) -> list[Span]:
    start = _line_start(text, first)
    if start is None or last < first:
        return []
    end = _line_start(text, last + 1) if last - first < 1_000_000 else None
    return [(start, len(text) if end is None else end)]


def _line_start(text: str, number: int) -> int | None:
    at = 0
    for _ in range(number - 1):
        at = text.find("\n", at) + 1
        if at == 0:
            return None
    return at if number > 0 else None
