"""What a screener names, joined with what the rules find.

    a quotation that stands in a text that the screener was shown     a suspicion by the screener, at its first place
    one that overlaps a suspicion of the rules                        the rules' suspicion, by both
    quotations that overlap each other alone                          one suspicion over all of them
    one that stands nowhere, or has too few letters to be found by    counted, and never trusted as a place
    suspicious, without any place                                     the whole case is suspected

A quotation is looked for as it is, first in the text that the screener names and then in all others; then without
regard to white space, case, compatibility forms (NFKD) and characters that do not show. What the rules found stays as
it was: a screener reads hostile text, and a text may tell it to report nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, get_args

from msgspec.structs import replace

from service.checks.injection.fields import FieldText
from service.checks.injection.rules import words_of
from service.debate.replies import ScreenedPassage, Screening
from service.debate.replies.screening import ShownField
from service.debate.suspicions import InjectionFound, Suspicion

LETTERS_MIN = 4
"""The least number of letters and digits in a quotation: fewer stand anywhere."""
_SHOWN = frozenset(get_args(ShownField))
_INVISIBLE = frozenset(("Cc", "Cf"))


def merge(found: InjectionFound, texts: Sequence[FieldText], screening: Screening | None) -> InjectionFound:
    """The rules' finding with what the screener names; ``texts`` are those that the rules read, in their order."""
    if screening is None:
        return found
    search, merged, unlocated = _Search(texts), list(found.suspicions), 0
    for passage in screening.passages:
        place = search.find(passage)
        if place is None:
            unlocated += 1
        else:
            _note(merged, place, passage)
    order = {(text.field, text.name): n for n, text in enumerate(texts)}
    merged.sort(key=lambda one: (order.get((one.field, one.name), len(order)), one.span))
    suspected = found.suspected or screening.suspects
    return replace(found, suspicions=tuple(merged), suspected=suspected, unlocated=found.unlocated + unlocated)


class _Place(NamedTuple):
    """A passage in a stored text."""

    text: FieldText
    span: tuple[int, int]


def _note(merged: list[Suspicion], place: _Place, passage: ScreenedPassage) -> None:
    """Add a passage, or note with the suspicions that it overlaps that the screener names it too."""
    text, span = place
    same = [n for n, one in enumerate(merged) if (one.field, one.name) == text[:2] and _overlap(one.span, span)]
    for n in same:
        if merged[n].by == "rules":
            merged[n] = replace(merged[n], by="both")
    if all(merged[n].by == "screener" for n in same):
        family = merged[same[0]].family if same else passage.family
        spans = (span, *(merged.pop(n).span for n in reversed(same)))
        span = min(begin for begin, _ in spans), max(end for _, end in spans)
        merged.append(Suspicion(text.field, span, family, words_of(text.text, span), text.name, by="screener"))


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


class _Search:
    """Looks for quotations in the texts that a screener was shown; a text is folded once, and only when it must be."""

    def __init__(self, texts: Sequence[FieldText]) -> None:
        self._texts = [text for text in texts if text.field in _SHOWN]
        self._folded: dict[int, tuple[str, list[int]]] = {}

    def find(self, passage: ScreenedPassage) -> _Place | None:
        """The first place of a quotation; ``None`` if it stands nowhere."""
        if sum(map(str.isalnum, passage.quote)) < LETTERS_MIN:
            return None
        named = [n for n, text in enumerate(self._texts) if text[:2] == (passage.field, passage.name)]
        order = [*named, *(n for n in range(len(self._texts)) if n not in named)]
        for n in order:
            if (at := self._texts[n].text.find(passage.quote)) >= 0:
                return _Place(self._texts[n], (at, at + len(passage.quote)))
        wanted = _folded(passage.quote)[0].strip()
        for n in order if wanted else ():
            folded, places = self._fold(n)
            if (at := folded.find(wanted)) >= 0:
                return _Place(self._texts[n], (places[at], places[at + len(wanted) - 1] + 1))
        return None

    def _fold(self, n: int) -> tuple[str, list[int]]:
        if n not in self._folded:
            self._folded[n] = _folded(self._texts[n].text)
        return self._folded[n]


def _folded(text: str) -> tuple[str, list[int]]:
    """A text without case, forms and invisible characters, with one space for white space; and each character's place.

    Characters are decomposed one by one, so that every folded one has the place of a stored one.
    """
    parts, places, blank = list[str](), list[int](), False
    for place, character in enumerate(text):
        folded = _fold_character(character)
        if folded == " " and blank:
            continue
        if folded:
            parts.append(folded)
            places += [place] * len(folded)
            blank = folded == " "
    return "".join(parts), places


@lru_cache(maxsize=16_384)
def _fold_character(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character) in _INVISIBLE:
        return ""
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
