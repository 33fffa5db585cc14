"""Probabilities against what happened: scores, calibration, discrimination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor, fsum, sqrt
from operator import itemgetter, lt
from typing import TypedDict

from service.evaluation.statistics.distributions import normal_two_sided
from service.evaluation.statistics.draws import WORD, Words, upper_place
from service.evaluation.statistics.rates import wilson
from service.evaluation.statistics.reading import between, choice, draws, exact, forecasts, probabilities, text, whole

MOST_BINS = 1000


class Brier(TypedDict):
    """Brier's score and its parts."""

    score: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    skill: float | None
    n: int


class Bin(TypedDict):
    """A bin of the diagram: its number from 0, its cases, their mean probability, and how often it happened."""

    bin: int
    n: int
    p: float
    rate: float
    low: float
    high: float


class Reliability(TypedDict):
    """Calibration errors, and the bins that have a case."""

    ece: float | None
    mce: float | None
    bins: list[Bin]


class Spiegelhalter(TypedDict):
    """A standard normal deviate, and its two-sided p-value."""

    z: float | None
    p: float | None


class Auroc(TypedDict):
    """The area under the curve of hits against false alarms."""

    auroc: float | None


class CalibratedError(TypedDict):
    """The expected calibration error of a forecaster whose probabilities are true."""

    mean: float | None
    high: float | None


def brier(p: Sequence[float], y: Sequence[int]) -> Brier:
    """Brier's score (1950) and its parts (Murphy 1973) over groups of equal probability, so that they add up exactly.

    score = reliability - resolution + uncertainty. Skill is against always saying the base rate, undefined where all
    cases ended alike. Without a case everything is undefined.
    """
    probable, happened = forecasts(p, y)
    n = len(probable)
    if n == 0:
        return Brier(score=None, reliability=None, resolution=None, uncertainty=None, skill=None, n=0)
    cases, events = Counter(probable), Counter(each for each, what in zip(probable, happened, strict=True) if what)
    base = sum(happened) / n
    score = fsum((each - what) ** 2 for each, what in zip(probable, happened, strict=True)) / n
    reliable = fsum(count * (each - events[each] / count) ** 2 for each, count in cases.items()) / n
    resolved = fsum(count * (events[each] / count - base) ** 2 for each, count in cases.items()) / n
    uncertain = base * (1 - base)
    skill = 1 - score / uncertain if uncertain else None
    return Brier(score=score, reliability=reliable, resolution=resolved, uncertainty=uncertain, skill=skill, n=n)


def reliability(
    p: Sequence[float], y: Sequence[int], bins: int = 10, by: str = "width", level: float = 0.95
) -> Reliability:
    """Expected and greatest calibration error, and the bins of the diagram with Wilson's interval for what happened.

    width  bin = min(bins - 1, floor(bins x p)), computed in decimals
    count  bin = min(bins - 1, floor(bins x r / n)), r = how many probabilities are strictly smaller: ties stay together

    Only bins that have a case are listed. Without a case both errors are undefined.
    """
    probable, happened = forecasts(p, y)
    placed = _placed(probable, bins, by)
    between(level, "level")
    n = len(probable)
    found = []
    for number, cases in placed.items():
        events = sum(happened[each] for each in cases)
        rate = wilson(events, len(cases), level)
        mean = fsum(probable[each] for each in cases) / len(cases)
        happening = events / len(cases)
        found.append(Bin(bin=number, n=len(cases), p=mean, rate=happening, low=rate["low"], high=rate["high"]))
    if not found:
        return Reliability(ece=None, mce=None, bins=[])
    gaps = [abs(each["p"] - each["rate"]) for each in found]
    ece = fsum(each["n"] * gap for each, gap in zip(found, gaps, strict=True)) / n
    return Reliability(ece=ece, mce=max(gaps), bins=found)


