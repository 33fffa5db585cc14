"""Whom to ask now, by what is recorded and what the clocks say: which turns are asked, which wait, which are given up.

    nobody is able any more            given up: the seat stays silent, and its reason says after how many attempts
    the turn's deadline has passed     given up
    the first who is able may be asked now             asked
    he is to be left alone for longer than any pause   his fallback, if that one may be asked now
    nobody may be asked before the deadline            given up: waiting would only keep everybody else
    otherwise                                          waits

Who is able, and in which order, is `service/running/eligibility.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from service.debate.entries import DebateStarted, TurnSilent
from service.debate.facts import Facts
from service.debate.model import SeatPlan, Turn, TurnId
from service.running.eligibility import able

Because = Literal["failed", "paused", "contextTooLong"]
Whom = SeatPlan | float | str
"""Who is to be asked now; or for how many seconds nobody can be; or why the seat is given up."""


def candidates(facts: Facts, started: DebateStarted, turn: Turn) -> tuple[SeatPlan, ...]:
    """Those who may still be asked in a turn, in their order."""
    return able(facts, turn.id, started.seat(turn.seat), started.attempts_per_turn)


def whom(
    facts: Facts,
    started: DebateStarted,
    turn: Turn,
    *,
    left_s: float,
    wait_s: Callable[[SeatPlan], float],
    pause_max_s: float,
) -> Whom:
    """Who is to be asked in a turn that has ``left_s`` seconds; ``wait_s`` says for how long a model is left alone."""
    count = facts.attempts.get(turn.id, 0)
    tried = f"{count} attempt" if count == 1 else f"{count} attempts"
    plans = candidates(facts, started, turn)
    if not plans:
        return f"no usable reply in {tried}{_last_failure(facts, turn.id)}"
    if left_s <= 0:
        within = f"within {started.turn_deadline_s} seconds"
        return f"no usable reply {within}, in {tried}{_last_failure(facts, turn.id)}"
    first_s = wait_s(plans[0])
    if first_s <= 0:
        return plans[0]
    if len(plans) > 1 and first_s > pause_max_s:
        first_s = min(first_s, other_s := wait_s(plans[1]))
        if other_s <= 0:
            return plans[1]
    if first_s >= left_s:  # waiting would only keep everybody else
        return f"nobody may be asked for {first_s:.0f} seconds, and {left_s:.0f} are left; {tried}"
    return first_s


def together(
    facts: Facts, answers: Sequence[tuple[Turn, Whom]]
) -> Sequence[tuple[Turn, SeatPlan]] | float | TurnSilent:
    """What to do of these turns that are due: ask some, or wait so many seconds, or give one up first.

    Turns that nobody has been asked for yet are asked together: they are funded together or refused together.
    """
    asked: list[tuple[Turn, SeatPlan]] = []
    waits: dict[TurnId, float] = {}
    for turn, answer in answers:
        match answer:
            case str(why):
                return TurnSilent(turn.id, why)
            case SeatPlan() as plan:
                asked.append((turn, plan))
            case seconds:
                waits[turn.id] = seconds
    if any(turn not in facts.attempts for turn in waits):
        asked = [(turn, plan) for turn, plan in asked if turn.id in facts.attempts]
    return asked or min(waits.values())


def because(facts: Facts, started: DebateStarted, turn: Turn, meant: SeatPlan, asked: SeatPlan) -> Because | None:
    """Why a seat's fallback is asked and not its own model; ``None`` for that one itself.

    ``meant`` is who was to be asked; another one is asked where the request is too long for him.
    """
    own = started.seat(turn.seat)
    if asked.model == own.model:
        return None
    if meant.model == own.model:
        return "contextTooLong"
    first = candidates(facts, started, turn)[0]
    return "paused" if first.model == own.model else "failed"


def _last_failure(facts: Facts, turn: TurnId) -> str:
    failed = facts.failed.get(turn)
    return f"; the last ended as {failed[-1].reason}" if failed else ""
