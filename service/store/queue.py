"""The queue as the database keeps it: taking debates, keeping and giving back their leases, how long they wait.

Leases are in database time alone. A debate is given back by the epoch under which it was had, so whoever was taken over
gives back nothing; only what a worker never knew that it had is given back by its name (`disown`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from msgspec import Struct

from service import telemetry
from service.debate.kernel import FORMATS
from service.errors import StoreUnavailable
from service.store.pool import Database

LOOK_S = 2.0
"""How often the backlog is measured."""


class Wanted(Struct, frozen=True, kw_only=True):
    """Which debates a worker takes, and under which limits.

    ``templates`` are those that its requests are laid out by: debates of others are left until they are older than
    ``patience_s``; ``None`` takes all. ``per_tenant`` counts what all workers run of a tenant.
    ``only`` is the one debate that it is there for, whatever is running.
    """

    worker: str
    lease_s: float
    templates: str | None = None
    only: str | None = None
    per_tenant: int | None = None
    patience_s: float = 86_400.0
    formats: Sequence[str] = tuple(FORMATS)


class Claimed(Struct, frozen=True):
    """A debate that was taken, and the epoch to write under.

    ``late`` is one whose deadline has passed, ``lost`` one whose worker fell silent, and ``stale`` one that nobody who
    took it could run for as long as the worker is patient. ``faults`` counts the faults of the service that ended its
    run, ``falls`` the workers that fell silent in a row, the last one included.
    """

    debate: str
    epoch: int
    late: bool = False
    stale: bool = False
    lost: bool = False
    faults: int = 0
    falls: int = 0


async def claim(
    database: Database, wanted: Wanted, most: int = 1, most_late: int = 0, leave: Collection[str] = ()
) -> list[Claimed]:
    """Take up to so many debates, and beside them so many whose deadline has passed, but none of those to ``leave``.

    Those past their deadline come first, then those whose worker fell silent, then the others in the queue's order.
    Raises `StoreUnavailable`; debates may be taken all the same then, and `disown` gives them back.
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
        "patience": wanted.patience_s,
    }
    rows = await database.query("claim", params)
    return [Claimed(**{**row, "debate": str(row["debate"])}) for row in rows]


async def keep(database: Database, worker: str, lease_s: float, held: Mapping[str, int]) -> dict[str, int]:
    """Keep these leases (debate -> epoch) in one statement.

    The debates that the worker still has come back, each with the number of its next record.
    """
    params = {
        "worker": worker,
        "lease": lease_s,
        "debates": [UUID(debate) for debate in held],
        "epochs": list(held.values()),
    }
    rows = await database.query("renew_all", params)
    return {str(row["debate"]): row["next_n"] for row in rows}


async def release(database: Database, debate: str, epoch: int, pause_s: float | None = None) -> None:
    """Give a debate back, at once or after a while for which nobody takes it. It counts in no limit any more."""
    await database.query("release", {"debate": UUID(debate), "epoch": epoch, "pause": pause_s})


async def pass_on(database: Database, debate: str, epoch: int) -> None:
    """Give back a debate that this worker cannot run, to those who can."""
    await database.query("pass_on", {"debate": UUID(debate), "epoch": epoch})


async def park(database: Database, debate: str, epoch: int, pause_s: float) -> None:
    """Leave a debate alone for a while after a fault of ours: nobody takes it, and it counts in no limit."""
    await database.query("park", {"debate": UUID(debate), "epoch": epoch, "pause": pause_s})


async def disown(database: Database, worker: str, running: Iterable[str]) -> None:
    """Give back every debate in a worker's name that it does not run, once no claim is under way.

    A claim that has not reached the database yet is not waited for: whoever lost its answer asks this more than once.
    """
    await database.query("disown", {"worker": worker, "running": [UUID(debate) for debate in running]})


class Backlog:
    """Measures until it is cancelled what waits for a worker."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self) -> None:
        """Look every so often; while the database is away, nothing is known."""
        while True:
            try:
                await self.look()
            except StoreUnavailable:
                telemetry.forget(telemetry.QUEUED, telemetry.QUEUED_SECONDS, telemetry.UNCLAIMED)
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Measure once; raises `StoreUnavailable`."""
        (row,) = await self._database.query("backlog")
        telemetry.QUEUED.set(row["queued"])
        telemetry.QUEUED_SECONDS.set(row["seconds"])
        telemetry.UNCLAIMED.set(row["left_behind"])
