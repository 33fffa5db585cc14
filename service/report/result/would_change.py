"""What would have changed the gate's decision, in words: one sentence for each set of changes of a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct

from service.debate.entries import FieldChange, GateDecision
from service.report.amounts import grouped

FIELD: Mapping[str, str] = {
    "taskType": "the task type",
    "force": "no forced decision",
    "contested": "a matter that is declared",
    "estimatedDownside": "a downside",
    "confidenceScore": "a confidence",
    "materiality": "a materiality",
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
_CONTESTED: Mapping[str, str] = {"true": "contested", "false": "not contested"}


class GateChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """Changes of the case that together would have changed the gate's decision, and the same in words."""

    always_sent: ClassVar = ("fields",)

    sentence: str
    """The changes in words."""
    fields: tuple[FieldChange, ...]
    """The changes, which together lead to the other decision."""


def would_change(decision: GateDecision) -> tuple[GateChange, ...]:
    """Every way to another decision that the decision lists."""
    return tuple(GateChange(sentence=sentence(fields), fields=fields) for fields in decision.would_change)


def sentence(fields: tuple[FieldChange, ...]) -> str:
    """All changes of one way, such as "a downside above 3.57 USD; and a confidence below 0.9"."""
    return "; and ".join(_words(change) for change in fields)


def _words(change: FieldChange) -> str:
    relation = "of" if (change.field, change.relation) == ("materiality", "in") else RELATION[change.relation]
    return " ".join(filter(None, (FIELD[change.field], relation, _values(change))))


def _values(change: FieldChange) -> str:
    if change.field == "estimatedDownside":
        return _listed([grouped(f"{value} USD") for value in change.values])
    if change.field == "contested":
        return _listed([_CONTESTED.get(value, value) for value in change.values])
    return _listed(change.values)


def _listed(values: Sequence[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else "".join(values)
