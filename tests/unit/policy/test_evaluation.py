"""[evaluation]: budgets apart from the tenant's, release limits that are never looser, and cut-off days of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from service.audit.evaluation_rules import SHIPPED_LIMITS, EvaluationRules, ReleaseLimits
from service.policy import decode_policy, encode_policy
from service.policy.evaluation import USUAL_EVALUATION, EvaluationBudget, EvaluationPolicy
from service.policy.file.effective import effective_toml
from service.policy.file.reading import read_file
from service.policy.file.tenants import all_evaluation_budgets
from service.policy.settings import read_policy
from tests.fixtures.policies import policy_file, refused, vendors


def with_table(**table: Any) -> dict[str, Any]:
    whole = vendors()
    whole["evaluation"] = table
    return whole


def test_a_file_without_the_table_bounds_evaluations_and_has_no_such_member(tmp_path: Path) -> None:
    policy = read_policy(policy_file(tmp_path, **vendors()))

    assert policy.evaluations == USUAL_EVALUATION
    assert policy.evaluations.budget == EvaluationBudget(day=50_000_000, month=500_000_000, debates=8)
    assert b'"evaluation"' not in encode_policy(policy)
    assert b'"cutoff"' not in encode_policy(policy)


def test_only_the_word_takes_a_limit_of_money_away(tmp_path: Path) -> None:
    policy = read_policy(policy_file(tmp_path, **with_table(budget={"day_usd": "unlimited"})))

    assert policy.evaluations.budget == EvaluationBudget(day=None, month=500_000_000)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("hits", "0.599", "expected at least 0.6, found '0.599'"),
        ("alarms", "0.401", "expected at most 0.4, found '0.401'"),
        ("family", "0.4", "expected at least 0.5, found '0.4'"),
        ("rating", "6.9", "expected at least 7, found '6.9'"),
        ("unusable", "0.051", "expected at most 0.05, found '0.051'"),
        ("hits", "NaN", "expected a decimal from 0 to 1"),
        ("rating", "7.0001", "expected a rating with at most three decimals"),
    ],
)
def test_a_looser_limit_is_refused_with_its_line(tmp_path: Path, name: str, value: str, said: str) -> None:
    message = refused(tmp_path, with_table(release={name: value}))

    assert f"evaluation.release.{name}: {said}" in message
    assert "line " in message


@pytest.mark.parametrize("name", ReleaseLimits.__struct_fields__)
def test_the_shipped_limit_itself_may_be_written(tmp_path: Path, name: str) -> None:
    shipped = getattr(SHIPPED_LIMITS, name) / 1_000

    policy = read_policy(policy_file(tmp_path, **with_table(release={name: f"{shipped:g}"})))

    assert policy.evaluations.rules({}).release == SHIPPED_LIMITS


def test_what_a_registration_records_is_what_the_file_says(tmp_path: Path) -> None:
    whole = with_table(held_looks=4, release={"hits": "0.7", "rating": "8.25"})
    whole["models"][0]["cutoff"] = "2025-06-30"

    policy = read_policy(policy_file(tmp_path, **whole))

    assert policy.evaluations.rules(policy.models) == EvaluationRules(
        held_looks=4,
        release=replace(SHIPPED_LIMITS, hits=700, rating=8_250),
        cutoffs={whole["models"][0]["alias"]: "2025-06-30"},
    )
    assert decode_policy(encode_policy(policy)) == policy


@pytest.mark.parametrize("day", ["2025-6-30", "30.06.2025", "2025-02-30", "soon"])
def test_a_cutoff_is_a_day_of_the_calendar(tmp_path: Path, day: str) -> None:
    whole = vendors()
    whole["models"][0]["cutoff"] = day

    assert f"expected a day such as 2026-01-31, found {day!r}" in refused(tmp_path, whole)


def test_one_model_has_one_cutoff(tmp_path: Path) -> None:
    whole = vendors()
    twin = {**whole["models"][0], "alias": "the-same-again"}
    whole["models"][0]["cutoff"] = "2025-06-30"
    whole["models"].append(twin)

    assert "are one model; write the same cutoff for both, or for neither" in refused(tmp_path, whole)


def test_a_day_above_the_month_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, with_table(budget={"day_usd": "600.00"}))

    assert "evaluation.budget.day_usd: a day's limit above the month's limits nothing" in message


def test_a_tenant_has_a_budget_in_the_place_of_the_services(tmp_path: Path) -> None:
    whole = with_table(held_looks=4, release={"hits": "0.7"}, budget={"day_usd": "9.00"})
    whole["tenants"] = {"acme": {"evaluation_budget": {"day_usd": "1.00", "debates": 2}}, "other": {}}

    file = read_file(policy_file(tmp_path, **whole))
    budgets = all_evaluation_budgets(file.policy, file.tenants)

    assert budgets.of("acme") == EvaluationBudget(day=1_000_000, debates=2)
    assert budgets.of("other") == budgets.of("not-named") == EvaluationBudget(day=9_000_000)
    acme = file.tenants["acme"].policy.evaluations
    assert (acme.held_looks, acme.release) == (4, file.policy.evaluations.release)
    assert file.tenants["acme"].policy.gate.hash != file.policy.gate.hash


def test_a_tenants_day_above_its_month_is_refused(tmp_path: Path) -> None:
    whole = vendors()
    whole["tenants"] = {"acme": {"evaluation_budget": {"day_usd": "2.00", "month_usd": "1.00"}}}

    assert "tenants.acme.evaluation_budget.day_usd" in refused(tmp_path, whole)


def test_the_effective_policy_says_what_is_left_out_and_reads_as_the_same(tmp_path: Path) -> None:
    path = policy_file(tmp_path, **with_table(release={"hits": "0.7"}))
    file = read_file(path)

    shown = effective_toml(file)
    again = tmp_path / "again.toml"
    again.write_text(shown, "utf-8")

    assert 'day_usd = "50.00"' in shown
    assert 'alarms = "0.4"' in shown
    assert read_policy(again).gate.hash == file.policy.gate.hash
    assert isinstance(file.policy.evaluation, EvaluationPolicy)
