"""Who spoke, as a report names them: the caller's own name, and the neutral label under which the others saw it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from service.debate.options import BallotOptions, StancesOptions
from service.report.shape import Result, Spoken
from service.report.wording import seat_name


def who(r: Result, one: Spoken) -> str:
    """A debater: ``Ursula [sign it]`` of stances, ``Ursula (Debater 1)`` of a ballot, else ``Model A (seat 2)``."""
    if isinstance(r.options, StancesOptions):
        return f"{one.name} [{one.stance}]"
    if isinstance(r.options, BallotOptions):
        return f"{one.name} ({one.label})"
    return f"{one.label} (seat {one.seat.rpartition('-')[2]})"


def whose(r: Result, seat: str) -> str:
    """The same for a seat, also where it never spoke."""
    spoke = next((one for one in r.transcript if one.seat == seat), None)
    return who(r, spoke) if spoke else seat_name(seat)


def by_label(r: Result, label: str) -> str:
    """The debater behind a neutral label, or the label itself where nobody spoke under it."""
    spoke = next((one for one in r.transcript if one.label == label), None)
    return who(r, spoke) if spoke else label


def by_round(r: Result) -> Iterator[tuple[int, tuple[Spoken, ...]]]:
    """The transcript round by round."""
    for number, turns in groupby(r.transcript, key=lambda one: one.round):
        yield number, tuple(turns)


def latest(r: Result) -> tuple[Spoken, ...]:
    """Each debater's last turn, in declared order."""
    last = {one.seat: one for one in r.transcript}
    return tuple(sorted(last.values(), key=lambda one: int(one.seat.rpartition("-")[2])))
