"""The debates that a worker has: their leases, kept in one statement however many they are, and news of them.

A lease lasts as long as its worker says every third of it that it is alive. Where the database says that a debate has
another worker by now, its run is called off here; what its calls bring would find no place in the record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from service import telemetry
from service.debate.entries import Entry
from service.errors import StoreUnavailable
from service.store import queue
from service.store.hub import Board, Told
from service.store.log import DebateLog
from service.store.pool import Database
from service.store.queue import Claimed

AGAIN_S = 1.0
"""How soon leases are kept again, at the latest, when the database did not answer."""


class Held:
    """A debate that this worker has, and the news that others have of it."""

    def __init__(self, claimed: Claimed, board: Board) -> None:
        self.debate = claimed.debate
        self.epoch = claimed.epoch
        self.late = claimed.late
        self.lost = claimed.lost
        self.stale = claimed.stale
        self.faults = claimed.faults
        self.falls = claimed.falls
        self.log: DebateLog | None = None
        self.task: asyncio.Task[None] | None = None
        self._board = board
        self._news = board.news(claimed.debate)
        self._heard = False

    def announce(self, entries: Sequence[Entry]) -> None:
        """Tell of entries that were recorded here, which are no news to this worker."""
        heard = self._heard or self._news.is_set()
        self._board.announce(self.debate, entries, self.log.next_n if self.log else 0)
        self._news, self._heard = self._board.news(self.debate), heard

    async def wait(self) -> None:
        """Wait until somebody else may have recorded something in this debate."""
        if not self._heard:
            await self._news.wait()

    def heard(self) -> bool:
        """Whether somebody else may have, since this was asked last; to be asked before one looks."""
        heard = self._heard or self._news.is_set()
        self._news, self._heard = self._board.news(self.debate), False
        return heard

    def moved(self, next_n: int) -> bool:
        """Whether more is recorded than this worker knows of."""
        return self.log is not None and next_n > self.log.next_n


class Leases:
    """Keeps the leases of what a worker has, from the first debate that is added until the last is dropped."""

    def __init__(self, database: Database, board: Board, worker: str, lease_s: float) -> None:
        self._database = database
        self._board = board
        self._worker = worker
        self._lease_s = lease_s
        self._held: dict[str, Held] = {}
        self._empty = asyncio.Event()
        self._heart: asyncio.Task[None] | None = None

    def add(self, held: Held) -> None:
        """Keep the lease of a debate from now on."""
        self._held[held.debate] = held
        self._empty.clear()
        if self._heart is None or self._heart.done():
            self._heart = asyncio.create_task(self._beat(), name="leases")

    def drop(self, held: Held) -> None:
        """Keep it no longer, unless it has been taken anew since."""
        if self._held.get(held.debate) is held:
            del self._held[held.debate]
        if not self._held:
            self._empty.set()

    async def close(self) -> None:
        """End with the last beat, when everything is dropped."""
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.gather(self._heart, return_exceptions=True)

    async def _beat(self) -> None:
        pause_s = self._lease_s / 3
        while self._held:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._empty.wait()
            try:
                await self._keep()
                pause_s = self._lease_s / 3
            except StoreUnavailable:
                pause_s = min(AGAIN_S, self._lease_s / 3)
            except Exception:  # noqa: BLE001 - without a heart the worker would lose all that it has
                telemetry.LOG.exception("the leases could not be kept because of a fault")

    async def _keep(self) -> None:
        asked = dict(self._held)
        if not asked:
            return
        epochs = {debate: held.epoch for debate, held in asked.items()}
        kept = await queue.keep(self._database, self._worker, self._lease_s, epochs)
        for debate, held in asked.items():
            if debate not in kept and self._held.get(debate) is held and held.task:
                telemetry.LOG.warning("debate taken over by another worker", extra={"debate": debate})
                held.task.cancel()
        if moved := tuple(debate for debate, next_n in kept.items() if asked[debate].moved(next_n)):
            self._board.hear(Told(debates=moved))
