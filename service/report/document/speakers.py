"""The speakers' names in a report. The format names its debaters: ``who`` comes in as an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from service.debate.options import role_of
from service.report.labels import seat_name
from service.report.result.types import Result, Spoken
from service.report.shortened import short

_LANE = 12
"""The most characters of a label beside a lane."""


def speaker_possessive(r: Result, seat: str, who: Callable[[Spoken], str]) -> str:
    """A seat by the name of its debater, also if it never spoke."""
    spoke = next((one for one in r.transcript if one.seat == seat), None)
    return who(spoke) if spoke else seat_name(seat)


def seated(r: Result, seat: str) -> str:
    """A seat in a table, with the name or the letter that its debater has elsewhere: ``Ursula (seat 2)``."""
    spoke = next((one for one in r.transcript if one.seat == seat), None)
    known = (spoke.name or spoke.label) if spoke else None
    return seat_name(seat) if known in (None, seat_name(seat)) else f"{known} (seat {seat.rpartition('-')[2]})"


def lane_labels(r: Result, seats: Iterable[str]) -> dict[str, str]:
    """The seats by the name or the letter of their debater, cut so that it stands beside a lane; if names that are cut
    are the same, ``Seat 2``: ``Debater 2`` may be the one with another letter."""
    known = {one.seat: one.name or one.label for one in reversed(r.transcript)}
    cut = {seat: short(known.get(seat) or seat_name(seat), _LANE) for seat in seats}
    return {seat: label if list(cut.values()).count(label) == 1 else _numbered(seat) for seat, label in cut.items()}


def _numbered(seat: str) -> str:
    return f"Seat {seat.rpartition('-')[2]}" if role_of(seat) == "debater" else seat_name(seat)


def within(r: Result, seat: str) -> str:
    """The same within a sentence or a list: a name keeps its capitals."""
    found = seated(r, seat)
    return found.lower() if found == seat_name(seat) else found


def by_label(r: Result, label: str, who: Callable[[Spoken], str]) -> str:
    """The debater behind a neutral label, or the label itself if no debater spoke under it."""
    spoke = next((one for one in r.transcript if one.label == label), None)
    return who(spoke) if spoke else label


def by_round(r: Result) -> Iterator[tuple[int, tuple[Spoken, ...]]]:
    """The transcript round by round."""
    for number, turns in groupby(r.transcript, key=lambda one: one.round):
        yield number, tuple(turns)


def latest(r: Result) -> tuple[Spoken, ...]:
    """Each debater's last turn with arguments of its own, in declared order: not its answers to objections."""
    last = {one.seat: one for one in r.transcript if one.arguments}
    return tuple(sorted(last.values(), key=lambda one: int(one.seat.rpartition("-")[2])))
