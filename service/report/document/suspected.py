"""The passages of a case that speak to a model, shown beside the texts in which they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.debate.suspicions import Suspicion
from service.report.document.blocks import Block, TableBlock, Text
from service.report.labels import label_of
from service.report.result.types import Result
from service.report.suspicion_labels import FAMILY, FOUND_BY, place, within, written

_HEAD = ("Where", "Characters", "What it does", "Written", "Found by", "Words")


def of_document(r: Result, document: str) -> tuple[Suspicion, ...]:
    """The passages of a document's title and text."""
    return tuple(s for s in r.suspicions if s.field in ("title", "document") and s.name == document)


def elsewhere(r: Result) -> tuple[Suspicion, ...]:
    """The passages of all other texts of the case."""
    ids = {d.id for d in r.case.documents}
    return tuple(s for s in r.suspicions if s.field not in ("title", "document") or s.name not in ids)


def passages(r: Result) -> Iterator[Block]:
    """A table for each document that has such passages, and one for the other texts of the case."""
    if not r.suspicions:
        return
    for document in r.case.documents:
        if found := of_document(r, document.id):
            yield _table(f"Passages of document {document.id} that speak to a model as if they were orders", found)
    if found := elsewhere(r):
        yield _table("Passages of other texts of the case that speak to a model as if they were orders", found)
    yield Text(
        "The record keeps these passages as they came. That they were found lowers the confidence to LOW and asks for "
        "a person. A passage that was not found may stand beside them.",
        "note",
    )


def _table(caption: str, found: Sequence[Suspicion]) -> TableBlock:
    rows = (
        (place(s), within(s), label_of(FAMILY, s.family), written(s), label_of(FOUND_BY, s.by), s.words) for s in found
    )
    return TableBlock(caption, _HEAD, tuple(rows))
