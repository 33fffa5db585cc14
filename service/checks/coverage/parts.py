"""The named parts of a text, and those of them that no citation touches.

    clauses, headings, divisions    if the outline has two or more of them
    pages                           if it has none of these and two or more pages
    lines                           otherwise; characters, if the text is one line or there is no text

The text before the first place is a part of its own, the opening. Items such as (a) belong to their clause. A part is
cited if a verified citation shares a character with it. A part with parts of its own is cited if all of them are, and
partly cited if only some are.
"""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from service.checks.citations.text.outline import NamedPlace, outline
from service.checks.coverage.sentences import OPENING, name_range, shorten
from service.checks.coverage.shape import CitedPlace, PartsAre, PartStart, Span, State, UncitedRange
from service.checks.coverage.spans import Counter, rest
from service.checks.patterns import lazily

_CLAUSE = 20
"""Added to the level of a clause, so that every heading stands above it."""
_NAMED = ("heading", "division", "clause")
_CLAUSES = lazily(r"\bclauses?\s\d", re.IGNORECASE)
_SECTIONS = lazily(r"\bsections?\s\d", re.IGNORECASE)
_ANCHOR = lazily(r"<[^<>]{0,120}>|\{#[^{}]{0,120}\}")
"""An anchor in a Markdown heading, for links to it."""
MOST_MARKS = 200
UNTITLED = "untitled"
_FEW = 2
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(slots=True)
class DocumentPart:
    """A named part: ``parent`` is the index of the part that holds it, ``end`` the index after its last own part."""

    word: str
    numeral: str
    title: str
    number: str
    rank: int
    start: int
    stop: int
    parent: int
    end: int

    @property
    def span(self) -> Span:
        """The stretch of the part, in code points."""
        return self.start, self.stop

    @property
    def label(self) -> str:
        """Its citation form: its word and numeral, or its title."""
        return f"{self.word} {self.numeral}".strip() if self.word else f"“{shorten(self.title)}”"


class Parts(NamedTuple):
    """The coverage of a text's parts."""

    parts_are: PartsAre
    parts: int
    never: int
    places: tuple[CitedPlace, ...]
    ranges: tuple[UncitedRange, ...]
    marks: tuple[PartStart, ...] = ()


Spoken = Mapping[str, Sequence[Span]]
"""The stretches that each seat cited, the seats in the order in which they speak."""


def has_named_parts(text: str, spans: Spoken, joined: Sequence[Span]) -> Parts:
    """The coverage of a text's parts: ``spans`` are the stretches of each seat, ``joined`` all of them together."""
    found = outline(text)
    named = [p for p in found if p.kind in _NAMED and p.span[0] < p.span[1]]
    pages = [p for p in found if p.kind == "page" and p.span[0] < p.span[1]]
    if len(named) > 1:
        return _counted("places", nested(named, text), spans)
    if len(pages) > 1:
        return _counted("pages", nested(pages, text), spans)
    if "\n" in text.strip():
        return Parts("lines", 0, 0, (), tuple(_line_ranges(text, joined)))
    return by_characters(joined, len(text))


def by_characters(joined: Sequence[Span], length: int) -> Parts:
    """The ranges of a text that is not stored, or that has no parts."""
    return Parts("characters", 0, 0, (), tuple(_range("Character", a + 1, b, (a, b)) for a, b in rest(joined, length)))


def nested(places: Sequence[NamedPlace], text: str) -> list[DocumentPart]:
    """Places as parts in the order of the text, each under the part that holds it.

    A clause lies under another only if its number continues that one's: 9.1 is no part of clause 2, even if the
    headings between them are missing. Headings stand above clauses, because Markdown numbers its lists like clauses.
    """
    parts: list[DocumentPart] = []
    if text[: places[0].span[0]].strip():
        parts.append(DocumentPart(OPENING, "", "", "", 0, 0, places[0].span[0], -1, 1))
    word = _word(text)
    open_: list[int] = []
    for place in places:
        part = _part(place, word)
        while open_ and not _holds(parts[open_[-1]], part):
            _close(parts, open_.pop(), part.start)
        part.parent = open_[-1] if open_ else -1
        open_.append(len(parts))
        parts.append(part)
    while open_:
        _close(parts, open_.pop(), len(text))
    return parts


def _part(place: NamedPlace, clause: str) -> DocumentPart:
    word, _, numeral = place.label.partition(" ") if place.kind != "heading" else ("", "", "")
    rank = place.level
    if place.kind == "clause":
        word, rank = (clause if word == "Section" else word), place.level + _CLAUSE
    title = _ANCHOR.sub("", place.title).strip() or place.number or UNTITLED
    return DocumentPart(word, numeral, title, place.number, rank, *place.span, parent=-1, end=0)


def _holds(part: DocumentPart, other: DocumentPart) -> bool:
    if part.rank >= other.rank:
        return False
    return part.rank < _CLAUSE or other.number.startswith(f"{part.number}.")


def _close(parts: list[DocumentPart], i: int, at: int) -> None:
    parts[i].stop, parts[i].end = at, len(parts)


def _word(text: str) -> str:
    """The document's own word for its clauses."""
    clauses = sum(1 for _ in _CLAUSES.finditer(text))
    return "Clause" if clauses > sum(1 for _ in _SECTIONS.finditer(text)) else "Section"


