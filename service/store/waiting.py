"""How many debates wait for a worker, and whether one more may.

What waits is counted a few times a second and not for every case; what this process has let in since is added. So the
limits are exact for one process, and several may pass them together by what they let in within that time.
"""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass

from service import telemetry
from service.errors import QueueFull
from service.policy import Queue
from service.store.pool import Database

COUNTED_S = 0.2
"""How long a count is good for."""
TENANTS_MAX = 1_000
"""Counts of so many tenants are kept."""
RETRY_MAX_S = 60
"""The longest that a caller is told to stay away."""
SHARE = 10
"""A caller is sent away for this part of what the first has waited: about this part of the queue is gone by then."""


@dataclass
class _Count:
    """What waited when it was counted, of all and of the tenant, and what was let in since."""

    at: float
    all: int
    of_tenant: int
    longest_s: float


class Waiting:
    """The places in the queue, as one process gives them out."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[str, _Count] = {}
        self._counting = asyncio.Lock()

    async def admit(self, tenant: str, limits: Queue) -> None:
        """Take a place for one more case; raises `QueueFull`, and `StoreUnavailable` where nobody can say."""
        count = await self._count(tenant, limits)
        self._refuse(count, limits)
        count.all += 1
        count.of_tenant += 1

    async def refuse_full(self, tenant: str, limits: Queue) -> None:
        """The same without taking a place, for before a case is read."""
        self._refuse(await self._count(tenant, limits), limits)

    def _refuse(self, count: _Count, limits: Queue) -> None:
        if count.all >= limits.waiting:
            limit, waiting, most, whose = "queue", count.all, limits.waiting, ""
        elif count.of_tenant >= limits.waiting_per_tenant:
            limit, waiting, most = "tenantQueue", count.of_tenant, limits.waiting_per_tenant
            whose = " of this tenant"
        else:
            return
        telemetry.SUBMISSIONS_REFUSED.labels(limit).inc()
        raise QueueFull(
            f"{waiting} debates{whose} wait for a worker and {most} may, so the case is not taken; try again later, or "
            "have more workers started",
            retry_after=min(RETRY_MAX_S, max(1, math.ceil(count.longest_s / SHARE))),
        )

    async def _count(self, tenant: str, limits: Queue) -> _Count:
        """The count of a tenant, made anew where it is old; many who ask at once are answered by one."""
        async with self._counting:
            found = self._counts.get(tenant)
            if found is None or time.monotonic() - found.at > COUNTED_S:
                if len(self._counts) >= TENANTS_MAX:
                    self._counts.clear()
                found = self._counts[tenant] = await self._counted(tenant, limits)
            return found

    async def _counted(self, tenant: str, limits: Queue) -> _Count:
        params = {"tenant": tenant, "most": limits.waiting, "most_of_tenant": limits.waiting_per_tenant}
        (row,) = await self._database.query("waiting", params)
        return _Count(time.monotonic(), row["waiting"], row["of_tenant"], row["longest_s"] or 0.0)
