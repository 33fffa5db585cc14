"""Damaged evidence as an incident: recorded once for each place, counted, and logged.

The rows of `gainsay.damage` stand beside those of `gainsay.incident`, which the sequencer writes for a log that
contradicts its checkpoints. A person closes them as gainsay_owner (docs/runbook.md, *Evidence is damaged*).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from service import log_lines, telemetry
from service.audit.stored_record import Mismatch
from service.errors import EvidenceDamaged, StoreUnavailable
from service.store.pool import Database, Row

Subject = Literal["log", "debate", "row"]
SUBJECTS: tuple[Subject, ...] = ("log", "debate", "row")


async def note_damage(
    database: Database, subject: Subject, found: Mismatch, *, tenant: str, log: str, debate: str | None = None
) -> bool:
    """Count damage and record it as an incident; return whether it is a new one.

    A database that does not take the row keeps nothing from being refused: the damage is logged then.
    """
    telemetry.DAMAGED.labels(subject=subject).inc()
    params = {
        "subject": subject,
        "tenant": tenant,
        "log": log,
        "debate": UUID(debate) if debate else None,
        "place": found.place,
        "what": found.what,
    }
    fields = {"log": log, "debate": debate, "place": found.place, "what": found.what}
    try:
        new = bool(await database.query("note_damage", params))
    except StoreUnavailable as error:
        log_lines.DAMAGE_UNRECORDED(**fields, code=error.code)
        return False
    if new:
        log_lines.DAMAGE(**fields)
    return new


async def damaged_debate(database: Database, debate: str, head: Mapping[str, str], found: Mismatch) -> EvidenceDamaged:
    """The error of a debate that is damaged, after its incident is recorded; ``head`` is its head row."""
    await note_damage(database, "debate", found, tenant=head["tenant"], log=head["log"], debate=debate)
    return EvidenceDamaged(debate, found.place, found.what)


async def open_damage(database: Database) -> dict[str, Row]:
    """The open incidents of damaged evidence, by subject: how many, and the first of them; sets the metric."""
    rows = {row["subject"]: row for row in await database.query("open_damage")}
    for subject in SUBJECTS:
        telemetry.DAMAGE_OPEN.labels(subject=subject).set(rows[subject]["incidents"] if subject in rows else 0)
    return rows
