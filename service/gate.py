"""The gate: whether a question deserves a debate. It is pure, explains itself, and calls no model.

    rule         holds when                                                       effect when it does not hold
    valid        the amounts are finite, in range and there, the task type is     an error, never a silent "no"
                 known or policy says what to do with it
    forced       an entitled caller forces either way, with a reason              (decides when it holds)
    policy       the task type is set to always or never                          (decides when it holds)
    risk         contract, security, architecture, investment, compliance, more   decline
    contested    not a factual lookup; undeclared counts as contested             decline
    worthIt      estimatedDownside > debateCostThreshold * 50, strictly           decline
    uncertain    confidence missing or below 0.9, hedging, materiality high, or   decline
                 a downside above certainAbove

The reference (6.5) gives ``shouldDebate(taskType, confidenceScore, estimatedDownside)`` and the factor of 50. The
factor says that a debate corrects 2 % of decisions, which is an assumption until calibration replaces it.

A decision lists what would have changed it. The list is found by the rules themselves: they decide once more over the
case with one field after another moved across the rules' own thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from itertools import chain, combinations, product
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from service.checks.hedges import first_hedge
from service.debate.amounts import MicroUSD, usd
from service.debate.closed_lists import ClosedList, Row, in_order, table_of
from service.debate.entries import ChangedField, Effect, FieldChange, GateDecision, Relation, Rule
from service.debate.model import Force
from service.debate.versions import newest
from service.errors import Faults, IncompleteTable, InvalidCase
from service.policy import GatePolicy
from service.policy.task_types import check_type

HIGH = "high"
"""The materiality with which certainty is no excuse."""
_NEXT = Decimal("0.0000005")
"""Less than the smallest step between two thresholds, which are whole micro-dollars."""


class Declared(Struct, frozen=True):
    """What a request declares beside its figures.

    It says whether the matter is contested, what a single agent answered, a force with its reason, and the caller's
    role. ``asked_task_type`` is the caller's own task type, where policy has put one that it knows in its place.
    """

    contested: bool | None = None
    single_agent_answer: str | None = None
    force: Force | None = None
    role: str = "requester"
    materiality: str | None = None
    asked_task_type: str | None = None


def should_debate(
    task_type: str,
    confidence_score: Decimal | float | None,
    estimated_downside: Decimal | float | None,
    *,
    policy: GatePolicy,
    expected_cost: MicroUSD,
    declared: Declared = Declared(),  # noqa: B008 - frozen
) -> GateDecision:
    """Decide, and explain the decision with every rule and with what would have changed it.

    ``confidence_score`` is 0 to 1 or missing. ``estimated_downside`` is in US dollars. ``expected_cost`` is the
    expected cost of the format in micro-dollars. Raises `InvalidCase`, with all faults together, for amounts that
    cannot be compared, for a task type that policy refuses, and for a force that the role may not use or that has no
    reason.
    """
    faults, force = Faults(), declared.force
    confidence, downside = None, Decimal(0)
    with faults.noted():
        check_type(task_type, declared.asked_task_type, policy, forced=force is not None and force.debate)
    with faults.noted():
        confidence = _confidence(confidence_score)
    with faults.noted():
        downside = _downside(estimated_downside)
    with faults.noted():
        _entitled(force, declared.role, policy)
    faults.refuse()
    answer = declared.single_agent_answer
    hedge = first_hedge(answer) if answer else None
    said = _Said(task_type, confidence, downside, declared.contested, hedge, declared.materiality, force)
    gate = _Weighed(policy, expected_cost)
    merits = gate.merits(said)
    decided_by, debate = gate.decide(said, merits)
    informs = decided_by in ("forced", "policy")
    rules = (
        Rule("valid", _amounts(confidence, downside), "finite and in range", holds=True, effect="informs"),
        _forced(force),
        _policy(task_type, policy, overruled=decided_by == "forced"),
        *gate.rules(said, merits, declared.asked_task_type, informs=informs),
    )
    changes = _changes(_alike(said, gate), gate.read, expected_cost, not debate)
    threshold = gate.threshold(task_type)
    return GateDecision(debate, decided_by, rules, threshold, policy.factor, policy.version, policy.hash, changes)


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


class _Said(NamedTuple):
    """What the rules read of a case."""

    task_type: str
    confidence: Decimal | None
    downside: Decimal
    contested: bool | None
    hedge: str | None
    materiality: str | None
    force: Force | None


class _Weighed(NamedTuple):
    """The rules under one policy, against one expected cost."""

    policy: GatePolicy
    expected_cost: MicroUSD

    @property
    def read(self) -> _Read:
        """What the rules read of the policy, by value."""
        p = self.policy
        lists = (p.risk_categories, p.always, p.never)
        return _Read(*lists, tuple(p.thresholds.items()), p.factor, p.certain_above, p.confidence_floor)

    def threshold(self, task_type: str) -> MicroUSD:
        return self.policy.thresholds.get(task_type, self.expected_cost)

    def floor(self, task_type: str) -> MicroUSD:
        """A debate is worth it above this downside."""
        return self.threshold(task_type) * self.policy.factor

    def decide(self, said: _Said, merits: Mapping[str, bool] | None = None) -> tuple[str, bool]:
        """The rule that decides, and whether there is a debate; ``merits`` are those of the case, where known."""
        if said.force is not None:
            return "forced", said.force.debate
        if said.task_type in self.policy.always or said.task_type in self.policy.never:
            return "policy", said.task_type in self.policy.always
        failed = next((rule for rule, holds in (merits or self.merits(said)).items() if not holds), None)
        return failed or "merits", failed is None

    def merits(self, said: _Said) -> dict[str, bool]:
        """The four rules on the merits, in order, and whether they hold."""
        return {
            "risk": said.task_type in self.policy.risk_categories,
            "contested": said.contested is not False,
            "worthIt": said.downside > _dollars(self.floor(said.task_type)),
            "uncertain": any(self.doubts(said)),
        }

    def doubts(self, said: _Said) -> tuple[bool, bool, bool, bool, bool]:
        """The five signs that a single answer is not enough; `_uncertain` names them in the same order."""
        return (
            said.confidence is None,
            said.confidence is not None and said.confidence < self.policy.confidence_floor,
            said.hedge is not None,
            said.materiality == HIGH,
            said.downside > _dollars(self.policy.certain_above),
        )

    def rules(self, said: _Said, merits: Mapping[str, bool], asked: str | None, *, informs: bool) -> Iterator[Rule]:
        """The rules on the merits with what they observed."""
        words = {
            "risk": _risk(said.task_type, asked, self.policy),
            "contested": _contested(said.contested),
            "worthIt": _worth_it(said, self),
            "uncertain": _uncertain(said, self),
        }
        for rule, holds in merits.items():
            effect: Effect = "informs" if informs else "debate" if holds else "decline"
            yield Rule(rule, *words[rule], holds, effect)


class _Read(NamedTuple):
    """What the rules read of a policy, and nothing else of it."""

    risk_categories: tuple[str, ...]
    always: tuple[str, ...]
    never: tuple[str, ...]
    thresholds: tuple[tuple[str, MicroUSD], ...]
    factor: int
    certain_above: MicroUSD
    confidence_floor: Decimal

    @property
    def policy(self) -> GatePolicy:
        """A policy under which they decide the same."""
        return GatePolicy("", "", **{**self._asdict(), "thresholds": dict(self.thresholds)})


class _Option(NamedTuple):
    """A field moved across a threshold: what is said of it, an example of a value there, and how far that is."""

    change: FieldChange
    example: Mapping[str, Any]
    rank: int = 0


def _alike(said: _Said, gate: _Weighed) -> _Said:
    """A case for which every rule says the same, under each task type, with no word and no figure of the case's own."""
    policy, known = gate.policy, gate.policy.task_types
    limits = {gate.floor(name) for name in (said.task_type, *known)} | {policy.certain_above}
    passed = max((limit for limit in limits if said.downside > _dollars(limit)), default=None)
    doubted = said.confidence is None or said.confidence < policy.confidence_floor
    return _Said(
        task_type=said.task_type if said.task_type in (*known, *policy.thresholds) else "",
        confidence=None if doubted else policy.confidence_floor,
        downside=Decimal(0) if passed is None else _dollars(passed) + _NEXT,
        contested=said.contested is not False,
        hedge=None if said.hedge is None else "",
        materiality=HIGH if said.materiality == HIGH else None,
        force=None if said.force is None else Force(said.force.debate, ""),
    )


