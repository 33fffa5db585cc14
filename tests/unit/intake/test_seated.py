"""The seats that cases share are those that each would get by itself."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.errors import InvalidCase
from service.intake import seated
from service.intake.seated import KEPT, seat_plans
from service.policy import Policy, seating
from tests.unit.intake.test_intake import DAY, POLICY, a_case
from tests.unit.intake.test_quote import checked

CASES: dict[str, dict[str, Any]] = {
    "adversarial": {"format": "adversarial"},
    "two rounds": {"format": "adversarial", "maxRounds": 2},
    "convergence": {"format": "convergence"},
    "four debaters": {"format": "convergence", "debaters": 4},
    "ballot": {"format": "ballot"},
}


def table_of(options: dict[str, Any]) -> Any:
    return seating.choose_table(checked(a_case(options=options))[0].options)


def with_allowance(allowance: int) -> Policy:
    """The same policy by name and hash, whose critic may say less or more."""
    critic = replace(POLICY.seats["critic"], allowance=allowance)
    return replace(POLICY, seats={**POLICY.seats, "critic": critic})


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_cases_share_the_seats_that_each_would_get(options: dict[str, Any]) -> None:
    table = table_of(options)
    first = seat_plans(POLICY, table, {}, DAY, None)
    assert first == seating.SEATING.seats(POLICY, table, {}, DAY)
    assert seat_plans(POLICY, table_of(options), {}, DAY, None) is first


def test_policies_of_one_hash_do_not_share_seats() -> None:
    table = table_of(CASES["adversarial"])
    for allowance in range(1_000, 1_000 + KEPT + 5):  # each policy is gone before the next one comes
        plans = {plan.seat: plan for plan in seat_plans(with_allowance(allowance), table, {}, DAY, None)}
        assert plans["critic"].allowance == allowance
        assert len(seated._kept) <= KEPT


def test_named_models_and_days_without_a_price_are_looked_at_each_time() -> None:
    table = table_of(CASES["adversarial"])
    usual = seat_plans(POLICY, table, {}, DAY, None)
    alias = next(name for name in POLICY.models if name != usual[0].model)
    assert seat_plans(POLICY, table, {usual[0].seat: alias}, DAY, None)[0].model == alias
    for _ in range(2):
        with pytest.raises(InvalidCase, match="no price"):
            seat_plans(POLICY, table, {}, "2001-01-01", None)
