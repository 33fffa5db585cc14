"""Records that evidence is given to a reader."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from service.audit.log_events import AuditRead
from service.audit.record import Writer
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.sealing import write_event


class EvidenceReader(Protocol):
    """The reader of evidence."""

    @property
    def tenant(self) -> str:
        """The tenant whose evidence the reader may have."""
        ...


class EvidenceDesk(Struct, frozen=True):
    """Where evidence is read, for whom, and by whom its records are written, if any is given out."""

    database: Database
    logs: CurrentLogs
    caller: EvidenceReader
    writer: Writer | None


async def record_access(
    database: Database, logs: CurrentLogs, read: AuditRead, tenant: str, writer: Writer | None
) -> None:
    """Record in the tenant's current log that evidence is about to be given out; raises `AuditUnavailable`.

    Without a ``writer`` none is given out: an answer to HEAD has no content, and who asks by it has read nothing.
    """
    if writer is None:
        return
    await write_event(database, read, await logs.current(tenant), tenant, writer)