def _counted(parts_are: PartsAre, parts: Sequence[DocumentPart], spans: Spoken) -> Parts:
    by_seat = {seat: Counter(given) for seat, given in spans.items()}
    counts = [sum(touching(part.span) for touching in by_seat.values()) for part in parts]
    states = _states(parts, counts)
    places = tuple(
        CitedPlace(
            label=part.label,
            title="" if part.title in (part.number, UNTITLED) else part.title,
            span=part.span,
            state=state,
            citations=count,
            seats=tuple(seat for seat, touching in by_seat.items() if touching(part.span)),
        )
        for part, state, count in zip(parts, states, counts, strict=True)
        if state
    )
    return Parts(parts_are, len(parts), states.count(None), places, tuple(_ranges(parts, states)), tuple(_marks(parts)))


def _states(parts: Sequence[DocumentPart], counts: Sequence[int]) -> list[State | None]:
    """The state of each part, ``None`` if it was not cited; parts under a part come after it."""
    states: list[State | None] = [None] * len(parts)
    whole = [True] * len(parts)
    for i in reversed(range(len(parts))):
        if counts[i]:
            states[i] = "cited" if whole[i] else "partly"
        if states[i] != "cited" and parts[i].parent >= 0:
            whole[parts[i].parent] = False
    return states


def _ranges(parts: Sequence[DocumentPart], states: Sequence[State | None]) -> Iterator[UncitedRange]:
    """The highest parts that are uncited as a whole; neighbours with consecutive numbers are one range."""
    times = Tally(part.label for part in parts)
    run: list[int] = []
    i = 0
    while i < len(parts):
        if states[i]:
            i += 1
            continue
        if run and not (parts[run[-1]].end == i and _goes_on(parts[run[-1]], parts[i])):
            yield _run(parts, run, times)
            run = []
        run.append(i)
        i = parts[i].end
    if run:
        yield _run(parts, run, times)


def _run(parts: Sequence[DocumentPart], run: Sequence[int], times: Mapping[str, int]) -> UncitedRange:
    first, last = parts[run[0]], parts[run[-1]]
    one, other = (part.numeral if part.word else f"“{shorten(part.title)}”" for part in (first, last))
    of = _holder(parts, first) if any(times[parts[i].label] > 1 for i in run) else ""
    return UncitedRange(
        name=name_range(first.word, one, other, of, len(run)),
        word=first.word,
        first=one,
        last=other,
        of=of,
        span=(first.start, last.stop),
        members=len(run),
        parts=last.end - run[0],
    )


def _holder(parts: Sequence[DocumentPart], part: DocumentPart) -> str:
    """The part that distinguishes this one from others of the same name; for a clause it is no clause."""
    i = part.parent
    while i >= 0 and part.rank >= _CLAUSE <= parts[i].rank:
        i = parts[i].parent
    return parts[i].label if i >= 0 else ""


def _goes_on(part: DocumentPart, other: DocumentPart) -> bool:
    """Whether a part is the next of the same kind under the same part."""
    if (part.parent, part.rank, part.word) != (other.parent, other.rank, other.word):
        return False
    return not part.word or _counts_on(part.number, other.number)


def _counts_on(number: str, other: str) -> bool:
    """Whether one number follows another of its kind: digits, letters, or roman numerals."""
    one, next_ = (tuple(map(int, re.findall(r"\d+", n))) for n in (number, other))
    if one or next_:
        return bool(one) and one < next_
    if len(number) == len(other) == 1:
        return number < other
    return {*number, *other} <= set(_ROMAN) and _roman(number) < _roman(other)


def _roman(numeral: str) -> int:
    values = [_ROMAN[c] for c in numeral]
    return sum(-v if v < after else v for v, after in pairwise([*values, 0]))


def _marks(parts: Sequence[DocumentPart]) -> Iterator[PartStart]:
    """The starts of the highest parts, without those too near to the one before to be visible."""
    kept, least = -1, parts[-1].stop // MOST_MARKS
    for part in _highest(parts):
        if kept < 0 or part.start - kept > least:
            kept = part.start
            yield PartStart(numeral=part.numeral or part.number, at=part.start)


def _highest(parts: Sequence[DocumentPart]) -> list[DocumentPart]:
    """The parts of the first level that has several, without the opening."""
    depths: list[int] = []
    for part in parts:
        depths.append(depths[part.parent] + 1 if part.parent >= 0 else 0)
    for depth in range(max(depths) + 1):
        level = [part for part, at in zip(parts, depths, strict=True) if at <= depth and part.word != OPENING]
        if len(level) > _FEW:
            return level
    return list(parts)


def _line_ranges(text: str, joined: Sequence[Span]) -> Iterator[UncitedRange]:
    """The lines that no stretch touches, from 1; blank lines at the ends of a range are left out."""
    line, at = 1, 0
    for start, end in _whole_lines(text, joined):
        gap = text[start:end]
        first = line + text.count("\n", at, start) + gap.count("\n", 0, len(gap) - len(gap.lstrip()))
        body = gap.strip()
        line, at = line + text.count("\n", at, end), end
        if body:
            begin = start + len(gap) - len(gap.lstrip())
            yield _range("Line", first, first + body.count("\n"), (begin, begin + len(body)))


def _whole_lines(text: str, joined: Sequence[Span]) -> Iterator[Span]:
    """The stretches of a text without every line that a citation touches."""
    for start, end in rest(joined, len(text)):
        begin = text.find("\n", start, end) + 1 if start else 0
        stop = text.rfind("\n", start, end) + 1 if end < len(text) else end
        if begin < stop and (begin or not start):
            yield begin, stop


def _range(word: str, first: int, last: int, span: Span) -> UncitedRange:
    one, other = f"{first:,}", f"{last:,}"
    count = last - first + 1
    name = name_range(word, one, other, "", count)
    return UncitedRange(name=name, word=word, first=one, last=other, of="", span=span, members=count, parts=count)