@lru_cache(maxsize=1_024)
def _changes(said: _Said, read: _Read, expected_cost: MicroUSD, wanted: bool) -> tuple[tuple[FieldChange, ...], ...]:
    """What `found_changes` finds; cases that are alike for every rule share it."""
    return tuple(found_changes(said, _Weighed(read.policy, expected_cost), wanted))


def found_changes(said: _Said, gate: _Weighed, wanted: bool) -> Iterator[tuple[FieldChange, ...]]:
    """The smallest sets of changes each of which alone makes the decision ``wanted``, the case's own type first."""
    policy = gate.policy
    own = _sufficient(said, gate, wanted, [])
    yield from (tuple(option.change for option in found) for found in own)
    alike: dict[object, list[str]] = {}
    for name in policy.task_types:
        alike.setdefault(_class(name, gate), []).append(name)
    alike.pop(_class(said.task_type, gate), None)
    for types in alike.values():
        other = FieldChange("taskType", "in", tuple(types))
        for found in _sufficient(said._replace(task_type=types[0]), gate, wanted, own):
            yield (other, *(option.change for option in found))


def _class(task_type: str, gate: _Weighed) -> object:
    """All that a rule reads of a task type."""
    policy = gate.policy
    lists = (policy.always, policy.never, policy.risk_categories)
    return (*(task_type in names for names in lists), gate.threshold(task_type))


