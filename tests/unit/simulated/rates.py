"""Counts against a stated rate, by exact sums."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import comb

RARE = Fraction(1, 1_000_000)


@cache
def bounds(n: int, rate: Fraction, rare: Fraction = RARE) -> tuple[int, int]:
    """The least and the greatest count of ``n`` with a tail of at most ``rare`` outside of each."""
    chances = [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    return _cut(chances, rare), n - _cut(chances[::-1], rare)


def _cut(chances: Sequence[Fraction], rare: Fraction) -> int:
    """How many counts from the first on are together no more likely than that."""
    together = Fraction(0)
    for k, chance in enumerate(chances):
        together += chance
        if together > rare:
            return k
    return len(chances)


def assert_rate(found: Sequence[bool], per_mille: int | Fraction, rare: Fraction = RARE) -> None:
    """Hold a count to the bounds that a binomial count of this rate leaves with that chance outside of each."""
    low, high = bounds(len(found), Fraction(per_mille) / 1_000, rare)
    assert low <= sum(found) <= high, f"{sum(found)} of {len(found)} at {float(per_mille)} per mille: {low} to {high}"
