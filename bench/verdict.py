"""Whether two versions differ, by pairs of figures that were measured in turns.

Each pair has one figure of either version, measured one after the other, so what slows the machine down for a while
slows both. Of the ratios of all pairs the median's confidence interval is taken that assumes nothing of how figures
are spread: from the k-th smallest ratio to the k-th greatest, with the greatest k for which the interval misses the
median of very many pairs at most once in twenty times (the sign test, turned round). Where 1 lies in it, nothing can be
told. Six pairs are the fewest that can tell anything, and then all six have to agree; nine allow one that does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import median
from typing import NamedTuple

MISSED = 0.05
FEWEST = 6


class Verdict(NamedTuple):
    """The median of the ratios (second version over first), its interval, and how sure the interval is."""

    ratio: float
    low: float
    high: float
    sure: float

    @property
    def differs(self) -> bool:
        """Whether a difference can be told."""
        return not self.low <= 1.0 <= self.high

    def __str__(self) -> str:
        by = f"{self.sure * 100:.0f} % interval {self.low:.3f} to {self.high:.3f}"
        if not self.differs:
            return f"no difference ({by})"
        change = abs(self.ratio - 1) * 100
        return f"{change:.1f} % {'less' if self.ratio < 1 else 'more'} ({by})"


def judge(pairs: Sequence[tuple[float, float]]) -> Verdict:
    """What pairs of figures, first and second version, tell; a pair of two zeros is one without a difference.

    Raises ValueError for fewer than `FEWEST` pairs.
    """
    if len(pairs) < FEWEST:
        raise ValueError(f"expected at least {FEWEST} pairs, found {len(pairs)}: fewer cannot tell a difference")
    ratios = sorted(_ratio(*pair) for pair in pairs)
    outside = _outside(len(ratios))
    low, high = ratios[outside - 1], ratios[-outside]
    return Verdict(median(ratios), low, high, 1 - _misses(len(ratios), outside))


def _ratio(first: float, second: float) -> float:
    if first == 0:
        return 1.0 if second == 0 else float("inf")
    return second / first


def _outside(pairs: int) -> int:
    """The greatest k whose interval is sure enough."""
    return max(k for k in range(1, pairs // 2 + 1) if k == 1 or _misses(pairs, k) <= MISSED)


def _misses(pairs: int, k: int) -> float:
    """How likely fewer than k of so many fair coins fall on one of the sides."""
    return float(2 * sum(comb(pairs, i) for i in range(k)) / 2**pairs)


def order(pairs: int) -> list[tuple[str, str]]:
    """Which version is measured first in each pair: by turns, so that what grows meanwhile favours neither."""
    return [("first", "second") if nth % 2 == 0 else ("second", "first") for nth in range(pairs)]
