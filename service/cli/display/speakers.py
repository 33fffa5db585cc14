"""The speakers for a reader: names, letters and models, which the seats of a debate never see of each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule

from service.cli.display.console import joined, text
from service.debate.model import Options
from service.debate.options import debater_seats, debaters_of
from service.report import Result
from service.report.labels import SEAT, label_of
from service.report.result.types import Spoken


def speaker(options: Options | None, seat: str) -> str:
    """The name of a seat; for a debater the caller's name, if it has one."""
    named = dict(zip(debater_seats(options), debaters_of(options), strict=False)) if options else {}
    if debater := named.get(seat):
        return debater.name
    return label_of(SEAT, seat).replace("-", " ").capitalize()


def lettered(r: Result, seat: str) -> str:
    """The caller's name of a debater, or the letter that it had in the debate."""
    return next((one.name or one.label for one in r.transcript if one.seat == seat), speaker(r.options, seat))


def seated(r: Result, seat: str, name: str | None = None) -> str:
    """The name of a seat with its model; ``name`` if it has another one than `speaker` gives."""
    model = next((one.alias for one in r.seats if one.seat == seat), "")
    shown = name or speaker(r.options, seat)
    return f"{shown} ({model})" if model else shown


def by_round(r: Result) -> Iterator[tuple[int, list[Spoken]]]:
    """The debaters' turns, round by round."""
    for number, turns in groupby(r.transcript, key=lambda one: one.round):
        yield number, list(turns)


def last_turns(r: Result) -> list[Spoken]:
    """The last turn of each debater with arguments of its own, in their order."""
    last = {one.seat: one for one in r.transcript if one.arguments}
    return sorted(last.values(), key=lambda one: (len(one.seat), one.seat))


def rule(title: str, beside: str = "") -> RenderableType:
    """A line across the page with the title of the part below it."""
    head = joined(text(title, "bold"), text(beside, "dim"), by="  ")
    return Padding(Rule(head, align="left", style="dim"), (1, 0, 0, 0))
