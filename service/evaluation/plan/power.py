"""What a plan could see, computed before anything is asked.

    lift        exact McNemar with n items (groups where groups count whole); gain and loss are the shares that differ
    critic      the chance that the release rule passes a critic with these rates (one-sided exact bounds at 95 %)
    moderator   the exact test of a share of decided cases against one half
                a preference: Fisher's test over the items of one feature, of the rarest that there is

The power of a plan is shown for three effects: its own, half of it, and twice it. A lift of several comparisons is
computed at the strictest step of Holm's correction, alpha over the number of comparisons: it has at least this power.
So has a moderator's audit, over all aspects that it may have (`ASPECTS`). Under `FEWEST` cases it says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from service.evaluation.plan.around import Around, ItemFacts
from service.evaluation.plan.model import PER_MILLE, Effect, Plan
from service.evaluation.statistics import compute

LEAST_POWER = 0.5
"""A plan with less for its own effect has to say that it is exploratory."""
VISIBLE_POWER = 0.8
"""An effect is visible where it is seen this often."""
HITS_AT_LEAST, ALARMS_AT_MOST = 0.60, 0.40
"""The shipped rule of a release, by one-sided bounds."""
PAIRS_MAX = 2_000
ASPECTS = 6
"""What a moderator's audit asks at most, adjusted together: place, side, and four features of a side."""
FEWEST = 23
"""Decided cases below which a moderator's audit says nothing of a pull."""
ON_A_SIDE = 200
"""The most cases with a feature on either side whose power is computed; that of more cases is at least as high."""
_STEP = 10


class PowerRow(Struct, frozen=True, rename="camel"):
    """The chance to see one effect with the plan's items, and how many would see it in 80 % of runs (``None``: more
    than `PAIRS_MAX`, or not computed for this kind)."""

    name: str
    effect: Effect
    power: float
    needed: int | None


class Power(Struct, frozen=True, rename="camel"):
    """The power of a plan: for ``n`` units, for three effects, and the smallest effect that is seen in 80 % of runs.

    ``visible`` is ``None`` where not even the largest effect is seen so often.
    """

    n: int
    counted: str
    alpha: float
    rows: tuple[PowerRow, ...]
    visible: Effect | None


class Counted(Struct, frozen=True):
    """What a plan counts as independent: how many, and their name; of a critic, ``second`` are the sound twins."""

    n: int
    name: str
    second: int = 0


