"""What would have changed the gate's decision, in words: one sentence for each set of changes of a decision."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from service.debate.entries import FieldChange, GateDecision

FIELD: Mapping[str, str] = {
    "taskType": "a task type",
    "force": "no force",
    "contested": "contested",
    "estimatedDownside": "a downside",
    "confidenceScore": "a confidence",
    "materiality": "materiality",
    "singleAgentAnswer": "a single agent's answer",
}
RELATION: Mapping[str, str] = {
    "above": "{field} above {values}{unit}",
    "atMost": "{field} of at most {values}{unit}",
    "below": "{field} below {values}, or none",
    "atLeast": "{field} of at least {values}",
    "in": "{field} {values}",
    "notIn": "{field} other than {values}",
    "leftOut": "{field}",
    "hedging": "{field} that hedges",
    "notHedging": "{field} that does not hedge",
}
UNIT: Mapping[str, str] = {"estimatedDownside": " USD"}


class GateChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """Changes of the case that together would have changed the gate's decision, and the same in words."""

    sentence: str
    fields: tuple[FieldChange, ...]


def would_change(decision: GateDecision) -> tuple[GateChange, ...]:
    """Every way to another decision that the decision lists."""
    return tuple(GateChange(sentence=sentence(fields), fields=fields) for fields in decision.would_change)


def sentence(fields: tuple[FieldChange, ...]) -> str:
    """All changes of one way, such as "a downside above 3.57 USD, and a confidence below 0.9, or none"."""
    return "; and ".join(_words(change) for change in fields)


def _words(change: FieldChange) -> str:
    return RELATION[change.relation].format(
        field=FIELD[change.field], values=" or ".join(change.values), unit=UNIT.get(change.field, "")
    )
