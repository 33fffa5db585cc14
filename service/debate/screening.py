"""The screener: an optional seat of policy's, the same in every format, which reads a case before any other seat.

    policy seats a screener     its turn is the first, and the debate can begin after it: all beginning turns are held
    it spoke                    the check of injections merges what it names with what the rules find
    silent, or not funded       the rules stand alone: ``notScreened``, at most MODERATE, for a person

It reads hostile text like any model and can be steered by it. So it only adds to the rules' findings and removes none:
its silence proves nothing. No seat is shown its reply.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from service.debate.ending import INJECTION
from service.debate.model import Check, Options, Turn
from service.debate.replies import Screening
from service.debate.roster import Roster
from service.debate.script import Script
from service.debate.suspicions import InjectionFound
from service.debate.turns import SCREENER

SEAT = "screener"
TURN = Turn(SCREENER, SEAT)


async def screen(s: Script, table: Callable[[Options], Roster]) -> None:
    """Ask the screener, if the debate has one, and find the passages of the case that speak to a model.

    ``table`` is that of the format. The turns without which there is no debate are held meanwhile.
    """
    options = s.started.options
    spoke = options.screened and await s.close(Screening, TURN, holding=lambda: beginning(table(options))) is not None
    await s.find(InjectionFound, Check(INJECTION.id, INJECTION.kind, (SCREENER,) if spoke else ()))


def with_screener(options: Options, roster: Roster) -> Roster:
    """The roster with the screener in the first place, if these options have one. It has no part in the debate."""
    if not options.screened:
        return roster
    return replace(
        roster,
        seats={SEAT: TURN, **roster.seats},
        usual={SEAT: 1, **roster.usual},
        beginning=(TURN, *roster.beginning),
    )


def beginning(roster: Roster) -> tuple[Turn, ...]:
    """The turns without which there is no debate, but for the screener's."""
    return tuple(turn for turn in roster.beginning if turn.seat != SEAT)