def _sufficient(
    said: _Said, gate: _Weighed, wanted: bool, before: list[tuple[_Option, ...]]
) -> list[tuple[_Option, ...]]:
    """The sets of options that suffice and that hold none of ``before`` and no smaller or nearer one."""
    options, found = _options(said, gate, wanted), list(before)
    for chosen in chain.from_iterable(
        product(*fields) for count in range(len(options) + 1) for fields in combinations(options, count)
    ):
        if any(_holds_set(chosen, smaller) for smaller in found):
            continue
        examples = {name: value for option in chosen for name, value in option.example.items()}
        if gate.decide(said._replace(**examples))[1] is wanted:
            found.append(chosen)
    return found[len(before) :]


def _holds_set(chosen: tuple[_Option, ...], smaller: tuple[_Option, ...]) -> bool:
    reached = {option.change.field: option.rank for option in chosen}
    return all(option.rank <= reached.get(option.change.field, -1) for option in smaller)


def _options(said: _Said, gate: _Weighed, wanted: bool) -> list[tuple[_Option, ...]]:
    """The moves of each field towards a debate or away from one, the nearest first."""
    found = (
        [_option("force", "leftOut", force=None)] if said.force is not None else [],
        _contests(said, wanted),
        _downsides(said, gate, wanted),
        _confidences(said, gate.policy.confidence_floor, wanted),
        _materialities(said, wanted),
        _hedges(said, wanted),
    )
    return [tuple(moves) for moves in found if moves]


def _option(field: ChangedField, relation: Relation, *values: str, rank: int = 0, **example: Any) -> _Option:
    return _Option(FieldChange(field, relation, values), example, rank)


