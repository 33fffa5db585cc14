"""The gauges of the logs: how far proof and witnesses are behind, and which incidents are open.

A sequencer measures them, and every process without one: a sequencer that is down reports nothing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence

from service import log_lines, telemetry
from service.audit.note import PublicKey
from service.errors import StoreUnavailable
from service.observing import labelled
from service.policy import Audit, Witness
from service.store.damage import SUBJECTS, open_damage
from service.store.pool import Database
from service.store.pool_gauges import note_answer

LOOK_S = 2.0
"""The interval of the measurement, the same as a sequencer's."""
WITNESSES_S = 10.0
"""The interval of measuring the witnesses, which reads every log."""
WAITING_S = 2.0
"""How long a record waits for a head at least before the age of the log's latest head counts: a log that was quiet for
days has an old head, and gets a new one within moments."""


class LogGauges:
    """The gauges of all logs, as one database shows them."""

    def __init__(self, database: Database, witnesses: Sequence[Witness]) -> None:
        self._database = database
        self._witnesses = [PublicKey.parse(witness.key).name for witness in witnesses]
        self._witnesses_at = -math.inf

    async def measure(self) -> tuple[int, float]:
        """Set them; returns how many records will become provable, and for how many seconds the oldest has waited.

        Records of a log that its tenant has left after an incident are in the gauge of records alone: they wait for
        good. Raises `StoreUnavailable`.
        """
        (row,) = await self._database.query("unproven", {"late": WAITING_S})
        telemetry.LOG_UNPROVEN.set(row["records"])
        telemetry.LOG_UNPROVEN_SECONDS.set(row["seconds"])
        telemetry.HEAD_AGE.set(row["age_s"])
        telemetry.LOG_INCIDENTS.set(len(await self._database.query("open_incidents")))
        if self._witnesses and time.monotonic() - self._witnesses_at >= WITNESSES_S:
            lagging = await self._database.query("witness_lag", {"names": self._witnesses})
            seconds = {found["name"]: found["seconds"] for found in lagging}
            for name in self._witnesses:
                telemetry.WITNESS_AGE.labels(witness=name).set(seconds.get(name, 0.0))
            self._witnesses_at = time.monotonic()
        note_answer(self._database.variable, answers=True)
        return row["going"], row["seconds"]

    def forget(self) -> None:
        """Set them to NaN, because the database does not answer."""
        gauges = (telemetry.LOG_UNPROVEN, telemetry.LOG_UNPROVEN_SECONDS, telemetry.LOG_INCIDENTS, telemetry.HEAD_AGE)
        labelled.forget(*gauges, *(telemetry.WITNESS_AGE.labels(witness=name) for name in self._witnesses))
        note_answer(self._database.variable, answers=False)
        self._witnesses_at = -math.inf


class LogLag:
    """Measures until it is cancelled, and logs when a record has waited for a checkpoint longer than ``audit`` says."""

    def __init__(self, database: Database, audit: Audit) -> None:
        self._database = database
        self._gauges = LogGauges(database, audit.witnesses)
        self._late_s = audit.late_s
        self._reported = False

    async def run(self) -> None:
        """Measure periodically; while the database is away the gauges are NaN."""
        while True:
            try:
                await self.measure()
            except StoreUnavailable:
                self._gauges.forget()
                labelled.forget(*(telemetry.DAMAGE_OPEN.labels(subject=subject) for subject in SUBJECTS))
            await asyncio.sleep(LOOK_S)

    async def measure(self) -> None:
        """Measure once; raises `StoreUnavailable`."""
        records, seconds = await self._gauges.measure()
        await open_damage(self._database)
        late = seconds > self._late_s
        if late and not self._reported:
            log_lines.PROOF_LATE(records=records, seconds=seconds, code="log_late")
        elif self._reported and not late:
            log_lines.PROOF_IN_TIME()
        self._reported = late
