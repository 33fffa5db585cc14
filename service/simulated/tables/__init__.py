"""The side of a sentence: one table for each kind of proposition, read from the top; the first row that fits decides.

A proposition that is the opposite of the table's swaps the sides.
"""

from typing import Literal

from service.simulated.tables import adoption, conformity, exposure, presence, soundness, sufficiency
from service.simulated.tables.row import Rule

__all__ = ["TABLES", "Kind", "Rule", "judge"]

Kind = Literal["exposure", "sufficiency", "adoption", "soundness", "conformity", "presence"]

TABLES: dict[Kind, tuple[Rule, ...]] = {
    "exposure": exposure.ROWS,
    "sufficiency": sufficiency.ROWS,
    "adoption": adoption.ROWS,
    "soundness": soundness.ROWS,
    "conformity": conformity.ROWS,
    "presence": presence.ROWS,
}


def judge(kind: Kind, found: frozenset[str]) -> Rule | None:
    """The first row of the table that fits the cues, or ``None`` if the sentence takes no side."""
    for rule in TABLES[kind]:
        if found.issuperset(rule.cues) and found.isdisjoint(rule.without):
            return rule
    return None
