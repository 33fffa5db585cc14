"""From a document's lines to its paragraphs: headings, numbered clauses, bullets, tables and page furniture.

Offsets are code points of the document as given. No text is rewritten, so every slice is the document's own.

    line                                         becomes
    blank                                        the end of a paragraph
    page furniture, mark-up alone, code, rules   nothing, and the end of a paragraph
    "# Title", "ARTICLE VII ...", "DEFINITIONS"  a heading
    "12.2 ...", "Section 7.01. ...", "§ 3 ..."   a numbered clause (its words may begin with a run-in heading)
    "(a) ...", "(iv) ..."                        a sub-clause of the clause before it
    "- ...", "* ..."                             a bullet
    "| ... |"                                    a row of a table
    anything else                                more of the paragraph
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple


class Paragraph(NamedTuple):
    """A run of text under one heading. ``location`` is the clause number or heading that a reader would cite,
    ``caption`` the words that name it, ``heading`` all headings above."""

    start: int
    end: int
    location: str
    caption: str
    heading: str
    kind: str


_FURNITURE = re.compile(
    r"""^(?:table\ of\ contents|source:.*\d{4}|page\ \d+(?:\ of\ \d+)?|-?\s*\d{1,4}\s*-?|[ivxl]{1,5}|\[page\ break\]
    |execution\ (?:version|copy)|[-=_*~.\s|:+]{3,}|<!--.*-->|</?\w[^>]*>(?:\s*</?\w[^>]*>)*
    |!\[[^\]]*\]\([^)]*\)|\[\*+\])$""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKDOWN = re.compile(r"^(#{1,6})\s+(?:<a[^>]*>\s*</a>\s*)?(.+?)\s*(?:\{#[\w-]+\})?#*$")
_ARTICLE = re.compile(
    r"^(?:ARTICLE|Article|PART|Part|CHAPTER|Chapter|ANNEX|Annex|SCHEDULE|Schedule|EXHIBIT|APPENDIX)\s+[\w.]+\b"
)
_CLAUSE = re.compile(
    r"^(?P<word>Section|SECTION|Sec\.|Clause|CLAUSE|Paragraph|§§?)?\s*"
    r"(?P<num>[A-Z]?\d{1,4}(?:\.\d+)*[A-Za-z]?)(?P<tail>(?:\([A-Za-z0-9]{1,4}\))*)(?P<dot>[.):]?)\s+(?=\S)"
)
_SUB = re.compile(r"^(?:\((?P<mark>[a-z]{1,2}|[ivxl]{1,5}|[A-Z]|\d{1,2})\)|(?P<bare>[a-z]|[ivx]{1,4})[.)])\s*(?=\S)")
_BULLET = re.compile(r"^(?:[-*•‣▪]|–)\s+(?:\[[ x]\]\s+)?")
_RUN_IN = re.compile(r"(?P<head>[A-Z][^.\n:;]{2,70})\.\s+(?=[A-Z(\"“‘\[])")
_SAYS = re.compile(
    r"\b(?:shall|is|are|was|were|must|may|will|has|have|had|do|does|did|agrees?|can|should|means|makes?|gives?)\b"
)
_CAPS = re.compile(r"^[^a-z]*[A-Z]{2}[^a-z]*$")
# A line ends at a line break, and before a clause number that a converter has left in mid-line.
_LINE_END = re.compile(
    r"[\n\f\v\x85\u2028\u2029]|(?<=[.;:])[ \t]{2,}(?=(?:(?:ARTICLE|Article|Section)\s+)?\d{1,2}(?:\.\d{1,2})?\s+[A-Z])"
)
_ASIDES = frozenset("note notes example examples warning important tip caution or and".split())
_ROMAN = frozenset("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv".split())


