"""The checkpoint of each tenant's current log, in memory for every answer.

Answers name the head, so that a client that keeps one can hold the log to it. No answer waits for it: an answer takes
the known head, and each request for one starts a look-up in the background, at most once a second, as long as tenants
ask. The sequencer of the same process announces what it signs, and an answer that waited for a head shows it here.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from msgspec import Struct

from service.audit.note import encode_base64
from service.errors import StoreUnavailable
from service.store.pool import Database

REFRESH_S = 1.0
"""The shortest interval between two look-ups."""
ASKED_S = 60.0
"""How long after a tenant's last request its heads are still looked up."""


class CurrentCheckpoint(Struct, frozen=True):
    """The latest checkpoint of a tenant's current log."""

    log: str
    size: int
    root: bytes

    def __str__(self) -> str:
        """The head as answers name it: origin, size and base64 root."""
        return f"{self.log} {self.size} {encode_base64(self.root)}"


class CurrentCheckpoints:
    """The known heads of the tenants. They only move forward: a signed size stays signed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, tuple[int, CurrentCheckpoint]] = {}
        self._asked: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def latest(self, tenant: str) -> CurrentCheckpoint | None:
        """The known head; ``None`` while there is none. Never waits, never fails."""
        self._asked[tenant] = time.monotonic()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow(), name="heads")
        known = self._known.get(tenant)
        return known[1] if known else None

    def announce(self, log: str, size: int, root: bytes) -> None:
        """A head was signed in this process."""
        tenant, epoch = _tenant_and_epoch(log)
        if tenant in self._asked:
            self._hear(tenant, epoch, CurrentCheckpoint(log, size, root))

    def served(self, log: str, size: int, root: bytes) -> None:
        """Note the head that an answer rests on, so that the head named in the answer is no older."""
        tenant, epoch = _tenant_and_epoch(log)
        self._asked.setdefault(tenant, time.monotonic())
        self._hear(tenant, epoch, CurrentCheckpoint(log, size, root))

    async def refresh(self) -> None:
        """Look up the heads of the tenants that have asked; if the database is away, the known heads stay."""
        with suppress(StoreUnavailable):
            for row in await self._database.query("current_heads", {"tenants": list(self._asked)}):
                self._hear(row["tenant"], row["epoch"], CurrentCheckpoint(row["log"], row["size"], bytes(row["root"])))

    async def close(self) -> None:
        """Stop all look-ups."""
        self._asked = {}  # a task that waits for a connection may miss its cancellation
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _follow(self) -> None:
        """Refresh as long as a tenant has asked lately."""
        while self._asked:
            await self.refresh()
            await asyncio.sleep(REFRESH_S)
            since = time.monotonic() - ASKED_S
            self._asked = {tenant: at for tenant, at in self._asked.items() if at > since}

    def _hear(self, tenant: str, epoch: int, head: CurrentCheckpoint) -> None:
        known = self._known.get(tenant)
        if known is None or (epoch, head.size) > (known[0], known[1].size):
            self._known[tenant] = epoch, head


def _tenant_and_epoch(log: str) -> tuple[str, int]:
    """The tenant and the epoch in a log's name."""
    tenant, _, epoch = log.partition("/")[2].rpartition("/")
    return tenant, int(epoch)
