"""The two sides of an alignment: the document's tokens and the quotation's, and the omissions that each allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from service.checks.citations.match.alignment import Alignment, Block
from service.checks.citations.text.document import Document
from service.checks.citations.text.fold import Folded
from service.checks.citations.text.lexicon import is_english, is_listed
from service.checks.citations.text.list_marks import is_footnote_mark, is_list_mark
from service.checks.citations.text.printed_form import HowPrinted, Printed, how_printed
from service.checks.citations.text.tokens import TextTokens, is_markup

_LONGEST_LINE = 400
_AROUND = 100
"""The number of words on either side of a passage that show its language, if its own words do not."""


@dataclass(slots=True)
class Sides:
    """An alignment and its document, with questions about their tokens; ``slips`` counts the slips found so far."""

    alignment: Alignment
    document: Document
    is_elsewhere: Callable[[str], bool]
    slips: int = 0
    _english: dict[str, bool] = field(default_factory=dict)

    @property
    def theirs(self) -> TextTokens:
        return self.alignment.source

    @property
    def ours(self) -> TextTokens:
        return self.alignment.quote.tokens

    def printed_theirs(self, places: Sequence[int]) -> str:
        return printed(self.theirs, places, self.document.folded)

    def printed_ours(self, places: Sequence[int]) -> str:
        return printed(self.ours, places, self.alignment.quote.folded)

    def how_printed(self, theirs: Sequence[int], ours: Sequence[int]) -> HowPrinted:
        """Whether two words that differ are plain ones, a name, or a piece of code."""
        folded = self.alignment.quote.folded
        there = _reach(self.theirs, theirs, self.document.folded)
        here = _reach(self.ours, ours, folded)
        return how_printed(Printed(self.document.original, *there), Printed(folded.original, *here))

    def reading(self, how: HowPrinted, word: str, as_printed: str) -> Literal["plain", "term", "name"]:
        """The kind of a document's word that is no code, for judging a letter that differs."""
        if how == "term":
            return "term"
        plain = how == "plain" and (as_printed.islower() or is_listed(word)) and self.is_english_passage()
        return "plain" if plain else "name"

    def is_free_of_theirs(self, i: int) -> bool:
        """Whether a true quotation may leave out a token of the document."""
        return is_markup(self.theirs.texts[i]) or self._is_furniture(i) or self.is_aside(i)

    def is_aside(self, i: int) -> bool:
        """Whether a token of the document is the mark of a list item or of a footnote."""
        span = self.document.folded.reach(self.theirs.starts[i], self.theirs.ends[i])
        text = self.document.original
        return span[1] - span[0] < 6 and (is_list_mark(text, *span) or is_footnote_mark(text, *span))

    def is_free_of_ours(self, j: int) -> bool:
        """Whether a true quotation may have a token that the document does not have."""
        return is_markup(self.ours.texts[j])

    def are_lines(self, places: Sequence[int]) -> bool:
        """Whether tokens of the document fill their lines."""
        text = self.document.original
        start, end = self.document.folded.reach(self.theirs.starts[places[0]], self.theirs.ends[places[-1]])
        before, after = text[max(0, start - _LONGEST_LINE) : start], text[end : end + _LONGEST_LINE]
        return not any(map(str.isalnum, re.split("[\n\f]", before)[-1] + re.split("[\n\f]", after)[0]))

    def _is_furniture(self, i: int) -> bool:
        return self.document.is_furniture(self.theirs.starts[i], self.theirs.ends[i])

    def has_cut(self, first: int, last: int) -> bool:
        """Whether an ellipsis stands before one of the quotation's tokens from ``first`` to ``last``."""
        cuts = self.alignment.quote.cuts
        return bool(cuts) and any(j in cuts for j in range(first, last + 1))

    def has_mark_of_ours(self, mark: str, block: Block) -> bool:
        """Whether the quotation has a mark in this block, also one that does not count as a token there."""
        return mark in _between(self.ours, block.quote, self.alignment.quote.folded.text)

    def has_mark_of_theirs(self, mark: str, block: Block) -> bool:
        """Whether the document has a mark in this block, also one of a block quotation, which is no token."""
        return mark in _between(self.theirs, block.source, self.document.folded.text)

    def is_english_passage(self) -> bool:
        """Whether the passage is in English: 60 % of its longer words are, or 30 % and 60 % of those around it."""
        if "english" not in self._english:
            first, last = self.alignment.span
            texts = self.theirs.texts
            own = _share_of_english(texts[first : min(last, first + 400)])
            around = texts[max(0, first - _AROUND) : min(last, first + 400) + _AROUND] if 30 <= own < 60 else []
            self._english["english"] = own >= 60 or _share_of_english(around) >= 60
        return self._english["english"]


def _share_of_english(texts: Sequence[str]) -> int:
    """Per cent of the longer words that are English."""
    long = [word for word in texts if len(word) > 3 and word.isalpha()]
    return 100 * sum(map(is_english, long)) // len(long) if long else 30


def printed(tokens: TextTokens, places: Sequence[int], folded: Folded) -> str:
    """A stretch of tokens as their text prints it."""
    if not places:
        return ""
    start, end = _reach(tokens, places, folded)
    return folded.original[start:end]


def _reach(tokens: TextTokens, places: Sequence[int], folded: Folded) -> tuple[int, int]:
    return folded.reach(tokens.starts[places[0]], tokens.ends[places[-1]])


def _between(tokens: TextTokens, block: tuple[int, int], text: str) -> str:
    """The text between the tokens on either side of a block."""
    start = tokens.ends[block[0] - 1] if block[0] else 0
    return text[start : tokens.starts[block[1]] if block[1] < len(tokens.texts) else len(text)]
