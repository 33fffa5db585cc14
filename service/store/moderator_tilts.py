"""Findings about moderators that tilt, as they are stored: each with its record in the log, and with its resolution.

A row is written in one statement with the record that it is about. Rows are only added.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from service.audit import log_events
from service.audit.moderator_events import Aspect, ModeratorEvent, ModeratorFound, ModeratorResolved
from service.audit.record import Writer
from service.errors import BadRequest, NotFound
from service.intake.moderator_tilts import RecordedTilt
from service.store.pool import Database
from service.store.sealing import seal_event, write, written_at


class StoredTilt(RecordedTilt, frozen=True):
    """A finding, and when a person resolved it; the times are those of the database."""

    aspect: Aspect
    recorded: datetime
    resolved: datetime | None


async def standing_tilts(database: Database, tenant: str) -> tuple[RecordedTilt, ...]:
    """A tenant's findings that are not resolved; raises `StoreUnavailable`."""
    rows = await database.of(tenant).query("standing_tilts", {"tenant": tenant})
    return tuple(RecordedTilt(**{**row, "finding": str(row["finding"])}) for row in rows)


async def tilts(database: Database, tenant: str) -> list[StoredTilt]:
    """A tenant's findings, the newest first; raises `StoreUnavailable`."""
    rows = await database.of(tenant).query("tilts", {"tenant": tenant})
    return [StoredTilt(**{**row, "finding": str(row["finding"])}) for row in rows]


async def record_tilt(database: Database, found: ModeratorFound, log: str, tenant: str, writer: Writer) -> bool:
    """Record a finding; ``False`` where one about the same moderator stands already. Raises `AuditUnavailable`."""
    about = {"alias": found.alias, "model": found.model, "prompt": found.prompt, "pin": found.pin}
    about |= {"task_type": found.task_type, "aspect": found.aspect}  # type: ignore[dict-item] # None stands for all
    return bool(await _record(database, "add_tilt", found, about, log, tenant, writer=writer))


async def resolve_tilt(database: Database, resolved: ModeratorResolved, log: str, tenant: str, writer: Writer) -> None:
    """Record why no person is asked for any more because of a finding.

    Raises `NotFound`, `BadRequest` where it is resolved, and `AuditUnavailable`.
    """
    if await _record(database, "resolve_tilt", resolved, {}, log, tenant, writer=writer):
        return
    if any(one.finding == resolved.finding for one in await tilts(database, tenant)):
        raise BadRequest(f"the finding {resolved.finding} is resolved already")
    raise absent(resolved.finding)


def absent(finding: str) -> NotFound:
    """The refusal of a finding that is not there, or not of this tenant."""
    return NotFound(f"there is no finding {finding[:80]!r}; `gainsay evaluate tilts` lists those of the tenant")


async def _record(
    database: Database,
    name: str,
    event: ModeratorEvent,
    about: dict[str, Any],
    log: str,
    tenant: str,
    *,
    writer: Writer,
) -> list[Any]:
    now = await written_at(database)
    chain, record = seal_event(log_events.valid(event), log=log, tenant=tenant, writer=writer, now=now)
    sealed = {"leaf": record.leaf, "salt": record.salt, "body": record.payload}
    place = {"finding": UUID(event.finding), "tenant": tenant, "debate": UUID(chain), "log": log}
    return await write(database.of(tenant), name, {**about, **place, **sealed})
