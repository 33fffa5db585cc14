"""Take debates from the queue, keep their leases, hand them to the runner, stop cleanly.

A debate's head row is its own job. Taking it raises its epoch, so a worker that was paused or cut off cannot write
into a debate that another has taken over: its next append finds another epoch and writes nothing.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from service import telemetry
from service.audit.record import Actor, Writer
from service.board import Board
from service.debate.entries import DebateStopped, Entry
from service.errors import AuditUnavailable, Fenced, GainsayError, IllegalEntry, StoreUnavailable
from service.leases import Held, Leases
from service.observe import observe
from service.policy import Budgets, Calls, Queue
from service.ports import Provider
from service.prompts import Prompts
from service.runner import Runner
from service.store import queue as queues
from service.store.log import DebateLog, read_documents
from service.store.pool import Database

IDLE_S = 1.0
"""How long a worker goes without a look at the queue when nobody wakes it."""
TAKE_MAX, TAKE_PART = 32, 8
"""How many debates are taken at once, or what part of a worker's places if that is more: several share what waits."""
LATE_MAX = 16
"""How many debates past their deadline a worker ends at once, beside those that it runs."""
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
    """Runs debates until it is stopped, as many at once as ``queue`` allows; with ``only``, that one and no other.

    ``limit`` is how many this worker runs where that is not policy's ``per_worker``.
    """

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
        self._queue = queue
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
        self._leases = Leases(database, board, name, lease_s)
        self._running: dict[asyncio.Task[None], Held] = {}
        self._room = asyncio.Event()
        self._stopping = asyncio.Event()
        self._taking = asyncio.Lock()
        self._unheard = False
        self._mismatch: str | None = None

    @property
    def troubles(self) -> list[str]:
        """What keeps this worker from being trusted with work: it stops, or a request did not carry the prompts."""
        stopping = ["the worker is stopping"] if self._stopping.is_set() else []
        return stopping + ([self._mismatch] if self._mismatch else [])

    async def work(self) -> None:
        """Take and run debates until `stop`. Nothing that goes wrong meanwhile ends this."""
        while not self._stopping.is_set():
            self._board.queued.clear()
            self._room.clear()
            if not await self._taken():
                stirred = self._board.queued if self._places else self._room
                await self._first_of(stirred.wait(), self._stopping.wait())

    def retire(self) -> None:
        """Take nothing more, from this moment on; what runs asks nobody any more, and is handed back."""
        self._stopping.set()

    async def stop(self, grace_s: float) -> None:
        """Take nothing more, let the calls in flight land, and give all leases back; cancel what is late."""
        self.retire()
        async with self._taking:  # a debate that is just being taken belongs to those that are handed back
            under_way = set(self._running)
        if under_way:
            _, late = await asyncio.wait(under_way, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._leases.close()
        with suppress(StoreUnavailable):
            await self._give_back_unheard()

    # -- taking

    @property
    def _places(self) -> int:
        """How many more debates may run here. Those past their deadline ask nobody, and take up none."""
        return self._limit - sum(not held.late for held in self._running.values())

    async def _taken(self) -> bool:
        """Take what may be taken now; whether there may be more of it."""
        try:
            async with self._taking:
                return not self._stopping.is_set() and await self._take()
        except StoreUnavailable as error:
            self._unheard = True
            self._on_trouble(error)
        except Exception as fault:  # noqa: BLE001 - dying here would leave a process that looks well and does nothing
            self._unheard = True
            telemetry.LOG.exception("cannot take a debate")
            self._on_trouble(GainsayError(f"no debate could be taken because of a fault ({type(fault).__name__})"))
        return False

    async def _take(self) -> bool:
        await self._give_back_unheard()
        most = max(0, min(self._places, max(TAKE_MAX, self._limit // TAKE_PART)))
        most_late = max(0, LATE_MAX - sum(held.late for held in self._running.values()))
        if not most and not most_late:
            return False
        found = await queues.claim(self._database, self._wanted, most, most_late)
        if found and not self._introduced:
            self._introduced = True
            who = {"worker": self._name, "host": socket.gethostname(), "pid": os.getpid()}
            telemetry.LOG.info("debates are taken", extra=who)
        for claimed in found:
            telemetry.TAKEN.labels("new" if claimed.epoch == 1 else "left").inc()
            self._begin(Held(claimed, self._board))
        late = sum(claimed.late for claimed in found)
        return 0 < most == len(found) - late or 0 < most_late == late

    async def _give_back_unheard(self) -> None:
        """Give back what an answer that was lost may have given to this worker: it runs nothing of that."""
        if self._unheard:
            await queues.disown(self._database, self._name, [held.debate for held in self._running.values()])
            self._unheard = False

    def _begin(self, held: Held) -> None:
        task = held.task = asyncio.create_task(self._run(held), name=f"debate {held.debate}")
        self._running[task] = held
        self._leases.add(held)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._leases.drop(self._running.pop(task))
        self._room.set()
        if self._queue.per_tenant is not None:
            self._board.enqueue()  # the place may be another worker's to fill
        if not task.cancelled() and (error := task.exception()):
            telemetry.LOG.error("debate left unfinished by a fault", exc_info=error)
            self._on_trouble(GainsayError(f"a debate was left unfinished by a fault ({type(error).__name__})"))

    # -- running

    async def _run(self, held: Held) -> None:
        """Run one debate. Whatever keeps it from ending leaves it as it is recorded, for the next worker."""
        try:
            with telemetry.RUNNING.track_inprogress():
                held.log = await self._log(held)
                await self._hold(held, held.log)
        except Fenced:
            telemetry.LOG.warning("debate taken over by another worker", extra={"debate": held.debate})
        except GainsayError as error:
            telemetry.LOG.error("debate left unfinished", extra={"debate": held.debate, "code": error.code})
            self._on_trouble(error)

    async def _log(self, held: Held) -> DebateLog:
        return await DebateLog.at(self._database, held.debate, self._writer, self._lease_s, held.epoch, self._budgets)

    async def _hold(self, held: Held, log: DebateLog) -> None:
        """Run a debate; give the lease back when it is not to be finished here."""
        try:
            over = await (await self._runner(held, log)).run() is not None
        except asyncio.CancelledError:
            await self._give_back(log)
            raise
        except (Fenced, AuditUnavailable, StoreUnavailable):
            raise  # there is nothing to write, or nowhere: the lease runs out by itself
        except Exception as fault:
            await self._after(fault, held)
            raise
        if not over:
            await self._give_back(log)

    async def _runner(self, held: Held, log: DebateLog) -> Runner:
        def recorded(_debate: str, entries: Sequence[Entry]) -> None:
            held.announce(entries)
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
            news=held,
        )
        return runner

    async def _after(self, fault: Exception, held: Held) -> None:
        """End a debate that nobody will ever go on with, or leave it alone for a while, longer each time."""
        with suppress(GainsayError):
            if why := self._hopeless(fault, held):
                await (await self._runner(held, await self._log(held))).give_up(why)
                return
        pause_s = min(PARKED_MAX_S, self._lease_s * 2 ** min(held.epoch, 20))
        with suppress(GainsayError):
            await queues.park(self._database, held.debate, held.epoch, pause_s)

    def _hopeless(self, fault: Exception, held: Held) -> str | None:
        """Why a debate is not to be tried again: a fault that comes back, or nobody could go on for long."""
        if not isinstance(fault, GainsayError) or isinstance(fault, IllegalEntry):
            came_back = f"a fault of the service ({type(fault).__name__}) came back in {held.epoch} tries"
            return came_back if held.epoch >= TAKES_MAX else None
        if held.stale:
            return f"no worker could go on with it within {self._queue.give_up_hours} hours: {fault.detail}"
        return None

    async def _give_back(self, log: DebateLog) -> None:
        with suppress(StoreUnavailable):
            await log.release()
            self._board.enqueue()

    async def _first_of(self, *waits: Awaitable[object]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        await asyncio.wait(tasks, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
