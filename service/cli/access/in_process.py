"""The service's own operations, in this process, on an embedded PostgreSQL or on that of GAINSAY_DATABASE_URL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, TypeVar, cast
from uuid import UUID

from msgspec.structs import replace

from service.app import App, open_app, running_sequencer, running_worker
from service.audit.checkpoint import Checkpoint
from service.audit.record import Writer
from service.audit.report_forms import Form, Paper
from service.cli import case_options, exit_codes, startup
from service.cli.access.port import (
    JSON,
    Aborted,
    BatchAsked,
    Contradicted,
    Exported,
    Query,
    Recorded,
    Running,
    ShownEvent,
    SignedHead,
    Working,
)
from service.cli.own_worker import wait_finished
from service.debate.amounts import usd
from service.debate.entries import Arrival
from service.errors import GainsayError, NotFound, NotProvable, TooLarge
from service.intake.request import CaseRequest, GateRequest
from service.policy.own_build import own_build
from service.policy.settings import Settings
from service.report import Line, Result, build_gate, events, sent
from service.reviews import evidence
from service.reviews.batches import AskedBatch
from service.reviews.evidence.impact import affected_decisions
from service.reviews.evidence.key_register import key_register
from service.reviews.evidence.log_export import Form as ExportForm
from service.reviews.query_parameters import read_query
from service.store.current_log import CurrentLogs
from service.store.derived import Asked
from service.store.impact import AffectedDebate, RecallQuery, affected_by
from service.store.pool import Database
from service.store.proofs import SignedCheckpoint, log_of, logs_of, root_at_size
from service.store.schema.preflight import OpenIncident
from service.store.schema.protections import ProtectionMissing
from service.store.startup import DatabaseAddresses, addresses, database_url

if TYPE_CHECKING:
    from service.report.result.types import Gate
    from service.web.citations import CheckedCitations
    from service.web.quote_types import PriceQuote

HOLD_S, LOOK_S = 3.0, 0.05
"""Seconds that evidence is waited for until it is provable, and seconds between two looks."""
PROOF_S = 30.0
"""How long to wait until the end of a debate is provable; the debate itself may take longer."""
CONNECTIONS = 4
BUNDLES_AT_ONCE = 2
"""So many bundles are in memory at a time."""
RECALL_PAGE = 500
CLOSES = "the next `gainsay review`, `work` or `serve` on this database"
T = TypeVar("T")
_ARRIVAL: ContextVar[Arrival | None] = ContextVar("arrival", default=None)
"""How the cases came that are recorded in this context; each call of an agent has its own."""


class InProcess:
    """The service on a database. Its parts are opened when they are first needed, and closed with the stack."""

    def __init__(self, settings: Settings, where: DatabaseAddresses, stack: AsyncExitStack) -> None:
        self._settings, self._where, self._stack = settings, where, stack
        self._app: App | None = None
        self._database: Database | None = None
        self._sequencing = False
        self._bundling = asyncio.Semaphore(BUNDLES_AT_ONCE)

    @property
    def name(self) -> str:
        """This machine."""
        return "the database"

    async def rules(self) -> case_options.CaseRules:
        """What the policy says of cases."""
        return case_options.CaseRules.of(self._settings.policy)

    async def gate(self, case: JSON) -> Gate:
        """The gate's decision alone."""
        request = case_options.decoded(dict(case), GateRequest)
        return build_gate((await self._opened()).reviews.decide(request, startup.LOCAL))

    async def quote(self, case: JSON) -> PriceQuote:
        """The cost of a case."""
        from service.web.quote_types import PriceQuote

        request = case_options.decoded(dict(case), CaseRequest)
        return PriceQuote.of(*await (await self._opened()).reviews.quote(request, startup.LOCAL))

    async def check_citations(self, batch: JSON) -> CheckedCitations:
        """Verdicts on citations, in a thread."""
        from service.checks.citations.batch import Batch
        from service.web.citations import checked

        return await asyncio.to_thread(checked, case_options.decoded(dict(batch), Batch))

    async def find(self, query: Query) -> JSON:
        """One page of debates."""
        from service.web.list_types import DebateList

        asked: dict[str, list[str]] = {}
        for name, value in query:
            asked.setdefault(name, []).append(value)
        read = read_query(asked)
        page = await (await self._opened()).reviews.find(read, startup.LOCAL)
        return cast(JSON, sent.as_json(DebateList.of(page, read.facets)))

    async def result(self, debate: str) -> Result:
        """The whole result of a debate so far."""
        return await (await self._proving()).reviews.result(debate, startup.LOCAL)

    async def result_json(self, debate: str) -> JSON:
        """The same as the API answers it."""
        return cast(JSON, sent.as_json(await self.result(debate)))

    async def documents(self, debate: str) -> JSON:
        """The list of a debate's documents."""
        from service.web.documents import DocumentList, ListedDocument

        found = await (await self._opened()).reviews.documents(debate, startup.LOCAL)
        whole = str(UUID(debate))  # it is one, or there would be none
        listed = DocumentList(documents=tuple(ListedDocument.of(whole, document) for document in found))
        return cast(JSON, sent.as_json(listed))

    async def document(self, debate: str, document: str) -> str:
        """The text of a document."""
        found = await (await self._opened()).reviews.document(debate, document, startup.LOCAL)
        return found.content.decode()

    async def report(self, debate: str, form: Form, paper: Paper) -> bytes:
        """The report of a debate, once the log proves what it rests on."""
        return await (await self._proving()).reviews.report(debate, startup.LOCAL, form, paper)

    async def follow(self, debate: str) -> AsyncGenerator[ShownEvent, None]:
        """The events of a debate, as they are recorded."""
        lines: list[Line] = []
        reviews = (await self._proving()).reviews
        async with aclosing(reviews.follow(debate, startup.LOCAL, retry_window_s=PROOF_S)) as recorded:
            async for line in recorded:
                for name, data in events(line, debate, lines):
                    yield ShownEvent(name, data)
                lines.append(line)

    async def submit(self, case: JSON, key: str | None = None) -> Recorded:
        """Record a case, under one key once."""
        request = case_options.decoded(dict(case), CaseRequest)
        reviews = (await self._asking()).reviews
        found = await reviews.record(request, startup.LOCAL, key, _ARRIVAL.get())
        await reviews.wait_provable(found, startup.LOCAL)
        return Recorded(found.debate, found.status)

    @asynccontextmanager
    async def in_trace(self, trace: str | None) -> AsyncIterator[InProcess]:
        """The service for a call in a caller's trace, which its cases are recorded in; or in none."""
        before = _ARRIVAL.set(None if trace is None else Arrival(trace=trace))
        try:
            yield self
        finally:
            _ARRIVAL.reset(before)

    @asynccontextmanager
    async def running(self, debate: str) -> AsyncIterator[Running]:
        """Run the debate by a worker of this process."""
        # The embedded database may hold debates that an earlier command left; a shared one has its own workers.
        app, trouble = wait_finished(await self._asking(), only=debate if self._settings.database_url else None)
        async with running_worker(app) as release:

            def cancel() -> None:
                release()
                release()  # the second time it cancels the calls

            yield Running(trouble, cancel, CLOSES)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Working]:
        """Run the debates of the database by one worker of this process."""
        app, trouble = wait_finished(await self._asking(), only=None)
        async with running_worker(app) as release:
            yield Working(trouble, release)

    async def abort(self, debate: str, why: str) -> Aborted:
        """Abort a debate."""
        found = await (await self._proving()).reviews.abort(debate, startup.LOCAL, why)
        return Aborted(found.debate, found.status, usd(found.spent), usd(found.held), found.calls)

    async def bring_batch(self, lines: bytes, asked: BatchAsked, key: str) -> JSON:
        """Store a file of cases as a batch."""
        desk = (await self._asking()).reviews.batches
        if len(lines) > (most := desk.bounds_of(startup.LOCAL.tenant).max_bytes):
            raise TooLarge(f"a batch may have {most} bytes, found {len(lines)}; divide the file")
        brought = await desk.bring(lines, AskedBatch(asked.ceiling, asked.deadline, asked.name), startup.LOCAL, key)
        return await self.batch(brought.batch)

    async def batch(self, batch: str) -> JSON:
        """How a batch stands."""
        from service.web.batch_types import BatchState

        found = await (await self._proving()).reviews.batches.read(batch, startup.LOCAL)
        return cast(JSON, sent.as_json(BatchState.of(found)))

    async def batches(self, most: int) -> JSON:
        """The newest batches."""
        from service.web.batch_types import BatchList, BatchState

        found, following = await (await self._proving()).reviews.batches.find(startup.LOCAL, None, most)
        return cast(JSON, sent.as_json(BatchList(batches=tuple(map(BatchState.of, found)), next=following)))

    async def batch_results(self, batch: str, form: str, file: IO[bytes]) -> None:
        """Write what became of the lines of a batch."""
        from service.web.batches import write_lines, write_table

        pages = (await self._opened()).reviews.batches.results(batch, startup.LOCAL)
        async for chunk in (write_table if form == "csv" else write_lines)(pages):
            file.write(chunk)

    async def abort_batch(self, batch: str, why: str) -> JSON:
        """Abort a batch."""
        from service.web.batch_types import BatchState

        found = await (await self._proving()).reviews.batches.abort(batch, startup.LOCAL, why)
        return cast(JSON, sent.as_json(BatchState.of(found)))

    @asynccontextmanager
    async def feeding(self) -> AsyncIterator[str]:
        """Feed batches and run their debates by a worker of this process."""
        async with running_worker(await self._asking()):
            yield "it stands still until a service or this command runs again"

    async def bundle(self, debate: str, file: IO[bytes]) -> None:
        """Write the bundle of a debate."""
        app = await self._opened()
        logs = CurrentLogs(app.database, self._settings.log_host)

        async def packed() -> bytes:
            return await app.reviews.bundle(logs, debate, startup.LOCAL, writer())

        async with self._bundling:
            file.write(await proved(app, packed, (NotProvable,)))

    async def export(self, log: str | None, filters: JSON, form: str, file: IO[bytes]) -> Exported:
        """Write the records of a log."""
        read = evidence.Filters.of(filters)
        app = await self._opened()
        logs = CurrentLogs(app.database, self._settings.log_host)
        name = log or await logs.current(startup.LOCAL.tenant)
        kind = cast(ExportForm, form)
        chunks = await proved(
            app,
            lambda: evidence.export(app.database, logs, name, read, startup.LOCAL, writer(), form=kind),
            (NotProvable,) if log else (NotProvable, NotFound),  # the present log comes to be with its first record
        )
        async for chunk in chunks:
            file.write(chunk)
        others = [each.log for each in await logs_of(app.database, startup.LOCAL.tenant) if each.log != name]
        return Exported(name, others)

    async def head(self, log: str | None) -> SignedHead:
        """The latest head of a log."""
        database, tenant = await self._connected(), startup.LOCAL.tenant
        wanted = log or await CurrentLogs(database, self._settings.log_host).current(tenant)
        found = await log_of(database, tenant, wanted)
        if found.head is None:
            raise NotProvable(f"the log {found.log} has no checkpoint yet; check that a sequencer runs")
        return SignedHead(Checkpoint(found.log, found.head.size, found.head.root), found.head.note, found.key)

    async def expect_prefix(self, kept: Checkpoint, head: Checkpoint) -> None:
        """Compare the kept root with that of the stored tree at its size, under the latest head."""
        latest = SignedCheckpoint(head.origin, head.size, head.root, b"")
        root = await root_at_size(await self._connected(), startup.LOCAL.tenant, head.origin, kept.size, latest)
        if root != kept.root:
            raise Contradicted(
                f"the first {kept.size} records of the log {head.origin} are not those of the head that was kept: "
                f"expected the root {kept.root.hex()}, found {root.hex()}"
            )

    async def keys(self) -> JSON:
        """The register of verifier keys."""
        found = await key_register(await self._connected(), self._settings.policy, startup.LOCAL.tenant)
        return {"keys": sent.as_json(list(found))}

    async def recall(self, asked: str, value: str) -> JSON:
        """All debates that rest on something."""
        from service.web.audit import RecalledDebate

        found = await self._affected(cast(Asked, asked), value)
        return {"asked": asked, "value": value, "debates": sent.as_json([RecalledDebate.of(one) for one in found])}

    async def _affected(self, asked: Asked, value: str) -> Sequence[AffectedDebate]:
        app = await self._opened()
        query = RecallQuery(asked, value, RECALL_PAGE)
        page = await affected_decisions(app.database, app.logs, query, startup.LOCAL, writer())
        found = [*page]
        while len(page) == RECALL_PAGE:  # the rest of what was asked for, and recorded, once
            query = replace(query, below=UUID(page[-1].debate))
            page = await affected_by(app.database, startup.LOCAL.tenant, query)
            found += page
        return found

    async def _opened(self) -> App:
        """All parts of the service."""
        if self._app is None:
            opened = open_app(self._settings, self._where, pool=CONNECTIONS, asks=False)
            self._app = await self._stack.enter_async_context(opened)
        return self._app

    async def _asking(self) -> App:
        """The same with a sequencer and with vendors, for what this process is about to run: their keys must be there
        before a case is recorded."""
        app = await self._opened()
        await app.ask_vendors()
        return await self._proving()

    async def _proving(self) -> App:
        """The same with a sequencer, which makes records provable, if one may run here."""
        app = await self._opened()
        if not self._sequencing:
            self._sequencing = True
            await self._stack.enter_async_context(running_sequencer(app))
        return app

    async def _connected(self) -> Database:
        """The database alone, which needs neither a vendor's key nor an approval."""
        if self._app is not None:
            return self._app.database
        if self._database is None:
            self._database = await self._stack.enter_async_context(Database.open(self._where.service, size=1))
        return self._database


