"""How a claim is meant: yes or no, the strength of a duty, and how far it extends.

    answer      "Yes" or "No" before the first comma or full stop
    duties      permission    may, can, is entitled to, at its option
                obligation    must, shall, has to, is required to
                exemption     need not, does not have to, is not obliged to
                prohibition   may not, must not, cannot
    universal   always, all, every, without exception
    only        the words to which "only" limits the claim: those behind it, or the one before it at the end of a part
    excepts     except, save for, other than, unless

"Should", "might" and "could" are no duties: texts use them for advice and for doubt.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from service.checks.citations.text.cue_words import is_negation
from service.checks.citations.text.tokens import TextTokens
from service.checks.patterns import lazily

PERMISSION, OBLIGATION, EXEMPTION, PROHIBITION = "permission", "obligation", "exemption", "prohibition"
_CONFLICTS = tuple(
    map(
        frozenset,
        ((PERMISSION, OBLIGATION), (OBLIGATION, EXEMPTION), (EXEMPTION, PROHIBITION), (PERMISSION, PROHIBITION)),
    )
)
_BOUND = r"(?:required|obliged|obligated|bound|compelled) to"
_FREE = r"(?:permitted|allowed|entitled|free|authorized|authorised) to"
_DUTIES = (
    (PROHIBITION, rf"(?:may|must|shall|can) (?:not|never)|cannot|mustn't|can't|not (?:be )?{_FREE}|no right to"),
    (
        EXEMPTION,
        (
            rf"need not|needn't|(?:not|\w+n't) (?:have|need) to|(?:not|never|\w+n't) (?:be )?{_BOUND}"
            r"|no (?:duty|obligation|need) to|without (?:duty|obligation) to"
        ),
    ),
    (OBLIGATION, rf"must|shall|(?:has|have|having) to|{_BOUND}|(?:duty|obligation) to|needs to|mandatory|compulsory"),
    (
        PERMISSION,
        (
            rf"may|can(?! be)|{_FREE}|(?:right|liberty|discretion|option) to|optional|optionally"
            r"|at (?:its|their) (?:own |sole )?(?:discretion|option)"
        ),
    ),
)
"""In this order: words that one duty has read, no later one reads again."""
_DUTY = tuple((name, lazily(rf"(?<!\S)(?:{words})(?!\S)")) for name, words in _DUTIES)
_UNIVERSAL = lazily(
    r"(?<!\S)(?:always|invariably|unconditionally|without exceptions?|in (?:all|every|any) (?:cases?|circumstances?)"
    r"|at all times|all|every|entirely|wholly)(?!\S)"
)
_ONLY = lazily(r"(?<!\S)(?:only|solely|exclusively)(?!\S)")
_EXCEPTS = lazily(
    r"(?<!\S)(?:except(?:ing)?|save (?:for|in|that|where)|other than|apart from|excluding|unless|aside from|barring"
    r"|with the exception of)(?!\S)"
)
_OPENER = lazily(r"\W*(yes|no)\s*(?:[,.;:!-]|$)")
_JOINING = frozenset("and or but nor".split())
_LONGEST_FOCUS = 4
_PAUSES = frozenset(",.;:()")


class Sense(NamedTuple):
    """How one claim is meant; ``only`` is empty if nothing limits it."""

    answer: str = ""
    duties: frozenset[str] = frozenset()
    is_universal: bool = False
    only: tuple[str, ...] = ()
    excepts: bool = False


def opener(folded: str) -> str:
    """``yes`` or ``no`` where a text begins with it; empty otherwise."""
    found = _OPENER.match(folded)
    return found.group(1) if found else ""


class SenseReader:
    """Reads the sense from the tokens of a claim; ``read_at`` are the tokens that it, or a rule before it, has read."""

    def __init__(self, text: str, tokens: TextTokens, read_at: set[int]) -> None:
        self._text, self._tokens, self._read_at = text, tokens, read_at
        self._joined = " ".join(tokens.texts)
        self._at = {}
        at = 0
        for i, word in enumerate(tokens.texts):
            self._at[at] = i
            at += len(word) + 1

    def read(self, answer: str) -> Sense:
        """The sense of a claim that begins with this answer."""
        duties = frozenset(name for name, words in _DUTY for _ in self._taken(words))
        universal = [at for at in self._taken(_UNIVERSAL, whole=True) if not self._is_turned(at[0])]
        only = [at[0] for at in self._found(_ONLY) if not self._is_turned(at[0])]
        self._read_at.update(i for i in only if self._tokens.texts[i] != "only")
        focus = tuple(word for i in only for word in self._focus(i))
        return Sense(answer, duties, bool(universal), focus, bool([*self._found(_EXCEPTS)]))

    def _found(self, words: re.Pattern[str]) -> Iterator[range]:
        """The tokens of each match that no rule has read."""
        for match in words.finditer(self._joined):
            first = self._at[match.start()]
            if first not in self._read_at:
                yield range(first, first + len(match.group().split()))

    def _taken(self, words: re.Pattern[str], *, whole: bool = False) -> list[range]:
        """The same, which are read from then on; negations in them still count, unless the phrase is taken whole."""
        found = [*self._found(words)]
        for at in found:
            self._read_at.update(i for i in at if whole or not is_negation(self._tokens.texts[i]))
        return found

    def _is_turned(self, i: int) -> bool:
        """Whether a negation, or the "at" of "at all", stands before a token."""
        before = self._tokens.texts[i - 1] if i else ""
        return is_negation(before) or (before == "at" and self._tokens.texts[i] == "all")

    def _focus(self, i: int) -> Sequence[str]:
        behind = [*self._part(range(i + 1, len(self._tokens.texts)))]
        return behind or [*self._part(range(i - 1, -1, -1))][:1]

    def _part(self, places: range) -> Iterator[str]:
        """The words from a place to the next pause, in the direction of the range."""
        for k, i in enumerate(places):
            left = min(i, i - places.step)
            between = self._text[self._tokens.ends[left] : self._tokens.starts[left + 1]]
            if k >= 2 * _LONGEST_FOCUS or self._tokens.texts[i] in _JOINING or not _PAUSES.isdisjoint(between):
                return
            yield self._tokens.texts[i]


def conflict(here: Collection[str], there: Collection[str]) -> bool:
    """Whether two claims on one matter put duties of other strengths, and no common one."""
    return not set(here) & set(there) and any({one, other} in _CONFLICTS for one in here for other in there)
