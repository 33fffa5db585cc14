"""The ids of turns: the one module that reads and writes them.

A turn's id is a place in the format, never a counter: the order in which replies arrive cannot change it.

    <round>.<party>.<take>      1.proposer.adopt-x.2
    <party> = <seat>[.<phase>]  proposer.adopt-x

Round 0 comes before the first; takes count from 1. In a record an id is a JSON string. At run time it is a plain
``str``, because msgspec neither encodes nor decodes a subclass of it without a hook in every codec. mypy tells the two
apart.

Reading and writing are cached: every run of a format's script asks for the same few ids again.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, NewType, TypeGuard

TurnId = NewType("TurnId", str)

_GRAMMAR = re.compile(
    r"(?P<round>0|[1-9][0-9]*)\.(?P<party>(?P<seat>[a-z][a-z0-9-]*)(?:\.(?P<phase>.+))?)\.(?P<take>[1-9][0-9]*)",
    re.ASCII | re.DOTALL,
)
_CACHED = 4_096
MASKED = "masked"
"""The phase of a decider's turn in whose request the flagged passages of the case are masked."""
_MASKED_SEATS = frozenset({"moderator", "judge", "synthesizer"})


class MalformedTurn(ValueError):
    """A string that is no id of a turn."""


class Place(NamedTuple):
    """The parts of an id; ``phase`` is empty if the turn has none."""

    round: int
    party: str
    seat: str
    phase: str
    take: int


@lru_cache(maxsize=_CACHED)
def place(turn: TurnId) -> Place:
    """Read an id; raises `MalformedTurn`."""
    found = _GRAMMAR.fullmatch(turn)
    if not found:
        raise MalformedTurn(f"expected the id of a turn as <round>.<seat>[.<phase>].<take>, found {turn!r}")
    return Place(int(found["round"]), found["party"], found["seat"], found["phase"] or "", int(found["take"]))


def is_turn(text: str) -> TypeGuard[TurnId]:
    """Whether a string is the id of a turn."""
    return _GRAMMAR.fullmatch(text) is not None


def turn_id(round_: int, seat: str, phase: str = "", *, take: int = 1) -> TurnId:
    """Write an id."""
    return TurnId(f"{round_}.{seat}.{phase}.{take}" if phase else f"{round_}.{seat}.{take}")


if not TYPE_CHECKING:  # `lru_cache` hides the parameters of what it wraps from mypy
    turn_id = lru_cache(maxsize=_CACHED)(turn_id)


MODERATOR = "moderator"
"""The seat that decides between a proposer and a critic."""
SCREENER = turn_id(0, "screener")
"""The turn of the screener, which is asked before all others where policy seats one."""


@lru_cache(maxsize=_CACHED)
def once_more(turn: TurnId) -> TurnId:
    """The id of the same turn at its next take: ``1.moderator.2`` for ``1.moderator.1``."""
    found = place(turn)
    return turn_id(found.round, found.seat, found.phase, take=found.take + 1)


def make_party(seat: str, phase: str | None = None) -> str:
    """The party of a seat and a phase, which may be empty."""
    return f"{seat}.{phase}" if phase else seat


def split_party(party: str) -> tuple[str, str]:
    """The seat and the phase of a party; the phase is empty if there is none."""
    seat, _, phase = party.partition(".")
    return seat, phase


def round_of(turn: TurnId) -> int:
    """The round of a turn; 0 comes before the first."""
    return place(turn).round


def party(turn: TurnId) -> str:
    """The speaker of a turn: ``1.proposer.adopt-x.2`` is ``proposer.adopt-x``."""
    return place(turn).party


def seat_of(turn: TurnId) -> str:
    """The seat of a turn: ``1.proposer.adopt-x.2`` is asked of ``proposer``."""
    return place(turn).seat


def phase_of(turn: TurnId) -> str:
    """The phase of a turn: ``1.proposer.adopt-x.2`` is that of ``adopt-x``; empty if there is none."""
    return place(turn).phase


def take_of(turn: TurnId) -> int:
    """The take of a turn: 2 for ``1.proposer.adopt-x.2``."""
    return place(turn).take


def is_masked(turn: TurnId) -> bool:
    """Whether a decider is asked with the flagged passages masked; a caller's position may be named ``masked`` too."""
    return phase_of(turn) == MASKED and seat_of(turn) in _MASKED_SEATS
