"""The power of a plan beforehand: how often a test or a rule sees what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import comb
from typing import TypedDict

from service.evaluation.statistics.distributions import at_least, at_most, points
from service.evaluation.statistics.reading import StatisticRefused, between, exact, share, whole

MOST_PAIRS = 20_000
"""The most cases of a plan whose power is computed."""
MOST_SEARCHED = 5_000
"""The most pairs among which the fewest are looked for."""
MOST_ON_A_SIDE = 1_000
"""The most cases with a feature on either side whose power is computed."""
_SLACK = 10_000_000
"""Tables count as no likelier with a slack of one part of these, as in `fisher`."""
STEADY = 20
"""So many larger numbers of pairs must have the power too, because that of an exact test rises in steps."""


class Power(TypedDict):
    """The chance that a test rejects."""

    power: float


class Pairs(TypedDict):
    """The fewest pairs, or ``None``."""

    pairs: int | None


class Passes(TypedDict):
    """The chance that a rule passes."""

    passes: float


def mcnemar_power(n: int, gain: float, loss: float, alpha: float = 0.05) -> Power:
    """The chance that the exact test rejects with ``n`` pairs, of which shares ``gain`` and ``loss`` differ each way.

    Summed over all tables. Without a pair that differs the test never rejects.
    """
    whole(n, "n", most=MOST_PAIRS)
    differ, toward = _differing(gain, loss)
    return Power(power=_seen(n, differ, toward, between(alpha, "alpha")))


@lru_cache(maxsize=256)
def _seen(n: int, differ: float, toward: float, alpha: float) -> float:
    """Kept, since every result of a plan gives the same ones and each sums over all tables."""
    first, chances = points(n, differ)
    critical = list(_critical(first + len(chances) - 1, alpha))[first:]
    reached = (chance * _rejects(m, c, toward) for chance, (m, c) in zip(chances, critical, strict=True))
    return min(1.0, sum(reached))


def mcnemar_pairs(gain: float, loss: float, power: float = 0.8, alpha: float = 0.05, most: int = 2000) -> Pairs:
    """The fewest pairs from which on that power is reached at every larger number up to twenty more.

    ``None`` beyond ``most``.
    """
    whole(most, "most", most=MOST_SEARCHED)
    differ, toward = _differing(gain, loss)
    between(power, "power")
    critical, rejected = _critical(most + STEADY, between(alpha, "alpha")), list[float]()
    steady = 0
    for n in range(1, most + STEADY + 1):
        first, chances = points(n, differ)
        further = max(0, first + len(chances) - len(rejected))  # the fewest are often far below the most
        rejected += [_rejects(m, c, toward) for m, c in islice(critical, further)]
        reached = sum(chance * rejected[m] for m, chance in enumerate(chances, first))
        steady = steady + 1 if reached >= power else 0
        if steady > STEADY:
            return Pairs(pairs=n - STEADY)
    return Pairs(pairs=None)


def _differing(gain: float, loss: float) -> tuple[float, float]:
    """The share of pairs that differ, and the share of these that are gains."""
    share(gain, "gain")
    share(loss, "loss")
    both = exact(float(gain)) + exact(float(loss))
    if both > 1:
        raise StatisticRefused(f"gain + loss must be from 0 to 1, found {float(both)}")
    return float(both), float(exact(float(gain)) / both) if both else 0.5


def _rejects(m: int, c: int, toward: float) -> float:
    """The chance that at most ``c`` of ``m``, or at least all but ``c``, go one way."""
    return at_most(c, m, toward) + at_least(m - c, m, toward) if c >= 0 else 0.0


def _critical(most: int, alpha: float) -> Iterator[tuple[int, int]]:
    """For each number of cases the largest smaller count at which the test rejects, or -1; exact, in whole numbers.

    2 P(X <= c) <= alpha at one half. The sum S(m, c) of C(m, 0..c) follows from that of m - 1 by Pascal's rule:
    S(m+1, c) = 2 S(m, c) - C(m, c).
    """
    border: Fraction = exact(alpha)
    c, total, last, powers = -1, 0, 0, 1
    for m in range(most + 1):
        while True:
            following = 1 if c < 0 else last * (m - c) // (c + 1)
            if 2 * (total + following) * border.denominator > border.numerator * powers:
                break
            c, total, last = c + 1, total + following, following
        yield m, c
        total, powers = 2 * total - last, 2 * powers
        last = last * (m + 1) // (m + 1 - c) if c >= 0 else 0


def binomial_power(n: int, p: float, alpha: float = 0.05) -> Power:
    """The chance that the exact test against one half rejects, with ``n`` decided cases of true share ``p``."""
    whole(n, "n", most=MOST_PAIRS)
    share(p, "p")
    c = max(c for _, c in _critical(n, between(alpha, "alpha")))
    return Power(power=min(1.0, _rejects(n, c, p)))


def preference_power(favoured: int, other: int, p: float, alpha: float = 0.05) -> Power:
    """The chance that the exact test of `preference` rejects: a judge goes by the feature in a true share ``p``.

    ``favoured`` cases are those where the side with the feature is right, and ``other`` all others with that feature.
    Judged right are ``p`` of the first and 1 - ``p`` of the second. Summed over all tables; Fisher's test of each.
    """
    whole(favoured, "favoured", most=MOST_ON_A_SIDE)
    whole(other, "other", most=MOST_ON_A_SIDE)
    share(p, "p")
    return Power(power=_preferring(favoured, other, p, between(alpha, "alpha")))


@lru_cache(maxsize=256)
def _preferring(favoured: int, other: int, p: float, alpha: float) -> float:
    right, wrong = _chances(favoured, p), _chances(other, 1 - p)
    ways, others = ([comb(n, x) for x in range(n + 1)] for n in (favoured, other))
    border, power = exact(alpha), 0.0
    for judged in range(favoured + other + 1):
        low, high = max(0, judged - other), min(judged, favoured)
        tables = [ways[x] * others[judged - x] for x in range(low, high + 1)]
        power += sum(right[low + at] * wrong[judged - low - at] for at in _rejected(tables, border))
    return min(1.0, power)


def _chances(n: int, p: float) -> list[float]:
    first, chances = points(n, p)
    return [0.0] * first + chances + [0.0] * (n + 1 - first - len(chances))


def _rejected(tables: Sequence[int], border: Fraction) -> Iterator[int]:
    """The places of the tables of one margin that Fisher's test rejects, the unlikeliest first; in whole numbers."""
    order = sorted(range(len(tables)), key=tables.__getitem__)
    total, reached, following = sum(tables), 0, 0
    for at in order:
        while following < len(order) and tables[order[following]] * _SLACK <= tables[at] * (_SLACK + 1):
            reached, following = reached + tables[order[following]], following + 1
        if reached * border.denominator > border.numerator * total:
            return
        yield at


def rule_power(n: int, p: float, least: int) -> Passes:
    """The chance of at least ``least`` of ``n`` at a true rate: how often a release rule passes."""
    whole(n, "n")
    whole(least, "least")
    return Passes(passes=at_least(least, n, share(p, "p")))
