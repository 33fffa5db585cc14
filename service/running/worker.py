"""The worker: claims debates, renews their leases, passes them to the runner, and stops cleanly.

A debate's head row is its own job. A claim raises the row's epoch, so a worker that was paused or cut off cannot write
to a debate that another has claimed: its next append finds another epoch and writes nothing.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from service import log_lines, telemetry
from service.audit.record import Actor, Writer
from service.debate.entries import DebateConcluded, DebateStopped, Entry, StoppedBy
from service.debate.whose import WHOSE
from service.errors import AuditUnavailable, EvidenceDamaged, Fenced, GainsayError, IllegalEntry, StoreUnavailable
from service.policy import Budgets, Calls, EvaluationBudgets, Policy, Queue
from service.policy.traces import USUAL_TRACES, Traces
from service.prompts import Prompts
from service.running.apart import CheckProcess
from service.running.lane import Lane
from service.running.leases import HeldDebate, Leases
from service.running.metrics import count_entries
from service.running.places import PLACES
from service.running.provider_port import Provider
from service.running.quarantine import Quarantine
from service.running.runner import Runner, Surroundings
from service.running.traces import CURRENT, DebateTrace
from service.store import pool
from service.store import queue as queues
from service.store.hub import EventHub
from service.store.log import DebateLog
from service.store.pool import Database

IDLE_S = 1.0
"""How often a worker looks at the queue when no event wakes it."""
TAKE_MAX, TAKE_PART = 32, 8
"""The most debates of one claim, or the part of a worker's places if that is more: workers share the queue."""
LATE_MAX = 16
"""How many debates past their deadline a worker ends at the same time, besides those that it runs."""
FAULTS_MAX = 5
"""After so many runs that a fault of the service ended, a debate ends as failed."""
FALLS_MAX = 8
"""After so many lost leases in a row, without any record in between, a debate ends as failed too."""
BACKOFF_MAX_S = 300.0
"""The longest backoff of a debate after a fault of the service, and the one of a damaged debate."""
LAST_S = 1.0
"""How long a stopping worker waits for the database beyond its grace, for each lease that it releases."""


def new_process_name() -> str:
    """The name of this process in records, which says nothing of the machine: its name may be a person's.

    Records cannot be erased. The service's own log, which is not kept for ever, has the machine and the process id.
    """
    return f"process-{secrets.token_hex(6)}"


class WorkerConfig(Struct, frozen=True, kw_only=True):
    """The configuration of one worker; ``name`` stands in the records that it writes.

    ``lease_s`` is how long a lease lasts without renewal. ``limit`` is how many debates run at the same time if that is
    not the queue's ``per_worker``. ``only`` names the one debate that the worker claims. ``build`` is the hash of the
    code that writes the records.
    """

    name: str
    lease_s: float
    limit: int | None = None
    only: str | None = None
    calls: Calls = Calls()
    budgets: Budgets = Budgets()
    items: EvaluationBudgets = EvaluationBudgets()
    queue: Queue = Queue()
    shares: Mapping[str, int | None] = {}
    traced: Traces = USUAL_TRACES
    traces: Mapping[str, Traces] = {}
    confined: Mapping[str, frozenset[str]] = {}
    build: str = ""

    @classmethod
    def of(cls, policy: Policy, name: str, lease_s: float, build: str, **tenants: Any) -> WorkerConfig:
        """The configuration, by a policy, of a worker that claims any debate.

        ``tenants`` are ``budgets``, ``items`` (budgets of evaluations) and ``shares``, the limits of all tenants where
        some have others than the policy, and ``confined``, the providers of tenants that may ask no others.
        """
        items = EvaluationBudgets(policy.evaluations.budget)
        limits = {"budgets": policy.budgets, "items": items, "traced": policy.traced, **tenants}
        return cls(name=name, lease_s=lease_s, calls=policy.calls, queue=policy.queue, build=build, **limits)

    @property
    def places(self) -> int:
        """How many debates may run at the same time."""
        return self.queue.per_worker if self.limit is None else self.limit

    def providers_of(self, tenant: str, every: Mapping[str, Provider]) -> Mapping[str, Provider]:
        """The providers that a tenant's debates may ask."""
        its = self.confined.get(tenant)
        return every if its is None else {name: provider for name, provider in every.items() if name in its}

    @property
    def writer(self) -> Writer:
        """The worker as records name it."""
        return Writer(Actor(self.name, "service", "worker", "databaseRole"), self.build)

    def wanted(self, templates: str) -> queues.ClaimRequest:
        """Which debates the worker claims: those whose requests are laid out by ``templates``."""
        return queues.ClaimRequest(
            worker=self.name,
            lease_s=self.lease_s,
            templates=templates,
            only=self.only,
            per_tenant=self.queue.per_tenant,
            shares=self.shares,
            retry_window_s=self.queue.give_up_hours * 3600.0,
        )


