"""The gate: whether a question deserves a debate. It is pure, explains itself, and calls no model.

    rule         holds when                                                       effect when it does not hold
    valid        the amounts are finite, in range and there                       an error, never a silent "no"
    forced       an entitled caller forces either way, with a reason              (decides when it holds)
    policy       the task type is set to always or never                          (decides when it holds)
    risk         contract, security, architecture, investment, compliance, more   decline
    contested    not a factual lookup; undeclared counts as contested             decline
    worthIt      estimatedDownside > debateCostThreshold * 50, strictly           decline
    uncertain    confidence missing or below 0.9, hedging, or a downside of       decline
                 more than debateCostThreshold * 500

The reference (6.5) gives ``shouldDebate(taskType, confidenceScore, estimatedDownside)`` and the factor of 50. The
factor says that a debate corrects 2 % of decisions, which is an assumption until calibration replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, Protocol

from msgspec import Struct

from service.debate.amounts import MicroUSD, usd
from service.debate.closed_lists import ClosedList, Row, in_order, table_of
from service.debate.entries import Effect, GateDecision, Rule
from service.debate.model import Force
from service.debate.versions import newest
from service.errors import IncompleteTable, InvalidCase
from service.policy import GatePolicy

HEDGES: Mapping[str, str] = {
    "i think": "",
    "i believe": "",
    "might": "",
    "may be": r"(?! \w+ed\b)",  # "may be terminated" is a right, not a doubt
    "could be": "",
    "possibly": "",
    "perhaps": "",
    "probably": "",
    "likely": "",
    "unlikely": "",
    "it seems": "",
    "appears to": "",
    "not sure": "",
    "not certain": "",
    "uncertain": r"(?! tax\b)",
    "unclear": "",
    "hard to say": "",
    "it depends": "",
    "cannot determine": "",
    "can't determine": "",
    "not enough information": "",
    "in most cases": "",
    "generally": r"(?! accepted\b)",  # generally accepted accounting principles
    "arguably": "",
    "as far as i can tell": "",
}
"""Phrases of an uncertain answer, each with what must not follow for it to count as a hedge."""

_HEDGES = {words: re.compile(rf"\b{re.escape(words)}\b{unless}") for words, unless in HEDGES.items()}


class Declared(Struct, frozen=True):
    """What a request declares beside its figures.

    It says whether the matter is contested, what a single agent answered, a force with its reason, and the caller's
    role.
    """

    contested: bool | None = None
    single_agent_answer: str | None = None
    force: Force | None = None
    role: str = "requester"


def should_debate(
    task_type: str,
    confidence_score: Decimal | float | None,
    estimated_downside: Decimal | float | None,
    *,
    policy: GatePolicy,
    expected_cost: MicroUSD,
    declared: Declared = Declared(),  # noqa: B008 - frozen
) -> GateDecision:
    """Decide, and explain the decision with every rule.

    ``confidence_score`` is 0 to 1 or missing. ``estimated_downside`` is in US dollars. ``expected_cost`` is the
    expected cost of the format in micro-dollars. Raises `InvalidCase` for amounts that cannot be compared, and for a
    force that the role may not use or that has no reason.
    """
    confidence = _confidence(confidence_score)
    downside = _downside(estimated_downside)
    force = declared.force
    _entitled(force, declared.role, policy)
    threshold = policy.thresholds.get(task_type, expected_cost)
    merits = (
        _risk(task_type, policy),
        _contested(declared.contested),
        _worth_it(downside, threshold, policy),
        _uncertain(confidence, downside, threshold, declared.single_agent_answer, policy),
    )
    decided_by, debate = _decide(task_type, force, policy, merits)
    informs = decided_by in ("forced", "policy")
    rules = (
        Rule("valid", _amounts(confidence, downside), "finite and in range", holds=True, effect="informs"),
        _forced(force),
        _policy(task_type, policy, overruled=decided_by == "forced"),
        *(_as_rule(rule, informs) for rule in merits),
    )
    return GateDecision(debate, decided_by, rules, threshold, policy.factor, policy.version, policy.hash)


class Gate(Protocol):
    """Decides as `should_debate` does, by the rules of one version."""

    def __call__(
        self,
        task_type: str,
        confidence_score: Decimal | float | None,
        estimated_downside: Decimal | float | None,
        *,
        policy: GatePolicy,
        expected_cost: MicroUSD,
        declared: Declared = ...,
    ) -> GateDecision: ...


GATES: Mapping[str, Gate] = {"gate/1": should_debate}
"""Every version of the gate. The newest decides new cases; the one that is sealed with a case verifies it."""
GATE = GATES[newest(GATES)]
_VERSIONS = ClosedList("version of the gate", "service/gate.py", "docs/how-to/change-a-rule.md", IncompleteTable)


def complete_gates(rows: Mapping[str, Row], layer: str, file: str) -> Mapping[str, Row]:
    """The table of a layer, in the order of `GATES`; ``file`` is the ``__file__`` of the module that holds it.

    Raises `IncompleteTable`, with the layer, the file and the versions, unless there is a row for each version of the
    gate and no other.
    """
    return in_order(tuple(GATES), rows, _VERSIONS, table_of(layer, file))


class _Merit(Struct, frozen=True):
    """One of the four rules on the merits, before it is known whether the merits decide."""

    rule: Literal["risk", "contested", "worthIt", "uncertain"]
    observed: str
    threshold: str
    holds: bool
    would_change: str


def _decide(task_type: str, force: Force | None, policy: GatePolicy, merits: tuple[_Merit, ...]) -> tuple[str, bool]:
    if force is not None:
        return "forced", force.debate
    if task_type in policy.always or task_type in policy.never:
        return "policy", task_type in policy.always
    failed = next((rule.rule for rule in merits if not rule.holds), None)
    return failed or "merits", failed is None


def _as_rule(merit: _Merit, informs: bool) -> Rule:
    effect: Effect = "informs" if informs else "debate" if merit.holds else "decline"
    change = None if merit.holds or informs else merit.would_change
    return Rule(merit.rule, merit.observed, merit.threshold, merit.holds, effect, change)


def _forced(force: Force | None) -> Rule:
    if force is None:
        return Rule("forced", "not forced", "an entitled caller, with a reason", holds=False, effect="informs")
    observed = f"forced {'to debate' if force.debate else 'to decline'}: {force.reason}"
    effect: Effect = "debate" if force.debate else "decline"
    change = None if force.debate else "leave out force, so that the other rules decide"
    return Rule("forced", observed, "an entitled caller, with a reason", True, effect, change)


def _policy(task_type: str, policy: GatePolicy, *, overruled: bool) -> Rule:
    threshold = f"always: {list(policy.always)}; never: {list(policy.never)}"
    if task_type in policy.always:
        return Rule("policy", task_type, threshold, holds=True, effect="informs" if overruled else "debate")
    if task_type in policy.never:
        change = None if overruled else f"a policy that does not list {task_type!r} under never"
        return Rule("policy", task_type, threshold, True, "informs" if overruled else "decline", change)
    return Rule("policy", task_type, threshold, holds=False, effect="informs")


def _risk(task_type: str, policy: GatePolicy) -> _Merit:
    names = ", ".join(policy.risk_categories)
    return _Merit("risk", task_type, names, task_type in policy.risk_categories, f"a task type among: {names}")


def _contested(contested: bool | None) -> _Merit:
    observed = "undeclared, counts as contested" if contested is None else f"declared {str(contested).lower()}"
    return _Merit(
        "contested", observed, "not a factual lookup", contested is not False, "contested: true or undeclared"
    )


def _worth_it(downside: Decimal, threshold: MicroUSD, policy: GatePolicy) -> _Merit:
    floor = threshold * policy.factor
    return _Merit(
        "worthIt",
        f"downside {downside} USD",
        f"> {usd(floor)} USD ({usd(threshold)} * {policy.factor})",
        downside > _dollars(floor),
        f"an estimated downside above {usd(floor)} USD",
    )


def _uncertain(
    confidence: Decimal | None, downside: Decimal, threshold: MicroUSD, answer: str | None, policy: GatePolicy
) -> _Merit:
    hedge = _hedge(answer) if answer else None
    certain = threshold * policy.certain_factor
    reasons = {
        "no confidence given": confidence is None,
        f"confidence {confidence}": confidence is not None and confidence < policy.confidence_floor,
        f"hedging: {hedge!r}": hedge is not None,
        f"downside {downside} USD leaves certainty no excuse": downside > _dollars(certain),
    }
    found = [reason for reason, holds in reasons.items() if holds]
    return _Merit(
        "uncertain",
        "; ".join(found) or f"confidence {confidence}, no hedging",
        f"confidence missing or < {policy.confidence_floor}, or hedging, or downside > {usd(certain)} USD",
        bool(found),
        f"a confidence below {policy.confidence_floor}, or a downside above {usd(certain)} USD",
    )


def _hedge(answer: str) -> str | None:
    """The first hedge of the list in the answer; a plain search selects the few expressions that are worth running."""
    text = " ".join(answer.casefold().replace("\u2019", "'").split())
    return next((words for words, said in _HEDGES.items() if words in text and said.search(text)), None)


def _dollars(amount: MicroUSD) -> Decimal:
    """Micro-dollars as exact dollars. Amounts are compared, never multiplied: a product may round to the limit."""
    return Decimal(amount).scaleb(-6)


def _confidence(score: Decimal | float | None) -> Decimal | None:
    if score is None:
        return None
    value = _number(score, "/confidenceScore", "a number from 0 to 1, or left out if it is unknown")
    if not 0 <= value <= 1:
        raise InvalidCase(f"confidenceScore must be from 0 to 1, found {value}", pointers=("/confidenceScore",))
    return value


def _downside(amount: Decimal | float | None) -> Decimal:
    if amount is None:
        raise InvalidCase(
            "estimatedDownside is missing; give the US dollars that a wrong answer may cost",
            pointers=("/estimatedDownside",),
        )
    value = _number(amount, "/estimatedDownside", "the US dollars that a wrong answer may cost")
    if value < 0:
        raise InvalidCase(f"estimatedDownside must not be negative, found {value}", pointers=("/estimatedDownside",))
    return value


def _number(value: Decimal | float, pointer: str, expected: str) -> Decimal:
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite():
        raise InvalidCase(f"{pointer[1:]} must be {expected}, found {number}", pointers=(pointer,))
    return number


def _entitled(force: Force | None, role: str, policy: GatePolicy) -> None:
    if force is None:
        return
    if not force.reason.strip():
        raise InvalidCase("force needs a reason that the record can show", pointers=("/force/reason",))
    if role not in policy.may_force:
        allowed = ", ".join(policy.may_force) or "no role"
        raise InvalidCase(f"role {role!r} may not force the gate; policy allows: {allowed}", pointers=("/force",))


def _amounts(confidence: Decimal | None, downside: Decimal) -> str:
    return f"confidence {'missing' if confidence is None else confidence}, downside {downside} USD"
