"""Exact tests, adjustments for several of them, and evidence that may be looked at after every pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import exp, frexp, ldexp
from typing import TypedDict

from service.evaluation.statistics.distributions import (
    at_most,
    binomial_two_sided,
    hypergeometric_two_sided,
    log_point,
    outside,
)
from service.evaluation.statistics.reading import StatisticRefused, between, counts, items, part, share, shown

LARGEST = 1.7976931348623157e308
"""The largest number of JSON readers: evidence beyond it is given as this."""


class PValue(TypedDict):
    """A p-value."""

    p: float


class McNemar(TypedDict):
    """The exact test of pairs that differ."""

    p: float
    midP: float
    discordant: int


class Adjusted(TypedDict):
    """Adjusted p-values, in the order given."""

    adjusted: list[float]


class SignSequence(TypedDict):
    """Evidence after all pairs, and the pair after which it decided."""

    e: float
    p: float
    decidedAt: int | None
    b: int
    c: int


def binomial(k: int, n: int, p: float = 0.5) -> PValue:
    """The exact two-sided test of a rate: the chance of all outcomes that are not likelier than the one seen.

    Outcomes count as no likelier with a slack of 1e-7 in the ratio. Without a case p is 1.
    """
    part(k, n)
    return PValue(p=binomial_two_sided(k, n, share(p, "p")))


def mcnemar(b: int, c: int) -> McNemar:
    """The exact test of paired answers that differ (McNemar 1947).

    ``b`` were right in the first arm alone, ``c`` in the second alone. ``midP`` counts the outcome seen half on each
    side. Without a pair that differs both are 1.
    """
    counts(b, c)
    n, fewer = b + c, min(b, c)
    p = min(1.0, 2 * at_most(fewer, n, 0.5))
    mid = 2 * at_most(fewer - 1, n, 0.5) + exp(log_point(fewer, n, 0.5))
    return McNemar(p=p, midP=min(1.0, mid), discordant=n)


def fisher(a: int, b: int, c: int, d: int) -> PValue:
    """Fisher's exact test of two independent rates, ``a`` of a+b against ``c`` of c+d, two-sided.

    Tables count as no likelier with a slack of 1e-7 in the ratio. Where a margin is empty p is 1.
    """
    counts(a, b, c, d)
    return PValue(p=hypergeometric_two_sided(a, b, c, d))


def holm(p: Sequence[float]) -> Adjusted:
    """Holm's adjustment (1979), in the order given: holds the chance of any false finding."""
    found = [share(each, "p") for each in items(p, "p")]
    order = sorted(range(len(found)), key=found.__getitem__)
    return Adjusted(adjusted=_grown(order, (found[i] * (len(found) - rank) for rank, i in enumerate(order)), max))


def benjamini_hochberg(p: Sequence[float]) -> Adjusted:
    """Benjamini and Hochberg's adjustment (1995), in the order given: holds the share of false findings."""
    found = [share(each, "p") for each in items(p, "p")]
    order = sorted(range(len(found)), key=found.__getitem__, reverse=True)
    n = len(found)
    return Adjusted(adjusted=_grown(order, (found[i] * n / (n - rank) for rank, i in enumerate(order)), min))


def _grown(order: Sequence[int], values: Iterable[float], keep: Callable[[float, float], float]) -> list[float]:
    """The values at the places of their order, none on the other side of the one before it."""
    adjusted = [0.0] * len(order)
    last: float | None = None
    for place, value in zip(order, values, strict=True):
        last = min(1.0, value) if last is None else keep(last, min(1.0, value))
        adjusted[place] = last
    return adjusted


def sign_sequence(pairs: Sequence[int], level: float = 0.95) -> SignSequence:
    """Evidence that may be looked at after every pair: 1 where the first arm alone was right, -1 the second, 0 neither.

    e = 2^m b! c! / (m+1)!, the mixture over all rates against one half (Robbins 1970); a p-value that holds at every
    look is 1 / max e so far. ``decidedAt`` is the pair (from 1) after which it first is at most 1 - level, else
    ``None``. Evidence beyond the largest number is given as that number (`LARGEST`).
    """
    alpha = outside(between(level, "level"))
    won, lost, decided = 0, 0, None
    e, power = 0.5, 1  # e times 2 to a power: evidence outgrows a number after some 1,030 pairs of one kind
    highest = (power, e)
    for at, pair in enumerate(items(pairs, "pairs"), 1):
        if type(pair) is not int or pair not in (-1, 0, 1):
            raise StatisticRefused(f"a pair is -1, 0 or 1, found {shown(pair)}")
        if pair:
            won, lost = won + (pair > 0), lost + (pair < 0)
            e, more = frexp(e * 2 * (won if pair > 0 else lost) / (won + lost + 1))
            power += more
        highest = max(highest, (power, e))
        if decided is None and _inverse(highest) <= alpha:
            decided = at
    return SignSequence(e=_value(power, e), p=_inverse(highest), decidedAt=decided, b=won, c=lost)


def _value(power: int, e: float) -> float:
    return LARGEST if power > 1024 else ldexp(e, power)


def _inverse(highest: tuple[int, float]) -> float:
    return ldexp(1 / highest[1], -highest[0])
