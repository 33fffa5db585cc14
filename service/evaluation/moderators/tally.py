"""Counts of recorded conclusions by moderator, task type and window. It holds counts alone, and no debate."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from service.evaluation.moderators.recorded import Judged, Left, Moderator
from service.evaluation.scoring.observed_types import Slot

PROPOSER, CRITIC, TIED, MISSING = "upheld", "rejected", "modified", "noModeration"


class Counts(NamedTuple):
    """What is counted of debates: conclusions, and pairs of places in two orders."""

    said: Counter[str]
    places: Counter[tuple[Slot, Slot]]

    @property
    def debates(self) -> int:
        """All debates, also those without a readable moderation."""
        return self.said.total()

    @property
    def decided(self) -> int:
        """Those that were decided for a side."""
        return self.said[PROPOSER] + self.said[CRITIC]

    @property
    def pairs(self) -> list[list[Slot]]:
        """Each pair of places, in one order whatever came first."""
        return [list(pair) for pair, times in sorted(self.places.items()) for _ in range(times)]


class Tally:
    """What was read so far. The order in which debates come changes nothing."""

    def __init__(self) -> None:
        self.left: Counter[Left] = Counter()
        self.simulated = False
        self._cells: dict[Moderator, dict[tuple[str, str], Counts]] = {}

    def add(self, found: Judged | Left, window: str) -> None:
        """Count one more debate."""
        if not isinstance(found, Judged):
            self.left[found] += 1
            return
        cells = self._cells.setdefault(found.moderator, {})
        counts = cells.setdefault((found.task_type, window), Counts(Counter(), Counter()))
        counts.said[found.conclusion or MISSING] += 1
        if found.slots is not None:
            counts.places[found.slots] += 1
        self.simulated |= found.simulated

    @property
    def moderators(self) -> list[Moderator]:
        """Every moderator, in an order that does not depend on what was read first."""
        return sorted(self._cells)

    def task_types(self, moderator: Moderator) -> list[str]:
        """The task types that a moderator has debates of."""
        return sorted({task_type for task_type, _ in self._cells[moderator]})

    def counts(self, moderator: Moderator, task_type: str | None = None, window: str | None = None) -> Counts:
        """The counts of a moderator together; ``None`` stands for all task types, or all windows."""
        said: Counter[str] = Counter()
        places: Counter[tuple[Slot, Slot]] = Counter()
        for (of_type, of_window), counts in self._cells[moderator].items():
            if task_type in (None, of_type) and window in (None, of_window):
                said.update(counts.said)
                places.update(counts.places)
        return Counts(said, places)

    @property
    def debates(self) -> int:
        """All debates that were read or left out."""
        return self.left.total() + sum(counts.debates for cells in self._cells.values() for counts in cells.values())
