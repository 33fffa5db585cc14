"""The loop that feeds batches and evaluations beside the worker: rounds of turns, until it is stopped.

A feeder has a thing that it feeds by a lease, and renews it between the steps of a turn. While the database is away it
feeds nothing, and the log says so once, and once that it goes on.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from contextlib import suppress

from service.audit.record import Writer
from service.errors import StoreUnavailable
from service.log_lines import LogLine

BUSY_S, IDLE_S = 0.1, 1.0
"""How often a process looks at what it feeds while some is open, and while none is."""
RENEWALS = 3
"""A lease is renewed so often before it would run out."""


class Feeder(ABC):
    """Gives what it feeds its turns until it is stopped. ``writer`` names it in leases and records."""

    AWAY: LogLine
    """The line of the first round that the database does not answer."""
    BACK: LogLine
    """The line of the first round after that."""
    FAULT: LogLine
    """The line of a round that a fault has ended."""

    def __init__(self, writer: Writer, lease_s: float) -> None:
        self._writer = writer
        self._name = writer.actor.id
        self._lease_s = lease_s
        self._stopping = asyncio.Event()
        self._away = False
        self._renewed = float("-inf")

    async def run(self) -> None:
        """Make rounds until `stop`. Errors are logged and never end the loop."""
        while not self._stopping.is_set():
            pause_s = IDLE_S
            try:
                pause_s = await self.round()
                if self._away:
                    self.BACK()
                self._away = False
            except StoreUnavailable as error:
                if not self._away:
                    self.AWAY(detail=error.detail, code=error.code)
                self._away = True
            except Exception:  # noqa: BLE001 - a dead loop would leave behind what looks as if it went on
                self.count_fault()
                self.FAULT.raised()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._stopping.wait()

    def stop(self) -> None:
        """Begin no further step; the one in hand is recorded."""
        self._stopping.set()

    @abstractmethod
    async def round(self) -> float:
        """One turn of each thing that is free; returns the seconds until the next look."""

    def count_fault(self) -> None:
        """Count a fault that ended a round, where such faults are counted."""
        return

    def _is_renewal_due(self) -> bool:
        """Whether the leases are to be renewed again."""
        return time.monotonic() - self._renewed >= self._lease_s / RENEWALS