async def proved(app: App, ask: Callable[[], Awaitable[T]], unready: tuple[type[GainsayError], ...]) -> T:
    """The evidence; if it is not provable yet and a sequencer may run here, after that has made it provable."""
    with suppress(*unready):
        return await ask()
    until = time.monotonic() + HOLD_S
    async with running_sequencer(app):
        while True:
            try:
                return await ask()
            except unready:
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(LOOK_S)


def writer() -> Writer:
    """Who reads evidence at this machine."""
    return Writer(startup.LOCAL.actor, own_build())


@contextmanager
def examined(settings: Settings, before_words: Callable[[], None]) -> Iterator[DatabaseAddresses]:
    """The database, even if a log contradicts its checkpoint or the evidence is not guarded.

    An examiner investigates such a case with its records. Nothing becomes provable then, which is said after
    ``before_words``.
    """
    with ExitStack() as stack:
        try:
            where = stack.enter_context(addresses(settings))
        except (OpenIncident, ProtectionMissing) as incident:
            before_words()
            exit_codes.print_error(incident.code, f"{incident.detail}; what is handed out now may be what is contested")
            where = DatabaseAddresses(stack.enter_context(database_url(settings)))
        yield where


def perform(settings: Settings, where: DatabaseAddresses, work: Callable[[InProcess], Awaitable[T]]) -> T:
    """What the work returns, with the service on this database."""

    async def done() -> T:
        async with AsyncExitStack() as stack:
            return await work(InProcess(settings, where, stack))

    return asyncio.run(done())
