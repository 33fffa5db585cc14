"""The words for passages of a case that speak to a model: what one does, where it stands, how it is written.

A family or a field without words fails at import: both lists are closed. How a passage is written has the engine's own
words, and what has none there (a later engine's) is shown as it is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from service.checks.injection import hidden
from service.debate.closed_lists import ClosedList, in_order, table_of
from service.debate.suspicions import FAMILIES, CaseField, InjectionFamily, Suspicion
from service.errors import IncompleteTable
from service.report.labels import label_of

_TABLE = table_of("report", __file__)
_HOW = "docs/how-to/change-a-rule.md"

_FAMILY: Mapping[InjectionFamily, str] = in_order(
    FAMILIES,
    {
        "address": "addresses its reader as a model or a seat",
        "override": "sets the instructions of its reader aside",
        "verdict": "orders a conclusion",
        "score": "orders a score or a level of confidence",
        "format": "orders the form of the reply",
        "secrecy": "orders to hide or to reveal something",
        "fence": "poses as a fence of the request",
        "reply": "poses as a reply of a seat",
        "tool": "poses as a tool's output",
        "system": "poses as a system message",
        "authority": "poses as a person in authority",
    },
    ClosedList("injection family", "service/debate/suspicions.py", _HOW, IncompleteTable),
    _TABLE,
)
FAMILY: Mapping[str, str] = dict(_FAMILY.items())
"""What a passage does."""
_FIELD: Mapping[CaseField, str] = in_order(
    get_args(CaseField),
    {
        "question": "question",
        "answer": "answer under review",
        "position": "position",
        "title": "title of document",
        "document": "document",
        "persona": "persona of",
        "instructions": "instructions for",
        "debater": "name of",
        "stance": "stance of",
        "vote": "vote",
        "outputSchema": "output schema",
        "metadata": "metadata",
        "context": "context",
    },
    ClosedList("field of a case", "service/debate/suspicions.py", "docs/how-to/add-a-field.md", IncompleteTable),
    _TABLE,
)
FIELD: Mapping[str, str] = dict(_FIELD.items())
"""Where a passage stands; the name of which one follows."""
HIDDEN: Mapping[str, str] = {"": "in plain words", **hidden.HIDDEN}
"""How a passage is written."""
FOUND_BY: Mapping[str, str] = {"rules": "rules", "screener": "the screener's model", "both": "rules and the screener"}


def place(found: Suspicion) -> str:
    """The field of a passage, and which one of it."""
    return f"{label_of(FIELD, found.field)} {found.name}".strip()


def within(found: Suspicion) -> str:
    """The characters of a passage in its field, from 0, end exclusive."""
    return f"{found.span[0]:,} to {found.span[1]:,}"


def written(found: Suspicion) -> str:
    """How a passage is written."""
    return label_of(HIDDEN, found.hidden)
