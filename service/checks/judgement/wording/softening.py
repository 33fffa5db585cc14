"""Softening: what a critic grants, praises or belittles in its own voice, in many wordings.

Quoted words are never softening: a document may well say that the parties agree. A wording counts only where its
subject is the critic itself or the case under attack (the proposer, an argument, the reading, "this"), because a
contract may call a price fair and a copy correct. Agreement by double negation is read by `polarity`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple, get_args

from service.checks.judgement.wording.caseless import Caseless, in_small
from service.checks.judgement.wording.phrases import PARTS, PATTERNS
from service.checks.judgement.wording.polarity import agreements
from service.checks.patterns import lazily
from service.debate.whose import by_tenant

_QUOTED = lazily(
    r'"[^"]{0,2000}"|\u201c[^\u201d]{0,2000}\u201d|\u00ab[^\u00bb]{0,2000}\u00bb|\u2018[^\u2019]{0,2000}\u2019(?!\w)'
    r"|(?<![\w'])'[^']{3,2000}'(?!\w)"
)
QUOTE = "\u2026"
"""The sign in the place of a quotation."""
Reach = Literal["phrase", "clause", "sentence", "text"]
REACHES: tuple[Reach, ...] = get_args(Reach)
PHRASE_MAX = 120
"""The most characters of a recorded phrase."""
KEPT = 64
"""Of how many texts the findings are kept: the points of a critique are compared with the same attacked texts."""


def _pattern(alternatives: tuple[str, ...]) -> Caseless:
    pattern = "|".join(alternatives)
    while any(part in pattern for part in PARTS):
        for part, meaning in PARTS.items():
            pattern = pattern.replace(part, meaning)
    return Caseless(pattern)


@cache
def _soft() -> dict[str, Caseless]:
    """The patterns by kind, put together when a critique is first judged; compiling takes a twentieth of a second."""
    return {name: _pattern(alternatives) for name, alternatives in PATTERNS.items()}


_NOT_BEFORE = lazily(
    r"(?:\b(?:not|never|fails?\s+to|failed\s+to|failing\s+to|no|wrongly|hardly|nor|neither|nobody|nothing|cannot|without|why|whether|if|as\s+if|as\s+though|would|unless)|n't)"
    r"(?:\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
_DENIABLE = frozenset(
    {
        "grants",
        "isGood",
        "holds",
        "makesAGoodPoint",
        "rightly",
        "proposerIsRight",
        "hasAPoint",
        "largely",
        "agrees",
        "confirms",
    }
)
"""The kinds that a negation just before them turns round."""
_REACH: dict[str, Reach] = {
    "grants": "clause",
    "mustBeGranted": "clause",
    "granted": "clause",
    "toBeFair": "clause",
    "isTrue": "clause",
    "credit": "clause",
    "agrees": "clause",
    "compliments": "clause",
    "yields": "clause",
    "noChange": "sentence",
    "nothingElse": "text",
}
"""How much of the text says what the phrase grants; of other kinds the phrase alone."""


class Soft(NamedTuple):
    """A softening phrase, where it stands in the text, end exclusive, and how much around it belongs to it."""

    start: int
    end: int
    phrase: str
    reach: Reach


def unquoted(text: str) -> str:
    """The text on one line, with a sign in the place of each quotation."""
    return " ".join(_QUOTED.sub(QUOTE, text.replace("\n\n", " ; ").replace("\u2019", "'")).split())


@by_tenant(most=KEPT)
def softenings(plain: str) -> tuple[Soft, ...]:
    """Every softening phrase of a text without quotations, in its order; of overlapping ones the whole."""
    merged: list[Soft] = []
    for soft in sorted(_found(plain)):
        if merged and soft.start < merged[-1].end:
            before = merged.pop()
            end, reach = max(before.end, soft.end), max(before.reach, soft.reach, key=REACHES.index)
            merged.append(Soft(before.start, end, _phrase(plain[before.start : end]), reach))
        else:
            merged.append(soft)
    return tuple(merged)


def _found(plain: str) -> Iterator[Soft]:
    small = in_small(plain)
    for name, caseless in _soft().items():
        pattern, text = caseless.over(plain, small)
        for m in pattern.finditer(text):
            if name not in _DENIABLE or not _NOT_BEFORE.search(plain[max(0, m.start() - 40) : m.start()]):
                yield Soft(m.start(), m.end(), _phrase(plain[m.start() : m.end()]), _REACH.get(name, "phrase"))
    for start, end in agreements(plain):
        yield Soft(start, end, _phrase(plain[start:end]), "clause")


def _phrase(words: str) -> str:
    return " ".join(words.lower().split())[:PHRASE_MAX]
