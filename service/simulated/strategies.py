"""The offline models: three families that read differently, and two sizes of each.

    family   reads first for             words a claim as             unanswered points
    alder    duties, caps and controls   place, what it does, so      counted as they stand (lenient)
    birch    exceptions and gaps         consequence, then place      held against the side that left them (strict)
    cedar    figures, dates and limits   matter, place, figure        weighed by their figures (between)

A large model writes more and goes further down its list of evidence; a small one stops early.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Family = Literal["alder", "birch", "cedar"]


class Strategy(NamedTuple):
    """A model's rules for ranking, wording and weighing. It ranks the cues of ``prefers`` up by ``bonus``.

    ``most`` bounds arguments and points, ``floor`` is the least relevance considered (0 to 1), ``strictness`` is the
    cost of an unanswered point in a moderator's score.
    """

    name: str
    family: Family
    most: int
    floor: float
    prefers: frozenset[str]
    bonus: float
    strictness: float


_PREFERS: dict[Family, frozenset[str]] = {
    "alder": frozenset({"duty", "ban", "cap", "control", "indemnity", "decision", "practice", "strength"}),
    "birch": frozenset(
        {"exception", "gap", "uncapped", "override", "leave", "advice", "hedge", "weakness", "preserved"}
    ),
    "cedar": frozenset({"amount", "number", "deadline"}),
}
_BONUS: dict[Family, float] = {"alder": 0.4, "birch": 0.6, "cedar": 0.6}
_STRICT: dict[Family, float] = {"alder": 1.0, "birch": 2.5, "cedar": 1.75}


def _strategy(family: Family, size: str) -> Strategy:
    large = size == "large"
    return Strategy(
        name=f"{family}-{size}",
        family=family,
        most=5 if large else 3,
        floor=0.14 if large else 0.22,
        prefers=_PREFERS[family],
        bonus=_BONUS[family],
        strictness=_STRICT[family],
    )


_FAMILIES: tuple[Family, ...] = ("alder", "birch", "cedar")
MODELS: Mapping[str, Strategy] = MappingProxyType(
    {s.name: s for family in _FAMILIES for s in (_strategy(family, "large"), _strategy(family, "small"))}
)
