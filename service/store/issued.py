"""Records a report once, when it is first handed out, whichever process is asked."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from service.audit import log_events
from service.audit.log_events import ReportIssued
from service.audit.record import Writer, commit, open_leaf
from service.audit.stored_record import Mismatch
from service.errors import NotFound
from service.store.damage import damaged_debate
from service.store.pool import Database, Row
from service.store.sealing import seal_event, write, written_at

ROW = "the row of an issued report"


async def record_issued(database: Database, event: ReportIssued, head: Row, log: str, writer: Writer) -> str:
    """The chain of the record that says that this report is handed out, which is written unless it is there.

    ``head`` is the head row of its debate. Raises `AuditUnavailable`, `NotFound` where the debate is not that of the
    head row's tenant, and `EvidenceDamaged` where the row of an earlier record names another one.
    """
    now = await written_at(database)
    chain, record = seal_event(event, log=log, tenant=head["tenant"], writer=writer, now=now)
    key = issued_key(event)
    place = {"debate": UUID(chain), "log": log, "tenant": head["tenant"]}
    sealed = {"leaf": record.leaf, "salt": record.salt, "body": record.payload}
    if await write(database, "issue_report", {**key, **place, **sealed}):
        return chain
    known = await write(database, "issued_report", {**key, "tenant": head["tenant"]})
    if not known:
        raise NotFound(f"there is no debate {event.debate}")
    if not _says(known[0], event):
        damage = Mismatch(ROW, "names a record that does not say so")
        raise await damaged_debate(database, event.debate, head, damage)
    return str(known[0]["record"])


def issued_key(event: ReportIssued) -> dict[str, Any]:
    """By what a report is recorded once, as the parameters of the statements about it."""
    own = {"form": event.form, "paper": event.paper, "template": event.template, "sha256": event.sha256}
    return {"of": UUID(event.debate), **own}


def read_issued(row: Row) -> ReportIssued | None:
    """The event of the record of a row, by its ``leaf``, ``salt`` and ``body``; ``None`` where it is of no report."""
    if row["leaf"] is None or row["body"] is None:
        return None
    try:
        envelope = open_leaf(bytes(row["leaf"]))
        event = log_events.decode_issued(bytes(row["body"]))
    except ValueError:
        return None
    agrees = commit(bytes(row["salt"]), bytes(row["body"])) == envelope.commitment
    return event if agrees and envelope.debate == str(row["record"]) else None


def _says(row: Row, event: ReportIssued) -> bool:
    """Whether the record of a row is of this report: a row proves nothing by itself."""
    return read_issued(row) == event
