"""The self-check: recomputes every log in the background, records the findings, and counts them in a metric.

One process at a time does this, one log at a time, in steps that leave the event loop and the database to others. It
recomputes what is stored. If someone rewrites rows and signs them anew, the signer and the witnesses detect it, and
this does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from uuid import UUID

from service import log_lines, telemetry
from service.audit.log_events import AuditChecked
from service.audit.note import BadKey, PublicKey
from service.audit.recomputation import Recomputation, StoredHead, StoredLeaf
from service.audit.record import Writer
from service.audit.stored_record import Mismatch, place_of
from service.errors import GainsayError, StoreUnavailable
from service.store.current_log import CurrentLogs
from service.store.damage import note_damage
from service.store.pool import Database, Row
from service.store.proofs import latest_checkpoint
from service.store.read_ahead import ReadAhead
from service.store.sealing import write_event

STEP = 1_024
"""Leaves of one step; other work runs between steps. The leaves of the next one are read meanwhile."""
PAUSE_S = 0.01
LOOK_S = 30.0
"""How often this process asks whether a log is due."""


class SelfCheck:
    """Recomputes logs every ``every_s`` seconds until it is stopped; with 0 it never does."""

    def __init__(self, database: Database, logs: CurrentLogs, writer: Writer, every_s: float) -> None:
        self._database = database
        self._logs = logs
        self._writer = writer
        self._every_s = every_s
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Check the logs that are due until `stop`. Errors are logged and never end the loop."""
        while self._every_s and not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(min(LOOK_S, self._every_s)):
                    await self._stopping.wait()
            if not self._stopping.is_set():
                await self._look()

    def stop(self) -> None:
        """Start no further step."""
        self._stopping.set()

    async def check_due(self, only: str | None = None, every_s: float = 0.0) -> list[AuditChecked]:
        """Recompute the logs that are due by ``every_s``, and record each result; raises `StoreUnavailable`."""
        rows = await self._database.query("claim_check", {"only": only, "every": every_s})
        found = [await self.check(row["log"]) for row in rows]
        return [each for each in found if each is not None]

    async def check(self, log: str) -> AuditChecked | None:
        """Recompute one log up to its latest checkpoint, and record the result; ``None`` while nothing is signed."""
        (row_of_log,) = await self._database.query("log_key", {"log": log})
        head = await latest_checkpoint(self._database, row_of_log["tenant"], log)
        if head is None:
            return None
        work = Recomputation(log, _keys(row_of_log["key"]))
        await self._go_over(work, head.size)
        if self._stopping.is_set():
            return None
        work.end()
        for row in await self._lost(log):
            debate, n = str(row["debate"]), int(row["n"])
            work.note(debate, n, f"record {n} of {debate} is in no tree and not staged")
        await self._note_damage(work, row_of_log["tenant"])
        findings = [*work.findings, *([f"{work.more} findings more"] if work.more else [])]
        return await self._record_check(
            row_of_log["tenant"], AuditChecked(log, work.size, work.root.hex(), tuple(findings))
        )

    async def _look(self) -> None:
        try:
            await self.check_due(every_s=self._every_s)
        except StoreUnavailable as error:
            log_lines.LOGS_UNCHECKED(code=error.code)
        except GainsayError as error:
            log_lines.LOGS_CHECK_FAILED(code=error.code)
        except Exception:  # noqa: BLE001 - a dead loop would leave logs unchecked
            log_lines.LOGS_FAULT.raised()

    async def _go_over(self, work: Recomputation, size: int) -> None:
        """Recompute so many leaves, with the roots and tiles that end among them, until there are no more or `stop`."""

        async def read(first: int) -> tuple[list[Row], list[Row], list[Row]]:
            below = min(size, first + STEP)
            span = {"log": work.log, "above": first, "upto": below}
            return (
                await self._database.query("leaves_from", {"log": work.log, "first": first, "below": below}),
                await self._database.query("heads_within", span),
                await self._database.query("tiles_within", span),
            )

        async with ReadAhead(read) as steps:
            while work.size < size and not self._stopping.is_set():
                first, below = work.size, min(size, work.size + STEP)
                leaves, heads, tiles = await steps.take(first, below if below < size else None)
                await asyncio.to_thread(_go_through, work, leaves, heads, tiles, below)
                if work.size == first:
                    return
                await asyncio.sleep(PAUSE_S)

    async def _note_damage(self, work: Recomputation, tenant: str) -> None:
        """Each damaged record, and the tree if it is damaged, as an incident that is open already or is new."""
        if work.in_tree is not None:
            tree = Mismatch(f"the tree of the log {work.log}", f"contradicts itself or its checkpoints: {work.in_tree}")
            await note_damage(self._database, "log", tree, tenant=tenant, log=work.log)
        for (debate, n), what in work.in_debates.items():
            found = Mismatch(place_of(n), f"was recomputed in its log: {what}")
            await note_damage(self._database, "debate", found, tenant=tenant, log=work.log, debate=debate)

    async def _lost(self, log: str) -> list[Row]:
        """Debates whose last record is neither in the tree nor staged: their ends would never become provable."""
        found, after = list[Row](), UUID(int=0)
        while rows := await self._database.query("heads_placed", {"log": log, "after": after, "limit": STEP}):
            after = rows[-1]["debate"]
            found += [row for row in rows if not row["placed"]]
            await asyncio.sleep(PAUSE_S)
        return found

    async def _record_check(self, tenant: str, checked: AuditChecked) -> AuditChecked:
        telemetry.LOG_FINDINGS.inc(len(checked.findings))
        telemetry.LOG_CHECKED.set_to_current_time()
        for finding in checked.findings:
            log_lines.LOG_FINDING(log=checked.log, finding=finding)
        await write_event(self._database, checked, await self._logs.current(tenant), tenant, self._writer)
        return checked


def _keys(text: str) -> list[PublicKey]:
    """The key of a log; none where the row does not hold one any more, so that no head of it is signed by the log."""
    try:
        return [PublicKey.parse(text)]
    except BadKey:
        return []


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
