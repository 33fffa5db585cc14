"""What an evaluation asks: each item in each arm, as often as the plan says, in one order that the plan's hash fixes.

All arms and repeats of an item stand together, so that a look at the first items compares whole pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from service.audit.evaluation_events import ItemAsked, ItemScored, SetAsked
from service.evaluation.plan.model import Plan


class Unit(NamedTuple):
    """One item in one arm, for the ``repeat``-th time, from 1. One debate answers it."""

    set: str
    item: str
    arm: str
    repeat: int

    @classmethod
    def of(cls, entry: ItemAsked | ItemScored) -> Unit:
        """The unit that an entry is about."""
        return cls(entry.set, entry.item, entry.arm, entry.repeat)


def units_of(plan: Plan, plan_hash: str, sets: Sequence[SetAsked]) -> tuple[Unit, ...]:
    """All units, item after item. Items of all sets are mixed, by SHA-256 of plan hash, set and item."""
    items = sorted(
        ((asked.id, item) for asked in sets for item in asked.items), key=lambda one: _place(plan_hash, *one)
    )
    return tuple(
        Unit(set_, item, arm.name, repeat)
        for set_, item in items
        for arm in plan.arms
        for repeat in range(1, plan.repeats + 1)
    )


def units_an_item(plan: Plan) -> int:
    """How many units each item has."""
    return len(plan.arms) * plan.repeats


def _place(plan_hash: str, set_: str, item: str) -> tuple[bytes, str, str]:
    return sha256(f"{plan_hash}\n{set_}\n{item}".encode()).digest(), set_, item
