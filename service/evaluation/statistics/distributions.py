"""Distributions with known accuracy: normal, binomial, hypergeometric, beta, Student's t.

Points of the binomial follow Loader ("Fast and accurate computation of binomial probabilities", 2000): deviance and the
error of Stirling's formula instead of differences of large logarithms, so that the relative error stays near 1e-14 for
any count. Tails are the incomplete beta function by its continued fraction (Lentz's method; DLMF 8.17.22), and each
tail is computed itself, never as 1 less the other where it is small. Quantiles are roots of the logarithm of a tail by
Newton's method inside a bracket that only shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import erfc, exp, floor, inf, lgamma, log, log1p, pi, sqrt, tan
from statistics import NormalDist
from typing import NamedTuple

from service.evaluation.statistics.reading import exact

_NORMAL = NormalDist()
_HALF_LOG_TWO_PI = log(2 * pi) / 2
_TINY = 1e-300
_ENOUGH = 2**-52
SLACK = 1e-7
"""Outcomes count as no likelier than the one seen up to this ratio above it."""


class Tails(NamedTuple):
    """The probabilities below and above a point, each with its own accuracy."""

    below: float
    above: float


def outside(level: float) -> float:
    """1 less a level, in decimals: 0.05 for 0.95."""
    return float(1 - exact(level))


def z_of(level: float) -> float:
    """The normal quantile of a two-sided interval: 1.96 for 0.95."""
    return -quantile(outside(level) / 2)


def quantile(p: float) -> float:
    """The normal quantile of a probability between 0 and 1, by Wichura's algorithm AS 241 (1988)."""
    return _NORMAL.inv_cdf(p)


def density(z: float) -> float:
    """The normal density."""
    return _NORMAL.pdf(z)


def log_point(k: float, n: float, p: float, q: float | None = None) -> float:
    """The logarithm of C(n, k) p^k q^(n-k); ``k`` and ``n`` need not be whole.

    ``q`` is 1 - p, for a caller that knows it more accurately than as a difference.
    """
    q = 1 - p if q is None else q
    if p <= 0 or q <= 0:
        return 0.0 if k == (0 if p <= 0 else n) else -inf
    if k == 0:
        return n * (log1p(-p) if p < 0.5 else log(q))
    if k == n:
        return n * (log(p) if p < 0.5 else log1p(-q))
    rest = n - k
    counted = _stirling(n) - _stirling(k) - _stirling(rest)
    off = _deviance(k, n * p) + _deviance(rest, n * q)
    return counted - off - _HALF_LOG_TWO_PI - log(k * (rest / n)) / 2


def _stirling(n: float) -> float:
    """The logarithm of n! less that of Stirling's formula."""
    if n <= 15:
        return lgamma(n + 1) - (n + 0.5) * log(n) + n - _HALF_LOG_TWO_PI
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n


def _deviance(x: float, mean: float) -> float:
    """``x`` log(x / mean) + mean - x, without cancellation where both are near each other."""
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * log(x / mean) + mean - x
    ratio = (x - mean) / (x + mean)
    total, term, n = (x - mean) * ratio, 2 * x * ratio, 1
    while True:
        term *= ratio * ratio
        n += 2
        if (grown := total + term / n) == total:
            return total
        total = grown


