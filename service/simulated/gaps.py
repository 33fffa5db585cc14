"""Omissions of the documents: matters that a text of this kind is expected to settle and that no sentence mentions."""

from __future__ import annotations

from functools import partial

from service.simulated.checklists import CHECKLISTS, Item
from service.simulated.index import SHELF_CHARACTERS, Shelf, index_of
from service.simulated.passage_choice import Desk
from service.simulated.tables import Kind
from service.simulated.topics import touched

PRACTICE = "the practice"
"""The item that no pattern can find: it is missing if all documents are rules."""


def missing(desk: Desk, side: int) -> list[Item]:
    """The items of the checklist that no document covers and whose absence helps ``side`` (1 for the proposition)."""
    proposition = desk.wanted.proposition
    names = set(touched(desk.wanted.own))
    if not desk.documents:
        return []
    return [
        item
        for item in CHECKLISTS[proposition.kind]
        if item.side * proposition.direction == side and (not item.when or item.when & names) and _lacks(desk, item)
    ]


def _lacks(desk: Desk, item: Item) -> bool:
    if item.name == PRACTICE:
        return all(index_of(d.text).norm for d in desk.documents)
    kind = desk.wanted.proposition.kind
    found = (_COVERED.get((kind, d.text), len(d.text), partial(_covered, kind, d.text)) for d in desk.documents)
    return not any(item.name in covered for covered in found)


_COVERED: Shelf[tuple[Kind, str], frozenset[str]] = Shelf(SHELF_CHARACTERS)


def _covered(kind: Kind, text: str) -> frozenset[str]:
    """The names of the items that a document speaks to."""
    return frozenset(item.name for item in CHECKLISTS[kind] if item.covered.search(text))


def item_behind(desk: Desk, text: str) -> Item | None:
    """The checklist item that a point of reasoning speaks of, recognised by its words."""
    flat = text.lower()
    return next((item for item in CHECKLISTS[desk.wanted.proposition.kind] if item.lacks.lower() in flat), None)
