"""Drift: charts that raise an alarm when a rate moves, and how long they take to."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log, log1p, sqrt
from typing import TypedDict

from service.evaluation.statistics.reading import (
    StatisticRefused,
    between,
    items,
    marks,
    number,
    pair,
    part,
    share,
    shown,
    whole,
)

MOST_STEPS = 20_000_000
"""The most steps of `cusum_run`: limit times both weights."""
MOST_LIMIT = 10**6


class Cusum(TypedDict):
    """Where the chart raised its alarm, and where it stands."""

    alarmAt: int | None
    last: int
    highest: int


class CusumRun(TypedDict):
    """The mean number of cases to an alarm; ``None`` where it never comes."""

    cases: float | None


class Point(TypedDict):
    """A period of the chart with its limits."""

    z: float
    low: float
    high: float


class Ewma(TypedDict):
    """The first period outside of its limits, from 1, and every period; ``None`` for one that moves nothing."""

    alarmAt: int | None
    points: list[Point | None]


def cusum(events: Sequence[int], p0: float, p1: float, limit: int, fewest: int = 20) -> Cusum:
    """Bernoulli CUSUM from a rate that is fine (p0) towards one that is not (p1) (Reynolds and Stoumbos 1999).

    Weights are whole hundredths of log-likelihood ratios, so every machine agrees: round(100 ln(p1 / p0)) for an event
    and round(100 ln((1-p1) / (1-p0))) for none. S = max(0, S + weight); an alarm where S >= limit and at least
    ``fewest`` cases were seen; the first such case, from 1, or ``None``. The chart goes on behind it.
    """
    weights = _weights(p0, p1)
    whole(limit, "limit", 1, MOST_LIMIT)
    whole(fewest, "fewest")
    s, highest, alarm = 0, 0, None
    for at, event in enumerate(marks(events, "events"), 1):
        s = max(0, s + weights[event])
        highest = max(highest, s)
        if alarm is None and s >= limit and at >= fewest:
            alarm = at
    return Cusum(alarmAt=alarm, last=s, highest=highest)


def _weights(p0: float, p1: float) -> tuple[int, int]:
    """The weights of a case without and with an event."""
    between(p0, "p0")
    between(p1, "p1")
    none, event = round(100 * (log1p(-p1) - log1p(-p0))), round(100 * (log(p1) - log(p0)))
    if none == 0 or event == 0:
        raise StatisticRefused(
            f"p0 = {p0} and p1 = {p1} are so near each other, or to 0 or 1, that a weight in whole hundredths is 0: "
            "choose rates further apart"
        )
    return none, event


def cusum_run(p: float, p0: float, p1: float, limit: int) -> CusumRun:
    """The mean number of cases to an alarm at a true rate, by the chain of its whole-number states.

    ``fewest`` of `cusum` is not in it. States are eliminated from the highest down without a subtraction (Grassmann,
    Taksar and Heyman 1985), so that long runs are as accurate as short ones. ``None`` where no alarm ever comes.
    """
    share(p, "p")
    weights = _weights(p0, p1)
    whole(limit, "limit", 1, MOST_LIMIT)
    up, down = max(weights), -min(weights)
    rises = p if weights[1] > 0 else 1 - p
    if rises == 0:
        return CusumRun(cases=None)
    if limit * up * down > MOST_STEPS:
        raise StatisticRefused(
            f"limit x weights ({limit} x {up} x {down}) must be at most {MOST_STEPS:,}: "
            "choose a lower limit or nearer rates"
        )
    cases = _mean_run(limit, up, down, rises)
    return CusumRun(cases=cases if isfinite(cases) else None)


def _mean_run(limit: int, up: int, down: int, rises: float) -> float:
    """The mean steps from 0 to a state of at least ``limit``: up by chance ``rises``, else down, not below 0."""
    chances = [dict[int, float]() for _ in range(limit)]  # of each state, to the states below ``limit``
    steps, alarms = [1.0] * limit, [0.0] * limit
    sources: list[set[int]] = [set() for _ in range(limit)]
    for state, leads in enumerate(chances):
        if state + up < limit:
            leads[state + up] = rises
        else:
            alarms[state] = rises
        below = max(0, state - down)
        leads[below] = leads.get(below, 0.0) + 1 - rises
        for target in leads:
            sources[target].add(state)
    for state in range(limit - 1, 0, -1):
        leads = chances[state]
        leads.pop(state, None)
        leaves = sum(leads.values()) + alarms[state]
        if leaves == 0:
            continue
        for source in sources[state]:
            if source >= state or not (reached := chances[source].pop(state, 0.0)):
                continue
            reached /= leaves
            steps[source] += reached * steps[state]
            alarms[source] += reached * alarms[state]
            theirs = chances[source]
            for target, chance in leads.items():
                theirs[target] = theirs.get(target, 0.0) + reached * chance
                sources[target].add(source)
    return steps[0] / alarms[0] if alarms[0] > 0 else float("inf")


def ewma(counts: Sequence[Sequence[int]], p0: float, weight: float = 0.2, width: float = 3.0, fewest: int = 20) -> Ewma:
    """EWMA of rates by period (Roberts 1959), [events, cases]; a period with fewer cases than ``fewest`` moves nothing.

    z = weight x rate + (1 - weight) x z before, from p0; its variance is carried along with each period's own count, so
    limits are exact for unequal periods: v = weight^2 p0 (1-p0) / n + (1 - weight)^2 v before. The limits, p0 and
    ``width`` standard deviations around it, are not cut at 0 and 1. ``alarmAt`` is the first period, from 1, outside.
    """
    periods = [pair(each, "a period") for each in items(counts, "counts")]
    for k, n in periods:
        part(k, n)
    between(p0, "p0")
    if share(weight, "weight") == 0 or number(width, "width") <= 0:
        raise StatisticRefused(f"weight and width must be above 0, found {shown(weight)} and {shown(width)}")
    whole(fewest, "fewest")
    z, variance, alarm = p0, 0.0, None
    points: list[Point | None] = []
    for at, (k, n) in enumerate(periods, 1):
        if n < max(1, fewest):
            points.append(None)
            continue
        z = weight * (k / n) + (1 - weight) * z
        variance = weight**2 * p0 * (1 - p0) / n + (1 - weight) ** 2 * variance
        reach = width * sqrt(variance)
        points.append(Point(z=z, low=p0 - reach, high=p0 + reach))
        if alarm is None and abs(z - p0) > reach:
            alarm = at
    return Ewma(alarmAt=alarm, points=points)
