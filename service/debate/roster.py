"""Who sits at the table of a debate, and what its usual course asks of them: plain data that follows from the options.

Whoever seats models, estimates costs or checks a ceiling reads this, so that no rule of a format is told twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from service.debate.model import Turn


class Roster(Struct, frozen=True):
    """The seats of a debate, each with a bare turn of its own: what it is asked before anybody has said anything.

    ``apart`` are the pairs of seats that should not think alike, whom to change first standing first. ``usual`` is how
    often each seat is asked in a debate of the usual course. ``beginning`` are the turns without which it would be no
    debate, each with all that it sees: what they may cost at worst is the least that a ceiling has to be. ``closing``
    are the seats whose turns are held for while others speak.
    """

    seats: Mapping[str, Turn]
    apart: tuple[tuple[str, str], ...]
    usual: Mapping[str, int]
    beginning: tuple[Turn, ...]
    closing: tuple[str, ...]
