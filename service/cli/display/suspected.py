"""Passages of a case that speak to a model, on the screen below the text in which they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding

from service.cli.display.console import row, text
from service.cli.members import items, member
from service.debate.suspicions import Suspicion
from service.report.labels import label_of
from service.report.suspicion_labels import FAMILY, place, within, written

SHOWN_MAX = 5
"""The most passages of one text that are shown; the report has all."""


def passages(found: Sequence[Suspicion]) -> Iterator[RenderableType]:
    """A line for each passage: what it does, where it stands, how it is written, its words."""
    for one in found[:SHOWN_MAX]:
        how = f"{label_of(FAMILY, one.family)} ({place(one)}, characters {within(one)}, {written(one)}):"
        yield Padding(row(text("!", "yellow"), text(how, "yellow"), text(one.words)), (0, 0, 0, 2))
    if len(found) > SHOWN_MAX:
        more = f"and {len(found) - SHOWN_MAX} more, which the report lists"
        yield Padding(row(text("!", "yellow"), text(more, "yellow")), (0, 0, 0, 2))


def read(document: Mapping[str, Any]) -> tuple[Suspicion, ...]:
    """The passages in a document of a list, also such as a later build would send."""
    return tuple(
        Suspicion(
            field=member(one, "field"),  # type: ignore[arg-type]  # a code of a later build is shown as it is
            span=_span(one.get("span")),
            family=member(one, "family"),  # type: ignore[arg-type]
            words=member(one, "words"),
            name=member(one, "name"),
            hidden=member(one, "hidden"),
        )
        for one in items(document, "suspicions")
    )


def _span(found: Any) -> tuple[int, int]:
    match found:
        case [int(start), int(end)]:
            return start, end
        case _:
            return 0, 0
