"""The last probe, measured in the database: what every process says of it, wherever it was run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from uuid import UUID

from service import telemetry
from service.errors import StoreUnavailable
from service.observing import labelled
from service.store.pool import Database

LOOK_S = 15.0
"""The interval of the measurement."""
DUE_S = 60.0
"""A debate of the prober that is not over after so long counts as one that was not good."""


SINCE_S = 30 * 86_400.0
"""How old a probe may be that is looked at; ids of debates begin with their times."""


class LastProbe:
    """Measures until it is cancelled. ``tenant`` gives the prober's; while there is none, nothing is measured.

    A prober that does not reach the service leaves no debate. So the age of the last good one counts, and not whether
    the last was good.
    """

    def __init__(self, database: Database, tenant: Callable[[], str | None]) -> None:
        self._database, self._tenant = database, tenant
        self._seen = False

    async def run(self) -> None:
        """Measure periodically; while the database is away the gauges are NaN, and before the first probe absent."""
        while True:
            try:
                if (tenant := self._tenant()) is not None:
                    await self.look(tenant)
            except StoreUnavailable:
                if self._seen:
                    labelled.forget(telemetry.PROBE_SUCCESS, telemetry.PROBE_SUCCEEDED, telemetry.PROBE_SECONDS)
            await asyncio.sleep(LOOK_S)

    async def look(self, tenant: str) -> None:
        """Measure once; raises `StoreUnavailable`."""
        since = UUID(int=max(0, int((time.time() - SINCE_S) * 1_000)) << 80)
        rows = await self._database.query("last_probe", {"tenant": tenant, "due": DUE_S, "since": since})
        for row in rows:
            self._seen = True
            telemetry.PROBE_SUCCESS.set(row["good"])
            telemetry.PROBE_SECONDS.set(row["seconds"])
            if row["ended"] is not None:
                telemetry.PROBE_SUCCEEDED.set(row["ended"])
