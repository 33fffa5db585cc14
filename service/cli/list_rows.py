"""A debate of a list as a row of CSV, which no spreadsheet runs and no terminal obeys (`service.audit.csv_line`)."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Mapping
from typing import Any

from service.audit.csv_line import csv_line
from service.cli.members import member

Debate = Mapping[str, Any]


def _at(*names: str) -> Callable[[Debate], str]:
    return lambda debate: member(debate, *names)


def _review(debate: Debate) -> str:
    required = member(debate, "decision", "humanReview", "required")
    return {"True": "required", "False": "not required"}.get(required, required)


def _pairs(debate: Debate) -> ItemsView[str, Any]:
    given = debate.get("metadata")
    return (given if isinstance(given, Mapping) else {}).items()


COLUMNS: Mapping[str, Callable[[Debate], str]] = {
    "debate": _at("debateId"),
    "createdAt": _at("createdAt"),
    "taskType": _at("taskType"),
    "useCase": _at("useCase"),
    "materiality": _at("materiality"),
    "estimatedDownsideUSD": _at("estimatedDownsideUSD"),
    "question": _at("question"),
    "status": _at("status"),
    "format": _at("format"),
    "outcome": _at("decision", "outcome"),
    "confidence": _at("decision", "confidence"),
    "humanReview": _review,
    "flags": lambda debate: " ".join(map(str, debate.get("flags") or ())),
    "spentUSD": _at("decision", "cost", "spentUSD"),
    "askedBy": _at("caller", "id"),
    "askedVia": _at("caller", "via"),
    "metadata": lambda debate: "\n".join(f"{key}={value}" for key, value in _pairs(debate)),
    "answer": _at("decision", "answer"),
    "evaluation": _at("evaluation", "id"),
}
"""The columns, in their order. Programs read them by name, or by place, so a new one goes to the end."""


def heading() -> bytes:
    """The first line."""
    return csv_line(tuple(COLUMNS))


def row(debate: Debate) -> bytes:
    """The line of a debate."""
    return csv_line([cell(debate) for cell in COLUMNS.values()])
