"""Numbers in digits or words: 1,500, 500 000, two hundred and fifty thousand, 1.5 million, two thirds of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from service.checks.citations.text.cue_words import NUMBERS, SCALES
from service.checks.consensus.measures import TIMES
from service.checks.consensus.vocabulary import (
    FRACTIONS,
    LONGEST_NUMBER,
    ONE_OF,
    PARTS,
    SCALE_VALUES,
    SHORT_SCALES,
    WORD_VALUES,
)


class Numerals:
    """The numbers among the tokens of a claim."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def _at(self, i: int) -> str:
        return self._texts[i] if 0 <= i < len(self._texts) else ""

    def read(self, i: int) -> tuple[Fraction | None, int]:
        """The number that begins at a token, and the place after it."""
        word = self._at(i)
        if len(word) <= LONGEST_NUMBER and re.fullmatch(r"\.?\d+(?:\.\d+)?", word):
            digits, i = word, i + 1
            while re.fullmatch(r"\d{3}", self._at(i)) and re.fullmatch(r"\d{1,9}", digits):
                digits, i = digits + self._at(i), i + 1  # 500 000
            return self._scaled(Fraction(f"0{digits}" if digits[0] == "." else digits), i)
        if word in FRACTIONS:
            return FRACTIONS[word], i + 1
        if (
            word in ("a", "an")
            and self._at(i - 1) in ONE_OF
            and self._at(i + 2) != "of"
            and stem_unit(self._at(i + 1)) in TIMES
        ):
            return Fraction(1), i + 1
        return self._parted(*self._spelled(i))

    def _parted(self, value: Fraction | None, i: int) -> tuple[Fraction | None, int]:
        """A number of parts of a whole: two thirds of the fees. Without "of", a quarter is three months."""
        at = i + 1 if self._at(i) == "-" else i
        if value is not None and self._at(at) in PARTS and self._at(at + 1) == "of":
            return value / PARTS[self._at(at)], at + 1
        return value, i

    def _scaled(self, value: Fraction, i: int) -> tuple[Fraction, int]:
        while (scale := SCALE_VALUES.get(self._at(i)) or SHORT_SCALES.get(self._at(i))) is not None:
            value, i = value * scale, i + 1
        return value, i

    def _spelled(self, i: int) -> tuple[Fraction | None, int]:
        """A number in words: two hundred and fifty thousand."""
        total = group = 0
        first = i
        if self._at(i) in ("a", "an") and self._at(i + 1) in SCALES:
            group, i = 1, i + 1
        while (word := self._at(i)) in NUMBERS or (
            word in ("and", "-") and i > first and (self._at(i + 1) in WORD_VALUES)
        ):
            if word in WORD_VALUES:
                group += WORD_VALUES[word]
            elif word in SCALE_VALUES:
                scale = SCALE_VALUES[word]
                group = (group or 1) * scale
                total, group = (total, group) if scale <= 100 else (total + group, 0)
            i += 1
        return (Fraction(total + group), i) if i > first else (None, first + 1)


def stem_unit(word: str) -> str:
    """A noun in the singular."""
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
