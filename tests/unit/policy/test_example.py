"""The example of a policy with real models: it is read, it is as independent as it says, and its ceiling is enough."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.debate.options import Debater, debater_seats
from service.intake import Deployment, prepare, start
from service.intake.deployments import deploy
from service.intake.request import document_ids
from service.money import tokenizers
from service.policy import seating
from service.policy.settings import read_policy, read_settings, refuse_unpriced
from service.prompts import Prompts
from service.providers import wire
from tests.fixtures.running import a_request

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "openai-anthropic.toml"
DAY = "2026-11-21"
POLICY = read_policy(EXAMPLE)


def test_the_example_passes_every_check_of_a_start() -> None:
    deployment = deploy(read_settings({"GAINSAY_POLICY": str(EXAMPLE)}))

    assert deployment.policy == POLICY


def test_the_table_is_of_three_families_whoever_of_a_model_and_its_fallback_speaks() -> None:
    plans = seating.seats(POLICY, seating.ADVERSARIAL, {}, DAY)

    assert POLICY.debate.diversity == seating.diversity(plans) == "crossFamily"
    assert {plan.family for plan in plans} == {"gpt", "claude", "gemini"}
    assert all(plan.fallback.family == plan.family for plan in plans if plan.fallback)
    assert {plan.wire for plan in plans} == {"openai-compatible", "anthropic"}


def test_an_efficient_model_answers_what_the_frontier_models_argue() -> None:
    plans = {plan.seat: plan for plan in seating.seats(POLICY, seating.ADVERSARIAL, {}, DAY)}

    assert plans["rebuttal"].model != plans["proposer"].model
    assert plans["rebuttal"].price.output < min(plans[seat].price.output for seat in ("proposer", "critic"))


def test_every_model_has_a_price_with_a_source_and_the_day_on_which_it_was_read() -> None:
    refuse_unpriced(POLICY, EXAMPLE, DAY)
    for model in POLICY.models.values():
        assert all("read 2026-11-21" in row.source for row in model.prices)
        assert all(row.effective <= DAY for row in model.prices)
        wire.refuse_parameters(model.parameters)


def test_keys_are_named_and_not_written() -> None:
    keys = {setting.key for setting in POLICY.providers.values()}

    assert keys == {"env:OPENAI_API_KEY", "env:ANTHROPIC_API_KEY", "env:GEMINI_API_KEY"}


@pytest.mark.parametrize("models", [{}, {"moderator": "claude-haiku-5.5", "critic": "gemini-pro"}], ids=str)
def test_a_usual_case_can_be_paid_from_the_ceiling(models: dict[str, str]) -> None:
    tokenizers.load(model.tokenizer for model in POLICY.models.values())
    request = a_request(options={"format": "adversarial", "models": models})
    deployment = Deployment(Prompts.load(), POLICY, DAY, "00" * 32)

    prepared = prepare(request, deployment, "operator", {name: bytes(32) for name in document_ids(request)}, NOW)
    started = start(prepared, deployment, "ab" * 32)

    assert not started.simulated
    assert started.diversity == "crossFamily"
    assert sum(started.expected_by_seat.values()) == started.expected_cost < started.ceiling


DEBATERS = (Debater("counsel", "It is capped."), Debater("buyer", "It is not capped."))


@pytest.mark.parametrize(
    ("form", "options", "debaters"),
    [("stances", {"debaters": DEBATERS}, 2), ("ballot", {}, 3), ("panel", {}, 2), ("convergence", {}, 2)],
)
def test_every_format_is_offered_with_as_many_debaters_as_the_families_allow(
    form: str, options: dict[str, Any], debaters: int
) -> None:
    tokenizers.load(model.tokenizer for model in POLICY.models.values())
    request = a_request(options={"format": form, **options})
    deployment = Deployment(Prompts.load(), POLICY, DAY, "00" * 32)

    prepared = prepare(request, deployment, "operator", {name: bytes(32) for name in document_ids(request)}, NOW)
    started = start(prepared, deployment, "ab" * 32)

    assert form in POLICY.offered
    assert started.diversity == "crossFamily"
    assert len(debater_seats(started.options)) == debaters
    assert started.expected_cost < started.ceiling
