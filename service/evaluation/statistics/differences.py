"""The difference of two rates, paired or not, with the intervals of Newcombe (1998)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TypedDict

from service.evaluation.statistics.exact_tests import fisher
from service.evaluation.statistics.rates import wilson
from service.evaluation.statistics.reading import between, counts, pair, part


class PairedDifference(TypedDict):
    """A difference of two paired rates; without a pair it is undefined."""

    difference: float | None
    low: float
    high: float
    n: int


class Difference(TypedDict):
    """A difference of two independent rates; without a case of either it is undefined."""

    difference: float | None
    low: float
    high: float
    p: float
    n: list[int]


def paired_difference(both: int, first: int, second: int, neither: int, level: float = 0.95) -> PairedDifference:
    """The difference of two paired rates, first arm less second, with Newcombe's interval (1998, method 10).

    low = d - sqrt(dl1^2 - 2 phi dl1 du2 + du2^2), high = d + sqrt(du1^2 - 2 phi du1 dl2 + dl2^2): dl and du are the
    distances of each rate from its Wilson limits, phi their correlation with a correction for continuity. Without a
    pair the interval is all of [-1, 1].
    """
    counts(both, first, second, neither)
    between(level, "level")
    n = both + first + second + neither
    if n == 0:
        return PairedDifference(difference=None, low=-1.0, high=1.0, n=0)
    counts(n)
    difference = (first - second) / n
    phi = _correlation(both, first, second, neither)
    below1, above1 = _distances(both + first, n, level)
    below2, above2 = _distances(both + second, n, level)
    low = difference - _joined(below1, above2, phi)
    high = difference + _joined(above1, below2, phi)
    return PairedDifference(difference=difference, low=max(-1.0, low), high=min(1.0, high), n=n)


def _correlation(a: int, b: int, c: int, d: int) -> float:
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    tied = a * d - b * c
    return (max(tied - (a + b + c + d) / 2, 0) if tied > 0 else tied) / sqrt(product)


def _distances(k: int, n: int, level: float) -> tuple[float, float]:
    """The distances of a rate from its Wilson limits, below and above."""
    limits = wilson(k, n, level)
    return k / n - limits["low"], limits["high"] - k / n


def _joined(first: float, second: float, phi: float) -> float:
    return sqrt(max(0.0, first * first - 2 * phi * first * second + second * second))


def difference(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> Difference:
    """The difference of two independent rates with Newcombe's interval (1998, method 10) and Fisher's test.

    The paper is that on independent rates; the interval joins Wilson's of either. Without a case of either it is
    undefined: the interval is all of [-1, 1], and p is 1.
    """
    part(k1, n1)
    part(k2, n2)
    between(level, "level")
    if n1 == 0 or n2 == 0:
        return Difference(difference=None, low=-1.0, high=1.0, p=1.0, n=[n1, n2])
    found = k1 / n1 - k2 / n2
    below1, above1 = _distances(k1, n1, level)
    below2, above2 = _distances(k2, n2, level)
    low, high = found - _joined(below1, above2, 0), found + _joined(above1, below2, 0)
    p = fisher(k1, n1 - k1, k2, n2 - k2)["p"]
    return Difference(difference=found, low=max(-1.0, low), high=min(1.0, high), p=p, n=[n1, n2])


def preference(favoured_right: Sequence[int], other_right: Sequence[int], level: float = 0.95) -> Difference:
    """A judge's pull towards a feature (longer, own family, second place), apart from quality by cases of known truth.

    ``favoured_right`` = [judged right, cases] where the side with the feature was right, ``other_right`` where it was
    the other one. Without a pull both rates are equal where both kinds of cases are equally hard: so in crossed pairs,
    the same case with the feature on either side. Elsewhere a difference may be one of difficulty. Undefined where
    either kind has no case.
    """
    k1, n1 = pair(favoured_right, "favoured_right")
    k2, n2 = pair(other_right, "other_right")
    return difference(k1, n1, k2, n2, level)
