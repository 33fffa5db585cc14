"""The gate over a small table of cases at each limit, and what debates are expected to cost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec.structs import replace

from service.debate.entries import GateDecision
from service.debate.model import Force
from service.errors import InvalidCase
from service.gate import GATES, Declared, Gate
from service.intake import expected_cost
from service.policy import GatePolicy, seating
from service.verify import gate
from service.verify.steps import Tools
from tests.vectors.goldens import CASES, Golden, file_of, lines
from tests.vectors.goldens.seats import DAY, OPTIONS, POOL

POLICY = GatePolicy("1", "00" * 32, always=("other",), never=("factual",), thresholds={"security": 2_000})
TYPES = ("contract", "security", "architecture", "investment", "compliance", "other", "factual", "whatever")

FULL = ("contract", "security")
READY = Tools(lambda _: True)


def cases() -> Iterator[tuple[str, float | None, Decimal | None, dict[str, Any]]]:
    """Task type, confidence, downside, and what else a case says."""
    for task in TYPES:
        for confidence in (None, 0.899, 0.9, 1.0) if task in FULL else (0.9,):
            for downside in ("0", "0.1", "0.100001", "0.5", "0.500001", "5", "5.000001", "1000000"):
                yield task, confidence, Decimal(downside), {}
        for contested in (True, False):
            yield task, 0.95, Decimal(1), {"contested": contested}
        for force in (Force(True, "The board asks."), Force(False, "It is urgent.")):
            yield task, 0.95, Decimal(1), {"force": force, "role": "operator"}
    for answer in (CASES / "answers.txt").read_text().splitlines():
        yield "contract", 0.95, Decimal(1), {"single_agent_answer": answer}
    for confidence in (-0.1, 1.1, float("nan")):
        yield "contract", confidence, Decimal(1), {}
    for amount in (None, Decimal(-1), Decimal("Infinity")):
        yield "contract", 0.5, amount, {}
    for role in ("requester", "operator"):
        yield "contract", 0.5, Decimal(1), {"force": Force(True, " "), "role": role}
        yield "contract", 0.5, Decimal(1), {"force": Force(True, "Yes."), "role": role}


def goldens() -> dict[str, Golden]:
    """Two goldens for every version: its decisions, and what debates are expected to cost, with which it compares."""
    decisions = {
        file_of(name, "decisions"): Golden(name, partial(_decided, name, decide)) for name, decide in GATES.items()
    }
    expected = {file_of(name, "expected"): Golden(name, partial(_estimates, name)) for name in GATES}
    return {**decisions, **expected}


def _estimates(name: str) -> bytes:
    return lines(name, {1: _expected(expected_cost.EXPECTED[name], gate.EXPECTED[name])})


def _decided(name: str, decide: Gate) -> bytes:
    found = []
    for task, confidence, downside, more in cases():
        try:
            declared = Declared(**more)
            result: object = decide(task, confidence, downside, policy=POLICY, expected_cost=10_000, declared=declared)
        except InvalidCase as refused:
            result = {"refused": refused.pointers}
        if isinstance(result, GateDecision) and "single_agent_answer" in more:
            result = next(rule for rule in result.rules if rule.rule == "uncertain").observed
        found.append((task, str(confidence), str(downside), more, result))
    return lines(name, {1: found})


def _expected(quoted: expected_cost.Expected, verified: gate.Expected) -> Iterator[object]:
    """What each seat of each format is expected to cost, by both that compute it, with documents of three lengths."""
    debate = replace(POOL.debate, expected_input_tokens=3_000, expected_output_per_mille=650)
    policy = replace(POOL, debate=debate)
    for name, options in OPTIONS.items():
        table = seating.choose_table(options)
        plans = seating.SEATING.seats(policy, table, {}, DAY)
        for texts in ((), ("word " * 100,), ("word " * 9_000, "more " * 3)):
            yield name, len("".join(texts)), quoted(plans, table, policy, texts)
            yield name, "verified", verified(plans, table.usual, policy, texts, READY)
