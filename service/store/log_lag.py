"""The log lag, measured in processes without a sequencer: a sequencer that is down reports nothing."""

from __future__ import annotations

import asyncio

from service import log_lines, telemetry
from service.errors import StoreUnavailable
from service.observing import labelled
from service.store.damage import SUBJECTS, open_damage
from service.store.pool import Database

LOOK_S = 2.0
"""The interval of the measurement, the same as a sequencer's."""


class LogLag:
    """Measures until it is cancelled, and logs when a record has waited for a checkpoint longer than ``late_s``."""

    def __init__(self, database: Database, late_s: float) -> None:
        self._database = database
        self._late_s = late_s
        self._reported = False

    async def run(self) -> None:
        """Measure periodically; while the database is away the gauges are NaN."""
        while True:
            try:
                await self.measure()
            except StoreUnavailable:
                labelled.forget(telemetry.LOG_UNPROVEN, telemetry.LOG_UNPROVEN_SECONDS, telemetry.LOG_INCIDENTS)
                labelled.forget(*(telemetry.DAMAGE_OPEN.labels(subject=subject) for subject in SUBJECTS))
            await asyncio.sleep(LOOK_S)

    async def measure(self) -> None:
        """Measure once; raises `StoreUnavailable`."""
        (row,) = await self._database.query("unproven")
        incidents = await self._database.query("open_incidents")
        telemetry.LOG_UNPROVEN.set(row["records"])
        telemetry.LOG_UNPROVEN_SECONDS.set(row["seconds"])
        telemetry.LOG_INCIDENTS.set(len(incidents))
        await open_damage(self._database)
        late = row["seconds"] > self._late_s
        if late and not self._reported:
            log_lines.PROOF_LATE(records=row["records"], seconds=row["seconds"], code="log_late")
        elif self._reported and not late:
            log_lines.PROOF_IN_TIME()
        self._reported = late
