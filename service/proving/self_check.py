"""Recompute every log in the background, record what was found, and raise a metric.

One process at a time does it, a log at a time, in steps that leave the event loop and the database to others. What is
recomputed is what is stored: whoever rewrites rows and signs anew is caught by the signer and by witnesses, not here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from uuid import UUID

from service import telemetry
from service.audit.log_events import AuditChecked
from service.audit.note import PublicKey
from service.audit.recomputation import Recomputation, StoredHead, StoredLeaf
from service.audit.record import Place, Writer
from service.errors import GainsayError, StoreUnavailable
from service.store.current_log import Logs
from service.store.pool import Database, Row
from service.store.proofs import latest_head
from service.store.sealing import uuid7, write_event

STEP = 512
"""Leaves that are gone through at a time; what others do comes between."""
PAUSE_S = 0.01
LOOK_S = 30.0
"""How often it is asked whether some log is due."""


class SelfCheck:
    """Recomputes logs every so often until it is stopped; ``every_s`` 0 never does."""

    def __init__(self, database: Database, logs: Logs, writer: Writer, every_s: float) -> None:
        self._database = database
        self._logs = logs
        self._writer = writer
        self._every_s = every_s
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Check what is due until `stop`. Nothing that goes wrong meanwhile ends this."""
        while self._every_s and not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(min(LOOK_S, self._every_s)):
                    await self._stopping.wait()
            if not self._stopping.is_set():
                await self._look()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping.set()

    async def check_due(self, only: str | None = None, every_s: float = 0.0) -> list[AuditChecked]:
        """Recompute the logs that nobody has for a while, and record each result; raises `StoreUnavailable`."""
        rows = await self._database.query("claim_check", {"only": only, "every": every_s})
        found = [await self.check(row["log"]) for row in rows]
        return [each for each in found if each is not None]

    async def check(self, log: str) -> AuditChecked | None:
        """Recompute one log up to its latest signed head, and record the result; ``None`` while nothing is signed."""
        head = await latest_head(self._database, log)
        if head is None:
            return None
        (row,) = await self._database.query("log_key", {"log": log})
        work = Recomputation(log, [PublicKey.parse(row["key"])])
        while work.size < head.size and not self._stopping.is_set():
            if not await self._step(work, head.size):
                break
            await asyncio.sleep(PAUSE_S)
        if self._stopping.is_set():
            return None
        work.end()
        for lost in await self._lost(log):
            work.note(lost)
        findings = [*work.findings, *([f"{work.more} findings more"] if work.more else [])]
        return await self._told(row["tenant"], AuditChecked(log, work.size, work.root.hex(), tuple(findings)))

    async def _look(self) -> None:
        try:
            await self.check_due(every_s=self._every_s)
        except StoreUnavailable as error:
            telemetry.LOG.warning("the logs cannot be recomputed", extra={"code": error.code})
        except GainsayError as error:
            telemetry.LOG.error("the logs cannot be recomputed", extra={"code": error.code})
        except Exception:  # noqa: BLE001 - dying here would leave logs that nobody looks at
            telemetry.LOG.exception("the logs cannot be recomputed")

    async def _step(self, work: Recomputation, size: int) -> bool:
        """The next leaves with the roots and tiles that end among them; whether there were any."""
        first, below = work.size, min(size, work.size + STEP)
        span = {"log": work.log, "above": first, "upto": below}
        leaves = await self._database.query("leaves_from", {"log": work.log, "first": first, "below": below})
        heads = await self._database.query("heads_within", span)
        tiles = await self._database.query("tiles_within", span)
        await asyncio.to_thread(_go_through, work, leaves, heads, tiles, below)
        return work.size > first

    async def _lost(self, log: str) -> list[str]:
        """Debates whose last record is in no tree and is not staged to be: nothing would ever prove their ends."""
        found, after = [], UUID(int=0)
        while rows := await self._database.query("heads_placed", {"log": log, "after": after, "limit": STEP}):
            after = rows[-1]["debate"]
            found += [f"record {r['n']} of {r['debate']} is in no tree and not staged" for r in rows if not r["placed"]]
            await asyncio.sleep(PAUSE_S)
        return found

    async def _told(self, tenant: str, checked: AuditChecked) -> AuditChecked:
        telemetry.LOG_FINDINGS.inc(len(checked.findings))
        telemetry.LOG_CHECKED.set_to_current_time()
        for finding in checked.findings:
            telemetry.LOG.error("the log does not agree with itself", extra={"log": checked.log, "finding": finding})
        place = Place(await self._logs.current(tenant), tenant, uuid7())
        await write_event(self._database, checked, place, self._writer)
        return checked


def _go_through(
    work: Recomputation, leaves: Sequence[Row], heads: Sequence[Row], tiles: Sequence[Row], upto: int
) -> None:
    rows = [
        StoredLeaf(
            index=row["idx"],
            hash=row["hash"],
            debate=str(row["debate"]),
            n=row["n"],
            leaf=row["leaf"],
            salt=row["salt"],
            payload=row["body"],
        )
        for row in leaves
    ]
    for size, group in groupby(heads, key=lambda head: int(head["size"])):
        cut = max(0, size - work.size)
        work.leaves(rows[:cut])
        rows = rows[cut:]
        for head in group:
            work.head(StoredHead(size, head["root"], head["note"]))
    work.leaves(rows[: max(0, upto - work.size)])
    for tile in tiles:
        work.tile(tile["level"], tile["idx"], tile["hashes"])
