"""Critics, moderators and raters: what they see, which side they lean to, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import TypedDict

from service.evaluation.statistics.distributions import density, outside, quantile, z_of
from service.evaluation.statistics.exact_tests import binomial
from service.evaluation.statistics.rates import Rate, clopper_pearson, wilson
from service.evaluation.statistics.reading import StatisticRefused, between, counts, items, mark, pair, shown, whole

Mark = str | int
SLOTS = ("first", "second", "none")


class SignalDetection(TypedDict):
    """Hits and false alarms, and what separates them."""

    hit: Rate
    falseAlarm: Rate
    dPrime: float | None
    criterion: float | None
    low: float | None
    high: float | None


class Tilt(TypedDict):
    """The share of decided cases that the first side won."""

    rate: float | None
    low: float
    high: float
    p: float
    decided: int
    ties: int
    finding: str


class OrderSwaps(TypedDict):
    """How often an answer stayed the same in the other order."""

    consistent: int
    n: int
    rate: float | None
    low: float
    high: float
    firstTwice: int
    secondTwice: int
    oneUndecided: int
    p: float


class Kappa(TypedDict):
    """Agreement of two raters, raw and beyond chance."""

    agreement: float | None
    kappa: float | None
    low: float | None
    high: float | None
    n: int


class Alpha(TypedDict):
    """Krippendorff's alpha, and the units that it rests on."""

    alpha: float | None
    units: int


def signal_detection(
    hits: int, misses: int, false_alarms: int, correct_rejections: int, level: float = 0.95
) -> SignalDetection:
    """Sensitivity and criterion with the log-linear correction (Hautus 1995), always applied.

    d' = z(H) - z(F), c = -(z(H) + z(F)) / 2, with H = (hits + 1/2) / (flawed + 1), F likewise. The interval is that of
    Gourevitch and Galanter (1967): var d' = H(1-H) / (flawed phi(zH)^2) + F(1-F) / (sound phi(zF)^2). The rates have
    exact intervals. d' and criterion are undefined where there is no flawed case or no sound one.
    """
    counts(hits, misses, false_alarms, correct_rejections)
    flawed, sound = hits + misses, false_alarms + correct_rejections
    hit, alarm = clopper_pearson(hits, flawed, level), clopper_pearson(false_alarms, sound, level)
    if flawed == 0 or sound == 0:
        return SignalDetection(hit=hit, falseAlarm=alarm, dPrime=None, criterion=None, low=None, high=None)
    h, f = (hits + 0.5) / (flawed + 1), (false_alarms + 0.5) / (sound + 1)
    z_h, z_f = quantile(h), quantile(f)
    seen, spread = z_h - z_f, _probit_variance(h, z_h, flawed) + _probit_variance(f, z_f, sound)
    reach = z_of(level) * sqrt(spread)
    return SignalDetection(
        hit=hit, falseAlarm=alarm, dPrime=seen, criterion=-(z_h + z_f) / 2, low=seen - reach, high=seen + reach
    )


def _probit_variance(rate: float, z: float, cases: int) -> float:
    return rate * (1 - rate) / (cases * density(z) ** 2)


def tilt(first: int, second: int, ties: int = 0, fewest: int = 23, level: float = 0.95) -> Tilt:
    """Which of two sides is preferred, with Wilson's interval and an exact test; ties are listed and left out of both.

    ``notEnough`` under ``fewest`` decided cases, ``tilt`` where p is at most 1 - level, else ``noneSeen``, which does
    not say that there is none.
    """
    counts(first, second, ties)
    whole(fewest, "fewest")
    decided = first + second
    rate = wilson(first, decided, level)
    p = binomial(first, decided)["p"]
    finding = "notEnough" if decided < fewest else "tilt" if p <= outside(level) else "noneSeen"
    return Tilt(rate=rate["rate"], low=rate["low"], high=rate["high"], p=p, decided=decided, ties=ties, finding=finding)