def _downsides(said: _Said, gate: _Weighed, wanted: bool) -> list[_Option]:
    limits = sorted({gate.floor(said.task_type), gate.policy.certain_above}, reverse=not wanted)
    crossed = [limit for limit in limits if (said.downside > _dollars(limit)) is not wanted]
    relation: Relation = "above" if wanted else "atMost"
    beyond = _NEXT if wanted else Decimal(0)
    return [
        _option("estimatedDownside", relation, usd(limit), rank=rank, downside=_dollars(limit) + beyond)
        for rank, limit in enumerate(crossed)
    ]


def _contests(said: _Said, wanted: bool) -> list[_Option]:
    if (said.contested is not False) is wanted:
        return []
    return [_option("contested", "in", "true" if wanted else "false", contested=wanted)]


def _confidences(said: _Said, floor: Decimal, wanted: bool) -> list[_Option]:
    """A missing confidence counts as one below the floor; below a floor of 0 there is none."""
    if (said.confidence is None or said.confidence < floor) is wanted or (wanted and not floor):
        return []
    relation: Relation = "below" if wanted else "atLeast"
    return [_option("confidenceScore", relation, str(floor), confidence=Decimal(0) if wanted else floor)]


def _materialities(said: _Said, wanted: bool) -> list[_Option]:
    if (said.materiality == HIGH) is wanted:
        return []
    return [_option("materiality", "in" if wanted else "notIn", HIGH, materiality=HIGH if wanted else None)]


def _hedges(said: _Said, wanted: bool) -> list[_Option]:
    if (said.hedge is not None) is wanted:
        return []
    relation: Relation = "hedging" if wanted else "notHedging"
    return [_option("singleAgentAnswer", relation, hedge="" if wanted else None)]


def _forced(force: Force | None) -> Rule:
    if force is None:
        return Rule("forced", "not forced", "an entitled caller, with a reason", holds=False, effect="informs")
    observed = f"forced {'to debate' if force.debate else 'to decline'}: {force.reason}"
    effect: Effect = "debate" if force.debate else "decline"
    return Rule("forced", observed, "an entitled caller, with a reason", True, effect)


def _policy(task_type: str, policy: GatePolicy, *, overruled: bool) -> Rule:
    threshold = f"always: {list(policy.always)}; never: {list(policy.never)}"
    if task_type in policy.always:
        return Rule("policy", task_type, threshold, holds=True, effect="informs" if overruled else "debate")
    if task_type in policy.never:
        return Rule("policy", task_type, threshold, True, "informs" if overruled else "decline")
    return Rule("policy", task_type, threshold, holds=False, effect="informs")


def _risk(task_type: str, asked: str | None, policy: GatePolicy) -> tuple[str, str]:
    observed = task_type if asked is None else f"{task_type}, in the place of {asked!r}, which policy does not know"
    if task_type not in policy.task_types:
        observed = f"{task_type!r}, which policy does not know; it knows: {', '.join(policy.task_types)}"
    return observed, ", ".join(policy.risk_categories)


def _contested(contested: bool | None) -> tuple[str, str]:
    observed = "undeclared, counts as contested" if contested is None else f"declared {str(contested).lower()}"
    return observed, "not a factual lookup"


def _worth_it(said: _Said, gate: _Weighed) -> tuple[str, str]:
    threshold, factor = gate.threshold(said.task_type), gate.policy.factor
    compared = f"> {usd(gate.floor(said.task_type))} USD ({usd(threshold)} * {factor})"
    return f"downside {said.downside} USD", compared


def _uncertain(said: _Said, gate: _Weighed) -> tuple[str, str]:
    floor, above = gate.policy.confidence_floor, usd(gate.policy.certain_above)
    signs = (
        "no confidence given",
        f"confidence {said.confidence}",
        f"hedging: {said.hedge!r}",
        "materiality high leaves certainty no excuse",
        f"downside {said.downside} USD leaves certainty no excuse",
    )
    found = [sign for sign, seen in zip(signs, gate.doubts(said), strict=True) if seen]
    compared = f"confidence missing or < {floor}, or hedging, or materiality high, or downside > {above} USD"
    return "; ".join(found) or f"confidence {said.confidence}, no hedging", compared


@lru_cache(maxsize=1_024)
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
