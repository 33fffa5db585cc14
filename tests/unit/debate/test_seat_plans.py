"""The plans of a seat: what its members encode, and what follows from them."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from service.debate.model import SeatPlan
from tests.fixtures.debates import a_plan


def test_a_seat_has_its_own_plan_and_then_that_of_its_fallback() -> None:
    own, other = a_plan("critic", "oak"), a_plan("critic", "elm")

    assert own.with_fallback == (own,)
    assert replace(own, fallback=other).with_fallback == (replace(own, fallback=other), other)


def test_what_follows_from_a_plan_is_not_encoded() -> None:
    plan = replace(a_plan("critic", "oak"), fallback=a_plan("critic", "elm"))

    encoded = msgspec.to_builtins(plan)

    assert "withFallback" not in encoded
    assert msgspec.convert(encoded, SeatPlan) == plan