def beta_tails(a: float, b: float, x: float, y: float | None = None) -> Tails:
    """The incomplete beta function I_x(a, b) of ``a``, ``b`` > 0, and 1 less it; ``y`` is 1 - x, as of `log_point`."""
    y = 1 - x if y is None else y
    if x <= 0 or y <= 0:
        return Tails(0.0, 1.0) if x <= 0 else Tails(1.0, 0.0)
    front = exp(log_point(a, a + b, x, y)) / (a + b)
    if x < (a + 1) / (a + b + 2):
        below = min(1.0, front * b * _fraction(a, b, x))
        return Tails(below, 1 - below)
    above = min(1.0, front * a * _fraction(b, a, y))
    return Tails(1 - above, above)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function; about sqrt(max(a, b)) steps at its slowest."""
    numerator, denominator = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value, m = denominator, 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / _away(1 + even * denominator)
        numerator = _away(1 + even / numerator)
        value *= denominator * numerator
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        denominator = 1 / _away(1 + odd * denominator)
        numerator = _away(1 + odd / numerator)
        value *= denominator * numerator
        if abs(denominator * numerator - 1) <= _ENOUGH:
            return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def at_most(k: int, n: int, p: float) -> float:
    """The chance of at most ``k`` of ``n`` at a rate."""
    if k < 0 or k >= n:
        return 0.0 if k < 0 else 1.0
    return beta_tails(k + 1, n - k, p).above


def at_least(k: int, n: int, p: float) -> float:
    """The chance of at least ``k`` of ``n`` at a rate."""
    if k <= 0 or k > n:
        return 1.0 if k <= 0 else 0.0
    return beta_tails(k, n - k + 1, p).below


@lru_cache(maxsize=4_096)
def rate_at_least(k: int, n: int, chance: float, rest: float = 0.5) -> float:
    """The rate at which at least ``k`` of ``n`` have a chance: the lower bound of Clopper and Pearson; 0 at k = 0.

    ``rest`` is 1 less the chance, and counts where the chance is above a half.
    """
    if k == 0:
        return 0.0
    a, b = k, n - k + 1

    def off(x: float) -> tuple[float, float]:
        tails = beta_tails(a, b, x)
        slope = exp(log_point(a, a + b, x)) * a * b / ((a + b) * x * (1 - x))
        return _off(tails.below, chance, slope) if chance <= 0.5 else _off_down(tails.above, rest, slope)

    return root(off, 0.0, 1.0, k / (n + 1))


def rate_at_most(k: int, n: int, chance: float, rest: float = 0.5) -> float:
    """The rate at which at most ``k`` of ``n`` have a chance: the upper bound. 1 where all are."""
    return 1 - rate_at_least(n - k, n, chance, rest)


def _off(tail: float, wanted: float, slope: float) -> tuple[float, float]:
    """How far a tail that grows is from what is wanted, as a logarithm, and how fast it grows."""
    return (log(tail / wanted), slope / tail) if tail > 0 else (-inf, 0.0)


def _off_down(tail: float, wanted: float, slope: float) -> tuple[float, float]:
    """The same of a tail that shrinks, so that it grows too."""
    return (log(wanted / tail), slope / tail) if tail > 0 else (inf, 0.0)


def root(off: Callable[[float], tuple[float, float]], low: float, high: float, start: float) -> float:
    """Where a function that grows is 0, inside a bracket; ``off`` gives value and slope."""
    x = start
    for _ in range(400):
        value, slope = off(x)
        if value == 0:
            return x
        low, high = (x, high) if value < 0 else (low, x)
        step = x - value / slope if slope > 0 else low
        new = step if low < step < high else (low + high) / 2
        if abs(new - x) <= _ENOUGH * abs(x) or not low < new < high:
            return new
        x = new
    return x


def student(level: float, freedom: int) -> float:
    """The quantile of Student's t for a two-sided interval."""
    if freedom == 1:
        return 1 / tan(pi * outside(level) / 2) if level >= 0.5 else tan(pi * level / 2)
    beyond = outside(level)

    def off(t: float) -> tuple[float, float]:
        whole = freedom + t * t
        tails = beta_tails(freedom / 2, 0.5, freedom / whole, t * t / whole)
        slope = 2 * exp(_log_student(t, freedom))
        return _off(tails.above, level, slope) if level < 0.5 else _off_down(tails.below, beyond, slope)

    start = max(z_of(level), 1e-8)
    high = start
    while off(high)[0] < 0:
        high *= 2
    return root(off, 0.0, high, start)


