"""The quarantine: debates that one worker failed to run. It leaves them to other workers, for longer each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

FIRST_S, LONGEST_S = 60.0, 300.0
"""The first and the longest quarantine of a debate, in seconds."""
MOST = 1_000
"""The most debates in quarantine; the oldest is dropped first, and may then be claimed again."""


class Exclusion(NamedTuple):
    """When the quarantine of a debate ends, and how long it is."""

    until: float
    for_s: float


class Quarantine:
    """The debates that a worker does not claim for now."""

    def __init__(self) -> None:
        self._put: dict[str, Exclusion] = {}

    def add(self, debate: str, now: float) -> None:
        """Put a debate into quarantine, for twice as long as the last time."""
        before = self._put.pop(debate, None)
        for_s = min(LONGEST_S, 2 * before.for_s) if before else FIRST_S
        self._put[debate] = Exclusion(now + for_s, for_s)
        while len(self._put) > MOST:
            del self._put[next(iter(self._put))]

    def excluded(self, now: float) -> Sequence[str]:
        """The debates that are still in quarantine."""
        return [debate for debate, put in self._put.items() if now < put.until]
