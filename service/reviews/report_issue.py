"""The report of a debate in a form, by the version that its records name; a PDF is recorded before it is handed out.

Markdown and HTML are in the bundle, and a verifier writes them again. The bytes of a PDF depend on the typesetter, so
its hash is recorded in the tenant's log when it is first handed out, and the answer waits until the log proves that
record. No record, no PDF.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from hashlib import sha256

from service.audit.log_events import ReportIssued
from service.audit.record import Writer
from service.audit.report_forms import Form, Paper
from service.debate.entries import DebateStarted, GateDecided
from service.debate.versions import version_of
from service.errors import GainsayError, NotProvable
from service.report.result.types import Line, LogPosition
from service.report.versions import REPORTS
from service.reviews.evidence.bundle_files import OtherBuild
from service.reviews.evidence.debate_bundle import NotOver
from service.reviews.wait import DebateWaiter
from service.store.current_log import CurrentLogs
from service.store.issued import record_issued
from service.store.pool import Database
from service.store.stored_debate import StoredDebate

RECORDABLE: frozenset[Form] = frozenset({"pdf"})
"""The forms that a verifier cannot write again."""


class ReportNotProvable(GainsayError):
    """That a PDF is handed out is recorded, but no checkpoint covers the record yet."""

    code = "report_not_provable"
    status = 503
    title = "The report is held until the log proves that it was issued"


def refuse_unfinished(debate: str, stored: StoredDebate, form: Form) -> None:
    """Raise `NotOver` for a form that is recorded, of a debate that goes on: its next report is another one."""
    if form in RECORDABLE and stored.head["state"] in ("queued", "running"):
        raise NotOver(
            f"debate {debate} is {stored.head['state']}, and a PDF is issued when it has ended; ask for HTML or "
            "Markdown, or again then",
            retry_after=5,
        )


async def write_report(
    stored: StoredDebate, debate: str, position: LogPosition | None, texts: Mapping[str, str], form: Form, paper: Paper
) -> bytes:
    """The report; raises `OtherBuild` for a version that this build lacks, and `CannotTypeset`."""
    lines = [Line(record.n, record.at, record.entry, record.actor.via) for record in stored.records]
    template = _template(stored)
    if template not in REPORTS:
        raise OtherBuild(
            f"debate {debate} names {template}, and this build has {', '.join(REPORTS)}; ask a process of the build "
            "that recorded it, or of a later one",
            retry_after=5,
        )
    return await asyncio.to_thread(  # reading long texts takes time, and typesetting some tenths of a second
        REPORTS[template],
        debate,
        lines,
        last_record=stored.last_hash.hex(),
        position=position,
        texts=texts,
        form=form,
        paper=paper,
    )


class ReportRegister:
    """Records each PDF before it is handed out."""

    def __init__(self, database: Database, logs: CurrentLogs, waiter: DebateWaiter, hold_s: float) -> None:
        self._database = database
        self._logs = logs
        self._waiter = waiter
        self._hold_s = hold_s

    async def issue(self, stored: StoredDebate, debate: str, content: bytes, paper: Paper, writer: Writer) -> None:
        """Return when a checkpoint covers the record of this PDF.

        Raises `ReportNotProvable` when that takes longer than an answer is held, `AuditUnavailable` when nothing can be
        recorded, and `EvidenceDamaged`.
        """
        third = stored.records[2].entry if len(stored.records) > 2 else None
        started = third if isinstance(third, DebateStarted) else None
        event = ReportIssued(
            debate=debate,
            last_record=stored.last_hash.hex(),
            form="pdf",
            paper=paper,
            template=_template(stored),
            sha256=sha256(content).hexdigest(),
            configuration=started.configuration_hash if started else None,
        )
        tenant = stored.head["tenant"]
        log = await self._logs.current(tenant)
        chain = await record_issued(self._database.of(tenant), event, stored.head, log, writer)
        try:
            place = await self._waiter.wait_provable(chain, tenant, 0, self._hold_s)
        except NotProvable as error:
            raise self._held(debate) from error
        if place is None:  # nothing is held here, because no sequencer runs
            raise self._held(debate)

    def _held(self, debate: str) -> ReportNotProvable:
        return ReportNotProvable(
            f"the PDF of debate {debate} is recorded as issued, but no checkpoint of the log covers that record yet, "
            "so the file is held; ask again, and if this persists, check that the sequencer runs",
            retry_after=1,
        )


def _template(stored: StoredDebate) -> str:
    """The version of the report that the gate's decision names; before there is one, the first."""
    second = stored.records[1].entry if len(stored.records) > 1 else None
    return version_of(second.versions if isinstance(second, GateDecided) else {}, "report")
