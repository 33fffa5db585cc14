"""The names of clauses in running text: those that a text says to state something, and those that it rests on.

clause 14.7 states, Section 3 thus requires         a reported clause: its words are reported
according to clause 14.7, pursuant to § 3           the same
under clause 14.7, (clause 9), clause 14.7 puts     a clause that a statement rests on
clauses 9 and 14.7 say                              each of them
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.checks.patterns import lazily

Span = tuple[int, int]

_PLACE = (
    r"(?:(?:section|clause|article|paragraph|schedule|exhibit|annex|appendix) (?:\d[\w.()-]{0,12}|(?-i:[A-Z])\b)|"
    r"\u00a7 ?\d[\w.()-]{0,12})"
)
_SAYS = (
    r"(?:provide|state|say|read|require|limit|cap|exclude|permit|allow|prohibit|forbid|set|define|oblige|grant|impose|"
    r"entitle|give|make|waive|extend)s?"
)
_REPORTED = lazily(
    rf"(?P<place>{_PLACE}),? (?:of (?:\w+ ){{1,4}})?(?:clearly |expressly |also |only |therefore )?{_SAYS}\b|"
    rf"\b(?:according to|as stated in|as required by|pursuant to) (?:the )?(?P<after>{_PLACE})".replace(
        " ", r"\s{1,8}"
    ),
    re.IGNORECASE,
)

_NUMERAL = r"(?:\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?\b|(?-i:[IVXLC]{1,7}|[A-Z](?:-?\d{1,3}(?:\.\d{1,3}){0,4})?)\b)"
_ITEMS = r"(?: ?\((?:[a-z]{1,2}|[ivxl]{1,6}|\d{1,2})\)){0,4}"
_WORD = (
    r"(?:sub-?)?(?:sections?|clauses?|articles?|paragraphs?|schedules?|exhibits?|annex(?:es)?|appendix|appendices|chapters?|"
    r"recitals?|findings?(?= [A-Z]\d)|actions?|recommendations?|requirements?|sec\.|cl\.|art\.|para\.)"
)
PLACE = rf"(?:(?<!\w){_WORD}\s{{1,3}}|\u00a7{{1,2}}\s{{0,3}})(?:no\. ?)?{_NUMERAL}{_ITEMS}"
"""The name of a clause, as a regular expression that does not look at letters' case."""
_NAMED = lazily(
    rf"(?<!\w)(?P<word>{_WORD}|\u00a7{{1,2}})\s{{0,3}}(?:no\. ?)?(?P<numeral>\(\d{{1,2}}\)|{_NUMERAL}{_ITEMS})"
    rf"(?P<others>(?:(?:,| and| or| to| &|, and) {_NUMERAL}{_ITEMS}){{0,8}})",
    re.IGNORECASE,
)
_OTHER = lazily(_NUMERAL + _ITEMS, re.IGNORECASE)
_KINDS = (
    *("ction", "clause", "article", "paragraph", "schedule", "exhibit", "annex", "appendi", "chapter", "recital"),
    *("finding", "recommendation", "requirement", "sec.", "cl.", "art.", "para."),
)
"""Strings of which every name of a clause in ASCII holds one in small letters."""


def may_name(text: str) -> bool:
    """Whether a text may name a clause, in figures or in words: sooner seen than the name is."""
    return not text.isascii() or any(map(text.lower().__contains__, _KINDS))


def clauses(text: str) -> Iterator[Span]:
    """The clauses that a text says to state something, in order.

    Naming a clause is no report of its words: "Section 9 is silent on fines" has no words to quote.
    """
    for match in _REPORTED.finditer(text):
        yield match.span("place") if match["place"] else match.span("after")


def named(text: str) -> Iterator[tuple[Span, str]]:
    """Every clause that a text names, with its place in the text and its name in full, in order."""
    for match in _NAMED.finditer(text):
        yield match.span(), f"{match['word']} {match['numeral']}"
        at = match.start("others")
        for other in _OTHER.finditer(match["others"]):
            if other.group() == "I" and match["numeral"][0].isdigit():
                continue  # the author: section 2, and I agree
            yield (at + other.start(), at + other.end()), f"{match['word']} {other.group()}"