def _placed(probable: Sequence[float], bins: int, by: str) -> dict[int, list[int]]:
    """The bins that have a case, in their order, with the places of their cases."""
    whole(bins, "bins", 1, MOST_BINS)
    choice(by, "by", "width", "count")
    numbered = _by_width(probable, bins) if by == "width" else _by_count(probable, bins)
    found: dict[int, list[int]] = {}
    for place, each in enumerate(probable):
        found.setdefault(numbered[each], []).append(place)
    return dict(sorted(found.items()))


def _by_width(probable: Sequence[float], bins: int) -> dict[float, int]:
    return {each: min(bins - 1, floor(bins * exact(each))) for each in set(probable)}


def _by_count(probable: Sequence[float], bins: int) -> dict[float, int]:
    n, smaller, found = len(probable), 0, {}
    for each, count in sorted(Counter(probable).items()):
        found[each] = min(bins - 1, bins * smaller // n)
        smaller += count
    return found


def spiegelhalter(p: Sequence[float], y: Sequence[int]) -> Spiegelhalter:
    """Spiegelhalter's test (1986) that probabilities are calibrated; undefined where all are 0, 1/2 or 1.

    z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)).
    """
    probable, happened = forecasts(p, y)
    if all(each in (0, 0.5, 1) for each in probable):
        return Spiegelhalter(z=None, p=None)
    off = fsum((what - each) * (1 - 2 * each) for each, what in zip(probable, happened, strict=True))
    spread = fsum((1 - 2 * each) ** 2 * each * (1 - each) for each in probable)
    if spread == 0:  # squares of the smallest probabilities
        return Spiegelhalter(z=None, p=None)
    z = off / sqrt(spread)
    return Spiegelhalter(z=z, p=normal_two_sided(z))


def auroc(p: Sequence[float], y: Sequence[int]) -> Auroc:
    """How often a case that happened was given a higher probability than one that did not; ties count half.

    Undefined where all cases ended alike.
    """
    probable, happened = forecasts(p, y)
    events = Counter(each for each, what in zip(probable, happened, strict=True) if what)
    others = Counter(probable) - events
    pairs = events.total() * others.total()
    if pairs == 0:
        return Auroc(auroc=None)
    below = twice = 0
    for each in sorted(events | others):
        twice += events[each] * (2 * below + others[each])
        below += others[each]
    return Auroc(auroc=float(Fraction(twice, 2 * pairs)))


def ece_if_calibrated(
    p: Sequence[float], bins: int = 10, by: str = "width", seed: str = "0", resamples: int = 1000, level: float = 0.95
) -> CalibratedError:
    """What the expected calibration error comes to where every probability is true: it is far from 0 for few cases.

    Outcomes of a resample: 1 where the case's word < probability x 2^64. ``high`` is the order statistic at
    ceil(level x resamples) - 1, from 0; an error above it is one that a calibrated forecaster would rarely show.
    Without a case both are undefined.
    """
    probable = probabilities(p)
    placed = list(_placed(probable, bins, by).values())
    text(seed, "seed")
    between(level, "level")
    count = draws(len(probable), resamples)
    if not probable:
        return CalibratedError(mean=None, high=None)
    limits = [ceil(each * WORD) for each in probable]
    expected = [fsum(probable[each] for each in cases) for cases in placed]
    gather = [_gatherer(cases) for cases in placed]
    words = Words(seed, len(probable))
    errors = []
    for resample in range(count):
        happened = list(map(lt, words.of(resample), limits))
        gaps = [abs(gathered(happened) - sure) for gathered, sure in zip(gather, expected, strict=True)]
        errors.append(fsum(gaps) / len(probable))
    errors.sort()
    return CalibratedError(mean=fsum(errors) / count, high=errors[upper_place(count, level)])


def _gatherer(cases: Sequence[int]) -> Callable[[Sequence[bool]], int]:
    """How many of a bin's cases happened."""
    if len(cases) == 1:
        return lambda happened: int(happened[cases[0]])
    chosen = itemgetter(*cases)
    return lambda happened: sum(chosen(happened))
