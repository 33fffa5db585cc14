"""A golden set that was read without a fault: its items, and its labels under lock."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from service.errors import Forbidden
from service.evaluation.sets.form import Split
from service.evaluation.sets.items import ItemSet
from service.evaluation.sets.labels import Label
from service.evaluation.sets.manifest import Manifest


class GoldenSet(Struct, frozen=True):
    """A golden set. ``asked`` is all of it that a debate may be made of; the labels are read at scoring alone."""

    asked: ItemSet
    sealed: Mapping[str, Label]
    """The labels by the id of their item. Read them by `labels`."""
    files: Mapping[str, str]
    """The SHA-256 of each file by its path, of which the hash of the set is made."""

    @property
    def manifest(self) -> Manifest:
        """What the set is."""
        return self.asked.manifest

    @property
    def hash(self) -> str:
        """The hash of the set, by which a plan names it."""
        return self.asked.hash

    def labels(self, split: Split, *, allow_held: bool = False) -> Mapping[str, Label]:
        """The labels of a split's items that are not retired, by id.

        Raises `Forbidden` for those of `held` without ``allow_held``: the caller states that this look is counted.
        """
        if split == "held" and not allow_held:
            raise Forbidden(
                f"labels of the split held of {self.manifest.id} are for claims, and each look at them is counted: "
                "read them at scoring, with a role that may, or work with the split open"
            )
        return {item.id: self.sealed[item.id] for item in self.asked.active(split)}
