"""A row of a table: the sentences that it fits, their side, and each side's words about them."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """A row. It fits a sentence that has all of ``cues`` and none of ``without``."""

    name: str
    cues: tuple[str, ...]
    without: tuple[str, ...]
    side: int
    weight: int
    says: str
    so: tuple[str, ...]
    meet: str


def row(name: str, cues: str, bears: int, says: str, so: str, meet: str) -> Rule:
    """A row from its words.

    ``cues`` are names separated by commas, those that must be absent after "no". The sign of ``bears`` is the side, its
    amount (1 to 5) the directness. ``says`` continues a text that names the place ("Clause 12.2 puts a ceiling ..."),
    ``so`` holds clauses about the consequence, separated by bars, and ``meet`` is the other side's answer without
    evidence of its own; it names no clause, because that would claim evidence.
    """
    names = [c for c in cues.split(", ") if c]
    needed = tuple(c for c in names if not c.startswith("no "))
    barred = tuple(c.removeprefix("no ") for c in names if c.startswith("no "))
    return Rule(name, needed, barred, 1 if bears > 0 else -1, abs(bears), says, tuple(so.split(" | ")), meet)
