"""Baselines of explicit uncertainties: what is usual for a task type, as a person had it counted and recorded.

A mean is of debates that are over and that a seat closed, as `telemetry.UNCERTAINTIES` counts them. The prober's are
left out. Every debate is read as evidence is read, so that a damaged one is no part of a baseline.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from service import telemetry
from service.debate.closed import closed
from service.debate.facts import Facts
from service.debate.purpose import decides
from service.errors import StoreUnavailable
from service.observing import labelled
from service.store.pool import Database
from service.store.stored_debate import read_records

DEBATES_MIN = 20
"""The fewest debates of a baseline; the table refuses fewer too."""
LOOK_S = 30.0
"""The interval at which processes look for a new baseline."""
STEP = 200
_MILLISECONDS = 1_000


class Counted(Struct, frozen=True):
    """Debates of a task type that began from ``since`` to ``until`` (seconds since 1970), and their uncertainties."""

    task_type: str
    since: float
    until: float
    debates: int
    uncertainties: int

    @property
    def mean(self) -> float:
        """Explicit uncertainties of a debate; 0 without one."""
        return self.uncertainties / self.debates if self.debates else 0.0


class Baseline(Struct, frozen=True):
    """A recorded baseline. The times are those of the database; ``recorded_by`` is the person's own word."""

    task_type: str
    recorded: datetime
    recorded_by: str
    since: datetime
    until: datetime
    debates: int
    uncertainties: int

    @property
    def mean(self) -> float:
        """Explicit uncertainties of a debate."""
        return self.uncertainties / self.debates


async def count(database: Database, task_type: str, since: float, until: float) -> Counted:
    """Count the debates of a task type within a time; raises `StoreUnavailable` and `EvidenceDamaged`."""
    debates = uncertainties = 0
    params = {"task_type": task_type, "after": _first_id(since), "before": _first_id(until), "limit": STEP}
    while rows := await database.query("ended_within", params):
        for row in rows:
            if (found := await _uncertainties(database, str(row["debate"]), row["tenant"])) is not None:
                debates, uncertainties = debates + 1, uncertainties + found
        params["after"] = rows[-1]["debate"]
    return Counted(task_type, since, until, debates, uncertainties)


async def keep(database: Database, counted: Counted, by: str) -> datetime:
    """Record a baseline, which is in force from then on; when it was recorded. Raises `StoreUnavailable`."""
    params = {
        "task_type": counted.task_type,
        "by": by,
        "since": counted.since,
        "until": counted.until,
        "debates": counted.debates,
        "uncertainties": counted.uncertainties,
    }
    (row,) = await database.query("keep_baseline", params)
    recorded: datetime = row["recorded"]
    return recorded


async def baselines(database: Database) -> list[Baseline]:
    """Every baseline, by task type, the one in force first; raises `StoreUnavailable`."""
    return [Baseline(**row) for row in await database.query("baselines")]


class Baselines:
    """Shows the baselines in force as a metric until it is cancelled. A task type without one has no series."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shown: set[str] = set()

    async def run(self) -> None:
        """Look periodically; while the database is away the gauges are NaN."""
        while True:
            try:
                await self.look()
            except StoreUnavailable:
                for task_type in self._shown:
                    labelled.forget(telemetry.UNCERTAINTIES_BASELINE.labels(task_type=task_type))
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Look once; raises `StoreUnavailable`."""
        in_force: dict[str, Baseline] = {}
        for found in await baselines(self._database):
            in_force.setdefault(found.task_type, found)
        for task_type, found in in_force.items():
            telemetry.UNCERTAINTIES_BASELINE.labels(task_type=task_type).set(found.mean)
        self._shown |= in_force.keys()


async def _uncertainties(database: Database, debate: str, tenant: str) -> int | None:
    """How many a debate has; ``None`` for one of the prober or an evaluation, and for one that no seat closed."""
    facts = Facts.of([record.entry for record in await read_records(database, debate, tenant)])
    if facts.case is None or facts.concluded is None or not decides(facts.case.metadata, facts.arrival):
        return None
    final = closed(facts, facts.concluded)
    return None if final is None else len(final.explicit_uncertainties)


def _first_id(seconds: float) -> UUID:
    """The first id of a debate that began at a time: ids begin with milliseconds."""
    return UUID(int=int(seconds * _MILLISECONDS) << 80)
