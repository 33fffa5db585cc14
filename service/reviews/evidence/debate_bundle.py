"""The bundle of one debate."""

from __future__ import annotations

import asyncio
from uuid import UUID

from service.audit.log_events import AuditRead
from service.audit.record import Writer
from service.errors import GainsayError, NotProvable
from service.reviews.evidence.access_record import EvidenceReader, record_access
from service.reviews.evidence.bundle_files import compose_files
from service.reviews.evidence.stored_parts import read_parts
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.proofs import proven
from service.store.stored_debate import read_head


class NotOver(GainsayError):
    """A debate's evidence is not complete before the debate has ended."""

    code = "not_over"
    status = 409
    title = "The debate is not over"


async def bundle(database: Database, logs: CurrentLogs, debate: str, caller: EvidenceReader, writer: Writer) -> bytes:
    """Everything that one decision rests on, in one ZIP; the reader, ``writer``, is recorded first.

    Raises `NotFound`, `NotOver` while the debate goes on, `NotProvable` while no checkpoint covers its last record,
    `AuditUnavailable` when the reading cannot be recorded, `OtherBuild` when only another build has the words that the
    debate names, and `LogDamaged` when the log does not prove its records.
    """
    head = await read_head(database, debate, caller.tenant)
    debate = str(UUID(debate))  # the canonical spelling
    if head["state"] in ("queued", "running"):
        raise NotOver(
            f"debate {debate} is {head['state']}, and its evidence is complete when it has ended; ask again then",
            retry_after=5,
        )
    place = await proven(database, debate, head["next_n"] - 1)
    if place is None:
        raise NotProvable(
            f"debate {debate} has ended and is recorded, but no checkpoint of the log covers it yet, so its bundle is "
            "held; ask again, and if this persists, check that the sequencer runs",
            retry_after=1,
        )
    await record_access(database, logs, AuditRead("bundle", debate), caller.tenant, writer)
    gathered = await read_parts(database, debate, head, place)
    # In a thread: the report reads long texts, and hashing takes time too.
    return await asyncio.to_thread(compose_files, gathered)
