"""The marks of list items and footnotes, which a document prints among its words and a quotation may leave out.

    pays:⏎(a) the rent;⏎(b) the water       the mark begins a line that follows the end of another item, and a mark that
                                            counts on from it, or that it counts on from, begins a line near it
    rent¹ is, rent[1] is, rent[^1] is       the mark stands right behind a word of four letters or more

All other such marks count: "paragraph⏎(a) of this section" names a paragraph, and m² is no metre.
"""

from __future__ import annotations

import re

from service.checks.patterns import lazily

_NEAR = 2_000
_MARK = lazily(r"(?P<open>\(?)(?P<mark>[a-z]{1,5}|\d{1,3})(?P<close>[).])(?=[ \t\xa0])", re.IGNORECASE)
_ENDED = lazily(r"(?:[:;.][\"”’)\]]*(?:\s+(?:and|or|and/or))?[ \t\xa0]*\r?\n|\n[ \t\r]*\n)\s*\Z", re.IGNORECASE)
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
_NOTED = lazily(r"[^\W\d_]{4,}[.,;:!?\"'”’)]*(?P<open>\[\^?)?\Z")
_SUPERSCRIPTS = frozenset("¹²³⁰⁴⁵⁶⁷⁸⁹")


def is_list_mark(text: str, start: int, end: int) -> bool:
    """Whether a stretch of a document is the mark at the beginning of a list item, without its brackets."""
    opening = text[max(0, start - 60) : start].rpartition("\n")[2]
    line = start - len(opening)
    if line <= max(0, start - 60) or opening.strip(" \t\xa0>*_") not in ("", "("):
        return False
    mark = _MARK.match(text, start - (opening.endswith("(")))
    if mark is None or mark.span("mark") != (start, end) or not _ENDED.search(text[max(0, line - 80) : line]):
        return False
    around = text[max(0, start - _NEAR) : start + _NEAR]
    return any(_stands(f"{mark['open']}{other}{mark['close']}", around) for other in _beside(mark["mark"].lower()))


def is_footnote_mark(text: str, start: int, end: int) -> bool:
    """Whether a stretch of a document is a raised number, or one in brackets, right behind a word."""
    before = _NOTED.search(text[max(0, start - 40) : start].rstrip("⁰¹²³⁴⁵⁶⁷⁸⁹"))
    if before is None:
        return False
    if all(c in _SUPERSCRIPTS for c in text[start:end]):
        return before["open"] is None
    number = text[start:end]
    closed = text[end : end + 1] == "]" and text[end + 1 : end + 2] not in ("(", "[", "=")
    return before["open"] is not None and closed and number.isdecimal() and len(number) < 4 and number[0] != "0"


def _beside(mark: str) -> list[str]:
    """The marks before and after one: b of a and c."""
    if mark.isdigit():
        return [str(int(mark) - 1), str(int(mark) + 1)]
    found = [chr(ord(mark) - 1), chr(ord(mark) + 1)] if len(mark) == 1 else []
    if mark in _ROMAN:
        k = _ROMAN.index(mark)
        found += _ROMAN[max(0, k - 1) : k] + _ROMAN[k + 1 : k + 2]
    return found


def _stands(mark: str, around: str) -> bool:
    return re.search(rf"\n[ \t\xa0>*_]*{re.escape(mark)}[ \t\xa0]", around, re.IGNORECASE) is not None
