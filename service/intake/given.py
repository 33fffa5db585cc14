"""The replies that an evaluation gives in the place of models': whether its debate has a place for each.

The debate is played as its longest one (`service.intake.worst_case`), with the given replies in their turns. A reply
that answers another one is checked again when its turn is due, because what models say and what code strikes is known
then alone: one that cannot be used there is a turn that stays silent.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.debate.entries import DebateStarted
from service.debate.kernel import unusable
from service.debate.model import Case, TurnId
from service.debate.replies import Reply
from service.debate.replies.decoding import decode_reply
from service.errors import Faults, InvalidCase
from service.intake.worst_case import longest


def refuse_unusable(case: Case, started: DebateStarted, given: Mapping[TurnId, Reply]) -> None:
    """Raise `InvalidCase`, with all faults together, for a reply that fits no turn of the debate, or not its own."""
    if not given:
        return
    faults, placed = Faults(), set()
    for facts, turn in longest(case, started, given):
        if turn.id in given:
            placed.add(turn.id)
            with faults.noted():
                if why := _malformed(turn.asks, given[turn.id]) or unusable(facts, turn, given[turn.id]):
                    raise InvalidCase(f"the reply that is given to turn {turn.id} cannot be used there: {why}")
    for turn_id in sorted(given.keys() - placed):
        with faults.noted():
            raise InvalidCase(f"turn {turn_id} is never due in this debate; give no reply to it")
    faults.refuse()


def _malformed(kind: str, reply: Reply) -> str | None:
    """Why a reply is none that a model could have given to a turn of this kind."""
    read = decode_reply(kind, msgspec.json.encode(reply).decode())
    if isinstance(read, str):
        return read
    return None if read.reply == reply else "it reads as another reply; give it as its schema has it"
