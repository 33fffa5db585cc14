"""The outcome of a debate in the terms of its format: the lines of the decision, and the reasoning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from service.cli.display import adversarial, ballot, convergence, panel, stances
from service.cli.display.aspects import Page
from service.debate.formats import FormatName, complete_formats
from service.debate.options import format_of
from service.report import Result

PAGES: Mapping[FormatName, Page] = complete_formats(
    {
        "adversarial": adversarial.PAGE,
        "stances": stances.PAGE,
        "ballot": ballot.PAGE,
        "panel": panel.PAGE,
        "convergence": convergence.PAGE,
    },
    "display",
    __file__,
)


def lines(r: Result) -> Iterator[tuple[str, Text]]:
    """The decision as term and words."""
    if page := _page(r):
        yield from page.lines(r)


def why(r: Result) -> tuple[str, str] | None:
    """The reasoning of the decider or the synthesis, with its title."""
    page = _page(r)
    return page.why(r) if page else None


def said(r: Result) -> Iterator[RenderableType]:
    """The arguments, in the form of the format."""
    if page := _page(r):
        yield from page.exchange(r)


def decider(r: Result) -> str:
    """The seat that gave the confidence which rules may lower; empty before the debate has started."""
    page = _page(r)
    return page.decider if page else ""


def _page(r: Result) -> Page | None:
    return PAGES[format_of(r.options)] if r.options else None
