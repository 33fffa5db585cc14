"""Runs of a setting, counted: how often each interval held the truth, and how often something was said wrongly.

A count is above its stated rate by more than chance where so many or more would be seen in less than one of a thousand
repetitions if the rate were true: the exact binomial bound, one-sided, over the number of cases (`CHANCE`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import exp, fsum, lgamma, log, log1p
from typing import Any, NamedTuple

from service.evaluation.scoring import Result
from tests.recovery.model import NOMINAL, Setting, Truth

CHANCE = 0.001


class Line(NamedTuple):
    """One thing that was counted. ``rate`` is what it is at most, ``None`` where nothing is claimed of it.

    ``sort`` is ``exact``, ``other`` or ``claim``; of an interval the ``wrong`` are those that did not hold the truth.
    """

    setting: str
    sort: str
    what: str
    wrong: int
    of: int
    rate: float | None

    @property
    def above(self) -> bool:
        """Whether it was seen oftener than stated, by more than chance."""
        return self.rate is not None and at_least(self.wrong, self.of, self.rate) < CHANCE

    @property
    def held(self) -> float:
        """The share of intervals that held the truth."""
        return 1 - self.wrong / self.of if self.of else 1.0


class Counted(NamedTuple):
    """Some runs of a setting: (wrong, of) by what was counted. Two of them are added member by member."""

    wrong: Counter[str]
    of: Counter[str]


def at_least(k: int, n: int, rate: float) -> float:
    """The chance of ``k`` or more of ``n`` at a rate."""
    if k <= 0:
        return 1.0
    if rate <= 0 or k > n:
        return 0.0
    if rate >= 1:
        return 1.0
    return min(1.0, fsum(exp(_log_point(i, n, rate)) for i in range(k, n + 1)))


def _log_point(k: int, n: int, rate: float) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(rate) + (n - k) * log1p(-rate)


def count(setting: Setting, seeds: Iterable[int]) -> Counted:
    """What runs with these seeds came to."""
    wrong, of = Counter[str](), Counter[str]()
    for seed in seeds:
        result = setting.run(seed)
        for name, (missed, cases) in _counts(setting, result):
            wrong[name] += missed
            of[name] += cases
    return Counted(wrong, of)


def _counts(setting: Setting, result: Result) -> Iterator[tuple[str, tuple[int, int]]]:
    for truth in setting.truths:
        found = holds(result, truth)
        if found is not None:
            yield name_of(truth), (int(not found), 1)
    for claim in setting.claims:
        yield claim.what, claim.seen(result)


def holds(result: Result, truth: Truth) -> bool | None:
    """Whether an interval held the truth; ``None`` where there is no interval."""
    figure = result.figure(truth.figure)
    output: Mapping[str, Any] = figure.output[truth.of] if truth.of else figure.output
    if "bound" in output:
        low, high = (output["bound"], 1.0) if figure.input["side"] == "low" else (0.0, output["bound"])
    else:
        low, high = output["low"], output["high"]
    if low is None or high is None:
        return None
    return bool(low - 1e-12 <= truth.value <= high + 1e-12)


def name_of(truth: Truth) -> str:
    """A truth in words: its figure, and the part of it."""
    return f"{truth.figure} ({truth.of})" if truth.of else truth.figure


def lines(setting: Setting, counted: Counted) -> Iterator[Line]:
    """What was counted of a setting, held against what is stated."""
    for truth in setting.truths:
        name, rate = name_of(truth), 1 - NOMINAL[truth.kind]
        sort = truth.kind if truth.claimed else "shown"
        yield _line(setting, sort, name, counted, rate if truth.claimed else None)
    for claim in setting.claims:
        yield _line(setting, "claim", claim.what, counted, claim.rate)


def _line(setting: Setting, sort: str, what: str, counted: Counted, rate: float | None) -> Line:
    return Line(setting.name, sort, what, counted.wrong[what], counted.of[what], rate)
