"""Rates and means with their intervals. A count is of cases; an interval is two-sided unless it says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from statistics import fmean, variance
from typing import TypedDict

from service.evaluation.statistics.distributions import (
    log_point,
    outside,
    rate_at_least,
    rate_at_most,
    root,
    student,
    z_of,
)
from service.evaluation.statistics.reading import between, choice, numbers, part


class Rate(TypedDict):
    """A rate with an interval; without a case it is undefined."""

    rate: float | None
    low: float
    high: float
    n: int


class Bound(TypedDict):
    """A one-sided bound of a rate."""

    bound: float
    n: int


class Mean(TypedDict):
    """A mean with an interval, undefined for fewer than two values."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


def wilson(k: int, n: int, level: float = 0.95) -> Rate:
    """A rate with Wilson's score interval (1927). Without a case the interval is all of [0, 1].

    ``low`` is 0 at k = 0 and ``high`` is 1 at k = n, exactly.
    """
    part(k, n)
    z = z_of(between(level, "level"))
    if n == 0:
        return Rate(rate=None, low=0.0, high=1.0, n=0)
    square = z * z
    centre, spread = k + square / 2, z * sqrt(k * ((n - k) / n) + square / 4)
    low = 0.0 if k == 0 else max(0.0, min(k / n, (centre - spread) / (n + square)))
    high = 1.0 if k == n else min(1.0, max(k / n, (centre + spread) / (n + square)))
    return Rate(rate=k / n, low=low, high=high, n=n)


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Rate:
    """A rate with the exact interval of Clopper and Pearson (1934): never less than its level, so it decides releases.

    Without a case the interval is all of [0, 1].
    """
    part(k, n)
    chance = outside(between(level, "level")) / 2
    if n == 0:
        return Rate(rate=None, low=0.0, high=1.0, n=0)
    return Rate(rate=k / n, low=rate_at_least(k, n, chance), high=rate_at_most(k, n, chance), n=n)


def one_sided_bound(k: int, n: int, side: str, level: float = 0.95) -> Bound:
    """The exact one-sided bound of a rate: at least (side ``low``) or at most (``high``), at ``level``.

    Without a case it is 0 or 1. A two-sided interval at 0.90 has the bounds of two one-sided ones at 0.95.
    """
    part(k, n)
    chance = outside(between(level, "level"))
    lower = choice(side, "side", "low", "high") == "low"
    if n == 0:
        return Bound(bound=0.0 if lower else 1.0, n=0)
    return Bound(bound=(rate_at_least if lower else rate_at_most)(k, n, chance, level), n=n)


def rate_sequence(k: int, n: int, level: float = 0.95) -> Rate:
    """A rate with an interval that holds at every look: a mixture with a uniform prior (Robbins 1970; Ville 1939).

    All p with  B(k+1, n-k+1) / (p^k (1-p)^(n-k)) < 1 / (1 - level), where B(k+1, n-k+1) = 1 / ((n+1) C(n,k)).
    """
    part(k, n)
    least = log(outside(between(level, "level"))) - log(n + 1)
    if n == 0:
        return Rate(rate=None, low=0.0, high=1.0, n=0)
    high = 1.0 if k == n else 1 - _lowest(n - k, n, least)
    return Rate(rate=k / n, low=0.0 if k == 0 else _lowest(k, n, least), high=high, n=n)


def _lowest(k: int, n: int, least: float) -> float:
    """Where the chance of ``k`` of ``n`` comes up to a limit, below its greatest."""

    def off(p: float) -> tuple[float, float]:
        return log_point(k, n, p) - least, k / p - (n - k) / (1 - p)

    return root(off, 0.0, k / n, k / (n + 1))


def mean_t(values: Sequence[float], level: float = 0.95) -> Mean:
    """A mean with Student's interval (1908); the interval is undefined for fewer than two values."""
    found = numbers(values, "values")
    between(level, "level")
    if len(found) < 2:
        return Mean(mean=found[0] if found else None, low=None, high=None, n=len(found))
    mean, reach = fmean(found), student(level, len(found) - 1) * sqrt(variance(found) / len(found))
    return Mean(mean=mean, low=mean - reach, high=mean + reach, n=len(found))
