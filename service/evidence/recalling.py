"""Which decisions rest on something that turned out to be wrong."""

from __future__ import annotations

from uuid import UUID

from service.audit.events import AuditRead
from service.audit.record import Writer
from service.evidence.noting import Reader, note
from service.recall import Asked, check
from service.store.logs import Logs
from service.store.pool import Database
from service.store.recall import Resting, resting_on


async def recall(
    database: Database,
    logs: Logs,
    asked: Asked,
    value: str,
    caller: Reader,
    writer: Writer,
    *,
    limit: int,
    below: UUID | None = None,
) -> list[Resting]:
    """The tenant's debates that rest on something, the newest first; that ``writer`` is told them is recorded first.

    From below an id on: ids sort by time. Raises `BadRequest` for a value that nothing could be found by, and
    `AuditUnavailable`.
    """
    check(asked, value)
    await note(database, logs, AuditRead("recall", asked={asked: value}), caller.tenant, writer)
    return await resting_on(database, caller.tenant, asked, value, limit=limit, below=below)
