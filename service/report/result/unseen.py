"""Notices of the texts of a case of which models are not shown every character."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from service.debate.neutral import TakenKind
from service.debate.suspicions import Neutralised
from service.report.result.notice_types import Notice
from service.report.result.types import Line

UNSEEN_MAX = 20
"""The most texts that are named; the others are counted."""
TAKEN: Mapping[TakenKind, str] = {
    "bidi": "bidirectional",
    "control": "control",
    "filler": "filler",
    "format": "format",
    "lineSeparator": "line separator",
    "tag": "tag",
    "variation": "variation selector",
    "zeroWidth": "zero-width",
}


def unseen(line: Line, texts: Sequence[Neutralised]) -> Iterator[Notice]:
    """A notice of each text of which models are not shown every character, and one for those that are too many."""
    for text in texts[:UNSEEN_MAX]:
        number = _count(sum(text.kinds.values()), "character")
        each = ", ".join(f"{n} {TAKEN[kind]}" for kind, n in text.kinds.items())
        lines = " or became line breaks" if "lineSeparator" in text.kinds else ""
        yield _neutral(line, f"{number} of {text.field} {text.name}".strip() + f" kept from the models{lines}: {each}")
    if (more := len(texts) - UNSEEN_MAX) > 0:
        yield _neutral(line, f"characters of {_count(more, 'more text')} kept from the models")


def _neutral(line: Line, detail: str) -> Notice:
    return Notice(n=line.n, at=line.at, notice="neutralised", turns=(), reason="unseen", detail=detail)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
