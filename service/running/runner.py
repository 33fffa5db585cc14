"""The runner: performs the kernel's moves on the log, the ledger and the providers.

    Ask        count and fund the turns, compare the bytes on the wire with the pins, record the intents,
               call; record each reply with its charge as one entry as it arrives
    Measure    run the checks on what is recorded, and record what they find
               a turn whose reply the case gives speaks with that, and no model is called
    Conclude   record the outcome once no attempt is open

Every call is recorded before it is made, and everything staged is recorded before the runner waits. The runner decides
nothing: after every entry it asks for the next move, which is the one that replay finds. Its view of the debate is
in `service/running/state.py`, the choice of models in `service/running/selection.py`, deadlines and backoff in
`service/running/backoff.py`, the conditions of an attempt in `service/running/preparation.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from service.debate.entries import (
    AttemptFailed,
    DebateConcluded,
    Entry,
    StoppedBy,
    TurnAsked,
    TurnGiven,
    TurnSilent,
)
from service.debate.facts import UNUSABLE, Facts
from service.debate.kernel import unusable
from service.debate.model import Ask, Conclude, Measure, Outcome, SeatPlan, Turn, TurnId
from service.errors import IllegalEntry, StoreUnavailable
from service.policy import Calls
from service.prompts import Prompts
from service.running import selection, versions
from service.running.apart import CheckProcess
from service.running.attempt import Attempt, CallOutcome, ModelCaller
from service.running.backoff import Backoff
from service.running.checker import Checker
from service.running.lane import LONG, Lane
from service.running.log_port import AuditLog, EntrySignal, NoEntrySignal
from service.running.metrics import log_lost_attempts
from service.running.places import Place
from service.running.preparation import AttemptPreparer
from service.running.provider_port import Provider
from service.running.state import DebateState
from service.running.traces import outgoing

LOOK_S = 5.0
"""How often a debate in backoff reads what others recorded, when no notification comes."""


class Surroundings(Struct, frozen=True):
    """What a runner has of its worker.

    ``stopping`` and ``entries`` wake it: the worker is stopping, or others may have recorded something. Checks of long
    texts are made in ``apart``, and requests over long documents in ``lane``. ``places`` are those of `Place`.
    """

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    entries: EntrySignal = field(default_factory=NoEntrySignal)
    apart: CheckProcess | None = None
    lane: Lane | None = None
    places: asyncio.Semaphore | None = None


class Runner:
    """Runs one debate from its recorded entries to its conclusion."""

    def __init__(
        self,
        log: AuditLog,
        sources: Mapping[str, str],
        prompts: Prompts,
        providers: Mapping[str, Provider],
        *,
        calls: Calls = Calls(),  # noqa: B008 - frozen
        on_recorded: Callable[[str, Sequence[Entry]], None] | None = None,
        worker: Surroundings | None = None,
    ) -> None:
        self._log = log
        self._record = DebateState(log, self._start_calls)
        worker = worker or Surroundings()
        self._checker = Checker(sources, worker.apart, worker.lane.ready if worker.lane else None)
        self._place = Place(None if self._checker.is_long else worker.places)
        self._calling = ModelCaller(prompts, providers, sources)
        lane = worker.lane if sum(map(len, sources.values())) >= LONG else None
        self._intents = AttemptPreparer(log, self._record, self._calling, calls.unavailable_attempts, lane)
        self._pacing = Backoff(log, calls)
        self._on_recorded = on_recorded or _unused
        self._stopping, self._entries = worker.stopping, worker.entries
        self._ready: dict[TurnId, Attempt] = {}
        self._flying: dict[TurnId, asyncio.Task[CallOutcome]] = {}
        self._notified: asyncio.Task[None] | None = None

    @property
    def facts(self) -> Facts:
        """The facts of the debate so far, staged entries included."""
        return self._record.facts

    async def run(self, *, reclaimed: bool = False) -> Outcome | None:
        """Run the debate to its recorded outcome; ``None`` when the worker stopped and no call is in flight any more.

        A runner runs once. ``reclaimed`` says that the last worker lost its lease, which is logged with the charges of
        its lost calls.
        Raises `Fenced` when another worker has claimed the debate, and `AuditUnavailable` when the log cannot be
        written: the debate then stays as recorded until a worker claims it again.
        """
        record = self._record
        try:
            await self._place.take()
            await record.load()
            if reclaimed and not self.facts.open:
                log_lost_attempts(self._log.debate, ())
            record.settle_lost()
            self._stop_past_deadline()
            await record.flush()  # reservations are settled even if this worker lacks the prompts or a provider
            if not self.facts.stopped:  # a stopped debate makes no calls, so it can end without its prompts
                versions.require(self.facts.versions)
                self._calling.load_prompts(record.started.pins)
            return await self._play()
        finally:
            self._place.release()
            await self._cancel_calls()
            # Each holds the runner, which holds it: without them all of a debate is freed at once, by no search.
            self._notified, self._on_recorded = None, _unused
            self._record.close()

    async def fail(self, why: str, by: StoppedBy = "fault") -> Outcome | None:
        """Stop the debate, because of a recurring fault or a lost log, and conclude it with what is recorded."""
        try:
            await self._place.take()
            await self._record.load()
            self._record.settle_lost()
            self._record.stop(by, why)
            return await self._play()
        finally:
            self._place.release()

    async def _play(self) -> Outcome | None:
        while (outcome := self.facts.concluded) is None or self._record.staged:
            if self._stopping.is_set() and not self._flying and not self._record.staged:
                return None
            await self._step()
        return outcome

    async def _cancel_calls(self) -> None:
        """Cancel the calls in flight and the wait for notifications, and wait until they have ended."""
        tasks = [*self._flying.values(), *filter(None, (self._notified,))]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _step(self) -> None:
        """Perform as much of the next move as possible now; wait only for calls in flight."""
        self._stop_past_deadline()
        record, facts, wait_s = self._record, self.facts, None
        match record.move:
            case Measure(checks):
                record.stage(*[await self._checker.find(record.case, facts, check) for check in checks])
                return
            case Ask(turns) if given := [turn for turn in turns if turn.id in facts.given]:
                record.stage(*(_given(facts, turn) for turn in given))
                return
            case Ask(turns, holding) if not self._stopping.is_set():
                idle = [turn for turn in turns if turn.id not in facts.open]
                wait_s = await self._stage_asks(idle, holding) if idle else None
                if idle and wait_s is None:
                    return
            case Conclude(outcome) if not facts.open and facts.concluded is None:
                record.stage(DebateConcluded(outcome))
        await record.flush()
        if self._flying:
            await self._collect_replies(wait_s)
        elif wait_s is not None:
            await self._wait_backoff(wait_s)
        elif self.facts.open and not record.staged:
            raise IllegalEntry(f"attempts of {sorted(self.facts.open)} are open, but the worker of this epoch has none")

    def _stop_past_deadline(self) -> None:
        """Stop the debate once its deadline has passed."""
        if self._log.deadline_in_s is not None and self._log.deadline_in_s <= 0:
            self._record.stop("deadline", "the debate's deadline has passed")

    def _start_calls(self, entries: Sequence[Entry]) -> None:
        """Make the calls whose intents have just been recorded."""
        for entry in entries:
            if isinstance(entry, TurnAsked):
                attempt = self._ready.pop(entry.turn)
                call = self._calling.make(attempt, self.facts, self._deadline_in_s(entry.turn))
                with outgoing(entry):
                    self._flying[entry.turn] = asyncio.create_task(call, name=f"turn {entry.turn}")
        self._on_recorded(self._log.debate, entries)

    # -- asking

    async def _stage_asks(self, idle: Sequence[Turn], holding: Sequence[Turn]) -> float | None:
        """Stage the intents of the turns that can be asked now, or the entry that stands in their place.

        Returns the seconds to wait when no turn can be asked yet.
        """
        match selection.choose_step(self.facts, [(turn, self._choose_model(turn)) for turn in idle]):
            case TurnSilent() as silent:
                self._record.stage(silent)
            case int() | float() as wait_s:
                return wait_s
            case asked:
                for attempt in await self._intents.prepare(asked, holding):
                    self._ready[attempt.turn.id] = attempt
                    self._record.stage(attempt.asked)
        return None

    def _choose_model(self, turn: Turn) -> selection.Whom:
        def wait_s(plan: SeatPlan) -> float:
            return max(self._pacing.backoff_s(turn.id, plan.model), self._calling.backoff_s(plan))

        started, left_s = self._record.started, self._deadline_in_s(turn.id)
        bounds = selection.Bounds(self._pacing.backoff_max_s, self._pacing.unavailable_attempts)
        return selection.choose_model(self.facts, started, turn, left_s=left_s, wait_s=wait_s, bounds=bounds)

    def _deadline_in_s(self, turn: TurnId) -> float:
        return self._pacing.deadline_in_s(turn, self._record.started.turn_deadline_s)

    # -- waiting

    async def _collect_replies(self, wait_s: float | None) -> None:
        """Wait for a reply, the deadline, the end of a backoff or a notification; record every reply that has arrived.

        A notification changes nothing for calls in flight: their replies are recorded and charged, also in a stopped
        debate.
        """
        limits = [
            limit for limit in (None if self.facts.stopped else self._log.deadline_in_s, wait_s) if limit is not None
        ]
        done = await self._first_of(self._flying.values(), min(limits, default=None))
        for turn in sorted(turn for turn, task in self._flying.items() if task in done):
            self._settle_reply(turn, self._flying.pop(turn).result())
        if self._flying:
            await self._record.flush()
        if self._entries.poll():
            with suppress(StoreUnavailable):  # the next append finds out as well
                await self._record.read_others()

    async def _first_of(self, tasks: Collection[asyncio.Task[Any]], timeout: float | None) -> set[asyncio.Task[Any]]:
        """The finished tasks, once one has finished, a notification has come, or the time has passed."""
        notified = self._notified
        if notified is None or notified.done():  # otherwise the one of an earlier wait goes on
            notified = self._notified = asyncio.create_task(self._entries.wait())
        self._place.release()
        done, _ = await asyncio.wait((*tasks, notified), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        await self._place.take()
        return done - {notified}

    def _settle_reply(self, turn: TurnId, made: CallOutcome) -> None:
        entry = made.entry
        if isinstance(entry, AttemptFailed):
            self._pacing.attempt_failed(turn)
            if entry.reason not in UNUSABLE:
                model = self.facts.models[turn][-1]
                failures = len(self.facts.failures(turn, model)) + 1
                pause_s = self._pacing.back_off(turn, model, failures, made.retry_after_s)
                entry = replace(entry, pause_ms=round(pause_s * 1_000)) if entry.unavailable else entry
        self._record.stage(entry)

    async def _wait_backoff(self, wait_s: float) -> None:
        """Wait until a model may be called; read the records on a notification, and from time to time without one."""
        limits = [limit for limit in (wait_s, LOOK_S, self._log.deadline_in_s) if limit is not None]
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await self._first_of((stopped,), max(0.0, min(limits)))
        finally:
            stopped.cancel()
        if self._entries.poll() or self._record.last_read_s >= LOOK_S:
            with suppress(StoreUnavailable):
                await self._record.read_others()


def _unused(_debate: str, _entries: Sequence[Entry]) -> None:
    """Nothing more is done with what was recorded."""


def _given(facts: Facts, turn: Turn) -> TurnGiven | TurnSilent:
    """The entry of a turn whose reply the case gives; it stays silent where its format cannot use that reply."""
    reply = facts.given[turn.id]
    if why := unusable(facts, turn, reply):
        return TurnSilent(turn.id, f"the given reply cannot be used: {why}")
    return TurnGiven(turn.id, reply)
