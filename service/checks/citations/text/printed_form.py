"""The printed form of a word, which shows names and code: no letter of them may differ.

    code     a word with a digit, @ _ \\ = or #, a point or a colon inside, a slash in front or two of them, two
             hyphens, a hyphen in front, a capital behind a small letter, or in backticks
    name     a capital, if the text prints the word in small letters nowhere near and it is no defined term; or a
             capital that the quotation alone has, between words that have none
    term     a capital behind "the", "such" and the like ("the Licence granted"), and no small letters near either: its
             letters count as in a name, but it has a spelling
    plain    any other word

With one other letter, an address, a path, a flag, an identifier or a name is another one.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from service.checks.patterns import lazily
from service.debate.neutral import INVISIBLE

_NEAR = 100_000
"""The code points on either side in which the same word in small letters shows that it is no name."""
_LONGEST_RUN = 200
_PARTING = r"\s()\[\]{}<>\"“”„«»‘’*,;!?|—–…"
_BEFORE = lazily(rf"[^{_PARTING}]*$")
_AFTER = lazily(rf"[^{_PARTING}]*")
_ENTITY = lazily(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,8}\d{0,2});?")
_CODE = lazily(
    r"[@\\=#$%~^+`\d_]|^/|/.*/|[^\W_][.:/]+[^\W_]+[.:/]|[^\W_][.:]+[^\W_]|-.*[^\W_]-[^\W_]|^-+[^\W_]|[^\W\dA-Z_][A-Z]"
)
_BROKEN = lazily(f"[{INVISIBLE}]")
_WORD_BEFORE = lazily(r"([^\W\d_]+(?:['’]s)?)[ \t\xa0]*\r?\n?[ \t\xa0]*[\"“‘'(]*$")
_WORD_AFTER = lazily(r"[ \t\xa0]*\r?\n?[ \t\xa0]*([^\W\d_]+)")
_LEADING = frozenset(
    "the this these those each every any such said its his her their our your a an all no both either neither "
    "some another applicable".split()
)
"""Words after which a single capital word is a defined term and not a name."""

HowPrinted = Literal["plain", "term", "name", "code"]


class Printed(NamedTuple):
    """A word as its text prints it: the text, and where the word begins and ends in it, in code points."""

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word itself."""
        return self.text[self.start : self.end]


def how_printed(theirs: Printed, ours: Printed) -> HowPrinted:
    """How a document and a quotation print a word in which they differ."""
    if is_code(theirs) or is_code(ours, "`_"):  # marks around words in the quotation alone are dress
        return "code"
    if theirs.word.islower():
        return "name" if _has_capital_alone(ours) else "plain"
    return _capital(theirs)


def is_code(at: Printed, dress: str = "") -> bool:
    """Whether a word is part of a piece of code; marks of ``dress`` around it do not count."""
    before, after = at.text[max(0, at.start - _LONGEST_RUN) : at.start], at.text[at.end : at.end + _LONGEST_RUN]
    before, after = _ENTITY.sub(" ", before), _ENTITY.sub(" ", after)
    head, tail = _BEFORE.search(before), _AFTER.match(after)
    run = (head[0] if head else "") + at.word + (tail[0] if tail else "")
    run = _BROKEN.sub("", run).strip(dress or None).lstrip(".:'").rstrip(".:'/-")
    plain = run.strip("_") if run[:1] == run[-1:] == "_" else run
    return _CODE.search(plain) is not None


def _capital(at: Printed) -> HowPrinted:
    """Whether a word that is not in small letters may be a name."""
    if not at.word[:1].isupper() or _is_printed_small(at):
        return "plain"
    before, after = _word_before(at), _word_after(at)
    leads = before.casefold() in _LEADING or before.endswith(("'s", "’s"))
    return "term" if leads and not after[:1].isupper() else "name"


def _has_capital_alone(at: Printed) -> bool:
    """Whether a word has a capital between two that have none."""
    return at.word[:1].isupper() and _word_before(at).islower() and (_word_after(at) or "x").islower()


def _is_printed_small(at: Printed) -> bool:
    """Whether the text has the word in small letters nearby, by itself."""
    small = re.compile(rf"(?<![\w@./-]){re.escape(at.word.lower())}(?![\w@/-]|\.\w)")
    return small.search(at.text, max(0, at.start - _NEAR), at.end + _NEAR) is not None


def _word_before(at: Printed) -> str:
    found = _WORD_BEFORE.search(at.text[max(0, at.start - 60) : at.start])
    return found[1] if found else ""


def _word_after(at: Printed) -> str:
    found = _WORD_AFTER.match(at.text[at.end : at.end + 60])
    return found[1] if found else ""