class _Where:
    """The place of the next paragraph in the document: the open headings and the open clause numbers."""

    def __init__(self) -> None:
        self.titles: list[tuple[int, str]] = []
        self.clause = ""
        self.caption = ""
        self.subs: list[tuple[str, str]] = []

    def heading(self, depth: int, title: str) -> None:
        self.titles = [t for t in self.titles if t[0] < depth] + [(depth, title)]
        self.clause, self.caption, self.subs = "", "", []

    def number(self, clause: str, caption: str) -> None:
        self.clause, self.caption, self.subs = clause, caption, []

    def sub(self, mark: str) -> None:
        """Open a sub-clause: a style of numbering that is already open continues, another one nests."""
        style = _style(mark, [style for style, _ in self.subs], self.subs[-1][1] if self.subs else "")
        while any(style == open_style for open_style, _ in self.subs):
            self.subs.pop()
        self.subs.append((style, mark))

    @property
    def named(self) -> str:
        return self.caption or (self.titles[-1][1] if self.titles else "")

    @property
    def title(self) -> str:
        return " / ".join([*(title for _, title in self.titles[-3:]), *([self.caption] if self.caption else [])])

    @property
    def location(self) -> str:
        if self.clause:
            return self.clause + "".join(f"({mark})" for _, mark in self.subs)
        title = self.titles[-1][1] if self.titles else ""
        return f"{title} ({self.subs[-1][1]})" if title and self.subs else title


def _style(mark: str, opened: list[str], last: str) -> str:
    if mark.isdigit():
        return "digit"
    if mark.isupper():
        return "upper"
    follows = len(mark) == 1 and len(last) == 1 and ord(mark) == ord(last) + 1
    if mark in _ROMAN and not (follows and opened[-1:] == ["alpha"]):
        return "roman"
    return "alpha"


def paragraphs(text: str) -> Iterator[Paragraph]:
    """The paragraphs of a document in their order, each with the place that a reader would cite."""
    where = _Where()
    repeated = _repeated(text)
    start = end = -1
    kind = "prose"
    code = False
    for begins, ends in _lines(text):
        line = text[begins:ends]
        words = line.strip()
        at = begins + len(line) - len(line.lstrip())
        if words.startswith(("```", "~~~")):
            code = not code
        plain = bool(words) and not code and not words.startswith(("```", "~~~"))
        opening = _opening(words, start < 0) if plain else None
        if start >= 0 and (not plain or opening or words in repeated or _FURNITURE.match(words)):
            yield Paragraph(start, end, where.location, where.named, where.title, kind)
            start = -1
        if not plain or words in repeated or _FURNITURE.match(words):
            continue
        if opening:
            at, kind, heading = _enter(where, opening, words, at)
            if heading:
                continue
        elif start < 0:
            kind = "prose"
        start, end = (at if start < 0 else start), begins + len(line.rstrip())
    if start >= 0:
        yield Paragraph(start, end, where.location, where.named, where.title, kind)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for found in _LINE_END.finditer(text):
        yield at, found.start()
        at = found.end()
    yield at, len(text)


def _repeated(text: str) -> frozenset[str]:
    """Short lines that come back again and again: running heads and feet."""
    lines = Counter(line.strip() for line in text.split("\n"))
    return frozenset(
        line for line, times in lines.items() if times >= 5 and len(line) < 90 and not line.startswith(("|", "#"))
    )


def _opening(words: str, fresh: bool) -> str | None:
    """The kind of unit that a line opens, or ``None`` if it continues the paragraph before it."""
    if _MARKDOWN.match(words):
        return "markdown"
    if words.startswith("|"):
        return "table"
    if _BULLET.match(words):
        return "bullet"
    if (clause := _CLAUSE.match(words)) and _is_clause(clause, words, fresh):
        return "clause"
    if _SUB.match(words):
        return "sub"
    if fresh and _is_heading(words):
        return "heading"
    return None


_UNIT = re.compile(r"(?:percent|per|million|billion|times|basis|points?|years?|days?|months?|hours?|%|x)\b")


def _is_clause(found: re.Match[str], words: str, fresh: bool) -> bool:
    """Tell "12.2 The Supplier" and "3. TERM" from "2019 was a good year" and "30 days"."""
    after = words[found.end() :]
    if not (after[0].isupper() or after[0] in "(\"“'‘[`<"):
        numbered = fresh and found["num"].count(".") in (1, 2) and found["num"][0] != "0" and not _UNIT.match(after)
        return (bool(found["word"]) and len(words) < 100) or numbered
    if found["word"]:
        return True
    if "." in found["num"]:
        return len(found["num"].split(".")[0]) <= 3
    return bool(found["dot"]) and len(found["num"]) <= 3


