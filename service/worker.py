"""Take debates from the queue, keep their leases, hand them to the runner, stop cleanly.

A debate's head row is its own job. Taking it raises its epoch, so a worker that was paused or cut off cannot write
into a debate that another has taken over: its next append finds another epoch and writes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from service import telemetry
from service.debate.entries import Entry
from service.debate.kernel import FORMATS
from service.errors import Fenced, GainsayError, StoreUnavailable
from service.observe import observe
from service.ports import Provider
from service.prompts import Prompts
from service.reviews import Board
from service.runner import Runner
from service.store.log import DebateLog, read_documents
from service.store.pool import Database

IDLE_S = 1.0
"""How long an idle worker sleeps between looks at the queue when nobody wakes it."""


class Worker:
    """Runs debates until it is stopped, at most ``limit`` at once."""

    def __init__(
        self,
        database: Database,
        prompts: Prompts,
        providers: Mapping[str, Provider],
        board: Board,
        *,
        name: str,
        lease_s: float,
        limit: int = 64,
        on_trouble: Callable[[GainsayError], None] = lambda _error: None,
    ) -> None:
        self._database = database
        self._prompts = prompts
        self._providers = providers
        self._board = board
        self._name = name
        self._lease_s = lease_s
        self._limit = limit
        self._on_trouble = on_trouble
        self._running: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()

    async def work(self) -> None:
        """Take and run debates until `stop`; then hand back what is not finished within the grace of its caller."""
        while not self._stopping.is_set():
            self._board.queued.clear()
            try:
                taken = len(self._running) < self._limit and await self._take()
            except StoreUnavailable as error:
                self._on_trouble(error)
                taken = False
            if not taken:
                await self._first_of(self._board.queued.wait(), self._stopping.wait())

    async def stop(self, grace_s: float) -> None:
        """Take nothing more; wait for the debates under way, then cancel them and give their leases back."""
        self._stopping.set()
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _take(self) -> bool:
        params = {"worker": self._name, "lease": self._lease_s, "formats": list(FORMATS)}
        rows = await self._database.query("claim", params)
        for row in rows:
            task = asyncio.create_task(self._run(str(row["debate"])), name=f"debate {row['debate']}")
            self._running.add(task)
            task.add_done_callback(self._done)
        return bool(rows)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._board.queued.set()
        if not task.cancelled() and (error := task.exception()):
            telemetry.LOG.error("debate left unfinished by a fault", exc_info=error)
            self._on_trouble(GainsayError(f"a debate was left unfinished by a fault ({type(error).__name__})"))

    async def _run(self, debate: str) -> None:
        """Run one debate. Whatever keeps it from ending leaves it as it is recorded, for the next worker."""
        with telemetry.RUNNING.track_inprogress():
            log = await DebateLog.at(self._database, debate, self._name, self._lease_s)
            heart = asyncio.create_task(self._beat(log))
            try:
                sources = await read_documents(self._database, debate)

                def recorded(debate: str, entries: Sequence[Entry]) -> None:
                    self._board.announce(debate, entries)
                    observe(runner.facts, log.ledger, entries)

                runner = Runner(log, sources, self._prompts, self._providers, on_recorded=recorded)
                await runner.run()
            except Fenced:
                telemetry.LOG.warning("debate taken over by another worker", extra={"debate": debate})
            except GainsayError as error:
                telemetry.LOG.error("debate left unfinished", extra={"debate": debate, "code": error.code})
                self._on_trouble(error)
            except asyncio.CancelledError:
                with suppress(StoreUnavailable):
                    await log.release()
                raise
            finally:
                heart.cancel()

    async def _beat(self, log: DebateLog) -> None:
        """Keep the lease while calls are under way; the append after a lost lease finds out by itself."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            with suppress(Fenced, StoreUnavailable):
                await log.renew()

    async def _first_of(self, *waits: Awaitable[object]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        await asyncio.wait(tasks, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