def _log_student(t: float, freedom: int) -> float:
    norm = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi) / 2
    return norm - (freedom + 1) / 2 * log1p(t * t / freedom)


def binomial_two_sided(k: int, n: int, p: float) -> float:
    """The chance of all outcomes that are no likelier than ``k``, with the slack of `SLACK`."""

    def log_chance(x: int) -> float:
        return log_point(x, n, p)

    edges = _edges(log_chance, 0, n, min(n, floor((n + 1) * p)), log_chance(k))
    return 1.0 if edges is None else min(1.0, at_most(edges[0], n, p) + at_least(edges[1], n, p))


def hypergeometric_two_sided(a: int, b: int, c: int, d: int) -> float:
    """The same of ``a`` in a table of 2 x 2 with its margins as they are."""
    first, second, chosen = a + b, c + d, a + c
    low, high = max(0, chosen - second), min(chosen, first)
    if low == high:
        return 1.0
    rate = chosen / (first + second)
    whole = log_point(chosen, first + second, rate)

    def log_chance(x: int) -> float:
        return log_point(x, first, rate) + log_point(chosen - x, second, rate) - whole

    def down(x: int) -> float:
        return x * (second - chosen + x) / ((first - x + 1) * (chosen - x + 1))

    def up(x: int) -> float:
        return (first - x) * (chosen - x) / ((x + 1) * (second - chosen + x + 1))

    mode = min(high, max(low, (chosen + 1) * (first + 1) // (first + second + 2)))
    edges = _edges(log_chance, low, high, mode, log_chance(a))
    if edges is None:
        return 1.0
    lower = _summed(log_chance, edges[0], -1, down) if edges[0] >= low else 0.0
    return min(1.0, lower + (_summed(log_chance, edges[1], 1, up) if edges[1] <= high else 0.0))


def _edges(log_chance: Callable[[int], float], low: int, high: int, mode: int, seen: float) -> tuple[int, int] | None:
    """The last outcome below the mode and the first above it that are no likelier; ``None`` where all are."""
    most = seen + log1p(SLACK)
    if log_chance(mode) <= most:
        return None
    below, above = low - 1, mode
    while above - below > 1:  # chances grow up to the mode
        middle = (below + above) // 2
        below, above = (middle, above) if log_chance(middle) <= most else (below, middle)
    last, likelier, first = below, mode, high + 1
    while first - likelier > 1:
        middle = (likelier + first) // 2
        likelier, first = (likelier, middle) if log_chance(middle) <= most else (middle, first)
    return last, first


def _summed(log_chance: Callable[[int], float], x: int, step: int, ratio: Callable[[int], float]) -> float:
    """The chances from an outcome outwards, each by its ratio to the one before, as long as they count."""
    total = term = exp(log_chance(x))
    while term > total * 1e-18:
        term *= ratio(x)
        x += step
        total += term
    return total


def points(n: int, p: float) -> tuple[int, list[float]]:
    """The chances of the outcomes that count, and the first of them; those left out sum up to under 1e-15."""
    if p <= 0 or p >= 1:
        return (0 if p <= 0 else n), [1.0]
    mode = min(n, floor((n + 1) * p))
    peak, odds = exp(log_point(mode, n, p)), p / (1 - p)
    least = peak * 1e-20
    lower: list[float] = []
    chance, x = peak, mode
    while x > 0 and chance > least:
        chance *= x / ((n - x + 1) * odds)
        x -= 1
        lower.append(chance)
    upper = [peak]
    chance, x = peak, mode
    while x < n and chance > least:
        chance *= (n - x) * odds / (x + 1)
        x += 1
        upper.append(chance)
    return mode - len(lower), lower[::-1] + upper


def normal_two_sided(z: float) -> float:
    """The chance of a normal deviate at least so far from 0."""
    return erfc(abs(z) / sqrt(2))
