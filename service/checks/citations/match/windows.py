"""The windows of a document in which a quotation's passage may stand, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from operator import itemgetter

from service.checks.citations.match.quotation import QuoteWords
from service.checks.citations.match.slips import SHORTEST_SLIP, near
from service.checks.citations.text.document import Document
from service.checks.citations.text.steps import Steps
from service.checks.citations.text.tokens import TextTokens

_TIED_WINDOWS = 48
"""The most windows with nearly as many of the quotation's words as the first; the likeliest of them are read."""
_MOST_WINDOWS = 12
_MOST_PHRASES = 12
_TELLING_PHRASES = 3
"""If the best window has so many runs of words, windows with fewer than half as many are skipped."""
_SEEN_WINDOWS = 2
"""The number of windows that are read in any case; more only while none has most of the quotation's word pairs."""
_SAMPLE = 30
_READ_OTHERWISE = 15
"""Per cent of the words that a raw text may spell in another way than the tokens: with an entity, broken, in groups."""
_MOST_UNKNOWN, _LONGEST_WORD = 2, 30
_FEW_WORDS = 24
_SURE_WINDOWS = 2
"""The number of windows that need half as many pairs as the best; further windows need nearly as many."""


def likeliest(quote: QuoteWords, document: Document, length: int, least: int, steps: Steps) -> Iterator[TextTokens]:
    """Windows by the number of the quotation's words in them, and of its pairs of words.

    If a document repeats itself, many places have the words, and the pairs distinguish the passage. Windows that cannot
    have ``least`` per cent of the words are not read.
    """
    windows = document.windows(_looked_up(quote, document, steps), length, _TIED_WINDOWS, steps)
    near = _by_phrases(windows, quote, document, steps)
    near = [w for w in near if _may_have(w, quote, document, least - _READ_OTHERWISE, steps)]
    pairs = set(pairwise(quote.tokens.texts))
    ranked: list[tuple[int, TextTokens]] = []
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


def _may_have(window: tuple[int, int, int], quote: QuoteWords, document: Document, least: int, steps: Steps) -> bool:
    """Whether a window's text has ``least`` per cent of a sample of the quotation's words, also inside longer words."""
    texts = quote.tokens.texts
    words = texts[:: -(-len(texts) // _SAMPLE)]
    start, end = document.cut(window[0]), document.cut(window[1] + 1)
    steps.take(len(words) * (4 + (end - start) // 256))
    found = sum(document.folded.text.find(word, start, end) >= 0 for word in words)
    return found * 100 >= least * len(words)


def _by_phrases(
    windows: list[tuple[int, int, int]], quote: QuoteWords, document: Document, steps: Steps
) -> list[tuple[int, int, int]]:
    """The windows with most of the quotation's exact runs of three words, the best first."""
    if len(windows) < 2:
        return windows
    tokens, text = quote.tokens, quote.folded.text
    apart = max(1, (len(tokens.texts) - 2) // _MOST_PHRASES)
    phrases = [text[tokens.starts[k] : tokens.ends[k + 2]] for k in range(0, len(tokens.texts) - 2, apart)]
    counts: list[int] = []
    for first, last, _ in windows:
        start, end = document.cut(first), document.cut(last + 1)
        steps.take(len(phrases) * (8 + (end - start) // 256))
        counts.append(sum(document.folded.text.find(phrase, start, end) >= 0 for phrase in phrases))
    likely = sorted(range(len(windows)), key=lambda k: -counts[k])[:_MOST_WINDOWS]
    most = counts[likely[0]]
    return [windows[k] for k in likely if counts[k] * 2 >= most or most < _TELLING_PHRASES]


def _looked_up(quote: QuoteWords, document: Document, steps: Steps) -> list[str]:
    """The quotation's words; for the first few that the document lacks, also the words that they may be slips for."""
    words = [
        part
        for text in quote.tokens.texts
        for part in text.replace("_", " ").replace("'", " ").replace(".", " ").split()
    ]
    index = document.index
    if len(words) > _FEW_WORDS:  # enough words without them
        return words
    unknown = islice((word for word in words if word not in index and len(word) >= SHORTEST_SLIP), _MOST_UNKNOWN)
    for word in list(unknown):
        if len(word) <= _LONGEST_WORD:
            steps.take(len(word) * 60)
            words += [other for other in near(word) if other in index]
    return words
