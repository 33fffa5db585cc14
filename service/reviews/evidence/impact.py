"""Impact: which decisions rest on something that turned out to be wrong."""

from __future__ import annotations

from service.audit.log_events import AuditRead
from service.audit.record import Writer
from service.reviews.evidence.access_record import EvidenceReader, record_access
from service.store.current_log import CurrentLogs
from service.store.derived import check
from service.store.impact import AffectedDebate, RecallQuery, affected_by
from service.store.pool import Database


async def affected_decisions(
    database: Database, logs: CurrentLogs, query: RecallQuery, caller: EvidenceReader, writer: Writer
) -> list[AffectedDebate]:
    """The tenant's debates that rest on something, newest first; the reader, ``writer``, is recorded first.

    Raises `BadRequest` for a value that can match nothing, and `AuditUnavailable`.
    """
    check(query.asked, query.value)
    await record_access(database, logs, AuditRead("recall", asked={query.asked: query.value}), caller.tenant, writer)
    return await affected_by(database, caller.tenant, query)
