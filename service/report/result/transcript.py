"""The debaters' turns in the formats that have them, one `Spoken` each, and the replies of the other seats."""

from __future__ import annotations

import msgspec

from service.debate.amounts import usd
from service.debate.ending import INJECTION
from service.debate.model import TurnId
from service.debate.options import role_of
from service.debate.replies import Screening
from service.debate.suspicions import InjectionFound
from service.debate.turns import SCREENER, is_masked, round_of, seat_of
from service.errors import IllegalEntry
from service.report.formats import Telling, telling_of
from service.report.formats.debaters import turns
from service.report.result.account import tokens_of
from service.report.result.history import History, debater_phase, is_swapped
from service.report.result.rounds import arguments
from service.report.result.seat_types import ScreeningDetail, Weighed
from service.report.result.shares import share_or_none
from service.report.result.types import Spoken


def transcript(h: History) -> tuple[Spoken, ...]:
    """Every turn of a debater, by round, phase and declared order; empty in the adversarial format."""
    return tuple(spoken(h, turn) for turn in turns(h))


def _telling(h: History) -> Telling:
    telling = telling_of(h.options)
    if telling is None:
        raise IllegalEntry("expected debate.started before anything that is said")
    return telling


def spoken(h: History, turn: TurnId) -> Spoken:
    """One turn of a debater; raises `KeyError` if it has not spoken, `IllegalEntry` before the start."""
    telling = _telling(h)
    reply, shown = h.facts.said[turn], arguments(h, turn)
    tokens, charged = _cost(h, turn)
    given = telling.given(h, turn, reply)
    return Spoken(
        turn=turn,
        round=round_of(turn),
        phase=debater_phase(turn),
        seat=seat_of(turn),
        name=given.name,
        stance=given.stance,
        label=telling.label(h, seat_of(turn)),
        model=h.facts.spoke(turn),
        blind=telling.blind(turn),
        text="\n\n".join(argument.text for argument in shown),
        arguments=shown,
        vote=given.vote,
        answer=given.answer,
        confidence=share_or_none(given.confidence, of=100),
        reply=msgspec.to_builtins(reply),
        tokens=tokens,
        charged_usd=charged,
    )


def weighed(h: History) -> tuple[Weighed, ...]:
    """What every other seat of the debate said, in the order in which it came."""
    others = (turn for turn in h.facts.said if role_of(seat_of(turn)) != "debater" and turn != SCREENER)
    return tuple(_weighed(h, turn) for turn in others)


def screening(h: History) -> ScreeningDetail | None:
    """What the screener replied before the debate; ``None`` where it has not."""
    reply, found = h.facts.said.get(SCREENER), h.facts.found.get(INJECTION.id)
    if not isinstance(reply, Screening):
        return None
    tokens, charged = _cost(h, SCREENER)
    return ScreeningDetail(
        turn=SCREENER,
        model=h.facts.spoke(SCREENER),
        suspicious=reply.suspicious,
        passages=reply.passages,
        unlocated=found.unlocated if isinstance(found, InjectionFound) else 0,
        tokens=tokens,
        charged_usd=charged,
    )


def _weighed(h: History, turn: TurnId) -> Weighed:
    tokens, charged = _cost(h, turn)
    return Weighed(
        turn=turn,
        round=round_of(turn),
        seat=seat_of(turn),
        swapped=is_swapped(turn),
        masked=is_masked(turn),
        replaced=h.facts.standing(turn) != turn,
        model=h.facts.spoke(turn),
        reply=msgspec.to_builtins(h.facts.said[turn]),
        tokens=tokens,
        charged_usd=charged,
    )


def _cost(h: History, turn: TurnId) -> tuple[int, str]:
    """All tokens of a turn's attempts, and their charges in US dollars."""
    charges = [a.charge for a in h.attempts if a.asked.turn == turn and a.charge]
    return sum(tokens_of(charge) for charge in charges), usd(sum(charge.amount for charge in charges))
