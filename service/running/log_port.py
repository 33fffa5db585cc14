"""The ports to one debate's log: where the runner records entries, and how it hears of entries that others record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from service.debate.amounts import MicroUSD
from service.debate.entries import Entry
from service.debate.model import TurnId
from service.money import Ledger, Refusal


class EntrySignal(Protocol):
    """The signal that another process may have recorded something in the debate."""

    async def wait(self) -> None:
        """Return once another process may have."""
        ...

    def poll(self) -> bool:
        """Whether another process may have, since the last call. Call this before reading the records."""
        ...


class NoEntrySignal:
    """The signal of a debate that no other process writes to."""

    async def wait(self) -> None:
        """Wait until cancelled."""
        await asyncio.Event().wait()

    def poll(self) -> bool:
        """Always false."""
        return False


class AuditLog(Protocol):
    """The end of one debate's log, as the worker of the debate holds it."""

    @property
    def debate(self) -> str:
        """The debate's id."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The money of the debate after the recorded entries."""
        ...

    @property
    def allocated(self) -> MicroUSD:
        """What the debate may reserve and spend: its ceiling, or what its tenant's limits have allocated to it."""
        ...

    async def allocate(self, need: MicroUSD, want: MicroUSD) -> Refusal | None:
        """Allocate ``need`` to ``want`` more from the tenant's limits; return a refusal if less than ``need`` remains.

        A refusal allocates nothing. Raises `Fenced` or `AuditUnavailable`.
        """
        ...

    @property
    def deadline_in_s(self) -> float | None:
        """Seconds to the deadline in database time; ``None`` without one."""
        ...

    def turn_age_s(self, turn: TurnId) -> float:
        """Seconds since the first attempt of a turn, by the database's clock and across workers; 0 if there is none."""
        ...

    async def new_entries(self) -> list[Entry]:
        """The entries recorded since the last call; the first call returns all."""
        ...

    async def append(self, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        """Record all entries or none; ``occurred`` says when each happened, by `time.monotonic`.

        Raises `Fenced` or `AuditUnavailable`.
        """
        ...

    async def renew(self) -> None:
        """Renew the lease; raises `Fenced` when another worker has the debate."""
        ...
