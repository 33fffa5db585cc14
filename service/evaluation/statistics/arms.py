"""Arms over the same items: what they spent, what votes answer, and whether one is better than the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypedDict

from service.evaluation.statistics.differences import paired_difference
from service.evaluation.statistics.distributions import outside
from service.evaluation.statistics.exact_tests import mcnemar
from service.evaluation.statistics.reading import (
    StatisticRefused,
    alike,
    between,
    draws,
    exact,
    items,
    mark,
    money,
    share,
    shown,
    text,
)
from service.evaluation.statistics.resampling import bootstrap_mean

Item = Sequence[int | None]


class EqualSpend(TypedDict):
    """Each arm's spend by the debate's."""

    ratios: dict[str, float] | None
    equal: bool | None


class Majority(TypedDict):
    """The answer of votes."""

    answer: str | int | None
    cast: int
    seats: int
    tied: bool


class GroupedLift(TypedDict):
    """The same question of whole groups: how many favour each arm on balance, and the interval of whole groups."""

    n: int
    firstAhead: int
    secondAhead: int
    p: float
    low: float | None
    high: float | None


class Lift(TypedDict):
    """Whether the first arm is better than the second."""

    finding: str
    p: float
    difference: float | None
    low: float
    high: float
    n: int
    firstAlone: int
    secondAlone: int
    missing: list[int]
    range: list[float] | None
    groups: GroupedLift | None


def equal_spend(spent_micro_usd: Mapping[str, int], tolerance: float = 0.1) -> EqualSpend:
    """Whether arms spent alike: each arm's spend by the debate's, and whether all lie within the tolerance.

    Undefined where the debate spent nothing.
    """
    given: object = spent_micro_usd
    if not isinstance(given, Mapping) or "debate" not in given:
        raise StatisticRefused(f"spent_micro_usd must be an object with debate, found {shown(given)}")
    spent = {text(arm, "an arm"): money(each, f"the spend of {shown(arm)}") for arm, each in spent_micro_usd.items()}
    within = exact(share(tolerance, "tolerance"))
    debate = spent["debate"]
    if debate == 0:
        return EqualSpend(ratios=None, equal=None)
    equal = all(abs(amount - debate) <= within * debate for amount in spent.values())
    return EqualSpend(ratios={arm: amount / debate for arm, amount in spent.items()}, equal=equal)


def majority(votes: Sequence[str | int | None]) -> Majority:
    """The answer with most votes; an unread vote (``None``) is an abstention; a tie at the top is no answer."""
    given = [None if each is None else mark(each, "a vote") for each in items(votes, "votes")]
    cast = Counter(each for each in given if each is not None)
    top = cast.most_common(2)
    tied = len(top) == 2 and top[0][1] == top[1][1]
    answer = top[0][0] if top and not tied else None
    return Majority(answer=answer, cast=cast.total(), seats=len(given), tied=tied)


def lift(  # noqa: PLR0913 - as it is defined
    items: Sequence[Item],
    *,
    margin: float = 0.0,
    alpha: float = 0.05,
    adjusted: float | None = None,
    missing_limit: float = 0.05,
    groups: Sequence[str | int] | None = None,
    seed: str = "0",
    resamples: int = 2000,
) -> Lift:
    """Two arms over the same items, [first right, second right]; a missing answer (``None``) counts as wrong.

    Missing answers are listed by arm. ``better`` or ``worse`` where all of this holds: the exact p (``adjusted`` for
    other comparisons, if given) is at most alpha; the interval at 1 - alpha excludes 0 on that side; the difference
    reaches the registered margin; no arm lacks more than ``missing_limit`` of its answers; and, where items share
    groups, the exact sign test over groups' net differences is at most alpha and the interval of whole groups excludes
    0 on that side too (an interval of few groups alone is too narrow). ``inconclusive`` otherwise, also where nothing
    differs. ``range``: the difference if what is missing were at its worst and at its best for the first arm. Without
    an item the difference is undefined; ``groups`` is ``None`` where no two items share one.
    """
    pairs = _pairs(items)
    least, most_missing = exact(share(margin, "margin")), exact(share(missing_limit, "missing_limit"))
    level = outside(between(alpha, "alpha"))
    if adjusted is not None:
        share(adjusted, "adjusted")
    grouped = _grouped(pairs, groups, text(seed, "seed"), resamples, level)
    seen = Counter((one or 0, other or 0) for one, other in pairs)
    n, first, second = len(pairs), seen[1, 0], seen[0, 1]
    missing = [sum(each[arm] is None for each in pairs) for arm in (0, 1)]
    p = mcnemar(first, second)["p"]
    found = paired_difference(seen[1, 1], first, second, seen[0, 0], level)
    known = n > 0 and all(count <= most_missing * n for count in missing)
    reached = n > 0 and abs(Fraction(first - second, n)) >= least
    shown_at_all = known and reached and (p if adjusted is None else adjusted) <= alpha
    side = _side(found["low"], found["high"]) if shown_at_all else 0
    if grouped and not _agrees(grouped, side, alpha):
        side = 0
    return Lift(
        finding=("inconclusive", "better", "worse")[side],
        p=p,
        difference=found["difference"],
        low=found["low"],
        high=found["high"],
        n=n,
        firstAlone=first,
        secondAlone=second,
        missing=missing,
        range=_range(pairs) if pairs else None,
        groups=grouped,
    )


def _pairs(given: object) -> list[tuple[int | None, int | None]]:
    found = []
    for each in items(given, "items"):
        if not isinstance(each, list | tuple) or len(each) != 2 or not all(map(_is_answer, each)):
            raise StatisticRefused(f"an item is two of 0, 1 and null, found {shown(each)}")
        found.append((each[0], each[1]))
    return found


def _is_answer(value: object) -> bool:
    return value is None or (type(value) is int and value in (0, 1))


def _side(low: float, high: float) -> int:
    """1 where an interval lies above 0, -1 where it lies below, else 0."""
    return 1 if low > 0 else -1 if high < 0 else 0


def _range(pairs: Sequence[tuple[int | None, int | None]]) -> list[float]:
    """The difference with what is missing at its worst and at its best for the first arm."""
    worst = sum((one or 0) - (1 if other is None else other) for one, other in pairs)
    best = sum((1 if one is None else one) - (other or 0) for one, other in pairs)
    return [worst / len(pairs), best / len(pairs)]


def _grouped(
    pairs: Sequence[tuple[int | None, int | None]],
    groups: Sequence[str | int] | None,
    seed: str,
    resamples: int,
    level: float,
) -> GroupedLift | None:
    draws(len(pairs), resamples)
    if groups is None:
        return None
    named = [mark(each, "a group") for each in items(groups, "groups")]
    alike(len(pairs), len(named), "items", "groups")
    if len(set(named)) == len(named):
        return None  # nothing is shared
    differences = [(one or 0) - (other or 0) for one, other in pairs]
    net: Counter[str | int] = Counter()
    for name, each in zip(named, differences, strict=True):
        net[name] += each
    ahead, behind = sum(each > 0 for each in net.values()), sum(each < 0 for each in net.values())
    whole = bootstrap_mean(differences, named, seed, resamples, level)
    return GroupedLift(
        n=len(net),
        firstAhead=ahead,
        secondAhead=behind,
        p=mcnemar(ahead, behind)["p"],
        low=whole["low"],
        high=whole["high"],
    )


def _agrees(grouped: GroupedLift, side: int, alpha: float) -> bool:
    """Whether whole groups show the same."""
    if grouped["low"] is None or grouped["high"] is None:
        return False
    return grouped["p"] <= alpha and _side(grouped["low"], grouped["high"]) == side
