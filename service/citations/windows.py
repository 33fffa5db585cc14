"""Where in a document a quotation's passage may stand: its windows, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from operator import itemgetter

from service.citations.document import Document
from service.citations.quote import QuoteWords
from service.citations.slips import SHORTEST_SLIP, near
from service.citations.steps import Steps
from service.citations.tokens import Tokens

_TIED_WINDOWS = 48
"""Windows with nearly as many of the quotation's words as the first, of which the likeliest are read."""
_MOST_WINDOWS = 12
_MOST_PHRASES = 24
_SEEN_WINDOWS = 4
"""Windows that are read in any case; further ones only while none has most of the quotation's pairs of words."""
_MOST_UNKNOWN, _LONGEST_WORD = 3, 30
_SURE_WINDOWS = 2
"""Windows that are looked at if they have half as many pairs; further ones only where they have nearly as many."""


def likeliest(quote: QuoteWords, document: Document, length: int, steps: Steps) -> Iterator[Tokens]:
    """Windows in the order in which they have most of the quotation's words, and most of its pairs of words.

    Where a document says much the same in many places, all of them have the words; the pairs tell the passage.
    """
    windows = document.windows(_looked_up(quote, document, steps), length, _TIED_WINDOWS, steps)
    near = _by_phrases([w for w in windows if w[2] * 10 >= windows[0][2] * 7], quote, document, steps)
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


def _by_phrases(
    windows: list[tuple[int, int, int]], quote: QuoteWords, document: Document, steps: Steps
) -> list[tuple[int, int, int]]:
    """The windows that have most of the quotation's runs of three words as they stand, the best first."""
    if len(windows) <= _SEEN_WINDOWS:
        return windows
    tokens, text = quote.tokens, quote.folded.text
    apart = max(1, (len(tokens.texts) - 2) // _MOST_PHRASES)
    phrases = [text[tokens.starts[k] : tokens.ends[k + 2]] for k in range(0, len(tokens.texts) - 2, apart)]
    counts: list[int] = []
    for first, last, _ in windows:
        start, end = document.cut(first), document.cut(last + 1)
        steps.take(len(phrases) * (8 + (end - start) // 256))
        counts.append(sum(document.folded.text.find(phrase, start, end) >= 0 for phrase in phrases))
    best = sorted(range(len(windows)), key=lambda k: -counts[k])
    return [windows[k] for k in best[:_MOST_WINDOWS]]


def _looked_up(quote: QuoteWords, document: Document, steps: Steps) -> list[str]:
    """The quotation's words, and for the first that the document lacks what they may be slips for."""
    words = [
        part
        for text in quote.tokens.texts
        for part in text.replace("_", " ").replace("'", " ").replace(".", " ").split()
    ]
    index = document.index
    unknown = islice((word for word in words if word not in index and len(word) >= SHORTEST_SLIP), _MOST_UNKNOWN)
    for word in list(unknown):
        if len(word) <= _LONGEST_WORD:
            steps.take(len(word) * 60)
            words += [other for other in near(word) if other in index]
    return words
