"""Quoted words and reported clauses in running text: what a text gives as the words of another.

"words", “words”, «words»                    a quotation, of five words and more a passage
clause 14.7 states, pursuant to Section 3    a reported clause
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

_QUOTED = re.compile(r"[\"\u201c\u00ab]([^\"\u201c\u201d\u00ab\u00bb]{12,})[\"\u201d\u00bb]")
QUOTED_WORDS = 5
"""The least words in quotation marks that are a passage and no defined term."""
_PLACE = (
    r"(?:(?:section|clause|article|paragraph|schedule|exhibit|annex|appendix) (?:\d[\w.()-]{0,12}|(?-i:[A-Z])\b)|"
    r"\u00a7 ?\d[\w.()-]{0,12})"
)
_SAYS = (
    r"(?:provide|state|say|read|require|limit|cap|exclude|permit|allow|prohibit|forbid|set|define|oblige|grant|impose|"
    r"entitle|give|make|waive|extend)s?"
)
_REPORTED = re.compile(
    rf"(?P<place>{_PLACE}),? (?:of (?:\w+ ){{1,4}})?(?:clearly |expressly |also |only |therefore )?{_SAYS}\b|"
    rf"\b(?:according to|as stated in|as required by|pursuant to) (?:the )?(?P<after>{_PLACE})".replace(
        " ", r"\s{1,8}"
    ),
    re.IGNORECASE,
)


def quotations(text: str) -> Iterator[Span]:
    """The spans of quoted words, without their quotation marks, in order."""
    yield from (match.span(1) for match in _QUOTED.finditer(text))


def passages(text: str) -> Iterator[Span]:
    """The quotations that are passages and no terms."""
    yield from (span for span in quotations(text) if len(text[slice(*span)].split()) >= QUOTED_WORDS)


def clauses(text: str) -> Iterator[Span]:
    """The names of clauses that a text says to state something, in order.

    Naming a clause is no report of its words: "Section 9 is silent on fines" has no words to quote.
    """
    for match in _REPORTED.finditer(text):
        yield match.span("place") if match["place"] else match.span("after")
