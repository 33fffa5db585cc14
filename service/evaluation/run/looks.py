"""Whether a sequence is settled: a look at the first items, which holds however often it is taken."""

from __future__ import annotations

from service.evaluation.plan.model import PER_MILLE, Plan
from service.evaluation.run.progress import Progress
from service.evaluation.run.units import Unit, units_an_item
from service.evaluation.statistics import compute


def is_settled(progress: Progress) -> bool:
    """Whether the primary comparison is decided by the items that are scored, looked at after whole blocks alone."""
    plan = progress.plan
    items = progress.items_scored()
    if plan.stopping != "sequence" or not items or items % plan.look_every:
        return False
    each = units_an_item(plan)
    pairs = [_pair(plan, progress, progress.units[at : at + each]) for at in range(0, items * each, each)]
    found = compute("sign_sequence", {"pairs": pairs, "level": 1 - plan.alpha / PER_MILLE})
    return found["decidedAt"] is not None


def _pair(plan: Plan, progress: Progress, units: tuple[Unit, ...]) -> int:
    """1 where the first arm of the primary comparison alone is right by its majority, -1 the second, 0 neither."""
    primary = plan.comparisons[0]
    return int(_right(progress, units, primary.first)) - int(_right(progress, units, primary.second))


def _right(progress: Progress, units: tuple[Unit, ...], arm: str) -> bool:
    mine = [progress.seen[unit].right is True for unit in units if unit.arm == arm]
    return sum(mine) * 2 > len(mine)
