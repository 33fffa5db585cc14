"""Words beside a passage in its clause that turn or limit the quoted words.

    no | party shall be liable              a quotation may not begin behind a negation that governs its words
    does not, in any event, | guarantee     nor when other words stand between them: see `negations`
    the Company shall | not pay             nor end right before one, unless it ends with hardly
                                            more than a word of that clause
    shall be liable | unless …              it may end before a limit; a note reports that

The rule does not apply over a full stop, a semicolon or a line of its own: the words after "No." stand for themselves.
It does not apply over a comma either, except a pair of commas around a few words.
"""

from __future__ import annotations

from service.checks.citations.text.cue_words import BOUNDING, FOLLOWING
from service.checks.citations.text.fold import Folded
from service.checks.citations.verdict.negations import governing
from service.checks.patterns import lazily
from service.debate.findings import Edit

_WORD = r"[^\W\d_]+(?:'[^\W\d_]+)*"
_AFTER = lazily(rf"(?:[ \"'*_`-])*({_WORD})(?: ({_WORD}))?")
_NEVER_AFTER = lazily(
    r"[ ,\"'*_`-]*((?:in|under|at|on|by) no (?:event|case|way|circumstances?|time|account|means|manner|condition)s?)\b"
)
_NONE = frozenset("no none nothing nobody neither".split())
_OPEN_END = lazily(
    r"\b(?:of|to|for|by|with|from|on|in|at|is|are|was|were|has|have|had|makes?|gives?|assumes?|accepts?|bears?|pays?)$"
)
_LAST_CLAUSE = lazily(r"[.!?;:][\"')]* ")
_LONGEST_WORD = 40
_GOES_ON = 60
_BOUNDING = BOUNDING | frozenset("if provided subject until".split())


def cut_off(document: Folded, start: int, end: int) -> Edit | None:
    """The negation that a folded stretch leaves out before its first or after its last word, as an edit."""
    text = document.text
    while start < end and not (text[start].isalnum() or text[start] in "$("):
        start += 1
    if (before := governing(document, start, end)) is not None:
        return Edit("negation cut off", _printed(document, before, start), "")
    while end > start and text[end - 1] in " \"'*_`":
        end -= 1
    if end > start and text[end - 1] in ".,;:!?)]":
        return None
    after = _AFTER.match(text, end, end + _LONGEST_WORD)
    none_of_it = after and after[1] in _NONE and _OPEN_END.search(text, max(0, end - _LONGEST_WORD), end)
    is_negation = after is not None and (after[1] in FOLLOWING or none_of_it)
    follows = after if is_negation else _NEVER_AFTER.match(text, end, end + 2 * _LONGEST_WORD)
    if follows and len(_LAST_CLAUSE.split(text[max(start, end - 200) : end])[-1].split()) >= 3:
        return Edit("negation cut off", _printed(document, end, follows.end(1)), "")
    return None


def goes_on(document: Folded, end: int) -> str | None:
    """The continuation of the sentence, if a limit follows right after a folded offset."""
    text = document.text
    begins = end + (text[end : end + 1] == ",")
    after = _AFTER.match(text, begins, begins + _LONGEST_WORD) if text[end - 1] not in ".;:!?" else None
    if after is None or after[1] not in _BOUNDING:
        return None
    rest = _printed(document, after.start(1), min(len(text), after.start(1) + _GOES_ON))
    return " ".join(rest.split())


def _printed(document: Folded, start: int, end: int) -> str:
    first, last = document.reach(start, end)
    return document.original[first:last].strip()
