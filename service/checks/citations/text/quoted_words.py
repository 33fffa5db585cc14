"""Quoted words in running text: what a text gives as the words of another.

    "…" '…' “…” ‘…’ „…“ «…» ‹…› »…« 「…」 `…`          quoted words; marks may be nested
    states “… and no end                            quoted up to the end of the sentence
    “the fees” “paid in” … “the year”               one quotation in pieces: nothing but blanks and dots stand between
    > …                                             a block quotation
    states: …, states *…*, in the words of clause 9: …   words that a mark, an emphasis, a bracket, a fence, a row of a
                                                    list or of a table sets off right behind a verb of saying;
    clause 9: *…*                                   emphasised words behind the name of a clause

The texts are in the plain notation of `markup`: no tags, no entities, one form of each mark. A single quotation mark
opens only before a word and behind none, so that apostrophes are none. One at the end of a word closes; at the end of a
plural (the parties' rights) it does so only if no other follows.

The work is linear: every mark is read once, and at most `DEEPEST` quotations are open at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from service.checks.citations.text.clause_names import PLACE
from service.checks.citations.text.markup import FENCE
from service.checks.patterns import lazily

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
    "`": "`",
}
"""By an opening mark, the marks that close it."""
_SINGLE = frozenset("'\u2018\u2019\u201a\u201b`")
_EITHER = frozenset("\"'\uff02\u201d\u2019\u00bb\u203a`")
"""Marks that both open and close, by what stands beside them."""
_DROPPED = lazily(r"(?:\d\ds?|em|tis|twas|til|cause|n|round|bout)\b(?![^\s.,;])", re.IGNORECASE)
_NO_BEGINNING = frozenset(",;:!?)]}")
_MARK = lazily(
    "[\"'\uff02\u201c\u201d\u201e\u2018\u2019\u201a\u201b\u00ab\u00bb\u2039\u203a"
    "\u300c\u300d\u300e\u300f\u301d\u301e\u301f`]"
)
_PARAGRAPH = lazily(r"\n[ \t\r]*\n|\Z")
_BLOCK = lazily(r"(?:^[ \t]{0,3}>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_SAID = r"(?:stat|provid|sa[iy]|read|requir|specif|declar|stipulat|note|confirm|word)\w*"
_LEADS = lazily(rf"(?:\b{_SAID}(?: that| as follows| verbatim| in full)?[:,]?|:)\s{{0,3}}\Z")
_LITERALLY = (
    r"(?: (?:as follows|verbatim|in full|word for word|literally|expressly|clearly|plainly|in terms|exactly|this))?"
)
_LEAD = lazily(
    r"(?P<lead>\b(?:states?|stated|reads?|says?|said|stipulates?|stipulated|(?:is|are|was) worded|(?:is|are) phrased|"
    r"goes|runs|(?P<weak>provides?|provided|requires?|required|declares?|declared|specifies|specified|confirms?|"
    rf"confirmed|notes?|noted)){_LITERALLY}"
    r"|\b(?:in|to use|to quote|quoting|these are|following) (?:the )?(?:\w+ )?(?:words?|language|text|wording|"
    r"terms) of "
    r"[^,.:;!?\n]{1,40}(?:\.\d+)*|\b(?:the|its|their|whose) (?:\w+ )?(?:words|language|text|"
    r"wording) (?:of [^,:;!?\n]{1,40} )?"
    r"(?:is|are|was|were|runs?|reads?)|\b(?:to quote|quoting|I quote|we quote|quote|verbatim|word for word)"
    r"(?: (?:from )?[^,:;!?\n]{1,40})?"
    rf"|{PLACE}[)\]]?(?=:\s{{1,3}}[*_]{{1,3}}\w))"
    r"(?P<set>[^\w\"'\u201c\u201d\u2018\u201e\u201a\u00ab\u00bb\u2039\u203a\u300c\u300e`&$\u20ac\u00a3%>]{1,40}"
    r"(?:(?<=\n)[ \t]*\(?(?:\d{1,3}|[a-z])[.)][ \t]+)?)(?=[^\W_])",
    re.IGNORECASE,
)
"""A verb of saying, a phrase that announces words or a clause before emphasis, and what sets words off behind it."""
_SETS_OFF = lazily(
    "[^\\w ,.!?;)\\]\u2026\"'\u201c\u201d\u2018\u201e\u201a\u00ab\u00bb\u2039\u203a\u300c\u300e`&$\u20ac\u00a3%>]"
)
"""What may stand first among marks that set words off, or the end of a line, behind which a row of a list may."""
_ENDS = lazily(rf"[.;!?](?=[\s*)\]}}|{FENCE}]|\Z)|\n|\s\||\Z|{FENCE}")
_WHAT = lazily(r"\bwhat (?:[\w.]+ ){1,3}\Z", re.IGNORECASE)
"""What stands before a verb of a heading: what it says."""
_BEGINS = lazily(r"(?:\A|\n|[.;!?] ) ?\Z")
"""What stands before a word that begins a sentence: notes: …, which is a label and no verb."""
_MIRRORED = {"*": "*", "(": ")", "[": "]", "{": "}", "<": ">", "|": "|", "/": "/", "=": "=", "~": "~", "^": "^"}
_DASHES = frozenset("-\u2013\u2014\u2015\u2012")
_ROW = lazily(
    r"[ \t]*(?:[-*+\u2022\u2013]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]+(?P<words>[^\W_][^\n]{0,2000})", re.IGNORECASE
)
_LONGEST_SET_OFF = 2_000
_SENTENCE = lazily(r"[.;!?](?=\s|\Z)|\n")
_DOTS = lazily(r"\.\.|\u2026")
_BETWEEN = lazily(r"[\s.\u2026\[\]()+*\u2013\u2014-]*")


class Quotation(NamedTuple):
    """Quoted words: ``span`` is without the marks around them, ``outer`` is with them.

    ``text`` has the words of one that stands in pieces without the marks between; ``depth`` counts the quotations that
    it stands in. ``in_marks`` is false for words that only their place behind a verb of saying sets off.
    """

    span: Span
    outer: Span
    text: str
    depth: int
    in_marks: bool = True

    @property
    def words(self) -> int:
        """The number of its words."""
        return len(self.text.split())


class _Open(NamedTuple):
    mark: str
    start: int
    inner: int


def quotations(text: str) -> list[Quotation]:
    """The quoted words of a plain text, in order; one that stands in another follows it."""
    found = [*_marked(text), *_blocks(text), *_set_off(text)]
    found.sort(key=lambda quotation: (quotation.outer[0], not quotation.in_marks, -quotation.outer[1]))
    kept: list[Quotation] = []
    reach = -1
    for quotation in found:  # what stands in quotation marks is no bare or block quotation too
        if quotation.depth == 0 and quotation.outer[0] < reach:
            continue
        if quotation.depth == 0 and quotation.in_marks:
            reach = quotation.outer[1]
        kept.append(quotation)
    return _joined(text, kept)


def passages(text: str) -> Iterator[Quotation]:
    """The quotations that are passages and no terms."""
    found = (quotation for quotation in quotations(text) if len(quotation.text) >= LEAST_CHARACTERS)
    return (quotation for quotation in found if quotation.words >= QUOTED_WORDS)


def _marked(text: str) -> Iterator[Quotation]:
    """What stands between quotation marks."""
    if _MARK.search(text) is None:
        return
    opened: list[_Open] = []
    paragraph = _PARAGRAPH.search(text)
    for match in _MARK.finditer(text):
        while paragraph and match.start() >= paragraph.end() and paragraph.end() < len(text):
            yield from _left_open(text, opened, paragraph.start())
            opened.clear()
            paragraph = _PARAGRAPH.search(text, paragraph.end())
        mark = match.group()
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
        if mark not in _CLOSING[opened[k].mark]:
            continue
        if mark in _SINGLE and (text[end : end + 1].isalnum() or _is_possessive(text, end, mark)):
            return None
        return k
    return None


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
    for match in _BLOCK.finditer(text) if ">" in text else ():
        words = re.sub(r"(?m)^[ \t]{0,3}>[> \t]*", "", match.group()).strip()
        if words:
            yield Quotation(match.span(), match.span(), words, 0)


def _set_off(text: str) -> Iterator[Quotation]:
    """What stands behind a verb of saying, apart from its sentence."""
    done = 0
    for lead in _LEAD.finditer(text) if _may_set_off(text) else ():
        setting, start = lead["set"], lead.end()
        weak = lead["weak"] is not None
        ahead = text[max(0, lead.start() - 40) : lead.start()]
        is_label = (weak and _BEGINS.search(ahead)) or _WHAT.search(ahead)
        if start < done or is_label or not _sets_off(setting, weak=weak, announced=lead["lead"]):
            continue
        end = done = _end_of(text, setting, start)
        if end > start:
            yield _bare(text, lead.end("lead"), start, end)
        if "\n" in setting:  # the other rows of a list
            while row := _ROW.match(text, text.find("\n", done) + 1 or len(text)):
                done = row.end()
                yield _bare(text, lead.end("lead"), row.start("words"), _end_of(text, "", row.start("words")))


def _bare(text: str, verb: int, start: int, end: int) -> Quotation:
    """Words that are set off behind the verb that ends at ``verb``: their sentence begins before it."""
    return Quotation((start, end), (verb, end), text[start:end], 0, in_marks=False)


def _may_set_off(text: str) -> bool:
    """Whether a text has what `_sets_off` asks for: sooner seen than each verb of saying is."""
    return _SETS_OFF.search(text) is not None or "words of" in text


def _sets_off(setting: str, *, weak: bool, announced: str) -> bool:
    """Whether what stands between a verb and words sets these off; a blank, a comma or the sentence's end does not."""
    marks = setting.strip(" \t\r\n,")
    if not marks:
        return "," in setting and " words of " in f"{announced} "
    if weak and "\n" in setting and not announced.endswith(("follows", "verbatim", "full", "word")):
        return False
    closes = setting[-1].isspace() and ":" not in setting and marks in ("*", ")", "]", ".", "!", "?", ";", "...")
    return not closes and marks[0] not in ".!?;)]\u2026"


