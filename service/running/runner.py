"""The one shell: performs the kernel's moves on the log, the ledger and the providers.

    Ask        count and fund the turns, compare the bytes on the wire with the pins, record the intents,
               call; record each reply with its charge as one entry as it arrives
    Measure    run the checks on what is recorded, and record what they find
    Conclude   record the outcome once no attempt is open

Nothing is called that is not recorded first, and whatever is due is recorded before the shell waits for anything. The
shell decides nothing: after every entry it asks the kernel again, with the same function that replay uses. What it
knows and stages is in `service/running/state.py`, whom it asks in `service/running/selection.py`, how long it waits in
`service/running/backoff.py`, what an attempt needs before it is recorded in `service/running/preparation.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct, field

from service.debate import kernel
from service.debate.entries import AttemptFailed, DebateConcluded, Entry, TurnAsked, TurnSilent
from service.debate.facts import UNUSABLE, Facts
from service.debate.model import Ask, Conclude, Measure, Outcome, SeatPlan, Turn, TurnId
from service.errors import IllegalEntry, StoreUnavailable
from service.policy import Calls
from service.prompts import Prompts
from service.running import selection, versions
from service.running.attempt import Attempt, Calling, Made
from service.running.backoff import Pacing
from service.running.checker import Checker
from service.running.log_port import AuditLog, News, Silence
from service.running.metrics import tell_lost
from service.running.preparation import Intents
from service.running.provider_port import Provider
from service.running.state import Recording

LOOK_S = 5.0
"""How long a debate that waits to ask somebody again goes without a look at what others recorded and nobody told."""


class Signals(Struct, frozen=True):
    """What ends a runner's waits from outside: its worker is stopping, or others may have recorded something."""

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    news: News = field(default_factory=Silence)


