"""The values that the references give as defaults are those of a case that says nothing, under the shipped policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.debate.model import AdversarialOptions
from service.debate.options import BallotOptions, ConvergenceOptions, PanelOptions, StancesOptions
from tests.unit.intake.test_intake import POLICY, a_case, taken
from tests.unit.intake.test_options import resolved

EAAPL, FLOW, BOUNDED, TALK, LOOM = (
    "eaapl-mag005-debate-agent",
    "flow-state-debate",
    "bounded-debate-pattern",
    "debatetalk-how-debates-work",
    "loomflow-multi-agent-debate",
)
SAID: dict[str, tuple[str, ...]] = {
    EAAPL: (
        "costCeilingUSD: 0.50, minChallengeStrength: 6, requireCriticRetryBelow: 6",
        "The default is 1 round (",
        "For high-stakes decisions, 2 rounds add",
        "Enforce a hard maximum of 3 rounds",
        "estimatedDownside > debateCostThreshold × 50",
        "(contract, security, architecture, investment, compliance)",
    ),
    FLOW: (
        "maxRoundsnumber2Hard cap",
        "anonymizeTranscriptbooleantrue",
        "shuffleForJudgebooleantrue",
        "Pass synthesizer: false to skip the step",
    ),
    BOUNDED: ("max_rounds=2,\nconsensus_threshold=2,",),
    TALK: ("You can configure between 2 and 10 debaters", "3 debaters provides a strong balance", "up to 10 rounds"),
    LOOM: ("rounds: int = 2,", "convergence_check: bool = True,", "convergence_similarity: float = 0.85,"),
}
"""Where each text says so."""


@pytest.mark.parametrize("name", SAID)
def test_the_texts_give_these_defaults(shared: Path, name: str) -> None:
    text = (shared / "reference" / f"{name}.txt").read_text("utf-8")

    assert [words for words in SAID[name] if words not in text] == []


def test_the_debate_agents_defaults_are_those_of_a_case_that_says_nothing() -> None:
    _, started = taken(a_case())
    _, high = taken(a_case(estimatedDownside=1_000_001, costCeilingUSD=2))

    assert started is not None
    assert high is not None
    assert isinstance(started.options, AdversarialOptions)
    assert started.ceiling == 500_000
    assert (started.options.min_challenge_strength, started.options.require_critic_retry_below) == (6, 6)
    assert (started.options.max_rounds, high.options.max_rounds) == (1, 2)
    assert POLICY.gate.factor == 50
    assert set(POLICY.gate.risk_categories) == {"contract", "security", "architecture", "investment", "compliance"}


@pytest.mark.parametrize(
    ("format_", "kind", "values"),
    [
        (
            "stances",
            StancesOptions,
            {"max_rounds": 2, "anonymize_transcript": True, "shuffle_for_judge": True, "synthesizer": True},
        ),
        ("ballot", BallotOptions, {"max_rounds": 2, "consensus_threshold": 2}),
        ("panel", PanelOptions, {"debaters": 3, "adjudicator": "algorithmic", "mode": "auto"}),
        (
            "convergence",
            ConvergenceOptions,
            {"max_rounds": 2, "convergence_check": True, "convergence_similarity": 850},
        ),
    ],
)
def test_a_formats_defaults_are_those_of_its_reference(format_: str, kind: type, values: dict[str, Any]) -> None:
    options = resolved(format_)

    assert isinstance(options, kind)
    assert {name: getattr(options, name) for name in values} == values


def test_a_panel_may_be_as_large_and_as_long_as_the_largest_plan() -> None:
    rules = POLICY.formats.panel

    assert (rules.debaters_max, rules.rounds_max) == (10, 10)
    most = resolved("panel", debaters=10, maxRounds=10)
    assert isinstance(most, PanelOptions)
    assert (most.debaters, most.max_rounds) == (10, 10)