def _is_heading(words: str) -> bool:
    bare = re.sub(r"[^\w\s]", "", words).lower().strip()
    if len(words) > 110 or words[-1] in ",;" or words.count(" ") > 14 or bare in _ASIDES:
        return False
    if _ARTICLE.match(words) and not _SAYS.search(words):
        return True
    if _CAPS.match(words):
        return words[-1] not in ".:" or len(words) < 50
    # A short line of its own in which every longer word is capitalised.
    longer = [w for w in re.findall(r"[^\W\d_]+", words) if len(w) > 3]
    return len(words) < 70 and words[-1] not in ".:!?" and bool(longer) and all(w[0].isupper() for w in longer)


def _enter(where: _Where, opening: str, words: str, at: int) -> tuple[int, str, bool]:
    """Move to the place that a line opens; returns the start of its words, their kind, and whether it is a heading."""
    if opening == "markdown" and (found := _MARKDOWN.match(words)):
        where.heading(len(found[1]), _plain(found[2]))
        return at, "heading", True
    if opening == "heading":
        where.heading(2 if not _ARTICLE.match(words) else 1, _plain(words))
        return at, "heading", True
    if opening == "clause" and (found := _CLAUSE.match(words)):
        return _enter_clause(where, found, words, at)
    if opening == "sub" and (found := _SUB.match(words)):
        where.sub(found["mark"] or found["bare"])
        at += found.end()
        if caption := _run_in(words[found.end() :]):
            where.caption = where.caption or caption["head"]
            at += caption.end()
        return at, "prose", False
    if opening == "bullet" and (found := _BULLET.match(words)):
        return at + found.end(), "bullet", False
    return at, opening, False


def _enter_clause(where: _Where, found: re.Match[str], words: str, at: int) -> tuple[int, str, bool]:
    rest = words[found.end() :]
    prefix = {"§": "§ ", "§§": "§ ", "": ""}.get(found["word"] or "", "Section ")
    number = f"{prefix}{found['num']}{found['tail']}"
    only_heading = (
        len(rest) < 100 and not _SAYS.search(rest.rstrip(".").lower()) and _looks_like_title(rest, bool(found["word"]))
    )
    if only_heading:
        title = _plain(f"{number} {rest}".rstrip(".") if found["word"] else f"{number}. {rest}".rstrip("."))
        where.heading(2 + found["num"].count("."), title)
        where.number(number if found["word"] or "." in found["num"] else "", "")
        return at, "heading", True
    caption = _run_in(rest)
    where.number(number, caption["head"] if caption else "")
    return at + found.end() + (caption.end() if caption else 0), "prose", False


def _looks_like_title(rest: str, named: bool) -> bool:
    """Tell "Limitation of Liability" and, after "Section 3", "Scope." from a short clause without a verb we know."""
    if not rest[0].isupper() or rest.rstrip(".").count(". ") or rest[-1] in ",;:?!":
        return False
    if _CAPS.match(rest) or rest[-1] != ".":
        return True
    longer = [w for w in re.findall(r"[^\W\d_]+", rest) if len(w) > 3]
    return len(rest) < 80 and (named or (bool(longer) and all(w[0].isupper() for w in longer)))


def _run_in(rest: str) -> re.Match[str] | None:
    """A heading that runs into its clause, as in "12.2 Insurance. The Supplier shall"."""
    found = _RUN_IN.match(rest)
    if not found or _SAYS.search(found["head"].lower()):
        return None
    head = found["head"]
    capitals = all(w[0].isupper() for w in re.findall(r"[^\W\d_]+", head) if len(w) > 3)
    return found if capitals or head.count(" ") < 4 else None


def _plain(title: str) -> str:
    """A heading's words without mark-up or anchors."""
    bare = re.sub(r"<[^>]*>|\{#[^}]*\}|[*_`#]+|\[([^\]]*)\]\([^)]*\)", lambda m: m[1] or "", title)
    return " ".join(bare.split()).rstrip(":.")
