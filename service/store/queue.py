"""The queue in the database: claims, leases, releases, how long debates wait, and how many batches are open.

Leases are in database time alone. A release names the epoch of the claim, so a worker that lost its lease releases
nothing. Only a claim whose response was lost is released by the worker's name (`release_unacknowledged`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec import Struct

from service import telemetry
from service.debate.amounts import MICRO
from service.debate.kernel import FORMATS
from service.errors import StoreUnavailable
from service.observing import labelled
from service.store.pool import Database
from service.store.pool_gauges import note_answer

LOOK_S = 2.0
"""The interval of measuring the backlog."""


class ClaimRequest(Struct, frozen=True, kw_only=True):
    """Which debates a worker claims, and under which limits.

    ``templates`` are those that its requests are laid out by; debates with other templates are left to other workers
    until they are older than ``retry_window_s``. ``None`` claims all. ``per_tenant`` counts what all workers run of a
    tenant; ``shares`` has that limit for tenants with one of their own. ``only`` is the one debate to claim, whatever
    runs.
    """

    worker: str
    lease_s: float
    templates: str | None = None
    only: str | None = None
    per_tenant: int | None = None
    shares: Mapping[str, int | None] = {}
    retry_window_s: float = 86_400.0
    formats: Sequence[str] = tuple(FORMATS)


class ClaimedDebate(Struct, frozen=True):
    """A claimed debate, its tenant, and the epoch to write under.

    ``late`` says that its deadline has passed, ``lost`` that its last worker lost the lease, and ``stale`` that no
    worker that claimed it could run it for longer than the patience. ``faults`` counts its runs that a fault of the
    service ended, ``falls`` its lost leases in a row, the last one included. ``left_for`` is what was found of its log,
    where its tenant has left that after an incident: what is recorded there from now on can never be proven.
    """

    debate: str
    tenant: str
    epoch: int
    late: bool = False
    stale: bool = False
    lost: bool = False
    faults: int = 0
    falls: int = 0
    left_for: str | None = None


class Renewed(NamedTuple):
    """A debate that a worker still has: the number of its next record; whether its log was left after an incident."""

    next_n: int
    adrift: bool = False


async def claim(
    database: Database, wanted: ClaimRequest, most: int = 1, most_late: int = 0, leave: Collection[str] = ()
) -> list[ClaimedDebate]:
    """Claim up to ``most`` debates, plus up to ``most_late`` past their deadline, and none of those to ``leave``.

    Debates past their deadline come first, then those with a lost lease, then the others in the queue's order. Raises
    `StoreUnavailable`; the claim may have committed then, and `release_unacknowledged` releases it.
    """
    params = {
        "worker": wanted.worker,
        "lease": wanted.lease_s,
        "formats": list(wanted.formats),
        "templates": wanted.templates,
        "only": wanted.only and UUID(wanted.only),
        "leave": [UUID(debate) for debate in leave],
        "most": most,
        "most_late": most_late,
        "per_tenant": wanted.per_tenant,
        "shares": msgspec.json.encode(wanted.shares).decode(),
        "patience": wanted.retry_window_s,
    }
    rows = await database.query("claim", params)
    return [ClaimedDebate(**{**row, "debate": str(row["debate"])}) for row in rows]


async def renew_leases(
    database: Database, worker: str, lease_s: float, held: Sequence[ClaimedDebate]
) -> dict[str, Renewed]:
    """Renew the leases of these debates in one statement; returns the debates that the worker still has."""
    params = {
        "worker": worker,
        "lease": lease_s,
        "debates": [UUID(each.debate) for each in held],
        "tenants": [each.tenant for each in held],
        "epochs": [each.epoch for each in held],
    }
    rows = await database.query("renew_all", params)
    return {str(row["debate"]): Renewed(row["next_n"], row["adrift"]) for row in rows}


async def release(database: Database, claimed: ClaimedDebate, pause_s: float | None = None) -> None:
    """Release a debate, at once or after a backoff in which no worker claims it. It counts in no limit any more."""
    await database.query("release", {**_key(claimed), "pause": pause_s})


async def release_to_others(database: Database, claimed: ClaimedDebate) -> None:
    """Release a debate that this worker cannot run, for other workers."""
    await database.query("pass_on", _key(claimed))


async def back_off(database: Database, claimed: ClaimedDebate, pause_s: float) -> None:
    """Back a debate off after a fault of ours: no worker claims it meanwhile, and it counts in no limit."""
    await database.query("park", {**_key(claimed), "pause": pause_s})


async def release_unacknowledged(database: Database, worker: str, running: Iterable[str]) -> None:
    """Release every debate in a worker's name that it does not run, once no claim of it is in flight.

    A claim that has not reached the database yet is not waited for, so a worker that lost a response calls this
    repeatedly.
    """
    await database.query("disown", {"worker": worker, "running": [UUID(debate) for debate in running]})


def _key(claimed: ClaimedDebate) -> dict[str, Any]:
    return {"debate": UUID(claimed.debate), "tenant": claimed.tenant, "epoch": claimed.epoch}


class Backlog:
    """Measures the backlog until it is cancelled."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self) -> None:
        """Measure periodically; while the database is away the gauges are NaN."""
        while True:
            try:
                await self.look()
            except StoreUnavailable:
                batches = (telemetry.BATCHES.labels(state=state) for state in ("running", "paused"))
                waiting = (telemetry.QUEUED, telemetry.QUEUED_SECONDS, telemetry.UNCLAIMED)
                labelled.forget(*waiting, telemetry.MONEY_HELD, *batches)
                note_answer(self._database.variable, answers=False)
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Measure once; raises `StoreUnavailable`."""
        (row,) = await self._database.query("backlog")
        telemetry.QUEUED.set(row["queued"])
        telemetry.QUEUED_SECONDS.set(row["seconds"])
        telemetry.UNCLAIMED.set(row["left_behind"])
        telemetry.MONEY_HELD.set(row["held"] / MICRO)
        (row,) = await self._database.query("batch_backlog")
        telemetry.BATCHES.labels(state="running").set(row["running"])
        telemetry.BATCHES.labels(state="paused").set(row["paused"])
        note_answer(self._database.variable, answers=True)
