"""The ports to one debate's log: where the runner records entries, and how it hears of entries that others record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from service.debate.amounts import MicroUSD
from service.debate.entries import Entry
from service.debate.model import TurnId
from service.money import Ledger, Refusal


class News(Protocol):
    """What whoever runs a debate hears of others: that they may have recorded something in it."""

    async def wait(self) -> None:
        """Return once somebody else may have."""
        ...

    def heard(self) -> bool:
        """Whether somebody else may have, since this was asked last; to be asked before one looks."""
        ...


class Silence:
    """No news of others, ever."""

    async def wait(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    def heard(self) -> bool:
        """Nothing is heard."""
        return False


class AuditLog(Protocol):
    """The end of one debate's log, held by whoever runs the debate."""

    @property
    def debate(self) -> str:
        """The debate's id."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The money that the recorded entries leave."""
        ...

    @property
    def granted(self) -> MicroUSD:
        """What the debate may reserve and spend: its ceiling, or what it has drawn from its tenant's limits."""
        ...

    async def draw(self, need: MicroUSD, want: MicroUSD) -> Refusal | None:
        """Draw on the tenant's limits, ``need`` at least and ``want`` at most; or why not even ``need`` is left.

        Nothing is drawn then. Raises `Fenced` or `AuditUnavailable`.
        """
        ...

    @property
    def left_s(self) -> float | None:
        """Seconds to the deadline in database time; ``None`` without one."""
        ...

    def asked_s(self, turn: TurnId) -> float:
        """Seconds since a turn was first asked, by the database's clock, whoever asked; 0 where nobody has."""
        ...

    async def tail(self) -> list[Entry]:
        """The entries recorded since the last look; the first look gives all."""
        ...

    async def append(self, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        """Record all or none; ``occurred`` says of each when it happened, in seconds since 1970.

        Raises `Fenced` or `AuditUnavailable`.
        """
        ...

    async def renew(self) -> None:
        """Keep the lease; raises `Fenced` when another worker has the debate."""
        ...
