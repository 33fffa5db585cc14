"""The seats of a debate and the turns of its usual course: plain data that follows from the options.

The code that seats models, estimates costs or checks a ceiling reads this, so a format's rules are written once.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from service.debate.model import Turn


class Roster(Struct, frozen=True):
    """The seats of a debate, each with a bare turn of its own: its turn before there is any reply.

    ``apart`` are the pairs of seats that should have different model families; the seat to change first stands first.
    ``usual`` is how often each seat is asked in a debate of the usual course. ``beginning`` are the turns without which
    it would be no debate, each with all that it sees; their worst case is the least ceiling. ``closing`` are the seats
    for whose turns money is reserved while others speak.
    """

    seats: Mapping[str, Turn]
    apart: tuple[tuple[str, str], ...]
    usual: Mapping[str, int]
    beginning: tuple[Turn, ...]
    closing: tuple[str, ...]
