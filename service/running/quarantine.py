"""The debates that one worker could not run: it leaves them to the others, for longer each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

FIRST_S, LONGEST_S = 60.0, 300.0
"""How long a worker leaves a debate to others that it could not run, at first and at most."""
MOST = 1_000
"""How many it remembers; what it forgets it tries again."""


class Put(NamedTuple):
    """Until when a debate is left, and for how long it was."""

    until: float
    for_s: float


class Aside:
    """What a worker is not to take for now."""

    def __init__(self) -> None:
        self._put: dict[str, Put] = {}

    def put(self, debate: str, now: float) -> None:
        """Leave a debate to others for a while, twice as long as the last time."""
        before = self._put.pop(debate, None)
        for_s = min(LONGEST_S, 2 * before.for_s) if before else FIRST_S
        self._put[debate] = Put(now + for_s, for_s)
        while len(self._put) > MOST:
            del self._put[next(iter(self._put))]

    def debates(self, now: float) -> Sequence[str]:
        """Those whose while is not over yet."""
        return [debate for debate, put in self._put.items() if now < put.until]
