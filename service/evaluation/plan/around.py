"""What a plan is held against when it is read: the sets that are at hand, the models, the pins, and who asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from service.audit.evaluation_events import ArmQuote
from service.evaluation.plan.model import Arm, Kind, Pins, Plan, Split

SET_KINDS: Mapping[Kind, str] = {"lift": "questions", "critic": "critic", "moderator": "pairs"}
"""The kind of set that a plan of each kind asks."""


class ItemFacts(Struct, frozen=True):
    """What a plan needs of an item: its id, what it is not independent of, and its split."""

    id: str
    group: str
    split: Split


class SetFacts(Struct, frozen=True):
    """A golden set as it is at hand: its version, its hash and its items in their order. ``worn``: looked at so often
    that it supports no claim any more. ``task_type`` counts for critics, whose release may stop in any one of them.
    ``features`` are pairs by feature and split, of a set of pairs alone: labels are counted, and none is shown."""

    version: int
    sha256: str
    kind: str
    items: tuple[ItemFacts, ...]
    worn: bool = False
    task_type: str = ""
    features: tuple[tuple[str, Mapping[Split, int]], ...] = ()

    def of(self, split: Split) -> tuple[ItemFacts, ...]:
        """The items of one split."""
        return tuple(item for item in self.items if item.split == split)


class Around(Struct, frozen=True):
    """Sets by id; the aliases of the models and the seats that policy has; what runs.

    ``may_hold``: who asks has the role ``validator``. ``quote`` prices an arm of a plan that is sound so far; it raises
    `GainsayError` for one that cannot be asked, also where no day of the budget would pay for a debate of it.
    """

    sets: Mapping[str, SetFacts]
    models: frozenset[str]
    seats: tuple[str, ...]
    pins: Pins
    may_hold: bool
    quote: Callable[[Plan, Arm], ArmQuote]
