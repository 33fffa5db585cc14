"""What stands right beside a passage in its clause, when that turns or bounds the words quoted.

    no | party shall be liable             a quotation may not begin right after a negation that governs its words
    the Company shall | not pay            nor end right before one, unless it ends with hardly more than a
                                           word of that clause
    shall be liable | unless …             it may end before a limit; that is told in a note

Anything between them that parts clauses (a comma, a full stop, a bracket, a line of its own) lifts the rule: what
follows "No." or "unless otherwise agreed," stands for itself.
"""

from __future__ import annotations

import re

from service.citations.fold import Folded
from service.citations.words import BOUNDING, FOLLOWING, GOVERNING
from service.debate.findings import Edit

_WORD = r"[^\W\d_]+(?:'[^\W\d_]+)*"
_BEFORE = re.compile(rf"({_WORD})(?:[ \"'*_`-]|\(\")*$")
_AFTER = re.compile(rf"(?:[ \"'*_`-])*({_WORD})(?: ({_WORD}))?")
_LAST_CLAUSE = re.compile(r"[.!?;:][\"')]* ")
_LONGEST_WORD = 40
_GOES_ON = 60


def cut_off(document: Folded, start: int, end: int) -> Edit | None:
    """The negation that a folded stretch leaves out right before its first or after its last word, as an edit."""
    text = document.text
    while start < end and not (text[start].isalnum() or text[start] in "$("):
        start += 1
    if not _opens_line(document, start) and (before := _BEFORE.search(text, max(0, start - _LONGEST_WORD), start)):
        word = before[1]
        if word in GOVERNING or word.endswith("n't"):
            return Edit("negation cut off", _printed(document, before.start(), start), "")
    while end > start and text[end - 1] in " \"'*_`":
        end -= 1
    if end > start and text[end - 1] in ".,;:!?)]":
        return None
    after = _AFTER.match(text, end, end + _LONGEST_WORD)
    if after and after[1] in FOLLOWING and len(_LAST_CLAUSE.split(text[max(start, end - 200) : end])[-1].split()) >= 3:
        return Edit("negation cut off", _printed(document, end, after.end(1)), "")
    return None


def goes_on(document: Folded, end: int) -> str | None:
    """How the sentence goes on when a limit follows right after a folded offset."""
    text = document.text
    after = _AFTER.match(text, end, end + _LONGEST_WORD) if end < len(text) and text[end - 1] not in ".;:!?" else None
    if after is None or after[1] not in BOUNDING:
        return None
    rest = _printed(document, after.start(1), min(len(text), after.start(1) + _GOES_ON))
    return " ".join(rest.split())


def _opens_line(document: Folded, start: int) -> bool:
    """Whether an empty line stands between a stretch and what goes before it."""
    origin = document.reach(start, start + 1)[0] if start < len(document.text) else len(document.original)
    before = document.original[max(0, origin - 200) : origin]
    return "\n\n" in before[len(before.rstrip()) :].replace("\r", "")


def _printed(document: Folded, start: int, end: int) -> str:
    first, last = document.reach(start, end)
    return document.original[first:last].strip()
