"""Whether a critique says that the planted argument is wrong: one rule for the flawed proposal and its sound twin.

It says *yes* when one of its points names the planted argument and, in that same point,

    cites       a verified quotation overlaps the decisive passage, by at least one code point, in its document; or
    states      the point's words have the decisive value, as a whole word or number, in any case and width

Code decides; no model judges. A point that attacks the right argument for another reason is no yes, and neither is a
quotation of the decisive passage against another argument. A value stands alone: "30 days" is not in "130 days", and
"1.5" is not in "11.5" or "1.52".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from service.debate.answer_keys import plain
from service.evaluation.scoring.observed_types import CritiqueMade, Passage, PointMade


class Planted(NamedTuple):
    """Where a flaw is, or would be: the argument's number, the decisive passage, and the decisive value if any."""

    argument: int
    document: str
    quote: str
    value: str | None


def says_yes(critique: CritiqueMade, planted: Planted, texts: Mapping[str, str]) -> bool:
    """Whether a critique names the planted argument on its decisive ground; ``texts`` are by document id."""
    spans = tuple(_places(planted.quote, texts.get(planted.document, "")))
    return any(
        planted.argument in point.attacks and (_cites(point, planted.document, spans) or _states(point, planted.value))
        for point in critique.points
    )


def _places(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Each place of the decisive passage, in code points of the document."""
    at = text.find(quote) if quote else -1
    while at >= 0:
        yield at, at + len(quote)
        at = text.find(quote, at + 1)


def _cites(point: PointMade, document: str, spans: tuple[tuple[int, int], ...]) -> bool:
    return any(
        passage.document == document and _overlaps(passage, start, end)
        for passage in point.passages
        for start, end in spans
    )


def _overlaps(passage: Passage, start: int, end: int) -> bool:
    return passage.start < end and start < passage.end


def _states(point: PointMade, value: str | None) -> bool:
    return bool(value) and _stands_alone(_words(value or ""), _words(point.text))


def _words(text: str) -> str:
    return " ".join(plain(text).split())


def _stands_alone(value: str, words: str) -> bool:
    """Whether a value stands anywhere neither within a word nor within a longer number.

    It is no regular expression: those are kept by their text, for all tenants, and this one would be of a golden set.
    """
    at = words.find(value)
    while at >= 0:
        before, after = words[max(0, at - 2) : at], words[at + len(value) : at + len(value) + 2]
        if not (_is_of_word(before[-1:]) or _is_of_word(after[:1]) or _goes_on(before) or _goes_on(after[::-1])):
            return True
        at = words.find(value, at + 1)
    return False


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _goes_on(signs: str) -> bool:
    """Whether these are a digit, and a point or comma beside the value."""
    return len(signs) == 2 and signs[0].isdecimal() and signs[1] in ".,"