def _end_of(text: str, setting: str, start: int) -> int:
    """Where words that are set off end: at the mark that answers the one before them, or with their sentence."""
    closing = FENCE if FENCE in setting else _MIRRORED.get(setting[-1:], "")
    if closing:
        end = text.find(closing, start, start + _LONGEST_SET_OFF)
        if end >= 0 and closing in ")]}/>" and re.match(r"[^\w\n.;]{0,3}[\w,]", text[end + 1 : end + 5]):
            return start  # a parenthesis: the policy says (rightly) that
        if end >= 0:
            return start + len(text[start:end].rstrip())
    found = _ENDS.search(text, start, start + _LONGEST_SET_OFF)
    end = found.start() if found else min(len(text), start + _LONGEST_SET_OFF)
    dash = next((char for char in setting if char in _DASHES), None)
    if dash and ":" not in setting and "\n" not in setting and f" {dash} " in f"{text[start:end]} ":
        return start  # a parenthesis: the policy says - rightly - that
    return end


def _joined(text: str, found: list[Quotation]) -> list[Quotation]:
    """The same, but that outermost quotations with nothing between them are one."""
    kept: list[Quotation] = []
    last: int | None = None
    for quotation in found:
        if quotation.depth == 0 and quotation.in_marks and last is not None:
            former = kept[last]
            between = text[former.outer[1] : quotation.outer[0]]
            if _joins(between) and len(former.text) < LONGEST_JOINED:
                kept[last] = Quotation(
                    (former.span[0], quotation.span[1]),
                    (former.outer[0], quotation.outer[1]),
                    f"{former.text}{' ... ' if _DOTS.search(between) else ' '}{quotation.text}",
                    0,
                )
                continue
        if quotation.depth == 0 and quotation.in_marks:
            last = len(kept)
        kept.append(quotation)
    return kept


def _joins(between: str) -> bool:
    """Whether what stands between two quotations makes them pieces of one: blanks and dots, on one line."""
    return bool(between) and "\n" not in between and _BETWEEN.fullmatch(between) is not None and between.strip() != "."
