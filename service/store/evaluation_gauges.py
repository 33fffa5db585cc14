"""The gauges of evaluations, as the database shows them: which are open, what they wait for, what they will cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from service import telemetry
from service.errors import StoreUnavailable
from service.observing import labelled
from service.observing.evaluation_metrics import WAITS_FOR
from service.store.pool import Database

LOOK_S = 5.0
"""The interval of the measurement."""
RUNNING = "running"


class EvaluationGauges:
    """Measures every tenant's evaluations until it is cancelled.

    ``most`` says from which look on a held split supports no claim of a tenant.
    """

    def __init__(self, database: Database, most: Callable[[str], int]) -> None:
        self._database = database
        self._most = most

    async def run(self) -> None:
        """Measure periodically; while the database is away the gauges are NaN."""
        while True:
            try:
                await self.look()
            except StoreUnavailable:
                labelled.forget(
                    telemetry.EVALUATION_STILL,
                    telemetry.EVALUATION_CEILING_USED,
                    telemetry.EVALUATION_CEILING_NEEDED,
                    telemetry.SETS_WORN,
                    *telemetry.EVALUATIONS_OPEN.every(),
                    *telemetry.EVALUATION_WAITING.every(),
                )
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Measure once; raises `StoreUnavailable`."""
        rows = await self._database.query("evaluations_watched")
        found = {row["waits_for"] or RUNNING: row for row in rows}
        for state in (RUNNING, *WAITS_FOR):
            row = found.get(state)
            telemetry.EVALUATIONS_OPEN.labels(state=state).set(row["evaluations"] if row else 0)
            if state != RUNNING:
                telemetry.EVALUATION_WAITING.labels(reason=state).set(row["waited"] if row else 0)
        telemetry.EVALUATION_STILL.set(found[RUNNING]["still"] if RUNNING in found else 0)
        telemetry.EVALUATION_CEILING_USED.set(max((row["used"] for row in rows), default=0))
        telemetry.EVALUATION_CEILING_NEEDED.set(max((row["needed"] for row in rows), default=0))
        looked = await self._database.query("looks_of_tenants")
        telemetry.SETS_WORN.set(sum(row["looks"] + 1 >= self._most(row["tenant"]) for row in looked))
