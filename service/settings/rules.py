"""The rules of the gate and of debates, and how much a case may hold."""

from __future__ import annotations

from typing import Any

import msgspec

from service.debate.model import ROUND_CEILING
from service.gate import GatePolicy
from service.policy import FORMATS, OTHER, DebatePolicy, Limits
from service.settings.lines import Path
from service.settings.reading import (
    COUNT_MAX,
    NAME,
    NAMES,
    WrittenDebate,
    WrittenGate,
    WrittenLimits,
    Wrong,
    money,
    number,
    ranges,
    read,
)

NEVER = "never"
"""Instead of a stake: however high it is."""
_MATERIALITY = ("high", "moderate", "low")


def read_gate(written: Any, version: str, digest: str) -> GatePolicy:
    """When a question deserves a debate; raises `Wrong`. ``digest`` is the hash of the whole file."""
    path: Path = ("gate",)
    gate = read(written, WrittenGate, path)
    ranges(path, gate, {"factor": (1, COUNT_MAX), "certain_factor": (1, COUNT_MAX)})
    if gate.certain_factor < gate.factor:
        raise Wrong((*path, "certain_factor"), f"expected at least gate.factor, {gate.factor}")
    if not gate.risk_categories:
        raise Wrong((*path, "risk_categories"), "it is empty, and then nothing is ever debated; list the task types")
    for key in ("risk_categories", "always", "never", "may_force"):
        for name in getattr(gate, key):
            if not NAME.fullmatch(name):
                raise Wrong((*path, key), f"expected names of {NAMES}, found {name!r}")
    if both := sorted(set(gate.always) & set(gate.never)):
        raise Wrong((*path, "never"), f"{both} stand under always too")
    return GatePolicy(
        version=version,
        hash=digest,
        factor=gate.factor,
        certain_factor=gate.certain_factor,
        confidence_floor=number((*path, "confidence_floor"), gate.confidence_floor, 0, 1),
        risk_categories=gate.risk_categories,
        always=gate.always,
        never=gate.never,
        may_force=gate.may_force,
        thresholds={task: money((*path, "thresholds", task), usd) for task, usd in gate.thresholds.items()},
    )


def read_debate(written: Any) -> DebatePolicy:
    """What a debate may cost and how it is played; raises `Wrong`."""
    path: Path = ("debate",)
    debate = read(written, WrittenDebate, path)
    rounds = (1, ROUND_CEILING)
    strength = (1, 10)
    bounds = {"rounds": rounds, "high_stakes_rounds": rounds, "attempts_per_turn": (1, 10)}
    bounds |= {"min_challenge_strength": strength, "require_critic_retry_below": strength}
    ranges(path, debate, {**bounds, "expected_input_tokens": (1, COUNT_MAX)})
    if debate.format not in FORMATS:
        raise Wrong((*path, "format"), f"expected one of: {', '.join(sorted(FORMATS))}, found {debate.format!r}")
    if odd := sorted(set(debate.high_stakes_materiality) - set(_MATERIALITY)):
        raise Wrong((*path, "high_stakes_materiality"), f"expected {', '.join(_MATERIALITY)}, found {odd}")
    fields: dict[str, Any] = msgspec.structs.asdict(debate)
    stake: str = fields.pop("swap_above_usd")
    fields["swap_above"] = None if stake == NEVER else money((*path, "swap_above_usd"), stake)
    names = [name for name in fields if name.endswith("_usd")]
    amounts: dict[str, Any] = {name.removesuffix("_usd"): money((*path, name), fields.pop(name)) for name in names}
    if not 0 < amounts["ceiling"] <= amounts["ceiling_max"]:
        raise Wrong((*path, "ceiling_usd"), "expected more than 0 and not more than debate.ceiling_max_usd")
    share = number((*path, "expected_output_share"), fields.pop("expected_output_share"), 0, 1)
    fields["floating_names"] = debate.floating_names == "allowed"
    return DebatePolicy(**fields, **amounts, expected_output_per_mille=int(share * 1_000))


def read_limits(written: Any) -> Limits:
    """How much a case may hold; raises `Wrong`."""
    limits = read(written, WrittenLimits, ("limits",))
    fields: dict[str, int] = msgspec.structs.asdict(limits)
    ranges(("limits",), limits, dict.fromkeys(fields, (1, COUNT_MAX)))
    return Limits(**fields)


def check_task_types(gate: GatePolicy, debate: DebatePolicy) -> None:
    """Raise `Wrong` for a rule about a task type that no case can have."""
    known = {*gate.risk_categories, *gate.always, *gate.never, *OTHER}
    places: tuple[tuple[Path, tuple[str, ...]], ...] = (
        (("gate", "thresholds"), tuple(gate.thresholds)),
        (("debate", "human_review"), debate.human_review),
    )
    for path, named in places:
        if unknown := sorted(set(named) - known):
            raise Wrong(path, f"no case can have the task types {unknown}; there are {sorted(known)}")
