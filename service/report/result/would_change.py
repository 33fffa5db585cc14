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
    "above": "above",
    "atMost": "of at most",
    "below": "below",
    "atLeast": "of at least",
    "in": "",
    "notIn": "other than",
    "leftOut": "",
    "hedging": "that hedges",
    "notHedging": "that does not hedge",
}


class GateChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """Changes of the case that together would have changed the gate's decision, and the same in words."""

    sentence: str
    fields: tuple[FieldChange, ...]


def would_change(decision: GateDecision) -> tuple[GateChange, ...]:
    """Every way to another decision that the decision lists."""
    return tuple(GateChange(sentence=sentence(fields), fields=fields) for fields in decision.would_change)


def sentence(fields: tuple[FieldChange, ...]) -> str:
    """All changes of one way, such as "a downside above 3.57 USD; and a confidence below 0.9"."""
    return "; and ".join(_words(change) for change in fields)


def _words(change: FieldChange) -> str:
    values = " or ".join(change.values)
    amount = f"{values} USD" if change.field == "estimatedDownside" else values
    return " ".join(filter(None, (FIELD[change.field], RELATION[change.relation], amount)))
