"""What the documents do not say: matters that a text of this kind is expected to settle, found in no sentence of it."""

from __future__ import annotations

from functools import lru_cache

from service.providers.offline.evidence import Document
from service.providers.offline.index import SHELF
from service.providers.offline.picking import Desk
from service.providers.offline.topics import CHECKLISTS, Item, touched

PRACTICE = "the practice"
"""The item that no pattern can find: it is missing where all documents are rules."""


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
        return all(SHELF.get(d.text).norm for d in desk.documents)
    return not any(_covers(item, d) for d in desk.documents)


@lru_cache(maxsize=1024)
def _covers_text(item: Item, text: str) -> bool:
    return item.covered.search(text) is not None


def _covers(item: Item, document: Document) -> bool:
    return _covers_text(item, document.text)


def item_behind(desk: Desk, text: str) -> Item | None:
    """The checklist item that a point of reasoning speaks of, recognised by its words."""
    flat = text.lower()
    return next((item for item in CHECKLISTS[desk.wanted.proposition.kind] if item.lacks.lower() in flat), None)
