"""Clauses that a text names in words, and documents that it names and that were never given.

    Section ninety-nine, clause twelve       as section 99, clause 12
    the fourteenth clause                    as clause 14, by its number or by its place
    the Side Letter of 3 May says            a document with a name of its own, none of which stands in a title, in the
                                             question or at the beginning of a document

English only. Laws are no documents of the case: they are never given, and often rightly named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from service.checks.citations.text.document import Document
from service.checks.patterns import lazily
from service.checks.texts.clause_reports import SAID_OF

Span = tuple[int, int]

_UNITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
              "twelve": "twelfth"}  # fmt: skip


def _ordinal(cardinal: str) -> str:
    head, _, last = cardinal.rpartition("-")
    word = _IRREGULAR.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return f"{head}-{word}" if head else word


_CARDINALS = [*_UNITS, *_TEENS, *(w for t in _TENS for w in (t, *(f"{t}-{u}" for u in _UNITS)))]
_NUMBERS = {word: n for n, word in enumerate(_CARDINALS, start=1)}
_PLACES = {_ordinal(word): n for word, n in _NUMBERS.items()}
_KIND = r"(?P<kind>clause|section|article|schedule|annex|appendix|chapter|paragraph)"


def _any_of(words: Sequence[str]) -> str:
    return "|".join(word.replace("-", "[- ]") for word in sorted(words, key=len, reverse=True))


_IN_WORDS = lazily(rf"\b{_KIND} (?P<number>{_any_of(list(_NUMBERS))})\b(?![- ](?:of|or|and|to) )", re.IGNORECASE)
_BY_PLACE = lazily(rf"\bthe (?P<number>{_any_of(list(_PLACES))}) (?P<kind>clause|section|article)\b", re.IGNORECASE)
_NOUNS = (
    "Letter Agreement Addendum Amendment Annex Memorandum Memo Report Policy Protocol Notice Deed Guarantee Opinion "
    "Certificate Schedule Exhibit Charter Handbook Manual Review Minutes Undertaking Contract Note"
).split()
_NOUN = f"(?:{'|'.join(_NOUNS)})"
_MAY_BE_DOCUMENT = lazily(_NOUN)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATED = rf"(?: (?:of|dated) (?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{4}})?)"
_DOCUMENT = lazily(
    rf"(?P<lead>\b(?:[Aa]ccording to|[Uu]nder|[Pp]ursuant to|[Pp]er|[Bb]y) (?:the |its |"
    rf"their )?)?(?P<name>(?:(?!The |This |That |Its |Their |Our |An? |In |Under |As |By |If |But |And |So |"
    rf"Yet )\b[A-Z][\w&-]{{1,40}} ){{1,4}}"
    rf"{_NOUN}{_DATED}?|\b{_NOUN}{_DATED})"
    rf"(?(lead)|(?={SAID_OF.pattern}))",
)
_WORD = lazily(r"[^\W\d_]{3,}")
_MOST_NAMES = 200
"""The most names that are looked up in one text: any further one counts as strange."""


def in_words(text: str) -> Iterator[tuple[Span, str]]:
    """The clauses whose numbers a text names in words, with their names in digits."""
    for found in _IN_WORDS.finditer(text):
        yield found.span(), f"{found['kind']} {_NUMBERS[_joined(found['number'])]}"


def by_place(text: str) -> Iterator[tuple[Span, str, int]]:
    """The clauses that a text names by their place, with their names in digits, and the place."""
    for found in _BY_PLACE.finditer(text):
        n = _PLACES[_joined(found["number"])]
        yield found.span(), f"{found['kind']} {n}", n


def places_of(document: Document) -> int:
    """How many parts a document may be said to have: those of its outline, or its lines."""
    return max(len(document.outline), sum(bool(line.strip()) for line in document.original.splitlines()))


def strange_documents(text: str, known: Sequence[str], documents: Iterable[str]) -> Iterator[Span]:
    """The documents which a text says to state something, and which were not given.

    ``known`` are the titles, the caller's texts and the beginnings of the documents: one that has all words of the name
    is meant by it. These and the ``documents`` are all that may mention it in full.
    """
    matches = list(_DOCUMENT.finditer(text)) if _MAY_BE_DOCUMENT.search(text) else ()
    if not matches:
        return
    names = [frozenset(_WORD.findall(each.casefold())) for each in known]
    folded = [each.casefold() for each in (*known, *documents)]
    looked_up: dict[str, bool] = {}
    for found in matches:
        name = found["name"].casefold()
        if name not in looked_up and len(looked_up) < _MOST_NAMES:
            words = frozenset(_WORD.findall(name))
            looked_up[name] = any(words <= each for each in names) or any(name in each for each in folded)
        if not looked_up.get(name, False):
            yield found.span("name")


def _joined(number: str) -> str:
    return number.lower().replace(" ", "-")
