"""Which log a tenant's new records go to: that of its latest epoch."""

from __future__ import annotations

import time

from service.store.pool import Database

TRUSTED_S = 10.0
"""How long an answer is trusted. A debate that begins in a log whose epoch has just ended stays there to its end."""


class Logs:
    """The tenants' current logs. A log is named ``<host>/<tenant>/<epoch>``; the first epoch needs no opening."""

    def __init__(self, database: Database, host: str) -> None:
        self._database = database
        self.host = host
        self._known: dict[str, tuple[str, float]] = {}

    async def current(self, tenant: str) -> str:
        """The log of the tenant's latest epoch; raises `StoreUnavailable`."""
        name, until = self._known.get(tenant, ("", 0.0))
        if time.monotonic() < until:
            return name
        rows = await self._database.query("latest_log", {"tenant": tenant})
        name = rows[0]["log"] if rows else f"{self.host}/{tenant}/1"
        self._known[tenant] = (name, time.monotonic() + TRUSTED_S)
        return name
