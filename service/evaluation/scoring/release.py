"""The rules for which a critic's release stops, and how often each lets a good and a bad critic pass.

    hits          the one-sided 95 % lower bound of the hit rate is at least 0.60
    alarms        the one-sided 95 % upper bound of the false alarms is at most 0.40
    family        the upper bound of a family's hits, over all task types, is above 0.50; else it is a blind spot
    own rating    the critic's mean rating of itself is above 7: necessary, and never sufficient
    unusable      at most 5 % of the answers; each is counted as a miss

A policy may be stricter, and never looser (`service.audit.evaluation_rules`): the registration records its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from service.audit.evaluation_rules import SHIPPED_LIMITS, ReleaseLimits
from service.evaluation.scoring.figures import Figures
from service.evaluation.scoring.result import Row
from service.evaluation.statistics import compute

CRITICS: Mapping[str, tuple[float, float]] = {"good": (0.9, 0.1), "bad": (0.6, 0.1)}
"""Two critics by their true rates of hits and alarms, for which the table of chances is printed."""
SIZES = (20, 40)
"""The sizes for which it is printed beside the evaluation's own: the reference's minimum, and what is recommended."""


class Limits(NamedTuple):
    """The limits of the five rules, as shares, and the rating from 1 to 10."""

    hits: float
    alarms: float
    family: float
    rating: float
    unusable: float


def limits_of(recorded: ReleaseLimits) -> Limits:
    """The limits as they are recorded, in thousandths, as shares."""
    return Limits(*(getattr(recorded, name) / 1_000 for name in Limits._fields))


SHIPPED = limits_of(SHIPPED_LIMITS)


@lru_cache(maxsize=256)
def fewest_hits(n: int, limit: float) -> int | None:
    """The fewest hits of ``n`` flawed proposals that pass; ``None`` where not even all do."""
    return _first(n, lambda k: _bound(k, n, "low") >= limit)


@lru_cache(maxsize=256)
def most_alarms(n: int, limit: float) -> int | None:
    """The most alarms of ``n`` sound proposals that pass; ``None`` where not even none does."""
    failing = _first(n, lambda k: _bound(k, n, "high") > limit)
    passing = n if failing is None else failing - 1
    return passing if n and passing >= 0 else None


def _first(n: int, holds: Callable[[int], bool]) -> int | None:
    """The first count from 0 to ``n`` for which a rule holds that goes on to hold."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low if low <= n else None


def _bound(k: int, n: int, side: str) -> float:
    return float(compute("one_sided_bound", {"k": k, "n": n, "side": side})["bound"])


def chances(figures: Figures, limits: Limits, own: Iterable[tuple[int, int]]) -> list[Row]:
    """How often hits and alarms together pass a good critic and a bad one, at the usual sizes and at ``own``.

    A size are flawed and sound proposals of one task type.
    """
    sizes = dict.fromkeys([*((n, n) for n in SIZES), *sorted(own)])
    return [row for size in sizes for row in _chances_at(figures, limits, *size)]


def _chances_at(figures: Figures, limits: Limits, flawed: int, sound: int) -> list[Row]:
    least, most = fewest_hits(flawed, limits.hits), most_alarms(sound, limits.alarms)
    rows = []
    for critic, (hits, alarms) in CRITICS.items():
        passes = 0.0
        if least is not None and most is not None:
            at = f"rule/{flawed}+{sound}/{critic}"
            enough = figures.add(f"{at}/hits", "rule_power", n=flawed, p=hits, least=least)["passes"]
            too_many = figures.add(f"{at}/alarms", "rule_power", n=sound, p=alarms, least=most + 1)["passes"]
            passes = enough * (1.0 - too_many)
        cells = {"flawed": flawed, "sound": sound, "fewestHits": least, "mostAlarms": most}
        rows.append(Row("release", {**cells, "critic": critic, "hits": hits, "alarms": alarms, "passes": passes}))
    return rows
