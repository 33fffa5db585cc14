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
    """Where evidence is read, for whom, and by whom its records are written."""

    database: Database
    logs: CurrentLogs
    caller: EvidenceReader
    writer: Writer


async def record_access(database: Database, logs: CurrentLogs, read: AuditRead, tenant: str, writer: Writer) -> None:
    """Record in the tenant's current log that evidence is about to be given out; raises `AuditUnavailable`."""
    await write_event(database, read, await logs.current(tenant), tenant, writer)
