"""How many debates wait for a worker, and whether one more may.

The database counts the queue a few times a second and not for every case; cases that this process admits in between are
added. So one process keeps to the limits. Several processes may exceed them together by what they admit in that time.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from service import telemetry
from service.errors import QueueFull
from service.policy import Queue
from service.store.pool import Database

COUNTED_S = 0.2
"""How long a count is used."""
RETRY_MAX_S = 60
"""The longest Retry-After of a caller."""
SHARE = 10
"""A caller's Retry-After is this part of the longest wait: about this part of the queue has been claimed by then."""


@dataclass(frozen=True)
class _BacklogCount:
    """A count of the queue, of all tenants and of one; ``begun`` and ``made`` are of this process's clock."""

    begun: float
    made: float
    all: int
    of_tenant: int
    longest_s: float

    @property
    def fresh(self) -> bool:
        """Whether the count may be used for one more case."""
        return time.monotonic() - self.made <= COUNTED_S


@dataclass(eq=False)
class _QueueSlot:
    """An admitted case, and since when it is queued: later counts include it.

    An item of an evaluation has no tenant here: it counts among all, and in no tenant's limit.
    """

    tenant: str | None
    since: float = math.inf


class QueueLimits:
    """The places in the queue, as one process gives them out."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[str, _BacklogCount] = {}
        self._places: list[_QueueSlot] = []
        self._counting: dict[str, asyncio.Task[_BacklogCount]] = {}

    @asynccontextmanager
    async def reserve_slot(self, tenant: str, limits: Queue, *, item: bool = False) -> AsyncIterator[None]:
        """A place for one more case while it is recorded; raises `QueueFull`, and `StoreUnavailable`."""
        await self.refuse_full(tenant, limits, item=item)
        place = _QueueSlot(None if item else tenant)
        self._places.append(place)
        try:
            yield
        except BaseException:
            self._places.remove(place)
            raise
        place.since = time.monotonic()

    async def refuse_full(self, tenant: str, limits: Queue, *, item: bool = False) -> None:
        """Raise `QueueFull` if one more case has no place, and `StoreUnavailable` if the queue cannot be counted.

        An ``item`` of an evaluation needs a place among all debates alone: evaluations have places of their own.
        """
        count = await self._count(tenant, limits)
        added = [place.tenant for place in self._places if place.since >= count.begun]
        waiting, of_tenant = count.all + len(added), count.of_tenant + added.count(tenant)
        if waiting >= limits.waiting:
            limit, found, most, whose = "queue", waiting, limits.waiting, ""
        elif not item and of_tenant >= limits.waiting_per_tenant:
            limit, found, most, whose = "tenantQueue", of_tenant, limits.waiting_per_tenant, " of this tenant"
        else:
            return
        telemetry.SUBMISSIONS_REFUSED.labels(limit=limit).inc()
        raise QueueFull(
            f"expected fewer than {most} queued debates{whose}, found {found}, so the case is not accepted; "
            "try again later, or start more workers",
            retry_after=min(RETRY_MAX_S, max(1, math.ceil(count.longest_s / SHARE))),
        )

    async def _count(self, tenant: str, limits: Queue) -> _BacklogCount:
        """The count of a tenant, renewed when it is old; concurrent requests share one query, and its failure too."""
        found = self._counts.get(tenant)
        if found is not None and found.fresh:
            return found
        counting = self._counting.get(tenant)
        if counting is None:
            counting = asyncio.create_task(self._query_count(tenant, limits), name=f"counting {tenant}")
            counting.add_done_callback(_mark_seen)
            self._counting[tenant] = counting
        return await asyncio.shield(counting)

    async def _query_count(self, tenant: str, limits: Queue) -> _BacklogCount:
        begun = time.monotonic()
        params = {"tenant": tenant, "most": limits.waiting, "most_of_tenant": limits.waiting_per_tenant}
        try:
            (row,) = await self._database.query("waiting", params)
        finally:
            del self._counting[tenant]
        found = _BacklogCount(begun, time.monotonic(), row["waiting"], row["of_tenant"], row["longest_s"] or 0.0)
        self._counts = {name: count for name, count in self._counts.items() if count.fresh} | {tenant: found}
        oldest = min(count.begun for count in self._counts.values())
        self._places = [place for place in self._places if place.since >= oldest]
        return found


def _mark_seen(counting: asyncio.Task[_BacklogCount]) -> None:
    """Mark a failure as seen: every waiter of the count may be gone by then."""
    if not counting.cancelled():
        counting.exception()
