"""The seats of a debate and the turns of its usual course: plain data that follows from the options.

The code that seats models, estimates costs or checks a ceiling reads this, so a format's rules are written once.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from service.debate.model import Turn


class Roles(Struct, frozen=True):
    """The seats by their parts in a debate, for the rule on seats that think alike (`service.debate.alike`).

    ``weighed`` are the seats that deciders weigh, and ``table`` those that must not all be of one family. Where a
    format has no critics, every debater proposes.
    """

    weighed: tuple[str, ...]
    proposers: tuple[str, ...]
    table: tuple[str, ...]
    deciders: tuple[str, ...] = ()
    critics: tuple[str, ...] = ()
    rebuttals: tuple[str, ...] = ()


def debating(debaters: tuple[str, ...], deciders: tuple[str, ...] = ()) -> Roles:
    """The parts in a debate between debaters: each proposes, and the deciders weigh them all."""
    return Roles(weighed=debaters, proposers=debaters, table=debaters, deciders=deciders)


class Roster(Struct, frozen=True):
    """The seats of a debate, each with a bare turn of its own: its turn before there is any reply.

    ``apart`` are the pairs of seats that should have different model families; the seat to change first stands first.
    ``usual`` is how often each seat is asked in a debate of the usual course. ``beginning`` are the turns without which
    it would be no debate, each with all that it sees; their worst case is the least ceiling. ``closing`` are the seats
    for whose turns money is reserved while others speak. ``roles`` are the parts of the seats.
    """

    seats: Mapping[str, Turn]
    apart: tuple[tuple[str, str], ...]
    usual: Mapping[str, int]
    beginning: tuple[Turn, ...]
    closing: tuple[str, ...]
    roles: Roles
