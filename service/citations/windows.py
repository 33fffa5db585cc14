"""Where in a document a quotation's passage may stand: its windows, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter

from service.citations.document import Document
from service.citations.quote import QuoteWords
from service.citations.steps import Steps
from service.citations.tokens import Tokens

_MOST_WINDOWS = 12
_SEEN_WINDOWS = 4
"""Windows that are read in any case; further ones only while none has most of the quotation's pairs of words."""
_SURE_WINDOWS = 2
"""Windows that are looked at if they have half as many pairs; further ones only where they have nearly as many."""


def likeliest(quote: QuoteWords, document: Document, length: int, steps: Steps) -> Iterator[Tokens]:
    """Windows in the order in which they have most of the quotation's words, and most of its pairs of words.

    Where a document says much the same in many places, all of them have the words; the pairs tell the passage.
    """
    windows = document.windows(_looked_up(quote), length, _MOST_WINDOWS, steps)
    near = [w for w in windows if w[2] * 10 >= windows[0][2] * 7]
    pairs = set(pairwise(quote.tokens.texts))
    ranked: list[tuple[int, Tokens]] = []
    for n, (first, last, _) in enumerate(near):
        if n >= _SEEN_WINDOWS and max(shared for shared, _ in ranked) * 10 >= len(pairs) * 8:
            break
        window = document.tokens(first, last, steps)
        steps.take(len(window.texts))
        ranked.append((len(pairs.intersection(pairwise(window.texts))), window))
    ranked.sort(key=itemgetter(0), reverse=True)
    for n, (shared, window) in enumerate(ranked):
        if n and shared * 10 < ranked[0][0] * (5 if n < _SURE_WINDOWS else 9):
            return
        yield window


def _looked_up(quote: QuoteWords) -> list[str]:
    return [
        part
        for text in quote.tokens.texts
        for part in text.replace("_", " ").replace("'", " ").replace(".", " ").split()
    ]
