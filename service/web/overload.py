"""What a process does when it has more requests than it can serve: it refuses the cheapest ones first.

Cheapest is what costs a caller the least to ask again: nothing is stored by it, and it gets the same answer later.

    pressure   refused with 503 `overloaded`                                   Retry-After
    1          gate decisions, quotes, checks of citations                     5 s
    2          lists, reads, new event streams and evidence as well            2 s
    3          cases as well, until the line of `service.web.admission` moves  1 s

Never refused: an abort, a probe, and whatever has begun: open streams, waits, evidence that is being sent.

    pressure   cases in line for a place   the event loop is late by   queries that wait for a connection
    1          64                          2 s                         128
    2          256                         5 s                         512
    3          -                           10 s                        2048
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from service import telemetry
from service.errors import Overloaded
from service.web.admission import AdmissionSlots

Shed = Literal["check", "read", "submit"]
SHED: tuple[Shed, ...] = ("check", "read", "submit")
"""What is refused at pressure 1, 2 and 3."""
RETRY_S: dict[Shed, int] = {"check": 5, "read": 2, "submit": 1}
IN_LINE = (64, 256)
LATE_S = (2.0, 5.0, 10.0)
QUERIES = (128, 512, 2_048)
TICK_S = 0.25
"""How often the lateness of the event loop is measured while requests come."""


class Load:
    """How hard one process is pressed."""

    def __init__(self, places: AdmissionSlots, queries: Callable[[], int] = lambda: 0) -> None:
        self._places = places
        self._queries = queries
        self._late_s = 0.0
        self._asked = False
        self._ticking = False

    @property
    def pressure(self) -> int:
        """From 0, none, to 3."""
        self._measure()
        found = ((self._places.waiting, IN_LINE), (self._late_s, LATE_S), (self._queries(), QUERIES))
        return max(sum(value >= bound for bound in bounds) for value, bounds in found)

    def refuse_pressed(self, kind: Shed) -> None:
        """Raise `Overloaded` for a request of a kind that is refused now."""
        if self.pressure > SHED.index(kind):
            telemetry.HTTP_REFUSED.labels(reason="overload").inc()
            raise Overloaded(
                f"this process has more requests than it can serve and refuses every {_WORDS[kind]} for now; send it "
                "again later, or to another process",
                retry_after=RETRY_S[kind],
            )

    def _measure(self) -> None:
        self._asked = True
        if not self._ticking:
            self._ticking = True
            loop = asyncio.get_running_loop()
            loop.call_later(TICK_S, self._tick, loop.time() + TICK_S)

    def _tick(self, due: float) -> None:
        """Note by how much the loop is late; what was noted before counts half."""
        loop = asyncio.get_running_loop()
        self._late_s = max(loop.time() - due, self._late_s / 2)
        self._ticking = self._asked or self._late_s > TICK_S
        self._asked = False
        if self._ticking:
            loop.call_later(TICK_S, self._tick, loop.time() + TICK_S)
        else:
            self._late_s = 0.0


_WORDS: dict[Shed, str] = {"check": "check, quote and gate decision", "read": "read", "submit": "case"}
