"""The moderations of adversarial/1 that stand: the second take of one replaces the first."""

from __future__ import annotations

from service.debate.model import ROUND_CEILING, TurnId
from service.debate.replies import Moderation
from service.debate.script import Script
from service.debate.turns import round_of, turn_id


def final_of(s: Script) -> TurnId | None:
    """The last moderation in its first order: its words are the debate's."""
    rounds = reversed(range(1, ROUND_CEILING + 1))
    return next((s.facts.standing(turn) for r in rounds if s.said(turn := turn_id(r, "moderator"))), None)


def former_of(s: Script) -> tuple[TurnId, ...]:
    """The moderations of the rounds before the last one, in their order."""
    last = round_of(final) if (final := final_of(s)) else 0
    return tuple(s.facts.standing(turn) for r in range(1, last) if s.said(turn := turn_id(r, "moderator")))


def turned_of(s: Script) -> tuple[TurnId, ...]:
    """The last moderation in the reverse order; empty if there is none."""
    turned = turn_id(round_of(final), "moderator", "swapped") if (final := final_of(s)) else None
    return (s.facts.standing(turned),) if turned and s.said(turned) else ()


def wants_another(s: Script, r: int) -> bool:
    """Whether the moderation of a round recommends another round."""
    moderation = s.reply(s.facts.standing(turn_id(r, "moderator")))
    return isinstance(moderation, Moderation) and moderation.recommend_another_round
