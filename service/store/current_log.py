"""Which log a tenant's new records go to: that of its latest epoch."""

from __future__ import annotations

import re
import time

from service.errors import BadRequest
from service.store.pool import Database

TRUSTED_S = 10.0
"""How long a looked-up name is used. A debate that begins in a log whose epoch has just ended stays there to its end.
"""


_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


class CurrentLogs:
    """The tenants' current logs. A log is named ``<host>/<tenant>/<epoch>``; the first epoch needs no opening."""

    def __init__(self, database: Database, host: str) -> None:
        self._database = database
        self.host = host
        self._known: dict[str, tuple[str, float]] = {}

    async def current(self, tenant: str) -> str:
        """The log of the tenant's latest epoch.

        Raises `StoreUnavailable`. Raises `BadRequest` for a tenant whose name cannot be part of a log's name: its
        records could never be signed.
        """
        if not _TENANT.fullmatch(tenant):
            raise BadRequest(
                f"expected a tenant's name of up to 100 letters, digits, '.', '_' and '-', found {tenant[:100]!r}"
            )
        name, until = self._known.get(tenant, ("", 0.0))
        if time.monotonic() < until:
            return name
        rows = await self._database.of(tenant).query("latest_log", {"tenant": tenant})
        name = rows[0]["log"] if rows else f"{self.host}/{tenant}/1"
        self._known[tenant] = (name, time.monotonic() + TRUSTED_S)
        return name
