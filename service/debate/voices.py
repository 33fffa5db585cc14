"""Which turns of a debate argued: the finding of `judgement`'s voices, made once before a debate is decided.

A seat that only agrees, points elsewhere or repeats another side has spoken and has argued nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from service.debate.findings import VoicesFound
from service.debate.model import Check, TurnId
from service.debate.script import Script
from service.debate.turns import seat_of

_CHECK = "debate/voices"


async def hear(s: Script, *turns: TurnId) -> None:
    """Find which of these turns argued; their citations have been found before."""
    await s.find(VoicesFound, Check(_CHECK, "voices", tuple(turn for turn in turns if s.said(turn))))


def argued(s: Script) -> frozenset[TurnId] | None:
    """The turns with an argument of their own; ``None`` where the debate ended before that was found."""
    found = s.facts.found.get(_CHECK)
    return found.argued() if isinstance(found, VoicesFound) else None


def mute(s: Script, turns: Collection[TurnId]) -> bool:
    """Whether a seat that spoke in these turns gave no argument of its own in any; ``False`` where it is not known."""
    voices = argued(s)
    return voices is not None and not {seat_of(t) for t in turns} <= {seat_of(t) for t in voices}
