"""Statistics as they are used in a result: computed by name from JSON, and kept with their input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.evaluation.scoring.result import Figure
from service.evaluation.statistics import compute


class Figures:
    """The figures of a result under way. An id is used once: two figures of one id would be one too many."""

    def __init__(self) -> None:
        self._figures: dict[str, Figure] = {}

    def add(self, id_: str, statistic: str, **given: Any) -> Mapping[str, Any]:
        """Compute a statistic, keep it under an id, and return its output; raises `ValueError` for an id used twice."""
        if id_ in self._figures:
            raise ValueError(f"expected a new id for a figure, found {id_!r} again")
        output = dict(compute(statistic, given))
        self._figures[id_] = Figure(id_, statistic, given, output)
        return output

    def output(self, id_: str) -> Mapping[str, Any]:
        """The output of a figure; raises `KeyError`."""
        return self._figures[id_].output

    def all(self) -> tuple[Figure, ...]:
        """Every figure in the order of their ids, which no order of computing changes."""
        return tuple(self._figures[id_] for id_ in sorted(self._figures))
