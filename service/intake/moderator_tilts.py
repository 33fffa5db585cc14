"""Which recorded tilts of moderators a debate begins under: those of the models that may sit in its moderator's seat.

A finding is about a model under one version of the moderator's prompt, and of one task type or all. Another model,
another prompt and another task type are not asked about. What the start names, the outcome follows from: a verifier
needs nothing else to see why a person is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from service.debate.entries import StandingTilt
from service.debate.model import Case, SeatPlan
from service.debate.turns import MODERATOR
from service.prompts.undocumented import in_place_of


class RecordedTilt(Struct, frozen=True):
    """A finding about a moderator; without a ``task_type`` it is about all."""

    finding: str
    alias: str
    model: str
    prompt: str
    pin: str
    task_type: str | None


def standing_tilts(
    recorded: Collection[RecordedTilt], seats: Sequence[SeatPlan], pins: Mapping[str, str], case: Case
) -> tuple[StandingTilt, ...]:
    """The findings about a debate of this case with these seats and prompts, in the order of their ids."""
    prompt = in_place_of(MODERATOR, pins, documented=bool(case.documents))
    found = (
        StandingTilt(tilt.finding, plan.model)
        for plan in _moderators(seats)
        for tilt in recorded
        if (tilt.alias, tilt.model) == (plan.model, plan.model_name)
        and (tilt.prompt, tilt.pin) == (prompt, pins.get(prompt))
        and tilt.task_type in (None, case.task_type)
    )
    return tuple(sorted(found, key=lambda one: (one.finding, one.model)))


def _moderators(seats: Sequence[SeatPlan]) -> Iterator[SeatPlan]:
    """The models that may moderate: the seat's own, and its fallback."""
    for seat in seats:
        if seat.seat == MODERATOR:
            yield from (plan for plan in (seat, seat.fallback) if plan is not None)
