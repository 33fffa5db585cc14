"""The one shell: performs the kernel's moves on the log, the ledger and the providers.

    Ask        count and fund the turns, compare the bytes on the wire with the pins, record the intents,
               call; record each reply with its charge as one entry as it arrives
    Measure    run the checks on what is recorded, and record what they find
    Conclude   record the outcome once no attempt is open

Nothing is called that is not recorded first, and whatever is due is recorded before the shell waits for anything. The
shell decides nothing: after every entry it asks the kernel again, with the same function that replay uses.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from msgspec.structs import replace

from service import budget, telemetry
from service.attempts import able
from service.budget import Ledger
from service.calling import Attempt, Calling, Made
from service.checking import Checker
from service.debate import kernel
from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    Charge,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSilent,
    kind,
)
from service.debate.facts import UNUSABLE, Facts
from service.debate.model import Ask, Case, Conclude, Measure, Outcome, SeatPlan, Turn, TurnId
from service.debate.money import MicroUSD
from service.errors import AuditUnavailable, Fenced, IllegalEntry, PromptMismatch, StoreUnavailable
from service.observe import tell_lost
from service.policy import Calls
from service.ports import AuditLog, News, Provider, Silence
from service.prompts import Prompts

LOOK_S = 5.0
"""How long a debate that waits to ask somebody again goes without a look at what others recorded and nobody told."""
TURNS_AHEAD = 3
"""How many further turns like the ones that are due a draw on the tenant's limits covers, while there is plenty."""


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
        stopping: asyncio.Event | None = None,
        news: News = Silence(),  # noqa: B008 - it holds nothing
    ) -> None:
        self._log = log
        self._checker = Checker(sources)
        self._calling = Calling(prompts, providers, sources)
        self._calls = calls
        self._on_recorded = on_recorded
        self._stopping = stopping or asyncio.Event()
        self._news = news
        self._entries: list[Entry] = []
        self._staged: list[Entry] = []
        self._staged_at: list[float] = []
        self._facts = Facts()
        self._ready: dict[TurnId, Attempt] = {}
        self._flying: dict[TurnId, asyncio.Task[Made]] = {}
        self._since: dict[TurnId, float] = {}
        self._not_before: dict[tuple[TurnId, str], float] = {}
        self._looked = time.monotonic()

    async def run(self, *, taken_over: bool = False) -> Outcome | None:
        """The outcome, once it is recorded; ``None`` when the worker is stopping and no call is under way any more.

        ``taken_over`` says that the debate's worker fell silent, which is told beside what its calls are charged.

        Raises `Fenced` when another worker has taken the debate over, and `AuditUnavailable` when the log cannot be
        written: the debate then waits as it is for whoever takes it up.
        """
        try:
            self._learn(await self._log.tail())
            if taken_over and not self._facts.open:
                tell_lost(self._log.debate, ())
            self._settle_lost()
            self._stop_late()
            await self._flush()  # money is not to stay held because this worker lacks the prompts or a provider
            if not self._facts.stopped:  # what is stopped asks nobody, so it can end without its prompts
                self._calling.take_prompts(self._started.pins)
            return await self._play()
        finally:
            await self._leave()

    async def give_up(self, why: str) -> Outcome | None:
        """Stop the debate because of a fault that comes back, and conclude it with what it has."""
        self._learn(await self._log.tail())
        self._settle_lost()
        if not self._facts.stopped and self._facts.concluded is None:
            self._stage(DebateStopped("fault", why))
        return await self._play()

    async def _play(self) -> Outcome | None:
        while (outcome := self._facts.concluded) is None or self._staged:
            if self._stopping.is_set() and not self._flying and not self._staged:
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
        wait_s = None
        match kernel.decide(self._facts):
            case Measure(checks):
                self._stage(*(self._checker.check(self._case, self._facts, check) for check in checks))
                return
            case Ask(turns, holding) if not self._stopping.is_set():
                idle = [turn for turn in turns if turn.id not in self._facts.open]
                wait_s = await self._ask(idle, holding) if idle else None
                if idle and wait_s is None:
                    return
            case Conclude(outcome) if not self._facts.open and self._facts.concluded is None:
                self._stage(DebateConcluded(outcome))
        await self._flush()
        if self._flying:
            await self._land(wait_s)
        elif wait_s is not None:
            await self._rest(wait_s)
        elif self._facts.open and not self._staged:
            raise IllegalEntry(
                f"attempts of {sorted(self._facts.open)} are open, but not with the worker of this epoch"
            )

    # -- what is known

    @property
    def facts(self) -> Facts:
        """What is known of the debate so far, with what is not recorded yet."""
        return self._facts

    @property
    def _started(self) -> DebateStarted:
        if self._facts.started is None:
            raise IllegalEntry(f"debate {self._log.debate} has no debate.started; it cannot be run")
        return self._facts.started

    @property
    def _case(self) -> Case:
        if self._facts.case is None:
            raise IllegalEntry(f"debate {self._log.debate} has no case.received; it cannot be run")
        return self._facts.case

    def _learn(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            kernel.refuse_illegal(self._facts, entry)
            self._know(entry)
            self._entries.append(entry)

    def _know(self, entry: Entry) -> None:
        self._facts.add(entry)

    def _stage(self, *entries: Entry, at: float | None = None) -> None:
        """Take entries for true that will be recorded before anything is waited for."""
        for entry in entries:
            kernel.refuse_illegal(self._facts, entry)
            self._know(entry)
            self._staged.append(entry)
            self._staged_at.append(time.time() if at is None else at)

    @property
    def _ledger(self) -> Ledger:
        ledger = self._log.ledger
        for entry in self._staged:
            ledger = ledger.add(entry)
        return ledger

    def _settle_lost(self) -> None:
        """Attempts whose worker died are charged what was held for them: nobody can know what they cost."""
        for turn, attempt in sorted(self._facts.open.items()):
            held = self._log.ledger.held[turn]
            detail = "the worker that made this call is gone; charged as held"
            self._stage(AttemptFailed(turn, attempt, "lost", detail, Charge(held, "reserved")))

    def _stop_late(self) -> None:
        """Ask nobody any more once the debate's deadline has passed."""
        overdue = self._log.left_s is not None and self._log.left_s <= 0
        if overdue and not self._facts.stopped and self._facts.concluded is None:
            self._stage(DebateStopped("deadline", "the debate's deadline has passed"))

    # -- recording

    async def _flush(self) -> None:
        """Record what is staged, and make the calls whose intents are recorded by that."""
        if not self._staged:
            return
        try:
            await self._log.append(self._staged, self._staged_at)
        except Fenced:
            await self._catch_up()
            return
        recorded, self._staged, self._staged_at = self._staged, [], []
        self._recorded(recorded)

    async def _catch_up(self) -> None:
        """Our append was refused: somebody else has appended, an abort, say."""
        if not await self._look():
            raise AuditUnavailable(
                "the log's head refuses an entry that the recorded entries allow; look at the head row"
            )

    async def _look(self) -> bool:
        """Learn what others have recorded, and keep what is still legal of what was staged; whether there was any."""
        await self._log.renew()
        tail = await self._log.tail()
        self._looked = time.monotonic()
        if not tail:
            return False
        staged, self._staged, self._staged_at = list(zip(self._staged, self._staged_at, strict=True)), [], []
        known = self._entries
        self._entries, self._facts = [], Facts()
        self._learn([*known, *tail])
        for entry, at in staged:
            try:
                self._stage(entry, at=at)
            except IllegalEntry:
                if isinstance(entry, TurnAsked):
                    del self._ready[entry.turn]
        return True

    def _recorded(self, entries: Sequence[Entry]) -> None:
        self._entries.extend(entries)
        if lost := [entry for entry in entries if isinstance(entry, AttemptFailed) and entry.reason == "lost"]:
            tell_lost(self._log.debate, lost)
        for failed in lost:
            telemetry.LOST.labels(self._facts.models[failed.turn][failed.attempt - 1]).inc()
        for entry in entries:
            telemetry.ENTRIES.labels(kind(entry)).inc()
            if isinstance(entry, TurnAsked):
                attempt = self._ready.pop(entry.turn)
                call = self._calling.make(attempt, self._facts, self._turn_left_s(entry.turn))
                self._flying[entry.turn] = asyncio.create_task(call, name=f"turn {entry.turn}")
        self._on_recorded(self._log.debate, entries)

    # -- asking

    async def _ask(self, idle: Sequence[Turn], holding: Sequence[Turn]) -> float | None:
        """Stage the intents of the turns that can be asked now, or what keeps them from being made.

        The seconds to wait come back when nobody can be asked yet. Turns that nobody has been asked for yet are asked
        together: they are funded together or refused together.
        """
        asked: list[tuple[Turn, SeatPlan]] = []
        waits: dict[TurnId, float] = {}
        for turn in idle:
            match self._whom(turn):
                case str(why):
                    self._stage(TurnSilent(turn.id, why))
                    return None
                case SeatPlan() as plan:
                    asked.append((turn, plan))
                case wait_s:
                    waits[turn.id] = wait_s
        if any(turn not in self._facts.attempts for turn in waits):
            asked = [(turn, plan) for turn, plan in asked if turn.id in self._facts.attempts]
        if not asked:
            return min(waits.values())
        await self._open(asked, holding)
        return None

    def _whom(self, turn: Turn) -> SeatPlan | float | str:
        """Who is to be asked now; or for how many seconds nobody can be; or why the seat is given up."""
        count = self._facts.attempts.get(turn.id, 0)
        tried = f"{count} attempt" if count == 1 else f"{count} attempts"
        plans = able(self._facts, turn.id, self._started.seat(turn.seat), self._started.attempts_per_turn)
        if not plans:
            return f"no usable reply in {tried}{self._last_failure(turn.id)}"
        left_s = self._turn_left_s(turn.id)
        if left_s <= 0:
            within = f"within {self._started.turn_deadline_s} seconds"
            return f"no usable reply {within}, in {tried}{self._last_failure(turn.id)}"
        wait_s = self._wait_s(turn, plans[0])
        if wait_s <= 0:
            return plans[0]
        if len(plans) > 1 and wait_s > self._calls.backoff_max_ms / 1_000:
            wait_s = min(wait_s, other_s := self._wait_s(turn, plans[1]))
            if other_s <= 0:
                return plans[1]
        if wait_s >= left_s:  # waiting would only keep everybody else
            return f"nobody may be asked for {wait_s:.0f} seconds, and {left_s:.0f} are left; {tried}"
        return wait_s

    def _last_failure(self, turn: TurnId) -> str:
        failed = self._facts.failed.get(turn)
        return f"; the last ended as {failed[-1].reason}" if failed else ""

    def _wait_s(self, turn: Turn, plan: SeatPlan) -> float:
        """Seconds for which a model is not to be asked: its pause after a failure, or its vendor's."""
        pause_s = self._not_before.get((turn.id, plan.model), 0.0) - time.monotonic()
        return max(pause_s, self._calling.paused_s(plan))

    def _turn_left_s(self, turn: TurnId) -> float:
        """Seconds until a turn is given up, counted from when anybody first asked it, or this worker first meant to."""
        now = time.monotonic()
        meant_s = now - self._since.setdefault(turn, now)
        return self._started.turn_deadline_s - max(meant_s, self._log.asked_s(turn))

    async def _open(self, asked: Sequence[tuple[Turn, SeatPlan]], holding: Sequence[Turn]) -> None:
        """Stage these intents, or what keeps them from being made: all are funded or none."""
        attempts = []
        try:
            for turn, plan in asked:
                if (attempt := self._fitting(turn, plan)) is None:
                    return
                attempts.append(attempt)
        except PromptMismatch as mismatch:
            telemetry.PROMPT_MISMATCHES.inc()
            self._stage(DebateStopped("promptMismatch", mismatch.detail))
            return
        if await self._funded(attempts, holding):
            for attempt in attempts:
                self._ready[attempt.turn.id] = attempt
                self._stage(attempt.asked)

    def _fitting(self, turn: Turn, plan: SeatPlan) -> Attempt | None:
        """The attempt at the first model that can read the request; ``None`` when the seat is given up for that."""
        plans = able(self._facts, turn.id, self._started.seat(turn.seat), self._started.attempts_per_turn)
        tokens = 0
        for candidate in (plan, *(p for p in plans if p.model != plan.model)):
            attempt = self._calling.prepare(self._case, self._facts, turn, candidate)
            if budget.fits(attempt.asked.input_tokens, candidate):
                because = self._because(turn, plan, candidate)
                return replace(attempt, asked=replace(attempt.asked, because=because)) if because else attempt
            tokens = attempt.asked.input_tokens
        self._stage(TurnSilent(turn.id, f"contextTooLong: {tokens} tokens"))
        return None

    def _because(
        self, turn: Turn, meant: SeatPlan, asked: SeatPlan
    ) -> Literal["failed", "paused", "contextTooLong"] | None:
        """Why a seat's fallback is asked and not its own model; ``None`` for that one itself."""
        own = self._started.seat(turn.seat)
        if asked.model == own.model:
            return None
        if meant.model == own.model:
            return "contextTooLong"
        first = able(self._facts, turn.id, own, self._started.attempts_per_turn)[0]
        return "paused" if first.model == own.model else "failed"

    async def _funded(self, attempts: Sequence[Attempt], holding: Sequence[Turn]) -> bool:
        """Whether these attempts and their closing turns are funded; what refuses them is staged.

        What the debate has drawn from its tenant's limits must cover them too. What is staged is recorded before a
        draw: a refused draw must not keep a paid reply from being recorded, and the head then holds what we count.
        """
        held = [attempt.asked.held for attempt in attempts]
        closing = [self._calling.closing_cost(self._case, self._facts, turn) for turn in holding]
        refusal = self._ledger.refuse(held, closing)
        facts = self._facts
        if refusal is None and (short := sum(held) + sum(closing) - self._grant_left) > 0:
            await self._flush()
            if self._facts is not facts:  # somebody else had written: ask the kernel again
                return False
            ahead = min(TURNS_AHEAD * sum(held), self._ledger.left - sum(held) - sum(closing))
            try:
                refusal = await self._log.draw(short, short + max(0, ahead))
            except Fenced:
                await self._catch_up()
                return False
        if refusal:
            telemetry.REFUSALS.labels(refusal.limit).inc()
            turns = tuple(attempt.turn.id for attempt in attempts)
            self._stage(BudgetRefused(turns, refusal.limit, refusal.needed, refusal.left))
        return refusal is None

    @property
    def _grant_left(self) -> MicroUSD:
        """What is left of the money that the debate has been granted."""
        ledger = self._ledger
        return ledger.left - ledger.ceiling + self._log.granted

    # -- waiting

    async def _land(self, wait_s: float | None) -> None:
        """Wait for the first reply, the deadline, the end of a pause, or news; record every reply that is there.

        News change nothing for the calls under way: they land, and are charged, also in a debate that was stopped.
        """
        limits = [limit for limit in (None if self._facts.stopped else self._log.left_s, wait_s) if limit is not None]
        done = await self._first_of(self._flying.values(), min(limits, default=None))
        for turn in sorted(turn for turn, task in self._flying.items() if task in done):
            self._landed(turn, self._flying.pop(turn).result())
        if self._flying:
            await self._flush()
        if self._news.heard():
            with suppress(StoreUnavailable):  # whoever appends finds out as well
                await self._look()

    async def _first_of(self, tasks: Collection[asyncio.Task[Any]], timeout: float | None) -> set[asyncio.Task[Any]]:
        """Those of these that are done, once one is, or there is news, or the time is over."""
        news = asyncio.create_task(self._news.wait())
        try:
            done, _ = await asyncio.wait((*tasks, news), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        return done - {news}

    def _landed(self, turn: TurnId, made: Made) -> None:
        self._stage(made.entry)
        if isinstance(made.entry, AttemptFailed) and made.entry.reason not in UNUSABLE:
            model = self._facts.models[turn][-1]
            pause_s = max(made.retry_after_s, self._pause_s(len(self._facts.failures(turn, model))))
            self._not_before[turn, model] = time.monotonic() + pause_s

    def _pause_s(self, failures: int) -> float:
        """A pause drawn at random below a bound that doubles with each failure, so that no two workers keep step."""
        most = min(self._calls.backoff_ms * 2 ** min(failures - 1, 20), self._calls.backoff_max_ms)
        return secrets.randbelow(most + 1) / 1_000

    async def _rest(self, wait_s: float) -> None:
        """Wait until somebody may be asked again; look when there is news, and now and then, whether all has ended."""
        limits = [limit for limit in (wait_s, LOOK_S, self._log.left_s) if limit is not None]
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await self._first_of((stopped,), max(0.0, min(limits)))
        finally:
            stopped.cancel()
        if self._news.heard() or time.monotonic() - self._looked >= LOOK_S:
            with suppress(StoreUnavailable):
                await self._look()
