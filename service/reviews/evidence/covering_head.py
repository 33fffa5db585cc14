"""The head that a bundle is proven under: one that covers the debate and each of its reports that was handed out.

Where witnesses countersign a log, a report that was issued just now is behind the newest countersigned head. An older
head would leave its record out, and a genuine PDF would be one that was never issued. So the bundle waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from uuid import UUID

from msgspec import Struct

from service.errors import NotProvable
from service.store.pool import Database, Row
from service.store.proofs import (
    LogDamaged,
    Proven,
    SignedCheckpoint,
    countersigned_checkpoint,
    latest_checkpoint,
)

HOLD_S, LOOK_S = 3.0, 0.2
"""Seconds that one request waits for the witnesses, and seconds between two looks."""
AWAITED_S = 3_600
"""For so long after a report was issued its bundle is held for the witnesses of the log. Then they are gone or were
taken out of the policy, and the newest checkpoint is what there is."""


class CoveringHead(Struct, frozen=True):
    """The head, and the rows of the debate's issued reports, of which those in the debate's log are under it."""

    signed: SignedCheckpoint
    reports: Sequence[Row]


async def covering_head(
    database: Database, tenant: str, debate: str, place: Proven, *, left: bool = False
) -> CoveringHead:
    """The newest countersigned head with the debate and its issued reports, else the newest signed one with all.

    Of a log that was ``left`` no newer head will come. A report behind its last one was never handed out, because that
    waits for its proof; it is left out.

    ``place`` is that of the debate's last record. Raises `NotProvable` where no head covers a report yet, or where none
    that covers it is countersigned and one with the debate is; `LogDamaged` where no head is left.
    """
    until = time.monotonic() + HOLD_S
    while True:
        try:
            return await (_of_left if left else _found)(database, tenant, debate, place)
        except NotProvable:
            if time.monotonic() >= until:
                raise
        await asyncio.sleep(LOOK_S)


async def _found(database: Database, tenant: str, debate: str, place: Proven) -> CoveringHead:
    reports = await database.query("issued_reports", {"debate": UUID(debate), "tenant": tenant})
    own = [row for row in reports if row["log"] == place.log]
    last = max([place.index, *(row["idx"] for row in own)])
    if signed := await countersigned_checkpoint(database, tenant, place.log, last):
        return CoveringHead(signed, reports)
    awaited = any(row["age_s"] is not None and row["age_s"] < AWAITED_S for row in own)
    if awaited and await countersigned_checkpoint(database, tenant, place.log, place.index):
        raise not_covered(debate, place.log, "countersigned by a witness", "the witnesses of the log answer")
    signed = await latest_checkpoint(database, tenant, place.log)
    if signed is None:
        raise LogDamaged(f"expected the checkpoint of the log {place.log} that was there before, found none")
    if own and signed.size <= last:
        raise not_covered(debate, place.log, "signed", "the sequencer runs")
    return CoveringHead(signed, reports)


async def _of_left(database: Database, tenant: str, debate: str, place: Proven) -> CoveringHead:
    reports = await database.query("issued_reports", {"debate": UUID(debate), "tenant": tenant})
    signed = await latest_checkpoint(database, tenant, place.log)
    if signed is None:
        raise LogDamaged(f"expected the checkpoint of the log {place.log} that was there before, found none")
    proven = [row for row in reports if row["log"] != place.log or row["idx"] < signed.size]
    last = max([place.index, *(row["idx"] for row in proven if row["log"] == place.log)])
    return CoveringHead(await countersigned_checkpoint(database, tenant, place.log, last) or signed, proven)


def not_covered(debate: str, log: str, how: str, check: str) -> NotProvable:
    """That a report was issued and no head of its log that is ``how`` covers it; ``check`` is what to look at."""
    return NotProvable(
        f"a report of debate {debate} was issued, and no head of {log} that covers its record is {how} yet, so the "
        f"bundle is held; ask again, and if this persists, check that {check}",
        retry_after=1,
    )
