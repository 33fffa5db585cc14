"""The models of the seats of a case. Cases that name none share them: they are chosen once for a policy and a day."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from service.debate.model import SeatPlan
from service.debate.roster import Roster
from service.policy import Policy, seating

KEPT = 64
"""The most tables that are kept: some for each policy that is in force, and for each format."""

_kept: dict[Hashable, tuple[Policy, tuple[SeatPlan, ...]]] = {}


def seat_plans(
    policy: Policy, table: Roster, asked: Mapping[str, str], day: str, order: Sequence[str] | None
) -> tuple[SeatPlan, ...]:
    """The plans of the seats, as `seating.SEATING.seats` has them; raises what it raises."""
    if asked or order is not None:
        return seating.SEATING.seats(policy, table, asked, day, order)
    # What is kept holds its policy, so no other policy gets that id meanwhile.
    key = id(policy), day, tuple(table.seats), table.apart
    if (found := _kept.get(key)) is None:
        if len(_kept) >= KEPT:
            _kept.clear()
        found = _kept[key] = policy, seating.SEATING.seats(policy, table, {}, day)
    return found[1]
