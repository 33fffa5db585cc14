"""What results and events show of a panel's findings: shares from 0 to 1, and no score of what was not checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from msgspec.structs import asdict, replace

from service.debate.findings import DIMENSIONS, DebaterScores, Dimension, Veto
from service.debate.turns import seat_of
from service.report.result.history import Folded
from service.report.result.shares import in_shares
from service.report.result.terms import ShownScores

UNCHECKED = "unchecked"
"""What reports and the terminal show in the place of a factual accuracy without anything to compare."""


def checkable(h: Folded) -> tuple[Dimension, ...]:
    """The dimensions that a case can have: empirical overlap only with documents, also where a model scores it."""
    return tuple(name for name in DIMENSIONS if h.case.documents or name != "empirical_overlap")


def shown_dimensions(h: Folded, given: Mapping[Dimension, int | None]) -> dict[Dimension, int]:
    """The dimensions of a round that are defined, per mille, in their order."""
    return {name: value for name in checkable(h) if (value := given.get(name)) is not None}


def shown_scores(h: Folded, given: Iterable[DebaterScores]) -> tuple[ShownScores, ...]:
    """The scores of debaters, without the factual accuracy of one of whose citations none could be compared."""
    checked = {seat_of(found.turn) for found in h.verdicts.values() if found.compared}
    return tuple(
        ShownScores(**asdict(one) | ({} if one.seat in checked else {"factual_accuracy": None})) for one in given
    )


def shown_notes(notes: str, by: str, vetoes: Iterable[Veto]) -> str:
    """The notes of a round with shares from 0 to 1; what a model says in them stays as it is."""
    if by == "algorithmic":
        return in_shares(notes)
    return reduce(lambda words, veto: words.replace(veto.text, in_shares(veto.text)), vetoes, notes)


def shown_vetoes(vetoes: Iterable[Veto]) -> tuple[Veto, ...]:
    """Vetoes with shares from 0 to 1 in their words."""
    return tuple(replace(veto, text=in_shares(veto.text)) for veto in vetoes)
