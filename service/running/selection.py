"""Which model each due turn asks now, by what is recorded and by the clocks: turns are asked, wait, or end silent.

    no model is eligible any more                            silent; the reason says after how many attempts
    the turn's deadline has passed                           silent
    the first eligible model may be called now               asked
    its backoff is longer than any of our own                its fallback is asked, if that one may be called now
    every model is in backoff until after the deadline       silent: waiting would only delay the other seats
    otherwise                                                waits

`service/running/eligibility.py` says which models are eligible, and in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from service.debate.entries import DebateStarted, TurnSilent
from service.debate.facts import Facts
from service.debate.model import SeatPlan, Turn, TurnId
from service.running.eligibility import eligible_models

Because = Literal["failed", "paused", "contextTooLong"]
Whom = SeatPlan | float | str
"""The model to call now; or the seconds until one may be called; or the reason why the seat falls silent."""


class Bounds(NamedTuple):
    """The longest pause of our own, in seconds, and how many attempts may find a model's vendor unavailable."""

    pause_max_s: float
    unavailable: int


def eligible_for_turn(facts: Facts, started: DebateStarted, turn: Turn, unavailable: int) -> tuple[SeatPlan, ...]:
    """The eligible models of a turn, in order."""
    return eligible_models(facts, turn.id, started.seat(turn.seat), started.attempts_per_turn, unavailable)


def choose_model(
    facts: Facts,
    started: DebateStarted,
    turn: Turn,
    *,
    left_s: float,
    wait_s: Callable[[SeatPlan], float],
    bounds: Bounds,
) -> Whom:
    """The model to call in a turn that has ``left_s`` seconds; ``wait_s`` gives the remaining backoff of a model."""
    count = facts.attempts.get(turn.id, 0)
    tried = f"{count} attempt" if count == 1 else f"{count} attempts"
    plans = eligible_for_turn(facts, started, turn, bounds.unavailable)
    if not plans:
        return f"no usable reply in {tried}{_last_failure(facts, turn.id)}"
    if left_s <= 0:
        within = f"within {started.turn_deadline_s} seconds"
        return f"no usable reply {within}, in {tried}{_last_failure(facts, turn.id)}"
    first_s = wait_s(plans[0])
    if first_s <= 0:
        return plans[0]
    if len(plans) > 1 and first_s > bounds.pause_max_s:
        first_s = min(first_s, other_s := wait_s(plans[1]))
        if other_s <= 0:
            return plans[1]
    if first_s >= left_s:  # waiting would only delay the other seats
        return f"every model is in backoff for {first_s:.0f} s and the turn has {left_s:.0f} s left ({tried})"
    return first_s


def choose_step(
    facts: Facts, answers: Sequence[tuple[Turn, Whom]]
) -> Sequence[tuple[Turn, SeatPlan]] | float | TurnSilent:
    """What to do with these due turns: ask some, wait for so many seconds, or first end one as silent.

    Turns without an attempt are asked together: they are funded together or refused together.
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


def fallback_reason(
    facts: Facts, started: DebateStarted, turn: Turn, meant: SeatPlan, asked: SeatPlan, unavailable: int
) -> Because | None:
    """Why a seat's fallback is asked instead of its own model; ``None`` when its own model is asked.

    ``meant`` is the selected model; ``asked`` is another one when the request is too long for that.
    """
    own = started.seat(turn.seat)
    if asked.model == own.model:
        return None
    if meant.model == own.model:
        return "contextTooLong"
    first = eligible_for_turn(facts, started, turn, unavailable)[0]
    return "paused" if first.model == own.model else "failed"


def _last_failure(facts: Facts, turn: TurnId) -> str:
    failed = facts.failed.get(turn)
    return f"; the last ended as {failed[-1].reason}" if failed else ""
