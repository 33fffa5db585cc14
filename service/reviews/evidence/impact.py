"""Impact: which decisions rest on something that turned out to be wrong."""

from __future__ import annotations

from service.audit.log_events import AuditRead
from service.audit.record import Writer
from service.reviews.evidence.access_record import Reader, note
from service.store.current_log import Logs
from service.store.derived import check
from service.store.impact import RecallQuery, Resting, resting_on
from service.store.pool import Database


async def recall(database: Database, logs: Logs, query: RecallQuery, caller: Reader, writer: Writer) -> list[Resting]:
    """The tenant's debates that rest on something, newest first; the reader, ``writer``, is recorded first.

    Raises `BadRequest` for a value that can match nothing, and `AuditUnavailable`.
    """
    check(query.asked, query.value)
    await note(database, logs, AuditRead("recall", asked={query.asked: query.value}), caller.tenant, writer)
    return await resting_on(database, caller.tenant, query)
