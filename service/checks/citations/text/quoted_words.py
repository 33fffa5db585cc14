"""Quoted words in running text: what a text gives as the words of another.

    "…" '…' “…” ‘…’ „…“ «…» ‹…› »…« 「…」 ``…'' `…`   quoted words; marks may be nested
    states “… and no end                            quoted up to the end of the sentence
    “the fees” “paid in” “the year”                 one quotation in pieces: nothing but blanks stands between
    > …, <q>…</q>                                   a block quotation
    states: *…*, states: _…_                        italics right behind a verb of saying or a colon

A single quotation mark opens only before a word and behind none, so that apostrophes are none. One at the end of a word
closes; at the end of a plural (the parties' rights) it does so only if no other follows.

The work is linear: every mark is read once, and at most `DEEPEST` quotations are open at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

Span = tuple[int, int]

QUOTED_WORDS = 5
"""The least words in quotation marks that are a passage and no term."""
LEAST_CHARACTERS = 12
"""The least characters of a passage."""
DEEPEST = 6
"""The most quotations that are open within each other; marks further in are words."""

LONGEST_JOINED = 2_000
"""The most characters of pieces that are read as one quotation."""

_CLOSING = {
    '"': '"\u201d\u201c',
    "\uff02": "\uff02",
    "'": "'\u2019",
    "\u201c": '\u201d"',
    "\u201d": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019'",
    "\u2019": "\u2019",
    "\u201a": "\u2018\u2019",
    "\u201b": "\u2019",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab\u00bb",
    "\u2039": "\u203a",
    "\u203a": "\u2039\u203a",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\u301d": "\u301e\u301f",
    "``": "''\u201d",
    "''": "''",
    "`": "`",
    "&": "&",
    "<q": "</q",
}
"""By an opening mark, the marks that close it. `&` stands for the entities of quotation marks, `<q` for its tag."""
_SINGLE = frozenset("'\u2018\u2019\u201a\u201b`")
_EITHER = frozenset("\"'\uff02\u201d\u2019\u00bb\u203a`&")
"""Marks that both open and close, by what stands beside them."""
_DROPPED = re.compile(r"(?:\d\ds?|em|tis|twas|til|cause|n|round|bout)\b(?![^\s.,;])", re.IGNORECASE)
_NO_BEGINNING = frozenset(",;:!?)]}")
_MARK = re.compile(
    r"(?P<entity>&(?:quot|ldquo|rdquo|lsquo|rsquo|laquo|raquo|apos|\#34|\#39|\#x22|\#x27|\#822[0123]);)"
    r"|(?P<tag></?(?:q|quote|blockquote)\b[^<>]{0,100}>)|``|''(?!')"
    "|[\"'\uff02\u201c\u201d\u201e\u2018\u2019\u201a\u201b\u00ab\u00bb\u2039\u203a"
    "\u300c\u300d\u300e\u300f\u301d\u301e\u301f`]",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n|\Z")
_BLOCK = re.compile(r"(?:^[ \t]{0,3}>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_SAID = r"(?:stat|provid|sa[iy]|read|requir|specif|declar|stipulat|note|confirm|word)\w*"
_ITALICS = re.compile(
    rf"(?:\b{_SAID}(?: that| as follows| verbatim| in full)?[:,]?|:)\s{{1,3}}"
    r"(?P<mark>\*{1,3}|_{1,3})(?=[^\W_])(?P<words>[^*_\n]{1,2000})(?P=mark)(?!\w)"
)
_LEADS = re.compile(rf"(?:\b{_SAID}(?: that| as follows| verbatim| in full)?[:,]?|:)\s{{0,3}}\Z")
_BARE = re.compile(
    r"\b(?:states|reads|says|provides|stipulates|is worded)"
    r"(?: as follows| verbatim| in full|"
    r" word for word)?\s?:\s{1,3}(?=[^\W_])(?P<words>[^\n\"'\u201c\u2018\u00ab]{1,2000}?)"
    r"(?=[.;!?](?:\s|\Z)|\n|\Z)"
)
_SENTENCE = re.compile(r"[.;!?](?=\s|\Z)|\n")


class Quotation(NamedTuple):
    """Quoted words: ``span`` is without the marks around them, ``outer`` is with them.

    ``text`` has the words of one that stands in pieces without the marks between; ``depth`` counts the quotations that
    it stands in.
    """

    span: Span
    outer: Span
    text: str
    depth: int

    @property
    def words(self) -> int:
        """The number of its words."""
        return len(self.text.split())


class _Open(NamedTuple):
    mark: str
    start: int
    inner: int


def quotations(text: str) -> list[Quotation]:
    """The quoted words of a text, in order; one that stands in another follows it."""
    found = [*_marked(text), *_blocks(text), *_italics(text), *_bare(text)]
    found.sort(key=lambda quotation: (quotation.outer[0], -quotation.outer[1]))
    kept: list[Quotation] = []
    reach = -1
    for quotation in found:  # what stands in quotation marks is no bare or block quotation too
        if quotation.depth == 0 and quotation.outer[0] < reach:
            continue
        if quotation.depth == 0:
            reach = quotation.outer[1]
        kept.append(quotation)
    return _joined(text, kept)


def passages(text: str) -> Iterator[Quotation]:
    """The quotations that are passages and no terms."""
    found = (quotation for quotation in quotations(text) if len(quotation.text) >= LEAST_CHARACTERS)
    return (quotation for quotation in found if quotation.words >= QUOTED_WORDS)


def _marked(text: str) -> Iterator[Quotation]:
    """What stands between quotation marks."""
    opened: list[_Open] = []
    paragraph = _PARAGRAPH.search(text)
    for match in _MARK.finditer(text):
        while paragraph and match.start() >= paragraph.end() and paragraph.end() < len(text):
            yield from _left_open(text, opened, paragraph.start())
            opened.clear()
            paragraph = _PARAGRAPH.search(text, paragraph.end())
        mark = "&" if match["entity"] else match.group()[:2].lower() if match["tag"] else match.group()
        mark = {"<b": "<q", "</": "</q"}.get(mark, mark)
        before = text[match.start() - 1 : match.start()] if match.start() else ""
        after = text[match.end() : match.end() + 1]
        k = _closes(opened, mark, before, text, match.end())
        if k is not None:
            if words := text[opened[k].inner : match.start()].strip():
                outer = (opened[k].start, match.end())
                yield Quotation((opened[k].inner, match.start()), outer, words, k)
            del opened[k:]
        elif len(opened) < DEEPEST and _opens(mark, before, after) and not _is_dropped(text, match):
            opened.append(_Open(mark, match.start(), match.end()))
    yield from _left_open(text, opened, paragraph.start() if paragraph else len(text))


def _opens(mark: str, before: str, after: str) -> bool:
    if mark not in _CLOSING:
        return False
    if mark in ("\u201d", "\u2019", "\u00bb", "\u203a") and not (before == "" or before.isspace()):
        return False
    return bool(after) and not after.isspace() and after not in _NO_BEGINNING and not before.isalnum()


def _is_dropped(text: str, match: re.Match[str]) -> bool:
    """Whether a single mark stands for letters that are left out: '29, 'em, 'tis."""
    return match.group() in _SINGLE and _DROPPED.match(text, match.end()) is not None