def order_swaps(pairs: Sequence[Sequence[str]], level: float = 0.95) -> OrderSwaps:
    """Answers to the same case in two orders: [slot chosen at first, slot chosen in reverse order].

    A slot is ``first``, ``second`` or ``none``. Consistent is the same content: first then second, second then first,
    none twice; with Wilson's interval. Always the first slot against always the second is an exact test of the pull of
    a position. What is neither consistent nor twice the same slot is ``oneUndecided``.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for each in items(pairs, "pairs"):
        if not isinstance(each, list | tuple) or len(each) != 2 or any(slot not in SLOTS for slot in each):
            raise StatisticRefused(f"a slot is first, second or none, found {shown(each)}")
        seen[each[0], each[1]] += 1
    n = seen.total()
    consistent = seen["first", "second"] + seen["second", "first"] + seen["none", "none"]
    twice = seen["first", "first"], seen["second", "second"]
    rate = wilson(consistent, n, level)
    return OrderSwaps(
        consistent=consistent,
        n=n,
        rate=rate["rate"],
        low=rate["low"],
        high=rate["high"],
        firstTwice=twice[0],
        secondTwice=twice[1],
        oneUndecided=n - consistent - sum(twice),
        p=binomial(twice[0], sum(twice))["p"],
    )


def kappa(pairs: Sequence[Sequence[Mark]], level: float = 0.95) -> Kappa:
    """Cohen's kappa of two raters (1960), with the interval of Fleiss, Cohen and Everitt (1969), cut at -1 and 1.

    Undefined where chance alone agrees (both raters give one mark always), and without a case.
    """
    table: Counter[tuple[Mark, Mark]] = Counter()
    for each in items(pairs, "pairs"):
        one, other = pair(each, "a pair of marks")
        table[mark(one, "a mark"), mark(other, "a mark")] += 1
    z = z_of(between(level, "level"))
    n = table.total()
    if n == 0:
        return Kappa(agreement=None, kappa=None, low=None, high=None, n=0)
    rows: Counter[Mark] = Counter()
    columns: Counter[Mark] = Counter()
    for (one, other), count in table.items():
        rows[one] += count
        columns[other] += count
    agreed = Fraction(sum(count for (one, other), count in table.items() if one == other), n)
    chance = Fraction(sum(rows[each] * columns[each] for each in rows), n * n)
    if chance == 1:
        return Kappa(agreement=float(agreed), kappa=None, low=None, high=None, n=n)
    found = (agreed - chance) / (1 - chance)
    reach = z * sqrt(max(0.0, float(_kappa_variance(table, rows, columns, agreed, chance))))
    low, high = max(-1.0, float(found) - reach), min(1.0, float(found) + reach)
    return Kappa(agreement=float(agreed), kappa=float(found), low=low, high=high, n=n)


def _kappa_variance(
    table: Counter[tuple[Mark, Mark]],
    rows: Counter[Mark],
    columns: Counter[Mark],
    agreed: Fraction,
    chance: Fraction,
) -> Fraction:
    """The large-sample variance of kappa (Fleiss, Cohen and Everitt 1969, formula 13)."""
    n = table.total()
    on = off = Fraction(0)
    for (one, other), count in table.items():
        if one == other:
            on += count * ((1 - chance) - Fraction(rows[one] + columns[one], n) * (1 - agreed)) ** 2
        else:
            off += count * (columns[one] + rows[other]) ** 2
    rest = agreed * chance - 2 * chance + agreed
    inner = on / n + (1 - agreed) ** 2 * off / n**3 - rest**2
    return inner / (n * (1 - chance) ** 4)


def alpha(units: Sequence[Sequence[Mark | None]]) -> Alpha:
    """Krippendorff's alpha for nominal marks (1970); a missing mark is ``None``.

    Units with fewer than two marks are left out. Undefined without another unit, and where all marks are alike.
    """
    used = []
    for unit in items(units, "units"):
        given = Counter(mark(each, "a mark") for each in items(unit, "a unit") if each is not None)
        if given.total() >= 2:
            used.append(given)
    totals: Counter[Mark] = sum(used, Counter())
    n = totals.total()
    unlike_by_chance = n * n - sum(count * count for count in totals.values())
    if unlike_by_chance == 0:
        return Alpha(alpha=None, units=len(used))
    by_size: Counter[int] = Counter()
    for unit in used:
        size = unit.total()
        by_size[size] += size * size - sum(count * count for count in unit.values())
    unlike = sum((Fraction(count, size - 1) for size, count in by_size.items()), Fraction(0))
    return Alpha(alpha=float(1 - unlike * (n - 1) / unlike_by_chance), units=len(used))