class Worker:
    """Runs debates until it is stopped. ``on_trouble`` gets each error that keeps one debate, or all, waiting.

    ``apart`` is the process in which checks of long texts are made; it ends with the worker.
    """

    def __init__(
        self,
        database: Database,
        hub: EventHub,
        prompts: Prompts,
        providers: Mapping[str, Provider],
        config: WorkerConfig,
        *,
        on_trouble: Callable[[GainsayError], None] = lambda _error: None,
        apart: CheckProcess | None = None,
    ) -> None:
        self._database = database
        self._hub = hub
        self._prompts = prompts
        self._providers = providers
        self._config = config
        self._on_trouble = on_trouble
        self.released = 0
        """How many debates it has released since it was asked to stop."""
        self._introduced = False
        self._wanted = config.wanted(prompts.templates)
        self._leases = Leases(database, hub, config.name, config.lease_s)
        self._apart, self._lane = apart or CheckProcess(), Lane()
        self._places = asyncio.Semaphore(PLACES)
        self._running: dict[asyncio.Task[None], HeldDebate] = {}
        self._room = asyncio.Event()
        self._stopping = asyncio.Event()
        self._quarantine = Quarantine()
        self._taking: asyncio.Task[bool] | None = None
        self._unheard_until: float | None = None
        self._mismatch: str | None = None

    @property
    def troubles(self) -> list[str]:
        """Why this worker should get no more work: it is stopping, or a request did not carry the pinned prompts."""
        stopping = ["the worker is stopping"] if self._stopping.is_set() else []
        return stopping + ([self._mismatch] if self._mismatch else [])

    @property
    def name(self) -> str:
        """The worker in records."""
        return self._config.name

    @property
    def running(self) -> int:
        """How many debates it runs."""
        return len(self._running)

    def go_by(self, config: WorkerConfig, providers: Mapping[str, Provider]) -> Collection[asyncio.Task[None]]:
        """From now on debates are claimed and run by another configuration, under the same name.

        Returns the debates that run, which keep what they began with: their providers are closed after these.
        """
        self._config, self._providers, self._wanted = config, providers, config.wanted(self._prompts.templates)
        self._room.set()  # there may be more places now
        return set(self._running)

    async def work(self) -> None:
        """Claim and run debates until `stop`. Errors are logged and never end the loop."""
        while not self._stopping.is_set():
            self._hub.queued.clear()
            self._room.clear()
            if not await self._claim():
                stirred = self._hub.queued if self._free_slots else self._room
                await self._first_of(stirred.wait(), self._stopping.wait())

    def retire(self) -> None:
        """Claim nothing more from now on; running debates make no new calls and are released."""
        self._stopping.set()

    async def stop(self, grace_s: float) -> None:
        """Claim nothing more, let calls in flight finish, release all leases; cancel what takes longer than the grace.

        The grace counts from now for all of this together. Beyond it, each release that the database does not answer is
        abandoned after `LAST_S`.
        """
        until = time.monotonic() + grace_s
        self.retire()
        if self._taking is not None:  # a claim in flight is awaited, so that its debates are released too
            await _wait_or_cancel({self._taking}, until)
        await _wait_or_cancel(set(self._running), until)
        await self._leases.close()
        await self._apart.close()
        self._lane.close()
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(max(LAST_S, until - time.monotonic())):
                await self._release_unacknowledged()

    # -- claiming

    @property
    def _free_slots(self) -> int:
        """How many more debates may run here. Debates past their deadline make no calls and take no place."""
        return self._config.places - sum(not held.late for held in self._running.values())

    async def _claim(self) -> bool:
        """Claim what may be claimed now; return whether there may be more."""
        if self._stopping.is_set():
            return False
        self._taking = asyncio.create_task(self._claim_once(), name="claim")
        try:
            return await self._taking
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise
        except StoreUnavailable as error:
            self._on_trouble(error)
        except Exception as fault:  # noqa: BLE001 - a dead loop would leave an idle process that looks healthy
            log_lines.CLAIM_FAULT.raised()
            self._on_trouble(GainsayError(f"no debate could be claimed because of a fault ({type(fault).__name__})"))
        return False

    async def _claim_once(self) -> bool:
        await self._release_unacknowledged()
        most = max(0, min(self._free_slots, max(TAKE_MAX, self._config.places // TAKE_PART)))
        if self._mismatch and not self._prompts.unchanged():
            most = 0  # each debate would fail here, and another worker may have its prompts
        most_late = max(0, LATE_MAX - sum(held.late for held in self._running.values()))
        if not most and not most_late:
            return False
        try:
            quarantined = self._quarantine.excluded(time.monotonic())
            found = await queues.claim(self._database, self._wanted, most, most_late, quarantined)
        except BaseException:  # the claim may still commit, as long as the statement can be in flight
            self._unheard_until = time.monotonic() + pool.SILENT_S
            raise
        if found and not self._introduced:
            self._introduced = True
            who = {"worker": self._config.name, "host": socket.gethostname(), "pid": os.getpid()}
            log_lines.WORKER_STARTED(**who)
        for claimed in found:
            telemetry.TAKEN.labels(how="new" if claimed.epoch == 1 else "left" if claimed.lost else "returned").inc()
            self._start(HeldDebate(claimed, self._hub))
        late = sum(claimed.late for claimed in found)
        return 0 < most == len(found) - late or 0 < most_late == late

    async def _release_unacknowledged(self) -> None:
        """Release debates that a claim with a lost response may have assigned to this worker."""
        if (until := self._unheard_until) is not None:
            asked = time.monotonic()
            await queues.release_unacknowledged(
                self._database, self._config.name, [held.debate for held in self._running.values()]
            )
            if asked >= until:
                self._unheard_until = None

    def _start(self, held: HeldDebate) -> None:
        task = held.task = asyncio.create_task(self._run(held), name=f"debate {held.debate}")
        self._running[task] = held
        self._leases.add(held)
        task.add_done_callback(self._debate_done)

    def _debate_done(self, task: asyncio.Task[None]) -> None:
        self._leases.drop(self._running.pop(task))
        self._room.set()
        if self._config.queue.per_tenant is not None or self._config.shares:
            self._hub.work_queued()  # another worker may fill the place
        if not task.cancelled() and (error := task.exception()):
            log_lines.DEBATE_TASK_FAULT.of(error)
            self._on_trouble(GainsayError(f"a debate was left unfinished because of a fault ({type(error).__name__})"))

    # -- running

    async def _run(self, held: HeldDebate) -> None:
        """Run one debate. If it cannot end here, it stays as recorded for the next worker."""
        WHOSE.set(held.claimed.tenant)
        ids = log_lines.bound(debate=held.debate, tenant=held.claimed.tenant)
        try:
            with telemetry.RUNNING.track_inprogress(), ids:
                settled = await self._run_guarded(held)
        except asyncio.CancelledError:
            await self._release(held)
            raise
        if not settled:
            await self._release(held)

    async def _run_guarded(self, held: HeldDebate) -> bool:
        """Run one debate; return whether no release is due: it is over, another worker has it, or it is in backoff."""
        try:
            return await self._run_to_end(held)
        except Fenced:
            log_lines.DEBATE_LOST(debate=held.debate)
            return True
        except GainsayError as error:
            log_lines.DEBATE_LEFT(debate=held.debate, code=error.code)
            self._on_trouble(error)
            return await self._handle_failure(held, error)
        except Exception as fault:  # noqa: BLE001 - the same fault must not recur for ever
            log_lines.DEBATE_FAULT.raised(debate=held.debate)
            self._on_trouble(GainsayError(f"a debate was left unfinished because of a fault ({type(fault).__name__})"))
            return await self._handle_failure(held, fault)

    async def _run_to_end(self, held: HeldDebate) -> bool:
        """Run one debate as far as possible here; return whether it is over."""
        if (found := held.claimed.left_for) is not None:
            log_lines.DEBATE_ADRIFT(debate=held.debate)
            why = f"its log has lost records and its tenant has left it ({found}): nothing more of it can be proven"
            return await self._fail(held, why, "auditUnavailable")
        if held.falls >= FALLS_MAX:
            return await self._fail(held, f"its lease was lost {held.falls} times in a row without a record in between")
        return await (await self._runner(held)).run(reclaimed=held.lost) is not None

    async def _fail(self, held: HeldDebate, why: str, by: StoppedBy = "fault") -> bool:
        """Fail a debate that no worker can continue; return whether it is over."""
        return await (await self._runner(held)).fail(why, by) is not None

    async def _runner(self, held: HeldDebate) -> Runner:
        config, providers = self._config, self._providers  # together: the next await may bring others
        log, sources = await DebateLog.open_claimed(
            self._database, held.claimed, config.writer, config.lease_s, config.budgets, config.items
        )
        held.log = log
        trace = DebateTrace(held.debate, log.tenant, log.arrival, config.traces.get(log.tenant, config.traced))
        CURRENT.set(trace)
        log_lines.bind(trace_id=trace.id)

        def recorded(_debate: str, entries: Sequence[Entry]) -> None:
            held.entries_recorded(entries)
            count_entries(runner.facts, log.ledger, entries, course=log)
            if any(isinstance(entry, DebateConcluded) for entry in entries):
                trace.ended(*log.written)
            for entry in entries:
                if isinstance(entry, DebateStopped) and entry.by == "promptMismatch":
                    self._mismatch = entry.why

        runner = Runner(
            log,
            sources,
            self._prompts,
            config.providers_of(held.claimed.tenant, providers),
            calls=config.calls,
            on_recorded=recorded,
            worker=Surroundings(self._stopping, held, self._apart, self._lane, self._places),
        )
        return runner

    async def _handle_failure(self, held: HeldDebate, fault: Exception) -> bool:
        """Fail a debate that cannot be continued; else release it, or back it off. Whether that is done.

        A damaged debate gets no record and no call: it is looked at again from time to time, for it may be restored.
        """
        try:
            if not isinstance(fault, EvidenceDamaged) and (why := self._why_hopeless(fault, held)):
                return await self._fail(held, why)
        except Fenced:
            return True
        except Exception:  # noqa: BLE001 - a debate that could not be ended as failed is tried again
            log_lines.DEBATE_NOT_FAILED.raised(debate=held.debate)
        with suppress(GainsayError):
            if is_service_fault(fault):
                pause_s = min(BACKOFF_MAX_S, self._config.lease_s * 2 ** min(held.faults + 1, 20))
                await queues.back_off(self._database, held.claimed, pause_s)
            elif isinstance(fault, EvidenceDamaged):
                await queues.release(self._database, held.claimed, BACKOFF_MAX_S)
            elif isinstance(fault, AuditUnavailable | StoreUnavailable):
                await queues.release(self._database, held.claimed, self._config.lease_s)
            else:
                self._quarantine.add(held.debate, time.monotonic())
                await queues.release_to_others(self._database, held.claimed)
                self._hub.work_queued()
            return True
        return False

    def _why_hopeless(self, fault: Exception, held: HeldDebate) -> str | None:
        """Why a debate is not tried again: a fault recurs, or no worker could run it for long."""
        if is_service_fault(fault):
            tries = held.faults + 1
            why = f"a fault of the service ended {tries} runs of this debate, the last one with {type(fault).__name__}"
            return why if tries >= FAULTS_MAX else None
        if held.stale and not isinstance(fault, AuditUnavailable | StoreUnavailable):
            detail = fault.detail if isinstance(fault, GainsayError) else ""
            return f"for {self._config.queue.give_up_hours} hours no worker that claimed it could run it: {detail}"
        return None

    async def _release(self, held: HeldDebate) -> None:
        with suppress(StoreUnavailable):
            await queues.release(self._database, held.claimed)
            self.released += self._stopping.is_set()
            self._hub.work_queued()

    async def _first_of(self, *waits: Awaitable[object]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        await asyncio.wait(tasks, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()


def is_service_fault(fault: Exception) -> bool:
    """Whether an error is a fault of the service itself, and not of its input or its dependencies."""
    return not isinstance(fault, GainsayError) or isinstance(fault, IllegalEntry)


async def _wait_or_cancel(tasks: Collection[asyncio.Task[Any]], until: float) -> None:
    """Wait for these tasks until a time; then cancel those that remain, repeatedly, until all have ended."""
    late: Collection[asyncio.Task[Any]] = tasks
    left_s = max(0.0, until - time.monotonic())
    while late:
        _, late = await asyncio.wait(late, timeout=left_s)
        for task in late:
            task.cancel()
        left_s = LAST_S
