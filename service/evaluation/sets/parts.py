"""The parts of a set while it is read: what could be decoded, by file and line, for the rules that compare them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from service.evaluation.sets.faults import Fault
from service.evaluation.sets.form import ITEMS, LABELS
from service.evaluation.sets.items import Item
from service.evaluation.sets.labels import Label
from service.evaluation.sets.manifest import Outline


class At(NamedTuple):
    """A line's number, from 1, and its object as it was written."""

    line: int
    written: Mapping[str, Any]

    @property
    def id(self) -> str | None:
        """The id that the line gives, if it is a text."""
        id = self.written.get("id")
        return id if isinstance(id, str) else None


class Parts(NamedTuple):
    """What could be read of a set. The mappings are by line; a line with faults is in ``*_lines`` alone."""

    outline: Outline
    item_lines: tuple[At, ...]
    label_lines: tuple[At, ...]
    items: Mapping[int, Item]
    labels: Mapping[int, Label]
    texts: Mapping[str, str]
    """Each document's text by its SHA-256."""

    def active(self) -> Iterator[tuple[int, Item]]:
        """Items that are not retired."""
        return ((line, item) for line, item in self.items.items() if item.id not in self.outline.retired)

    def label_of(self) -> Mapping[str, tuple[int, Label]]:
        """Labels by the id of their item; of several the first."""
        found: dict[str, tuple[int, Label]] = {}
        for line, label in self.labels.items():
            found.setdefault(label.id, (line, label))
        return found


def of_item(line: int, member: str, words: str) -> Fault:
    """A fault of an item."""
    return Fault(ITEMS, line, member, words)


def of_label(line: int, member: str, words: str) -> Fault:
    """A fault of a label."""
    return Fault(LABELS, line, member, words)
