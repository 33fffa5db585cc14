"""Page furniture: page numbers, footers, and the heads and feet that repeat on every page.

A quotation may skip it if it interrupts a sentence. A line that might be content does not count as furniture by its
looks alone:

    a line of its own that says Page 4, Page 4 of 12, - 4 -, 4/12        furniture
    "Source: …" that ends in a date, as filings carry it                 furniture
    a bare number on a line                                              if it goes on counting from the one before it
                                                                         or stands at a form feed
    a short line beside one of these or beside a form feed               if it stands there three times or more,
                                                                         numbers aside
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise

from service.checks.patterns import lazily

_MARKED = lazily(
    r"\n[ \t\xa0]*(?:\[?page[ \t]+(?:\d{1,4}|[ivxl]{1,7})(?:[ \t]+of[ \t]+\d{1,4})?\]?|[-–—][ \t]*\d{1,4}[ \t]*[-–—]"
    r"|\d{1,4}[ \t]+of[ \t]+\d{1,4}|source:[^\n]{3,150}?\d{1,2}/\d{1,2}/\d{2,4})[ \t\xa0]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
"""With the line feed before it, so that a search steps from line to line; see `_lines`."""
_NUMBERED = lazily(
    r"\n[ \t\xa0]*(?:\[?page[ \t]+(?P<page>\d{1,4})(?:[ \t]+of[ \t]+\d{1,4})?\]?"
    r"|[-–—][ \t]*(?P<dashed>\d{1,4})[ \t]*[-–—])[ \t\xa0]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
"""Those of them that name the page that ends there."""
_BARE = lazily(r"\n[ \t\xa0]*(\d{1,4})[ \t\xa0]*\r?$", re.MULTILINE)
_NEIGHBOURS = 2
"""The number of lines on either side of a page's mark, without empty ones, that may be a running head or foot."""
_LONGEST_HEAD = 100
_TIMES = 3
MOST_MARKS = 20_000
"""The most marks of one kind that are read, more than any document has pages; of more, the first."""
_LONGEST_STEP = 3
"""The most pages that bare numbers may skip in their count."""


def furniture(text: str) -> list[tuple[int, int]]:
    """The furniture of a text's pages, in code points, in order; neighbouring lines are joined."""
    marks = [span for _, span in _lines(_MARKED, text)]
    feeds = [match.start() for match in islice(re.finditer("\f", text), MOST_MARKS)]
    marks += _counting(text, set(feeds))
    if not marks and not feeds:
        return []
    return _joined(sorted({*marks, *_heads(text, [*marks, *((at, at + 1) for at in feeds)])}), text)


def _lines(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], tuple[int, int]]]:
    """The first lines that match, with their spans in the text, without their line feeds."""
    for match in islice(pattern.finditer("\n" + text), MOST_MARKS):
        yield match, (match.start(), match.end() - 1)


def _counting(text: str, feeds: set[int]) -> list[tuple[int, int]]:
    """Bare numbers that count pages."""
    found = [(int(match[1]), *span) for match, span in _lines(_BARE, text)]
    pages: set[tuple[int, int]] = set()
    for i, (number, start, end) in enumerate(found):
        if feeds and ({start - 1, start, end, end + 1} & feeds):
            pages.add((start, end))
        for other, *place in found[i + 1 : i + 3]:
            if 0 < other - number <= _LONGEST_STEP and place[0] - end > 200:
                pages |= {(start, end), (place[0], place[1])}
    return sorted(pages)


def _heads(text: str, marks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Short lines that repeat beside the marks of pages."""
    beside = {line for start, end in marks for line in (*_before(text, start), *_after(text, end))}
    shapes = Counter(_shape(text[a:b]) for a, b in beside)
    return [(a, b) for a, b in beside if shapes[_shape(text[a:b])] >= _TIMES]


def _shape(line: str) -> str:
    return re.sub(r"\d+", "0", " ".join(line.split()).casefold())


def _before(text: str, at: int) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    end = at
    for _ in range(3 * _NEIGHBOURS):
        if end <= 0 or len(lines) == _NEIGHBOURS:
            break
        start = text.rfind("\n", max(0, end - 1 - 4 * _LONGEST_HEAD), end - 1) + 1
        if start == 0 and end > 4 * _LONGEST_HEAD:  # a long line
            break
        if 0 < len(text[start : end - 1].strip()) <= _LONGEST_HEAD:
            lines.append((start, end - 1))
        elif text[start : end - 1].strip():
            break
        end = start
    return lines


def _after(text: str, at: int) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    start = text.find("\n", at, at + 4) + 1
    for _ in range(3 * _NEIGHBOURS if start else 0):
        end = text.find("\n", start, start + 4 * _LONGEST_HEAD)
        end = end if end >= 0 else min(len(text), start + 4 * _LONGEST_HEAD)
        if start >= len(text) or len(lines) == _NEIGHBOURS:
            break
        if 0 < len(text[start:end].strip()) <= _LONGEST_HEAD:
            lines.append((start, end))
        elif text[start:end].strip():
            break
        start = end + 1
    return lines


def _joined(spans: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and (start <= joined[-1][1] or not text[joined[-1][1] : start].strip()):
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def page_starts(text: str) -> list[tuple[int, int]]:
    """The starts of pages with their numbers: at form feeds, else after marks that name the page."""
    feeds = [match.end() for match in islice(re.finditer("\f", text), MOST_MARKS)]
    if feeds:
        return [(at, number) for number, at in enumerate([0, *feeds], 1)]
    found = [(int(match["page"] or match["dashed"]), span[1]) for match, span in _lines(_NUMBERED, text)]
    numbered = [(n, end) for (n, end), (after, _) in pairwise(found) if after == n + 1]
    numbered += found[-1:] if numbered else []
    if not numbered:
        return []
    last = len(text.rstrip())
    return [(0, numbered[0][0]), *((end, number + 1) for number, end in numbered if end < last)]
