"""What a caller can do: submit a case, ask the gate, follow a debate, abort it, read its result."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Literal, NamedTuple
from uuid import UUID

from service import intake
from service.audit.record import Writer
from service.audit.report_forms import Form, Paper
from service.debate.amounts import MicroUSD
from service.debate.entries import Arrival, GateDecision, is_end
from service.errors import NotProvable
from service.identity.caller import Caller
from service.identity.roles import Scope
from service.intake import Deployment
from service.intake.quote import CaseQuote
from service.intake.request import CaseRequest, GateRequest
from service.report import Line, Result, build_result, build_summary
from service.report import Summary as ResultSummary
from service.report.result.types import LogPosition
from service.reviews.abort import Aborted, stop
from service.reviews.batches import BatchDesk
from service.reviews.case_documents import CaseDocument, case_document, case_documents
from service.reviews.evaluation_items import EvaluationCase
from service.reviews.evidence import bundle as pack_bundle
from service.reviews.feed import Feed
from service.reviews.finding import DebateFinder, Page, Summary
from service.reviews.reach import limit_of, require_reach
from service.reviews.report_issue import ReportRegister, refuse_unfinished, write_report
from service.reviews.submission import (
    DECLINED_N,
    AskedWith,
    BatchTerms,
    CaseRecorder,
    ItemTerms,
    Submitted,
    count_decision,
    count_task_type,
)
from service.reviews.unblocked import unblocked
from service.reviews.wait import DebateWaiter
from service.store.current_log import CurrentLogs
from service.store.debate_query import DebateQuery
from service.store.entry_poll import EntryPoll
from service.store.hub import EventHub
from service.store.idempotency import DerivedKey
from service.store.pool import Database
from service.store.queue_limits import QueueLimits
from service.store.stored_debate import read_debate, read_texts

__all__ = ["DebateQuery", "EvaluationCase", "Page", "Reviews", "Submitted", "Summary"]

HOLD_S = 3.0
"""How long an answer is held for its checkpoint before the caller gets `NotProvable`."""


class _Read(NamedTuple):
    """A debate as it was read and compared."""

    lines: list[Line]
    last_hash: bytes
    over: bool
    position: LogPosition | None = None
    texts: Mapping[str, str] = {}


class Reviews:
    """The service's operations, on one database, each tenant's under its deployment.

    What a caller asks is asked of the ``database`` as its tenant sees it. ``every_tenant`` is the service's own login,
    for what concerns all of them, the length of the queue and the poll; without it the one database is for both.

    An answer with a decision is held until a checkpoint covers the record. With ``held`` False it is given at once,
    which is for reading a database without a sequencer. ``show`` gets the head (log, size, root) that an answer rests
    on.
    """

    def __init__(
        self,
        database: Database,
        deployment: Callable[[str], Deployment],
        hub: EventHub,
        logs: CurrentLogs,
        *,
        every_tenant: Database | None = None,
        held: bool = True,
        show: Callable[[str, int, bytes], None] = lambda _log, _size, _root: None,
    ) -> None:
        self._database = database
        every_tenant = every_tenant or database
        watch = EntryPoll(every_tenant, hub)
        self._listening = DebateWaiter(database, watch, hub, held=held, show=show, every_tenant=every_tenant)
        self._finder = DebateFinder(database, held=held)
        self._deployment = deployment
        self._hub = hub
        self._register = ReportRegister(database, logs, self._listening, HOLD_S)
        self.batches = BatchDesk(database, deployment, held=held)
        self._recorder = CaseRecorder(database, QueueLimits(every_tenant), deployment, hub, logs, self._listening)

    @property
    def deployment(self) -> Deployment:
        """The current deployment of tenants that policy does not name, with today's prices."""
        return self._deployment("")

    def deployment_of(self, tenant: str) -> Deployment:
        """The current deployment of a tenant, under its own policy where it has one."""
        return self._deployment(tenant)

    def decide(self, request: GateRequest, caller: Caller) -> GateDecision:
        """The gate's decision alone: only a metric is written."""
        deployment = self._deployment(caller.tenant)
        count_task_type(request.task_type, deployment)
        decision = intake.decide(request, deployment.policy, deployment.day, caller.role, deployment.prompts)
        count_decision(request.task_type, decision, deployment)
        return decision

    async def submit(self, request: CaseRequest, caller: Caller) -> Submitted:
        """Check the case, decide, and record it: case, decision and, unless it is declined, the start of the debate.

        Raises `InvalidCase` and its subclasses, `BudgetExhausted` and `QueueFull` with nothing written, and
        `AuditUnavailable`. Raises `NotProvable` for a declined case whose answer is held.
        """
        submitted = await self.record(request, caller)
        await self.wait_provable(submitted, caller)
        return submitted

    async def record(
        self,
        request: CaseRequest,
        caller: Caller,
        key: str | DerivedKey | None = None,
        arrival: Arrival | None = None,
        terms: BatchTerms | None = None,
    ) -> Submitted:
        """Do the same without waiting for a checkpoint. Under one ``key`` a tenant's case is recorded once.

        A derived key holds until ten minutes after the debate has ended. Raises `IdempotencyKeyReused` for another
        case under a used key, and what the ``terms`` of a batch raise.
        """
        return await self._recorder.record(request, caller, key, arrival, terms)

    async def open_item(self, item: EvaluationCase, caller: Caller, asked: AskedWith | None = None) -> Submitted:
        """Record one run of an evaluation's item as a debate of ``caller``; see `service.reviews.evaluation_items`.

        The same run is recorded once, and its debate given again. The entry that it is ``asked`` with is recorded as
        its debate is opened, and not with one that is given again. Raises what `record` raises, and
        `IdempotencyKeyReused` where that run was recorded with another case.
        """
        arrival = Arrival(door="evaluation", evaluation=item.evaluation)
        return await self._recorder.record(item.request, caller, item.key, arrival, item=ItemTerms(item.reserve, asked))

    async def state_of(self, debate: str, caller: Caller) -> Literal["queued", "running"]:
        """The status of a debate without a provable result; raises `NotFound` and `EvidenceDamaged`."""
        stored = await read_debate(self._database.of(caller.tenant), debate, caller.tenant)
        return "queued" if stored.head["state"] == "queued" else "running"

    async def wait_provable(self, submitted: Submitted, caller: Caller) -> None:
        """Hold the answer to a declined case until it is provable; raises `NotProvable`."""
        if submitted.status == "declined":
            await self._listening.wait_provable(submitted.debate, caller.tenant, DECLINED_N, HOLD_S)

    async def refuse_full(self, caller: Caller) -> None:
        """Raise `QueueFull` before reading a case that the full queue would refuse; raises `AuditUnavailable` too."""
        await self._recorder.refuse_full(caller)

    async def quote(self, request: CaseRequest, caller: Caller) -> tuple[CaseQuote, Mapping[str, MicroUSD]]:
        """The cost of a case, and what remains of the tenant's limits: limit -> micro-dollars. Nothing is stored.

        Raises what `submit` raises for a case, but no error for lack of money.
        """
        return await self._recorder.quote(request, caller)

    async def result(self, debate: str, caller: Caller) -> Result:
        """The result of a debate so far, with the hash of its last record and, after its end, that record's place.

        Raises `NotFound`, `EvidenceDamaged`, and `NotProvable` for an answer that is held.
        """
        read = await self._read(debate, caller)
        last = read.last_hash.hex()
        if not read.over:
            return build_result(debate, read.lines, last_record=last)
        build = partial(build_result, debate, read.lines, last_record=last, position=read.position, texts=read.texts)
        return await unblocked(sum(map(len, read.texts.values())), build)  # finding the clauses of a text takes time

    async def summary(self, debate: str, caller: Caller) -> ResultSummary:
        """The summary of that result, read and compared as it is; raises what `result` raises."""
        return build_summary(debate, (await self._read(debate, caller)).lines)

    async def _read(self, debate: str, caller: Caller) -> _Read:
        """A debate so far; of one that is over also its documents, and its place in the log once that is proven."""
        database = self._database.of(caller.tenant)
        stored = await read_debate(database, debate, caller.tenant)
        lines = [Line(record.n, record.at, record.entry, record.actor) for record in stored.records]
        if not is_end(lines[-1].entry):
            return _Read(lines, stored.last_hash, over=False)
        position = await self._listening.wait_provable(debate, caller.tenant, len(lines) - 1, HOLD_S)
        texts = await read_texts(database, debate, stored)
        return _Read(lines, stored.last_hash, True, position, texts)

    async def report(
        self, debate: str, caller: Caller, form: Form, paper: Paper = "a4", *, handed_out: bool = True
    ) -> bytes:
        """The report of a debate so far, in the words of the version that its records name.

        A PDF is given of a debate that has ended, and when the log proves the record that it is issued; one that is not
        ``handed_out`` is not issued, and not recorded. Raises what
        `result` raises; `OtherBuild` for a version that this build lacks, `CannotTypeset`, and for a PDF `NotOver`,
        `ReportNotProvable` and `AuditUnavailable`.
        """
        stored = await read_debate(self._database.of(caller.tenant), debate, caller.tenant, documents=True)
        debate = str(UUID(debate))  # the canonical spelling
        refuse_unfinished(debate, stored, form)
        position = None
        if is_end(stored.records[-1].entry):
            position = await self._listening.wait_provable(debate, caller.tenant, len(stored.records) - 1, HOLD_S)
        content = await write_report(stored, debate, position, stored.texts, form, paper)
        if form == "pdf" and handed_out:
            writer = Writer(caller.actor, self.deployment.build_hash)
            await self._register.issue(stored, debate, content, paper, writer)
        return content

    async def find(self, query: DebateQuery, caller: Caller) -> Page:
        """A page of the debates that the caller reaches; see `DebateFinder.find`."""
        return await self._finder.find(query, caller.tenant, limit_of(caller, caller.reach("case.read")))

    async def require_reach(self, debate: str, caller: Caller, scope: Scope) -> None:
        """Raise `NotFound` for a debate that the caller does not reach with a scope, as for one that does not exist."""
        await require_reach(self._database.of(caller.tenant), debate, caller, caller.reach(scope))

    async def documents(self, debate: str, caller: Caller) -> tuple[CaseDocument, ...]:
        """The documents of a debate's case, compared; see `case_documents`."""
        return await case_documents(self._database.of(caller.tenant), debate, caller.tenant)

    async def document(self, debate: str, name: str, caller: Caller) -> CaseDocument:
        """One document of a debate's case, compared; see `case_document`."""
        return await case_document(self._database.of(caller.tenant), debate, name, caller.tenant)

    async def lines(self, debate: str, caller: Caller, from_n: int = 0) -> list[Line]:
        """The recorded entries of a debate from a number on; raises `NotFound` and `EvidenceDamaged`."""
        return await self._listening.lines(debate, caller.tenant, from_n)

    def follow(
        self, debate: str, caller: Caller, from_n: int = 0, *, retry_window_s: float = math.inf
    ) -> AsyncGenerator[Line, None]:
        """Every entry from a number on, once and in order, until the debate has ended; see `DebateWaiter.follow`."""
        return self._listening.follow(debate, caller.tenant, from_n, retry_window_s=retry_window_s)

    def feed(self, debate: str, caller: Caller) -> AbstractAsyncContextManager[Feed]:
        """The feed of a debate, shared by all its listeners; see `DebateWaiter.feed`."""
        return self._listening.feed(debate, caller.tenant)

    async def is_past_end(self, debate: str, caller: Caller, n: int) -> bool:
        """Whether an entry is the last one of its debate; raises `NotFound`."""
        return await self._listening.is_past_end(debate, caller.tenant, n)

    async def refuse_lost(self, debate: str, caller: Caller) -> None:
        """Raise `RecordsLost` for a debate whose end is not proven and can never be: see `refuse_lost` of the store."""
        await self._listening.refuse_lost(debate, caller.tenant)

    async def bundle(self, logs: CurrentLogs, debate: str, caller: Caller, writer: Writer | None) -> bytes:
        """The bundle of a debate as `evidence.bundle` has it, and of one whose log was left, what was proven of it.

        Raises `RecordsLost` for a debate whose end is not proven and can never be.
        """
        database = self._database.of(caller.tenant)
        try:
            return await pack_bundle(database, logs, debate, caller, writer)
        except NotProvable:
            await self.refuse_lost(debate, caller)
            if not await self._listening.is_left(debate, caller.tenant):
                raise
        return await pack_bundle(database, logs, debate, caller, writer, left=True)

    async def wait(self, debate: str, caller: Caller, seconds: float) -> bool:
        """Wait up to so many seconds; return whether the debate ended, with a provable end, in that time."""
        return await self._listening.wait(debate, caller.tenant, seconds)

    async def abort(self, debate: str, caller: Caller, why: str) -> Aborted:
        """Abort a debate: it makes no further model calls. A second or late abort changes nothing.

        Raises `NotFound`, and `NotProvable` for a debate that has ended and whose end is held.
        """
        return await self.abort_as(debate, caller.tenant, Writer(caller.actor, self.deployment.build_hash), why)

    async def abort_as(self, debate: str, tenant: str, writer: Writer, why: str, *, wait: bool = True) -> Aborted:
        """Abort a debate as a caller, or as the service itself where the last listener is gone; see `abort`.

        Without ``wait`` the end need not be provable.
        """
        found, ended = await stop(self._database.of(tenant), self._hub, debate, tenant, writer, why)
        if wait and ended is not None:  # the result is given when it is provable
            await self._listening.wait_provable(debate, tenant, ended, HOLD_S)
        return found
