"""The debates that a worker runs: one statement renews all their leases, and each hears of entries by others.

The worker renews its leases every third of their length. When the database says that another worker has a debate, its
run is cancelled here: the replies of its calls could no longer be recorded. So is the run of a debate whose log was
left after an incident, because what it would still pay for could never be proven.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from service import log_lines
from service.debate.entries import Entry
from service.errors import StoreUnavailable
from service.store import queue
from service.store.hub import EventHub, HubNotice
from service.store.log import DebateLog
from service.store.pool import Database
from service.store.queue import ClaimedDebate

AGAIN_S = 1.0
"""The longest wait before leases are renewed again after the database did not answer."""


class HeldDebate:
    """A debate that this worker runs, and the signal that others may have written to it."""

    def __init__(self, claimed: ClaimedDebate, hub: EventHub) -> None:
        self.claimed = claimed
        self.debate = claimed.debate
        self.late = claimed.late
        self.lost = claimed.lost
        self.stale = claimed.stale
        self.faults = claimed.faults
        self.falls = claimed.falls
        self.log: DebateLog | None = None
        self.task: asyncio.Task[None] | None = None
        self._hub = hub
        self._recorded = hub.entries_event(claimed.debate)
        self._heard = False

    def entries_recorded(self, entries: Sequence[Entry]) -> None:
        """Announce entries that this worker recorded, without waking itself for them."""
        heard = self._heard or self._recorded.is_set()
        self._hub.entries_recorded(self.debate, entries, self.log.next_n if self.log else 0)
        self._recorded, self._heard = self._hub.entries_event(self.debate), heard

    async def wait(self) -> None:
        """Wait until another process may have recorded something in this debate."""
        while not (self._heard or self._recorded.is_set()):
            await self._recorded.wait()  # entries of this worker set it too, and another one stands in its place then

    def poll(self) -> bool:
        """Whether another process may have, since the last call. Call this before reading the records."""
        heard = self._heard or self._recorded.is_set()
        self._recorded, self._heard = self._hub.entries_event(self.debate), False
        return heard

    def is_behind(self, next_n: int) -> bool:
        """Whether the debate has more records than this worker knows."""
        return self.log is not None and next_n > self.log.next_n


class Leases:
    """Renews the leases of a worker's debates, from the first that is added until the last is dropped."""

    def __init__(self, database: Database, hub: EventHub, worker: str, lease_s: float) -> None:
        self._database = database
        self._hub = hub
        self._worker = worker
        self._lease_s = lease_s
        self._held: dict[str, HeldDebate] = {}
        self._empty = asyncio.Event()
        self._heart: asyncio.Task[None] | None = None

    def add(self, held: HeldDebate) -> None:
        """Renew the lease of this debate from now on."""
        self._held[held.debate] = held
        self._empty.clear()
        if self._heart is None or self._heart.done():
            self._heart = asyncio.create_task(self._renew(), name="leases")

    def drop(self, held: HeldDebate) -> None:
        """Stop renewing this lease, unless the worker has claimed the debate again since."""
        if self._held.get(held.debate) is held:
            del self._held[held.debate]
        if not self._held:
            self._empty.set()

    async def close(self) -> None:
        """Stop renewing; call this when all leases are dropped."""
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.gather(self._heart, return_exceptions=True)

    async def _renew(self) -> None:
        pause_s = self._lease_s / 3
        while self._held:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._empty.wait()
            try:
                await self._renew_held()
                pause_s = self._lease_s / 3
            except StoreUnavailable:
                pause_s = min(AGAIN_S, self._lease_s / 3)
            except Exception:  # noqa: BLE001 - without renewal the worker would lose all its debates
                log_lines.LEASES_FAULT.raised()

    async def _renew_held(self) -> None:
        asked = dict(self._held)
        if not asked:
            return
        claims = [held.claimed for held in asked.values()]
        kept = await queue.renew_leases(self._database, self._worker, self._lease_s, claims)
        for debate, held in asked.items():
            # Not returned: another epoch. The second condition excludes a debate that was dropped, or claimed again,
            # while the statement was under way.
            if debate not in kept and self._held.get(debate) is held and held.task:
                log_lines.DEBATE_LOST(debate=debate)
                held.task.cancel()
            elif debate in kept and kept[debate].adrift and held.task and not held.claimed.left_for:
                held.task.cancel()  # it is released, and ended by the worker that claims it
        # The same answer replaces a poll: an abort that was recorded elsewhere shows here as a higher next number.
        if moved := tuple(debate for debate, found in kept.items() if asked[debate].is_behind(found.next_n)):
            self._hub.receive(HubNotice(debates=moved))