def _closes(opened: list[_Open], mark: str, before: str, text: str, end: int) -> int | None:
    """The index of the innermost open quotation that a mark closes, or ``None``."""
    if before.isspace() and mark in _EITHER and (mark in _SINGLE or _opens(mark, before, text[end : end + 1])):
        return None
    for k in range(len(opened) - 1, -1, -1):
        if not _ends(opened[k].mark, mark):
            continue
        if mark in _SINGLE and (text[end : end + 1].isalnum() or _is_possessive(text, end, mark)):
            return None
        return k
    return None


def _ends(opening: str, mark: str) -> bool:
    closing = _CLOSING[opening]
    return mark == closing or (len(mark) == 1 and mark in closing) or (opening == "``" and mark == "''")


def _is_possessive(text: str, end: int, mark: str) -> bool:
    """Whether a mark is the apostrophe of a plural: a word goes on behind it, and another mark closes soon."""
    if text[end - 2 : end - 1] not in ("s", "S", "z", "x") or mark == "`":
        return False
    if not re.match(r" [^\W\d_]", text[end : end + 2]):
        return False
    following = re.search(r"[\w.,;:!?)][\'\u2019](?!\w)", text[end : end + 600].split("\n", 1)[0])
    opening = re.search(r"(?<!\w)[\'\u2018](?=\w)", text[end : end + 600])
    return following is not None and (opening is None or following.start() < opening.start())


def _left_open(text: str, opened: list[_Open], end: int) -> Iterator[Quotation]:
    """What nothing closes: up to the end of its sentence, and only if a verb of saying or a colon leads to it."""
    for opening in opened[:1]:
        if _LEADS.search(text, max(0, opening.start - 40), opening.start):
            stop = _SENTENCE.search(text, opening.inner, end)
            end = stop.start() if stop else end
            yield Quotation((opening.inner, end), (opening.start, end), text[opening.inner : end], 0)


def _blocks(text: str) -> Iterator[Quotation]:
    for match in _BLOCK.finditer(text):
        words = re.sub(r"(?m)^[ \t]{0,3}>[> \t]*", "", match.group()).strip()
        if words:
            yield Quotation(match.span(), match.span(), words, 0)


def _italics(text: str) -> Iterator[Quotation]:
    for match in _ITALICS.finditer(text):
        start, end = match.span("words")
        yield Quotation((start, end), (match.start("mark"), match.end()), match["words"], 0)


def _bare(text: str) -> Iterator[Quotation]:
    for match in _BARE.finditer(text):
        yield Quotation(match.span("words"), match.span("words"), match["words"], 0)


def _joined(text: str, found: list[Quotation]) -> list[Quotation]:
    """The same, but that outermost quotations with nothing between them are one."""
    kept: list[Quotation] = []
    last: int | None = None
    for quotation in found:
        if quotation.depth == 0 and last is not None:
            former = kept[last]
            between = text[former.outer[1] : quotation.outer[0]]
            if between.isspace() and "\n" not in between and len(former.text) < LONGEST_JOINED:
                kept[last] = Quotation(
                    (former.span[0], quotation.span[1]),
                    (former.outer[0], quotation.outer[1]),
                    f"{former.text} {quotation.text}",
                    0,
                )
                continue
        if quotation.depth == 0:
            last = len(kept)
        kept.append(quotation)
    return kept
