"""Means with an interval by resampling, of values or of whole groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TypedDict

from service.evaluation.statistics.draws import Words, percentile_places
from service.evaluation.statistics.reading import alike, between, draws, items, mark, numbers, text


class BootstrapMean(TypedDict):
    """A mean with a percentile interval, and the number of groups that were drawn from."""

    mean: float | None
    low: float | None
    high: float | None
    groups: int


def bootstrap_mean(
    values: Sequence[float],
    groups: Sequence[str | int] | None = None,
    seed: str = "0",
    resamples: int = 2000,
    level: float = 0.95,
) -> BootstrapMean:
    """The mean with a percentile interval (Efron 1979); groups (one document, one counterparty) are drawn whole.

    Groups are numbered in the order of their first member; without ``groups`` each value is one. A resample draws as
    many groups as there are, each by a word modulo their number, and its mean is the sum of all their members over the
    number of these. Bounds are order statistics: of B sorted means the one at floor(B a/2) and the one at
    ceil(B (1 - a/2)) - 1, from 0. For a paired difference, values are the differences. Without a value the mean is
    undefined, and with one group there is no interval.
    """
    found = numbers(values, "values")
    grouped = None if groups is None else [mark(each, "a group") for each in items(groups, "groups")]
    if grouped is not None:
        alike(len(found), len(grouped), "values", "groups")
    text(seed, "seed")
    between(level, "level")
    members = _members(found, grouped)
    count = draws(len(members), resamples)
    if not found:
        return BootstrapMean(mean=None, low=None, high=None, groups=0)
    mean = fsum(found) / len(found)
    if len(members) == 1:
        return BootstrapMean(mean=mean, low=None, high=None, groups=1)
    means = sorted(_means(members, seed, count))
    low, high = percentile_places(count, level)
    return BootstrapMean(mean=mean, low=means[low], high=means[high], groups=len(members))


def _members(values: Sequence[float], groups: Sequence[str | int] | None) -> list[list[float]]:
    if groups is None:
        return [[value] for value in values]
    found: dict[str | int, list[float]] = {}
    for group, value in zip(groups, values, strict=True):
        found.setdefault(group, []).append(value)
    return list(found.values())


def _means(members: Sequence[Sequence[float]], seed: str, resamples: int) -> list[float]:
    """The mean of each resample."""
    n = len(members)
    sums, sizes = [fsum(group) for group in members], [len(group) for group in members]
    words = Words(seed, n)
    single = max(sizes) == 1
    means = []
    for resample in range(resamples):
        drawn = [word % n for word in words.of(resample)]
        size = n if single else sum(map(sizes.__getitem__, drawn))
        means.append(fsum(map(sums.__getitem__, drawn)) / size)
    return means
