"""The differences between formats on a page of the terminal (`Page`): each format fills one of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rich.console import RenderableType
from rich.text import Text

from service.cli.display.console import counted
from service.debate.options import Options, debater_seats
from service.report import Result


class Page(NamedTuple):
    """The page of a format.

    lines       the decision in the format's own terms, as term and words
    why         the reasoning of the decider or the synthesis, with its title
    exchange    the arguments
    decider     the seat that gave the confidence which rules may lower; empty if votes decide
    course      all turns that its options allow, in words
    """

    lines: Callable[[Result], Iterator[tuple[str, Text]]]
    why: Callable[[Result], tuple[str, str] | None]
    exchange: Callable[[Result], Iterator[RenderableType]]
    decider: str
    course: Callable[[Any], str]


def why(r: Result) -> tuple[str, str] | None:
    """The words of the seat that closed the debate."""
    return ("Why", r.synthesis) if r.synthesis else None


def decided(r: Result, words: str) -> bool:
    """Whether the decision, which stands above all other lines, says these words already, whole."""
    return r.decision is not None and " ".join(words.split()).rstrip(".") in r.decision.answer


def in_rounds(options: Options) -> str:
    """All turns that the options allow in a format with rounds of debaters, in words."""
    return f"{counted(len(debater_seats(options)), 'debater')} in {counted(options.max_rounds, 'round')}"