class Runner:
    """Runs one debate from whatever is recorded of it to its conclusion."""

    def __init__(
        self,
        log: AuditLog,
        sources: Mapping[str, str],
        prompts: Prompts,
        providers: Mapping[str, Provider],
        *,
        calls: Calls = Calls(),  # noqa: B008 - frozen
        on_recorded: Callable[[str, Sequence[Entry]], None] = lambda _debate, _entries: None,
        signals: Signals | None = None,
    ) -> None:
        self._log = log
        self._record = Recording(log, self._recorded)
        self._checker = Checker(sources)
        self._calling = Calling(prompts, providers, sources)
        self._intents = Intents(log, self._record, self._calling)
        self._pacing = Pacing(log, calls)
        self._on_recorded = on_recorded
        signals = signals or Signals()
        self._stopping, self._news = signals.stopping, signals.news
        self._ready: dict[TurnId, Attempt] = {}
        self._flying: dict[TurnId, asyncio.Task[Made]] = {}

    @property
    def facts(self) -> Facts:
        """What is known of the debate so far, with what is not recorded yet."""
        return self._record.facts

    async def run(self, *, taken_over: bool = False) -> Outcome | None:
        """The outcome, once it is recorded; ``None`` when the worker is stopping and no call is under way any more.

        ``taken_over`` says that the debate's worker fell silent, which is told beside what its calls are charged.

        Raises `Fenced` when another worker has taken the debate over, and `AuditUnavailable` when the log cannot be
        written: the debate then waits as it is for whoever takes it up.
        """
        record = self._record
        try:
            await record.load()
            if taken_over and not self.facts.open:
                tell_lost(self._log.debate, ())
            record.settle_lost()
            self._stop_late()
            await record.flush()  # money is not to stay held because this worker lacks the prompts or a provider
            if not self.facts.stopped:  # what is stopped asks nobody, so it can end without its prompts
                versions.require(self.facts.versions)
                self._calling.take_prompts(record.started.pins)
            return await self._play()
        finally:
            await self._leave()

    async def give_up(self, why: str) -> Outcome | None:
        """Stop the debate because of a fault that comes back, and conclude it with what it has."""
        await self._record.load()
        self._record.settle_lost()
        self._record.stop("fault", why)
        return await self._play()

    async def _play(self) -> Outcome | None:
        while (outcome := self.facts.concluded) is None or self._record.staged:
            if self._stopping.is_set() and not self._flying and not self._record.staged:
                return None
            await self._step()
        return outcome

    async def _leave(self) -> None:
        """Call off what is under way, and wait until it has gone."""
        for task in self._flying.values():
            task.cancel()
        await asyncio.gather(*self._flying.values(), return_exceptions=True)

    async def _step(self) -> None:
        """Perform as much of the next move as can be done now; wait only for what is under way."""
        self._stop_late()
        record, facts, wait_s = self._record, self.facts, None
        match kernel.decide(facts):
            case Measure(checks):
                record.stage(*(self._checker.check(record.case, facts, check) for check in checks))
                return
            case Ask(turns, holding) if not self._stopping.is_set():
                idle = [turn for turn in turns if turn.id not in facts.open]
                wait_s = await self._ask(idle, holding) if idle else None
                if idle and wait_s is None:
                    return
            case Conclude(outcome) if not facts.open and facts.concluded is None:
                record.stage(DebateConcluded(outcome))
        await record.flush()
        if self._flying:
            await self._land(wait_s)
        elif wait_s is not None:
            await self._rest(wait_s)
        elif self.facts.open and not record.staged:
            raise IllegalEntry(f"attempts of {sorted(self.facts.open)} are open, but not with the worker of this epoch")

    def _stop_late(self) -> None:
        """Ask nobody any more once the debate's deadline has passed."""
        if self._log.left_s is not None and self._log.left_s <= 0:
            self._record.stop("deadline", "the debate's deadline has passed")

    def _recorded(self, entries: Sequence[Entry]) -> None:
        """Make the calls whose intents have just been recorded."""
        for entry in entries:
            if isinstance(entry, TurnAsked):
                attempt = self._ready.pop(entry.turn)
                call = self._calling.make(attempt, self.facts, self._left_s(entry.turn))
                self._flying[entry.turn] = asyncio.create_task(call, name=f"turn {entry.turn}")
        self._on_recorded(self._log.debate, entries)

    # -- asking

    async def _ask(self, idle: Sequence[Turn], holding: Sequence[Turn]) -> float | None:
        """Stage the intents of the turns that can be asked now, or what keeps them from being made.

        The seconds to wait come back when nobody can be asked yet.
        """
        match selection.together(self.facts, [(turn, self._whom(turn)) for turn in idle]):
            case TurnSilent() as silent:
                self._record.stage(silent)
            case int() | float() as wait_s:
                return wait_s
            case asked:
                for attempt in await self._intents.prepare(asked, holding):
                    self._ready[attempt.turn.id] = attempt
                    self._record.stage(attempt.asked)
        return None

    def _whom(self, turn: Turn) -> selection.Whom:
        def wait_s(plan: SeatPlan) -> float:
            return max(self._pacing.pause_s(turn.id, plan.model), self._calling.paused_s(plan))

        started, left_s = self._record.started, self._left_s(turn.id)
        pause_max_s = self._pacing.pause_max_s
        return selection.whom(self.facts, started, turn, left_s=left_s, wait_s=wait_s, pause_max_s=pause_max_s)

    def _left_s(self, turn: TurnId) -> float:
        return self._pacing.left_s(turn, self._record.started.turn_deadline_s)

    # -- waiting

    async def _land(self, wait_s: float | None) -> None:
        """Wait for the first reply, the deadline, the end of a pause, or news; record every reply that is there.

        News change nothing for the calls under way: they land, and are charged, also in a debate that was stopped.
        """
        limits = [limit for limit in (None if self.facts.stopped else self._log.left_s, wait_s) if limit is not None]
        done = await self._first_of(self._flying.values(), min(limits, default=None))
        for turn in sorted(turn for turn, task in self._flying.items() if task in done):
            self._landed(turn, self._flying.pop(turn).result())
        if self._flying:
            await self._record.flush()
        if self._news.heard():
            with suppress(StoreUnavailable):  # whoever appends finds out as well
                await self._record.look()

    async def _first_of(self, tasks: Collection[asyncio.Task[Any]], timeout: float | None) -> set[asyncio.Task[Any]]:
        """Those of these that are done, once one is, or there is news, or the time is over."""
        news = asyncio.create_task(self._news.wait())
        try:
            done, _ = await asyncio.wait((*tasks, news), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        return done - {news}

    def _landed(self, turn: TurnId, made: Made) -> None:
        self._record.stage(made.entry)
        if not isinstance(made.entry, AttemptFailed):
            return
        self._pacing.tried(turn)
        if made.entry.reason not in UNUSABLE:
            model = self.facts.models[turn][-1]
            failures = len(self.facts.failures(turn, model))
            self._pacing.failed(turn, model, failures, made.retry_after_s)

    async def _rest(self, wait_s: float) -> None:
        """Wait until somebody may be asked again; look when there is news, and now and then, whether all has ended."""
        limits = [limit for limit in (wait_s, LOOK_S, self._log.left_s) if limit is not None]
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await self._first_of((stopped,), max(0.0, min(limits)))
        finally:
            stopped.cancel()
        if self._news.heard() or self._record.unseen_s >= LOOK_S:
            with suppress(StoreUnavailable):
                await self._record.look()
