"""Thresholds of the gate: from which confidence on a case may go undebated, what debates mend, what was missed."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, fsum
from typing import Any, TypedDict

from service.evaluation.statistics.exact_tests import mcnemar
from service.evaluation.statistics.rates import clopper_pearson, one_sided_bound
from service.evaluation.statistics.reading import (
    StatisticRefused,
    alike,
    between,
    counts,
    exact,
    items,
    marks,
    members,
    money,
    number,
    numbers,
    share,
    shown,
)

PRIOR_SHARE, PRIOR_CASES = Fraction(1, 50), 50
"""What debates are taken to mend before any outcome is known, and how many cases that is worth."""
FEWEST_DEBATED, MOST_P = 50, 0.10
LEAST_FACTOR, MOST_FACTOR = 10.0, 200.0
MOST_CANDIDATES = 1000
LEAST_CHANCE = 1e-9
"""The smallest chance of a draw: a case stands for 1 / chance cases."""


class Conformal(TypedDict):
    """The rank of a score, and the score."""

    rank: int
    threshold: float | None


class Tried(TypedDict):
    """A candidate that was tried."""

    threshold: float
    n: int
    wrong: int
    bound: float


class SafeThreshold(TypedDict):
    """The lowest confidence that is safe, and all that were tried, from the highest."""

    threshold: float | None
    tried: list[Tried]


class Mending(TypedDict):
    """The share of cases that debate mends, net."""

    share: float
    p: float
    finding: str
    factor: float | None


class DeclinedLoss(TypedDict):
    """What declined cases cost."""

    rate: float | None
    low: float | None
    high: float | None
    population: float
    lossMicroUSD: float | None
    n: int


class GateProposal(TypedDict):
    """What thresholds would have done."""

    debates: int
    costMicroUSD: int
    n: int


def conformal_quantile(scores: Sequence[float], alpha: float) -> Conformal:
    """The split-conformal threshold (Vovk 2005): the ceil((n+1)(1-alpha))-th smallest score.

    ``None`` where there are too few cases for that rank.
    """
    found = sorted(numbers(scores, "scores"))
    rank = ceil((len(found) + 1) * (1 - exact(between(alpha, "alpha"))))
    return Conformal(rank=rank, threshold=found[rank - 1] if rank <= len(found) else None)


def safe_threshold(
    confidence: Sequence[float], wrong: Sequence[int], candidates: Sequence[float], most: float, level: float = 0.95
) -> SafeThreshold:
    """The lowest confidence from which on cases may go undebated with an error rate of at most ``most``.

    Candidates are tried from the highest down, each by the exact one-sided upper bound at ``level``, and the first that
    fails ends the search (fixed-sequence testing, Learn then Test, Angelopoulos and others 2021): no correction is
    needed. ``None``: no candidate holds.
    """
    sure = [share(each, "a confidence") for each in items(confidence, "confidence")]
    missed = marks(wrong, "wrong")
    alike(len(sure), len(missed), "confidences", "outcomes")
    asked = {share(each, "a candidate") for each in items(candidates, "candidates", MOST_CANDIDATES)}
    share(most, "most")
    between(level, "level")
    ordered = sorted(zip(sure, missed, strict=True), reverse=True)
    falling, wrongs = [-each for each, _ in ordered], [0, *accumulate(what for _, what in ordered)]
    safe: float | None = None
    tried: list[Tried] = []
    for candidate in sorted(asked, reverse=True):
        n = bisect_right(falling, -candidate)
        bound = one_sided_bound(wrongs[n], n, "high", level)["bound"]
        tried.append(Tried(threshold=candidate, n=n, wrong=wrongs[n], bound=bound))
        if bound > most:
            break
        safe = candidate
    return SafeThreshold(threshold=safe, tried=tried)


def mending(mended: int, broken: int, debated: int) -> Mending:
    """What share of cases debate mends, net, drawn towards 2 % with the weight of 50 cases.

    The factor that follows is 1 / share. It is ``proposed`` only from 50 debated cases with a known outcome and an
    exact p of at most 0.10, and lies between 10 and 200. ``unproven``: debate does not mend on balance. ``notEnough``:
    too few cases, or p is above 0.10.
    """
    counts(mended, broken, debated)
    if mended + broken > debated:
        raise StatisticRefused(f"{mended} mended and {broken} broken of {debated}")
    net = float((mended - broken + PRIOR_SHARE * PRIOR_CASES) / (debated + PRIOR_CASES))
    p = mcnemar(mended, broken)["p"]
    if debated < FEWEST_DEBATED:
        return Mending(share=net, p=p, finding="notEnough", factor=None)
    if mended <= broken:
        return Mending(share=net, p=p, finding="unproven", factor=None)
    if p > MOST_P:
        return Mending(share=net, p=p, finding="notEnough", factor=None)
    return Mending(share=net, p=p, finding="proposed", factor=min(MOST_FACTOR, max(LEAST_FACTOR, 1 / net)))


def declined_loss(cases: Sequence[Mapping[str, Any]], level: float = 0.95) -> DeclinedLoss:
    """What the gate missed: declined cases that were looked at all the same, each with the chance of its draw.

    ``cases``: {"chance": 0..1, "wrong": 0|1, "downsideMicroUSD": int}. A case stands for 1 / chance cases (Horvitz and
    Thompson 1952): ``population`` is how many all stand for, ``rate`` the wrong ones among these, ``lossMicroUSD``
    their downsides. Where all chances are equal the rate has an exact interval, else none. Without a case rate and loss
    are undefined.
    """
    found = [_declined(each) for each in items(cases, "cases")]
    between(level, "level")
    if not found:
        return DeclinedLoss(rate=None, low=0.0, high=1.0, population=0.0, lossMicroUSD=None, n=0)
    cases_by, wrong_by, loss_by = Counter[float](), Counter[float](), Counter[float]()
    for chance, wrong, downside in found:
        cases_by[chance] += 1
        wrong_by[chance] += wrong
        loss_by[chance] += wrong * downside
    population, missed, loss = map(_weighed, (cases_by, wrong_by, loss_by))
    rate, n = missed / population, len(found)
    low: float | None = None
    high: float | None = None
    if len(cases_by) == 1:
        interval = clopper_pearson(wrong_by.total(), n, level)
        rate, low, high = wrong_by.total() / n, interval["low"], interval["high"]
    return DeclinedLoss(rate=rate, low=low, high=high, population=population, lossMicroUSD=loss, n=n)


def _weighed(by_chance: Mapping[float, int]) -> float:
    """A sum over cases each of which stands for 1 / chance; exact for each chance."""
    return fsum(float(total / exact(chance)) for chance, total in by_chance.items())


def _declined(case: object) -> tuple[float, int, int]:
    """The chance of a case, whether it was wrong, and its downside."""
    found = members(case, "a case", "chance", "wrong", "downsideMicroUSD")
    chance = share(found["chance"], "a chance")
    if chance == 0:
        raise StatisticRefused("a case that could not be drawn cannot be in the sample")
    if chance < LEAST_CHANCE:
        raise StatisticRefused(f"a chance must be at least {LEAST_CHANCE}, found {shown(chance)}")
    marks([found["wrong"]], "wrong")
    return chance, found["wrong"], money(found["downsideMicroUSD"], "downsideMicroUSD")


def gate_proposal(
    cases: Sequence[Mapping[str, Any]], factor: float, floor: float, certain_micro_usd: int | None
) -> GateProposal:
    """What other thresholds would have done with recorded cases: how many debates, and at what expected cost.

    ``cases``, of the risk categories: {"confidence": 0..1 | null, "hedged": bool, "downsideMicroUSD",
    "thresholdMicroUSD", "costMicroUSD"}. Debate where downside > threshold x factor, strictly, and (no confidence, or
    confidence < floor, or hedged, or downside > certain). Amounts are whole micro-dollars; the factor is a decimal.
    Without ``certain_micro_usd`` certainty excuses at every downside.
    """
    if number(factor, "factor") < 0:
        raise StatisticRefused(f"factor must be a number from 0, found {shown(factor)}")
    times, sure = exact(factor), exact(share(floor, "floor"))
    certain = None if certain_micro_usd is None else money(certain_micro_usd, "certain_micro_usd")
    debates = cost = 0
    for each in items(cases, "cases"):
        case = _recorded(each)
        downside, confidence = case["downsideMicroUSD"], case["confidence"]
        doubted = confidence is None or exact(confidence) < sure or case["hedged"]
        if downside > case["thresholdMicroUSD"] * times and (doubted or (certain is not None and downside > certain)):
            debates += 1
            cost += case["costMicroUSD"]
    return GateProposal(debates=debates, costMicroUSD=cost, n=len(cases))


def _recorded(case: object) -> Mapping[str, Any]:
    amounts = ("downsideMicroUSD", "thresholdMicroUSD", "costMicroUSD")
    found = members(case, "a case", "confidence", "hedged", *amounts)
    if found["confidence"] is not None:
        share(found["confidence"], "a confidence")
    if not isinstance(found["hedged"], bool):
        raise StatisticRefused(f"hedged must be true or false, found {shown(found['hedged'])}")
    for name in amounts:
        money(found[name], name)
    return found
