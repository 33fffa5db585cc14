"""Stretches of a text as pairs of offsets, end exclusive: joined, complemented, measured."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from service.checks.coverage.shape import Span


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same stretches in order, those that overlap or touch joined; empty ones are left out."""
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def rest(joined: Sequence[Span], length: int) -> tuple[Span, ...]:
    """The stretches between joined stretches in a text of this length."""
    edges = [0, *(offset for span in joined for offset in span), length]
    return tuple((start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end)


def measure(joined: Iterable[Span]) -> int:
    """The number of code points in joined stretches."""
    return sum(end - start for start, end in joined)


def within(span: Span, length: int) -> Span:
    """A stretch cut to a text of this length."""
    return min(max(span[0], 0), length), min(max(span[1], 0), length)


def per_mille(part: int, whole: int) -> int:
    """A share in whole per mille: 0 only for none and 1000 only for all."""
    if part <= 0 or whole <= 0:
        return 0
    return 1000 if part >= whole else min(max((2000 * part + whole) // (2 * whole), 1), 999)


class Counter:
    """Counts the stretches that touch a given one, in logarithmic time."""

    def __init__(self, spans: Iterable[Span]) -> None:
        kept = [span for span in spans if span[0] < span[1]]
        self._starts = sorted(start for start, _ in kept)
        self._ends = sorted(end for _, end in kept)

    def __call__(self, span: Span) -> int:
        """The number of stretches that share a code point with ``span``."""
        if span[0] >= span[1]:
            return 0
        return bisect_left(self._starts, span[1]) - bisect_right(self._ends, span[0])