def planned_units(plan: Plan, around: Around) -> Counted:
    """What the sets of a plan come to, as its power counts it; none of a set that is not at hand."""
    items = [
        (planned.id, item)
        for planned in plan.sets
        if planned.id in around.sets
        for item in around.sets[planned.id].of(planned.split)
    ]
    if plan.kind == "lift" and plan.groups == "whole":
        return Counted(len({(set_, item.group) for set_, item in items}), "groups")
    if plan.kind == "critic":  # each pair has one flawed item and its sound twin
        # A release stops in any one task type, so the smallest one has the power.
        least = min(Counter(around.sets[set_].task_type for set_, _ in items).values(), default=0)
        return Counted(least // 2, "flawed proposals of a task type, each with its sound twin", least - least // 2)
    if plan.metric == "preference":
        found = Counter[str]()
        for planned in plan.sets:
            for feature, pairs in around.sets[planned.id].features if planned.id in around.sets else ():
                found[feature] += 2 * pairs[planned.split]
        return of_the_rarest(found)
    return Counted(len(items), "items")


def of_the_rarest(features: Mapping[str, int]) -> Counted:
    """What a preference counts, of items by feature: a pull may be to any one, so the rarest one has the power."""
    n, feature = min(((n, feature) for feature, n in features.items() if n), default=(0, "none"))
    return Counted(n, f"items with the rarest feature ({feature})")


def own_power(plan: Plan, counted: Counted) -> float:
    """The chance to see the plan's own effect."""
    return _seen(plan, counted)(plan.effect)


def power_of(plan: Plan, counted: Counted) -> Power:
    """The power of a plan for its own effect, half of it and twice it, and the smallest effect that is visible."""
    seen = _seen(plan, counted)
    named = (("expected", 1.0), ("half", 0.5), ("twice", 2.0))
    rows = []
    for name, factor in named:
        effect = scaled(plan.effect, factor)
        rows.append(PowerRow(name, effect, seen(effect), _needed(plan, effect)))
    return Power(counted.n, counted.name, _alpha(plan), tuple(rows), _visible(plan, seen))


def scaled(effect: Effect, factor: float) -> Effect:
    """An effect so many times as large, as far as shares go: the loss, the alarms and one half stay where they are."""
    if effect.gain is not None and effect.loss is not None:
        return Effect(gain=min(PER_MILLE - effect.loss, _times(effect.loss, effect.gain, factor)), loss=effect.loss)
    if effect.hits is not None and effect.alarms is not None:
        return Effect(hits=min(PER_MILLE, _times(effect.alarms, effect.hits, factor)), alarms=effect.alarms)
    return Effect(share=min(PER_MILLE, _times(PER_MILLE // 2, effect.share or 0, factor)))


def _times(base: int, reached: int, factor: float) -> int:
    return base + round((reached - base) * factor)


def _seen(plan: Plan, counted: Counted) -> Callable[[Effect], float]:
    """How often an effect is seen, with the units of a plan."""
    if plan.kind == "lift":
        return lambda effect: _lift(plan, counted.n, effect)
    if plan.kind == "critic":
        return lambda effect: _critic(counted, effect)
    return lambda effect: _moderator(plan, counted.n, effect)


def _lift(plan: Plan, n: int, effect: Effect) -> float:
    given = {"n": n, "gain": _share(effect.gain), "loss": _share(effect.loss), "alpha": _alpha(plan)}
    return float(compute("mcnemar_power", given)["power"])


def _critic(counted: Counted, effect: Effect) -> float:
    """The chance that the lower bound of hits and the upper bound of alarms both keep the shipped rule."""
    hits = _least(counted.n)
    quiet = _least(counted.second)
    if hits is None or quiet is None:
        return 0.0
    flawed = compute("rule_power", {"n": counted.n, "p": _share(effect.hits), "least": hits})["passes"]
    sound = compute("rule_power", {"n": counted.second, "p": 1 - _share(effect.alarms), "least": quiet})["passes"]
    return float(flawed) * float(sound)


@lru_cache(maxsize=256)
def _least(n: int) -> int | None:
    """The fewest of n whose one-sided lower bound reaches 0.60; as many sound ones without alarm keep 0.40."""
    low, high = 0, n + 1
    while low < high:  # the bound grows with k
        k = (low + high) // 2
        reached = compute("one_sided_bound", {"k": k, "n": n, "side": "low"})["bound"] >= HITS_AT_LEAST
        low, high = (low, k) if reached else (k + 1, high)
    return low if low <= n else None


def _moderator(plan: Plan, n: int, effect: Effect) -> float:
    statistic, given = moderator_power(plan, n, effect)
    return float(compute(statistic, given)["power"]) if n >= FEWEST else 0.0


def moderator_power(plan: Plan, n: int, effect: Effect) -> tuple[str, dict[str, Any]]:
    """The statistic that gives a moderator's power with `FEWEST` cases or more, and its input.

    Of a preference the side that is right has the feature in half of the cases, since pairs are crossed. Above
    `ON_A_SIDE` the power is that of so many: a lower bound.
    """
    asked = {"p": _share(effect.share), "alpha": _alpha(plan)}
    if plan.metric != "preference":
        return "binomial_power", {"n": n, **asked}
    half = min(n // 2, ON_A_SIDE)
    return "preference_power", {"favoured": half, "other": half, **asked}


def _needed(plan: Plan, effect: Effect) -> int | None:
    if plan.kind != "lift":
        return None
    given = {"gain": _share(effect.gain), "loss": _share(effect.loss), "alpha": _alpha(plan), "most": PAIRS_MAX}
    found: int | None = compute("mcnemar_pairs", {**given, "power": VISIBLE_POWER})["pairs"]
    return found


def _visible(plan: Plan, seen: Callable[[Effect], float]) -> Effect | None:
    """The smallest effect, in whole per cent, that is seen in 80 % of runs: what is lost, or alarmed, as planned."""
    effect = plan.effect
    base = effect.loss if effect.loss is not None else effect.alarms if effect.alarms is not None else PER_MILLE // 2
    most = PER_MILLE - base if plan.kind == "lift" else PER_MILLE
    steps = range(base + _STEP, most + 1, _STEP)
    low, high = 0, len(steps)
    while low < high:  # power grows with the effect
        middle = (low + high) // 2
        if seen(_reaching(effect, steps[middle])) >= VISIBLE_POWER:
            high = middle
        else:
            low = middle + 1
    return _reaching(effect, steps[low]) if low < len(steps) else None


def _reaching(effect: Effect, reached: int) -> Effect:
    if effect.loss is not None:
        return Effect(gain=reached, loss=effect.loss)
    if effect.alarms is not None:
        return Effect(hits=reached, alarms=effect.alarms)
    return Effect(share=reached)


def _alpha(plan: Plan) -> float:
    together = ASPECTS if plan.kind == "moderator" else max(1, len(plan.comparisons))
    return plan.alpha / PER_MILLE / together


def _share(per_mille: int | None) -> float:
    return (per_mille or 0) / PER_MILLE


def shares_groups(items: tuple[ItemFacts, ...]) -> bool:
    """Whether some of these items are not independent."""
    return len({item.group for item in items}) < len(items)
