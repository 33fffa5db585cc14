"""Take debates from the queue, keep their leases, hand them to the runner, stop cleanly.

A debate's head row is its own job. Taking it raises its epoch, so a worker that was paused or cut off cannot write
into a debate that another has taken over: its next append finds another epoch and writes nothing.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from service import telemetry
from service.audit.record import Actor, Writer
from service.board import Board
from service.debate.entries import DebateStopped, Entry
from service.errors import AuditUnavailable, Fenced, GainsayError, IllegalEntry, StoreUnavailable
from service.observe import observe
from service.policy import Budgets, Calls, Queue
from service.ports import Provider
from service.prompts import Prompts
from service.runner import Runner
from service.store import queue as queues
from service.store.log import DebateLog, read_documents
from service.store.pool import Database

IDLE_S = 1.0
"""How long an idle worker sleeps between looks at the queue when nobody wakes it."""
TAKES_MAX = 5
"""A debate that fails by a fault of ours when it has been taken so often is ended as failed."""
PARKED_MAX_S = 300.0
"""The longest that a debate which cannot go on is left alone before it is tried again."""


def process_name() -> str:
    """What records call this process: nothing of the machine, whose name may be a person's and could never be erased.

    The service's own log, which is not kept for ever, says which machine and process it is.
    """
    return f"process-{secrets.token_hex(6)}"


class Worker:
    """Runs debates until it is stopped, at most ``limit`` at once; with ``only``, that one debate and no other."""

    def __init__(  # noqa: PLR0913 - what a worker depends on, by name
        self,
        database: Database,
        prompts: Prompts,
        providers: Mapping[str, Provider],
        board: Board,
        *,
        name: str,
        lease_s: float,
        limit: int | None = None,
        only: str | None = None,
        calls: Calls = Calls(),  # noqa: B008 - frozen
        budgets: Budgets = Budgets(),  # noqa: B008 - frozen
        queue: Queue = Queue(),  # noqa: B008 - frozen
        build: str = "",
        on_trouble: Callable[[GainsayError], None] = lambda _error: None,
    ) -> None:
        self._database = database
        self._prompts = prompts
        self._providers = providers
        self._board = board
        self._name = name
        self._introduced = False
        self._lease_s = lease_s
        self._limit = queue.per_worker if limit is None else limit
        self._wanted = queues.Wanted(
            worker=name,
            lease_s=lease_s,
            templates=prompts.templates,
            only=only,
            per_tenant=queue.per_tenant,
            patience_s=queue.give_up_hours * 3600.0,
        )
        self._calls = calls
        self._budgets = budgets
        self._writer = Writer(Actor(name, "service", "worker", "databaseRole"), build)
        self._on_trouble = on_trouble
        self._running: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._taking = asyncio.Lock()
        self._mismatch: str | None = None

    @property
    def troubles(self) -> list[str]:
        """What keeps this worker from being trusted with work: a request that did not carry the pinned prompts."""
        return [self._mismatch] if self._mismatch else []

    async def work(self) -> None:
        """Take and run debates until `stop`. Nothing that goes wrong meanwhile ends this."""
        while not self._stopping.is_set():
            self._board.queued.clear()
            if len(self._running) >= self._limit or not await self._taken():
                await self._first_of(self._board.queued.wait(), self._stopping.wait())

    async def stop(self, grace_s: float) -> None:
        """Take nothing more, let the calls in flight land, and give all leases back; cancel what is late."""
        self._stopping.set()
        async with self._taking:  # a debate that is just being taken belongs to those that are handed back
            under_way = set(self._running)
        if under_way:
            _, late = await asyncio.wait(under_way, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _taken(self) -> bool:
        try:
            async with self._taking:
                return not self._stopping.is_set() and await self._take()
        except StoreUnavailable as error:
            self._on_trouble(error)
        except Exception as fault:  # noqa: BLE001 - dying here would leave a process that looks well and does nothing
            telemetry.LOG.exception("cannot take a debate")
            self._on_trouble(GainsayError(f"no debate could be taken because of a fault ({type(fault).__name__})"))
        return False

    async def _take(self) -> bool:
        rows = await queues.claim(self._database, self._wanted, 1, 1)
        if rows and not self._introduced:
            self._introduced = True
            who = {"worker": self._name, "host": socket.gethostname(), "pid": os.getpid()}
            telemetry.LOG.info("debates are taken", extra=who)
        for row in rows:
            task = asyncio.create_task(self._run(row.debate, row.epoch), name=f"debate {row.debate}")
            self._running.add(task)
            task.add_done_callback(self._done)
        return bool(rows)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._board.queued.set()
        if not task.cancelled() and (error := task.exception()):
            telemetry.LOG.error("debate left unfinished by a fault", exc_info=error)
            self._on_trouble(GainsayError(f"a debate was left unfinished by a fault ({type(error).__name__})"))

    async def _run(self, debate: str, epoch: int) -> None:
        """Run one debate. Whatever keeps it from ending leaves it as it is recorded, for the next worker."""
        try:
            with telemetry.RUNNING.track_inprogress():
                log = await self._log(debate, epoch)
                await self._hold(log)
        except Fenced:
            telemetry.LOG.warning("debate taken over by another worker", extra={"debate": debate})
        except GainsayError as error:
            telemetry.LOG.error("debate left unfinished", extra={"debate": debate, "code": error.code})
            self._on_trouble(error)

    async def _log(self, debate: str, epoch: int) -> DebateLog:
        return await DebateLog.at(self._database, debate, self._writer, self._lease_s, epoch, self._budgets)

    async def _hold(self, log: DebateLog) -> None:
        """Run a debate while the lease is kept; give the lease back when it is not to be finished here."""
        try:
            async with self._beating(log):
                over = await (await self._runner(log)).run() is not None
        except asyncio.CancelledError:
            await self._give_back(log)
            raise
        except (Fenced, AuditUnavailable, StoreUnavailable):
            raise  # there is nothing to write, or nowhere: the lease runs out by itself
        except Exception as fault:
            await self._after(fault, log)
            raise
        if not over:
            await self._give_back(log)

    async def _runner(self, log: DebateLog) -> Runner:
        def recorded(debate: str, entries: Sequence[Entry]) -> None:
            self._board.announce(debate, entries)
            observe(runner.facts, log.ledger, entries)
            for entry in entries:
                if isinstance(entry, DebateStopped) and entry.by == "promptMismatch":
                    self._mismatch = entry.why

        sources = await read_documents(self._database, log.debate)
        runner = Runner(
            log,
            sources,
            self._prompts,
            self._providers,
            calls=self._calls,
            on_recorded=recorded,
            stopping=self._stopping,
        )
        return runner

    async def _after(self, fault: Exception, log: DebateLog) -> None:
        """End a debate whose fault comes back, or leave it alone for a while, longer each time."""
        ours = not isinstance(fault, GainsayError) or isinstance(fault, IllegalEntry)
        with suppress(GainsayError):
            if ours and log.epoch >= TAKES_MAX:
                fresh = await self._log(log.debate, log.epoch)
                why = f"a fault of the service ({type(fault).__name__}) came back in {log.epoch} tries"
                await (await self._runner(fresh)).give_up(why)
                return
        with suppress(GainsayError):
            await log.renew(min(PARKED_MAX_S, self._lease_s * 2 ** min(log.epoch, 20)))

    async def _give_back(self, log: DebateLog) -> None:
        with suppress(StoreUnavailable):
            await log.release()

    @asynccontextmanager
    async def _beating(self, log: DebateLog) -> AsyncIterator[None]:
        """Keep the lease meanwhile; no beat is on its way any more when this ends.

        A beat that waits for a connection can miss that it is cancelled (`asyncio.wait_for` before Python 3.12, which
        the pool uses, gives the result that came in the same moment), so it is told as well.
        """
        over = asyncio.Event()
        heart = asyncio.create_task(self._beat(log, over))
        try:
            yield
        finally:
            over.set()
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)

    async def _beat(self, log: DebateLog, over: asyncio.Event) -> None:
        """Keep the lease while calls are under way; the append after a lost lease finds out by itself."""
        with suppress(Fenced):
            while not over.is_set():
                await asyncio.sleep(self._lease_s / 3)
                with suppress(StoreUnavailable):
                    await log.renew()

    async def _first_of(self, *waits: Awaitable[object]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        await asyncio.wait(tasks, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
