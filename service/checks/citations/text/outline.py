"""The named places of a document: its headings, its numbered clauses, its pages.

    # Title, ## Part                                    a heading of Markdown, also underlined with === or ---
    ARTICLE IV, SCHEDULE A, EXHIBIT 2, PART B           a division, by its word and its number or letter
    Section 8.2 Title, SECTION 9., 8.2 Title, 9. Title  a clause
    § 1015.3 Title                                      a section of a regulation
    C7.1 Title, C2. Title                               a clause of Annex C, Schedule C and the like
    (a) …, (iii) …                                      an item, under the clause before it
    Page 4, a form feed                                 a page

A numbered line is a clause only if it reads like one: its number continues the numbers before it, there are numbers
under it, or it has a short title in capitals. A line of a table of contents (dots or a page number at its end) is no
clause. A place ends where the next of its level or of a higher one begins. A clause also ends before a clause whose
number does not continue its own: 9.1 is no part of clause 2.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Literal

from service.checks.citations.text.page_furniture import page_starts
from service.checks.patterns import lazily

PlaceKind = Literal["heading", "division", "clause", "item", "page"]
MOST_PLACES = 20_000
"""The most places of one document; of more, the first."""
_LONGEST_TITLE = 120
_LONGEST_ENTRY = 300
_FEW_HEADINGS = 2

_WORDS_OF_DIVISION = "article|schedule|exhibit|annex|appendix|part|chapter|title|attachment|subpart"
_ROMAN = r"(?!(?:civil|civic|ill)\b)[ivxlc]{1,7}"
_NO_LETTERS = r"(?!(?:an|and|as|at|by|if|in|is|it|no|of|on|or|to|we)\b)"
_NUMERAL = rf"(?:\d{{1,4}}(?:[.-]\d{{1,3}}){{0,5}}|{_ROMAN}|{_NO_LETTERS}[a-z]{{1,2}}(?:-?\d{{1,3}})?)"
_NO = r"(?:no(?:\.[ \t\xa0]*|[ \t\xa0]+)|number[ \t\xa0]+)?"
_APART = r"(?!\(|(?u:\w))"
_SAID = r"(?=[ \t\xa0*_]+(?u:[^\s\d])"
"""A lookahead for words after a number, without its closing bracket: alternatives may follow."""
_MARK = r"[ \t\xa0>*_]{0,40}"
_LINE = lazily(
    rf"^{_MARK}(?=[\#(§a-z\d])(?:"
    r"(?P<hashes>\#{1,6})[ \t]+(?P<heading>[^\n]{1,300})"
    rf"|(?P<word>{_WORDS_OF_DIVISION})[ \t\xa0]+{_NO}(?P<division>{_NUMERAL}){_APART}"
    r"|(?:(?P<section>sections?|sec\.|clause|paragraph|§{1,2})[ \t\xa0]*)"
    r"(?P<named>(?:(?-i:[A-Z])-?)?\d{1,4}(?:\.\d{1,4}){0,5}(?:-\d{1,3})?)(?![,(]|(?u:\w))"
    rf"|(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{0,5}})(?P<stop>[.)]?){_SAID}|[A-Z][a-z])"
    rf"|(?P<lettered>(?-i:[A-Z])-?\d{{1,2}}(?:\.\d{{1,3}}){{0,4}})(?P<after>[.):]?){_SAID})"
    r"|\((?P<item>[a-z]{1,2}|[ivxl]{1,6}|\d{1,2})\)(?=[ \t\xa0]*(?u:\S))"
    r")",
    re.ASCII | re.IGNORECASE | re.MULTILINE,
)
"""Numerals are of ASCII: other digits and letters that fold to these make no label."""
_INSIDE = lazily(r"(?<=[.;:] )(?P<number>\d{1,3}\.\d{1,3}(?:\.\d{1,3}){0,3})\.?[ \t\xa0]+(?=[A-Z])", re.ASCII)
"""A clause that begins within a line, because filings join lines."""
_UNDERLINE = lazily(r"^(?P<title>[^\s\n][^\n]{0,120})\n(?P<line>={3,}|-{3,})[ \t]*$", re.MULTILINE)
_FENCE = lazily(r"^[ \t]{0,3}(?:```|~~~)[^\n]*$", re.MULTILINE)
_OF_CONTENTS = lazily(r"(?:\.{3,}|\. \. \.|\t|[ \xa0]{3,})[ \t\xa0.]*\d{1,4}[ \t]*$")
_HEADED = lazily(
    r"(?:section |§ ?)?(\d{1,4}(?:\.\d{1,4}){0,5}|[a-z]-?\d{1,3}(?:\.\d{1,3}){1,4}|[a-z][.-]?\d{0,3}(?=[ .]))[.)]?\s",
    re.ASCII | re.IGNORECASE,
)
_DRESS = lazily(r"<[^<>]{0,200}>|\{#[^{}]{0,100}\}")
_RUN_ON = lazily(r"\s\d{1,3}\s+(?:(?:section|article)\s+)?(?:\d{1,2}\.\d{1,2}|[ivx]{1,5})[\s.]", re.IGNORECASE)
_LISTED = lazily(r"[^\W\d][ \t\xa0]+(?:\d{1,3}(?:[ \t\xa0]+[ivx]{1,5})?|[ivx]{1,5})[ \t]*$")
"""An entry's page at the end of its line, and the page of the table itself after it."""
_SHORT_TITLE = lazily(r"(?:[A-Z][^\W\d]*|and|for|of|or|the|to|in|on|by|with)(?:[ ,/&-]+|$)")
_MOST_WORDS = 8
_LONGEST_LEAP = 10
"""The most clauses that an excerpt may leave out between two that have titles."""
_TITLE_END = lazily(r"[.:;](?=\s|$)|\s[-–—]\s|\n|\t")
_LEVELS: dict[str, int] = {"division": 1, "clause": 2, "item": 12, "page": 0}


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A named part of a document.

    ``label`` is its citation form ("Section 8.2", "Article IV", "§ 1015.3", "(a)", "Page 4"; a heading's is its number
    or empty), ``number`` the numeral alone in lower case; ``span`` is in code points, end exclusive, and holds the
    parts under it. Of two places the one with the lower ``level`` holds the other. Pages have level 0.
    """

    kind: PlaceKind
    label: str
    title: str
    span: tuple[int, int]
    level: int
    number: str = ""


@dataclass(frozen=True, slots=True)
class _Start:
    at: int
    kind: PlaceKind
    label: str
    title: str
    level: int
    number: str
    listed: bool = False
    """Whether its line ends in a number, as in a table of contents."""
    titled: bool = True
    """Whether the words after its number read like a title or a sentence."""
    lettered: bool = False
    """Whether its number has the letter of a division and no word before it."""
    leaps: bool = False
    """Whether it has a short title in capitals, so that numbers before it may be missing."""


def outline(text: str) -> tuple[NamedPlace, ...]:
    """The places of a text, in order of their beginnings; pages among them. Linear work for any text."""
    starts = sorted(islice(_starts(text), MOST_PLACES), key=lambda s: (s.at, s.level))
    starts = _in_their_division(_unlisted(_once_divided(_distinct(starts))))
    places = [*_ended(_in_sequence(_under_headings(starts)), len(text)), *_pages(text)]
    return tuple(sorted(places, key=lambda p: (p.span[0], p.level)))


def _pages(text: str) -> Iterator[NamedPlace]:
    pages = page_starts(text)
    for k, (at, number) in enumerate(pages[:MOST_PLACES]):
        end = pages[k + 1][0] if k + 1 < len(pages) else len(text)
        yield NamedPlace("page", f"Page {number}", "", (at, end), 0, str(number))


def _starts(text: str) -> Iterator[_Start]:
    fenced = _fenced(text)
    for match in _LINE.finditer(text):
        if not _within(fenced, match.start()) and (start := _start(match, text)):
            yield start
    for match in _UNDERLINE.finditer(text) if "\n===" in text or "\n---" in text else ():
        if not _within(fenced, match.start()) and "|" not in match["title"]:
            level = 3 if match["line"][0] == "=" else 4
            yield _heading(match.start(), match["title"], level)
    for match in _INSIDE.finditer(text):
        yield _clause(match.start(), match["number"], _title(text, match.end()), "Section ")


def _start(match: re.Match[str], text: str) -> _Start | None:
    at, end = match.span()
    if match["hashes"]:
        return _heading(at, match["heading"], 2 + len(match["hashes"]))
    line_end = text.find("\n", end, end + 2_000)
    line = text[end : line_end if line_end >= 0 else end + 2_000]
    if _OF_CONTENTS.search(line[-60:]):
        return None
    title, listed = _title(text, end), bool(_LISTED.search(line[-60:]) or _RUN_ON.search(line))
    if word := match["word"]:
        if not (word[0].isupper() and _titled(line)):
            return None
        number = match["division"].lower()
        if match["division"].islower() and not number.isdigit():
            return None
        return _Start(at, "division", f"{word.title()} {match['division'].upper()}", title, 1, number, listed)
    if match["section"]:
        sign = match["section"]
        if not (sign[0].isupper() or sign[0] == "§") or not _titled(line):
            return None
        return _clause(at, match["named"], title, "§ " if sign[0] == "§" else "Section ", listed)
    if number := match["number"] or match["lettered"]:
        stop, titled = match["stop"] or match["after"], _titled(line)
        if not ("." in number or stop or (titled and (match["number"] or "-" in number))):
            return None
        clause = _clause(at, number, title, "Section ", listed)
        return replace(
            clause, titled=titled, lettered=bool(match["lettered"]), leaps=bool(stop) and _capitalised(title)
        )
    item = match["item"].lower()
    return _Start(at, "item", f"({item})", title, _LEVELS["item"], item)


def _heading(at: int, title: str, level: int) -> _Start:
    plain = _DRESS.sub("", title).strip(" \t#*_`\r")
    number = _HEADED.match(plain + " ")
    return _Start(at, "heading", "", plain[:_LONGEST_TITLE], level, number[1].lower().strip(".") if number else "")


def _clause(at: int, number: str, title: str, sign: str, listed: bool = False) -> _Start:
    return _Start(at, "clause", f"{sign}{number}", title, _LEVELS["clause"] + number.count("."), number.lower(), listed)


def _title(text: str, at: int) -> str:
    """The words after a number up to the end of the first sentence or line, if they are few."""
    line = text[at : at + _LONGEST_TITLE + 40].lstrip(" \t\xa0.:)-–—*_")
    end = _TITLE_END.search(line)
    title = line[: end.start()] if end else line
    return title.strip(" *_`\r") if len(title) <= _LONGEST_TITLE else ""


def _titled(rest: str) -> bool:
    """Whether the words after a number on its line read like a title and not like the middle of a sentence."""
    rest = rest.lstrip(" \t\xa0.:)-–—*_")
    return not rest or rest[0].isupper() or rest[0] in "[(“\"'"


def _capitalised(title: str) -> bool:
    """Whether a title is short and its words, but for such as "of", begin with capitals."""
    words = title.split()
    return 0 < len(words) <= _MOST_WORDS and title[0].isupper() and not _SHORT_TITLE.sub("", title)


def _fenced(text: str) -> list[tuple[int, int]]:
    marks = [match.span() for match in _FENCE.finditer(text)] if "```" in text or "~~~" in text else []
    return [(a[0], b[1]) for a, b in zip(marks[::2], marks[1::2], strict=False)]


def _within(spans: list[tuple[int, int]], at: int) -> bool:
    k = bisect_right(spans, (at, 1 << 60)) - 1
    return k >= 0 and at < spans[k][1]


def _distinct(starts: list[_Start]) -> list[_Start]:
    kept: list[_Start] = []
    for start in starts:
        if not kept or start.at != kept[-1].at:
            kept.append(start)
    return kept


def _unlisted(starts: list[_Start]) -> list[_Start]:
    """Leave out the entries of a table of contents: their places come again further down."""
    last = {(start.kind, start.label): start.at for start in starts if start.label}
    return [s for s in starts if not (s.listed and s.label and last[s.kind, s.label] > s.at)]


def _once_divided(starts: list[_Start]) -> list[_Start]:
    """Leave out a division that only announces one further down with its label and title.

    Such a line has no parts under it: the next start is an entry of a table of contents or another such division.
    """
    last = {(s.label, s.title): s.at for s in starts if s.kind == "division" and s.title}
    kept = [
        start
        for start, after in pairwise(starts)
        if not (
            last.get((start.label, start.title), -1) > start.at
            and (after.listed or (after.kind == "division" and _word(after) == _word(start)))
            and after.at - start.at <= _LONGEST_ENTRY
        )
    ]
    return kept + starts[-1:]


def _word(start: _Start) -> str:
    """The word or the sign of a label."""
    return start.label.partition(" ")[0]


def _in_their_division(starts: list[_Start]) -> list[_Start]:
    """Leave out clauses such as C7.1 that do not stand in a division C."""
    kept: list[_Start] = []
    division = ""
    for start in starts:
        if start.kind == "division":
            division = start.number
        if not start.lettered or start.number[0] == division:
            kept.append(start)
    return kept


def _under_headings(starts: list[_Start]) -> list[_Start]:
    """In a text with headings of Markdown, "1." counts an item of a list and "1.2" a clause under the headings."""
    if sum(start.kind == "heading" for start in starts) < _FEW_HEADINGS:
        return starts
    return [_lowered(start) if start.kind == "clause" and start.label[0] != "§" else start for start in starts]


def _lowered(start: _Start) -> _Start:
    if not start.number.isdigit():
        return replace(start, level=start.level + 8)
    return replace(start, kind="item", label=start.number + ".", level=_LEVELS["item"])


def _in_sequence(starts: list[_Start]) -> list[_Start]:
    """Leave out bare numbers that count no clauses.

    Before a clause n stands n - 1, or a clause n.m under it; or it has a title in capitals and numbers are left out.
    """
    seen: set[str] = set()
    parents = {start.number.partition(".")[0] for start in starts if start.kind == "clause" and "." in start.number}
    kept: list[_Start] = []
    last = 0
    for start in starts:
        bare = start.kind == "clause" and start.number.isdigit()
        if bare and start.label.startswith("Section ") and not start.title:
            continue
        number = int(start.number) if bare else 0
        follows = str(number - 1) in seen or start.number in parents
        if number > 1 and not follows and not (start.leaps and 0 < last < number <= last + _LONGEST_LEAP):
            continue
        last = number or last
        if start.number:
            seen |= {start.number, start.number.partition(".")[0]}
        kept.append(start)
    return kept


def _ended(starts: list[_Start], length: int) -> list[NamedPlace]:
    """The places with their ends: each reaches to the next one that it does not hold."""
    ends = [length] * len(starts)
    open_: list[int] = []
    for i, start in enumerate(starts):
        while open_ and not _holds(starts[open_[-1]], start):
            ends[open_.pop()] = start.at
        open_.append(i)
    return [
        NamedPlace(s.kind, s.label, s.title, (s.at, end), s.level, s.number)
        for s, end in zip(starts, ends, strict=True)
    ]


def _holds(upper: _Start, start: _Start) -> bool:
    """Whether a place is part of an open one. Clause 9.1 is none of clause 2; "1.5 million" ends no clause."""
    if upper.level >= start.level:
        return False
    both = upper.kind == start.kind == "clause" and _word(upper) == _word(start)
    return not (both and start.titled) or start.number.startswith(f"{upper.number}.")
