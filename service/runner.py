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
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from service import budget, citations, judgement, telemetry
from service.budget import Ledger
from service.debate import kernel
from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    Charge,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
    kind,
)
from service.debate.facts import Facts
from service.debate.findings import Citation, CitationsFound, CitationVerdict, Finding
from service.debate.model import Ask, Case, Check, Conclude, Measure, Outcome, SeatPlan, Turn, TurnId
from service.debate.money import MicroUSD
from service.debate.replies import Critique, Proposal, Reply
from service.decoding import decode_reply
from service.errors import AuditUnavailable, Fenced, IllegalEntry, PromptMismatch, SettingsError
from service.ports import Answer, AuditLog, CallFailed, Provider
from service.prompts import Prompts, verify_schema, verify_wire
from service.prompts.render import introduced, render
from service.prompts.request import Request, encode, text_of

SAID_MAX = 20_000
"""How much is kept of what came back and could not be used, in characters."""
LOST_MAX = 10
"""How many attempts of one turn may be lost with their workers, or fail, beyond those that the policy allows: a turn
that takes down whoever asks it must not be asked for ever."""


class _Call(Struct):
    """An attempt that is ready to be made: its recorded intent and what goes on the wire."""

    asked: TurnAsked
    turn: Turn
    plan: SeatPlan
    body: bytes


class Runner:
    """Runs one debate from whatever is recorded of it to its conclusion."""

    def __init__(
        self,
        log: AuditLog,
        sources: Mapping[str, str],
        prompts: Prompts,
        providers: Mapping[str, Provider],
        *,
        on_recorded: Callable[[str, Sequence[Entry]], None] = lambda _debate, _entries: None,
        stopping: asyncio.Event | None = None,
    ) -> None:
        self._log = log
        self._sources = sources
        self._prompts = prompts
        self._providers = providers
        self._on_recorded = on_recorded
        self._stopping = stopping or asyncio.Event()
        self._entries: list[Entry] = []
        self._staged: list[Entry] = []
        self._facts = Facts()
        self._calls: dict[TurnId, _Call] = {}
        self._flying: dict[TurnId, asyncio.Task[TurnSpoke | AttemptFailed]] = {}
        self._failures: dict[TurnId, int] = {}
        self._verifiers: dict[tuple[str, ...], citations.Sources] = {}

    async def run(self) -> Outcome | None:
        """The outcome, once it is recorded; ``None`` when the worker is stopping and no call is under way any more.

        Raises `Fenced` when another worker has taken the debate over, and `AuditUnavailable` when the log cannot be
        written: the debate then waits as it is for whoever takes it up.
        """
        try:
            self._learn(await self._log.tail())
            if not self._facts.stopped:  # what is stopped asks nobody, so it can end without its prompts
                self._prompts = self._prompts.at(self._started.pins)
            self._settle_lost()
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
        if self._overdue and not self._facts.stopped and self._facts.concluded is None:
            self._stage(DebateStopped("deadline", "the debate's deadline has passed"))
        move = kernel.decide(self._facts)
        match move:
            case Measure(checks):
                self._stage(*(self._check(check) for check in checks))
                return
            case Ask(turns, holding) if not self._stopping.is_set():
                if due := [turn for turn in turns if turn.id not in self._facts.open]:
                    self._open(due, holding)
                    return
            case Conclude(outcome) if not self._facts.open and self._facts.concluded is None:
                self._stage(DebateConcluded(outcome))
        await self._flush()
        if self._flying:
            await self._land()
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
        if isinstance(entry, AttemptFailed) and entry.reason != "lost":
            worth = self._started.attempts_per_turn if entry.final else 1
            self._failures[entry.turn] = self._failures.get(entry.turn, 0) + worth

    def _stage(self, *entries: Entry) -> None:
        """Take entries for true that will be recorded before anything is waited for."""
        for entry in entries:
            kernel.refuse_illegal(self._facts, entry)
            self._know(entry)
            self._staged.append(entry)

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

    # -- recording

    async def _flush(self) -> None:
        """Record what is staged, and make the calls whose intents are recorded by that."""
        if not self._staged:
            return
        try:
            await self._log.append(self._staged)
        except Fenced:
            await self._catch_up()
            return
        recorded, self._staged = self._staged, []
        self._recorded(recorded)

    @property
    def _overdue(self) -> bool:
        return self._log.left_s is not None and self._log.left_s <= 0

    async def _catch_up(self) -> None:
        """Somebody else has appended (an abort, say): learn it, and keep what is still legal of what was staged."""
        await self._log.renew()
        tail = await self._log.tail()
        if not tail:
            raise AuditUnavailable(
                "the log's head refuses an entry that the recorded entries allow; look at the head row"
            )
        staged, self._staged = self._staged, []
        known = self._entries
        self._entries, self._facts, self._failures = [], Facts(), {}
        self._learn([*known, *tail])
        for entry in staged:
            try:
                self._stage(entry)
            except IllegalEntry:
                if isinstance(entry, TurnAsked):
                    del self._calls[entry.turn]

    def _recorded(self, entries: Sequence[Entry]) -> None:
        self._entries.extend(entries)
        for entry in entries:
            telemetry.ENTRIES.labels(kind(entry)).inc()
            if isinstance(entry, TurnAsked):
                call = self._calls.pop(entry.turn)
                self._flying[entry.turn] = asyncio.create_task(self._call(call), name=f"turn {entry.turn}")
        self._on_recorded(self._log.debate, entries)

    # -- asking

    def _open(self, due: Sequence[Turn], holding: Sequence[Turn]) -> None:
        """Stage the intents of these turns, or what keeps them from being made: all are funded or none."""
        for turn in due:
            tried, allowed = self._facts.attempts.get(turn.id, 0), self._started.attempts_per_turn
            if self._failures.get(turn.id, 0) >= allowed or tried >= allowed + LOST_MAX:
                self._stage(TurnSilent(turn.id, f"no usable reply in {tried} attempts"))
                return
        try:
            calls = [self._prepare(turn) for turn in due]
        except PromptMismatch as mismatch:
            telemetry.PROMPT_MISMATCHES.inc()
            self._stage(DebateStopped("promptMismatch", mismatch.detail))
            return
        for call in calls:
            if not budget.fits(call.asked.input_tokens, call.plan):
                self._stage(TurnSilent(call.turn.id, f"contextTooLong: {call.asked.input_tokens} tokens"))
                return
        held = [call.asked.held for call in calls]
        if refusal := self._ledger.refuse(held, [self._closing_cost(turn) for turn in holding]):
            telemetry.REFUSALS.labels(refusal.limit).inc()
            self._stage(BudgetRefused(tuple(t.id for t in due), refusal.limit, refusal.needed, refusal.left))
            return
        for call in calls:
            self._calls[call.turn.id] = call
            self._stage(call.asked)

    def _prepare(self, turn: Turn) -> _Call:
        """An attempt's wire body, checked against the pins, with its worst case; raises `PromptMismatch`."""
        plan = self._started.seat(turn.seat)
        request = self._render(turn)
        provider = self._provider(plan)
        body = provider.encode(request)
        told = provider.spoken(body)
        verify_wire(self._prompts, told.messages, (turn.seat, *turn.fragments))
        verify_schema(self._prompts, turn.seat, told.reply_schema)
        salt = secrets.token_bytes(16)
        tokens = budget.count_tokens(text_of(request), plan.tokenizer)
        asked = TurnAsked(
            turn=turn.id,
            attempt=self._facts.attempts.get(turn.id, 0) + 1,
            model=plan.model,
            request_salt=salt.hex(),
            request_hash=sha256(salt + encode(request)).hexdigest(),
            input_tokens=tokens,
            held=budget.worst_case(tokens, plan),
        )
        return _Call(asked, turn, plan, body)

    def _provider(self, plan: SeatPlan) -> Provider:
        if plan.provider not in self._providers:
            raise SettingsError(
                f"expected provider {plan.provider!r} with this worker, as debate {self._log.debate} began with, "
                f"found {sorted(self._providers)}; finish the debate under a policy that has it, or abort it"
            )
        return self._providers[plan.provider]

    def _render(self, turn: Turn) -> Request:
        return render(self._prompts, self._case, self._sources, self._facts, turn)

    def _closing_cost(self, turn: Turn) -> MicroUSD:
        """The worst case of a closing turn: what was said as it will be shown, what was not by its seat's allowance."""
        plan = self._started.seat(turn.seat)
        said = tuple(t for t in turn.sees if t in self._facts.said)
        tokens = budget.count_tokens(text_of(self._render(replace(turn, sees=said))), plan.tokenizer)
        for missing in (t for t in turn.sees if t not in self._facts.said):
            tokens += budget.shown_tokens(self._started.seat(missing.split(".")[1]).allowance)
        return budget.worst_case(tokens, plan)

    # -- calling

    async def _call(self, call: _Call) -> TurnSpoke | AttemptFailed:
        """One attempt, as the entry that it becomes, whatever happens: it is recorded as asked, so it must end."""
        begun = time.perf_counter()
        try:
            answer = await self._provider(call.plan).send(call.body)
            return self._read(call, answer)
        except CallFailed as failure:
            return self._failed(call, failure)
        except Exception as fault:  # noqa: BLE001 - an adapter broke its promise; what it cost nobody can know
            telemetry.LOG.exception("a provider's adapter failed", extra={"model": call.plan.model})
            return self._failed(call, CallFailed("providerFault", f"the adapter failed with {type(fault).__name__}"))
        finally:
            telemetry.CALL_SECONDS.labels(call.plan.model, call.plan.seat).observe(time.perf_counter() - begun)

    def _failed(self, call: _Call, failure: CallFailed) -> AttemptFailed:
        asked, answer = call.asked, failure.answer
        usage = answer.usage if answer else None
        cost = budget.charge(usage, asked.held, call.plan.price) if failure.billable else Charge(0, "none")
        telemetry.ATTEMPTS_FAILED.labels(call.plan.model, failure.reason).inc()
        failed = AttemptFailed(asked.turn, asked.attempt, failure.reason, failure.detail, cost, final=not failure.retry)
        return _with_answer(failed, answer) if answer else failed

    def _read(self, call: _Call, answer: Answer) -> TurnSpoke | AttemptFailed:
        """A reply is decoded strictly; one that cannot be used is a failed attempt, charged like any other."""
        asked = call.asked
        cost = budget.charge(answer.usage, asked.held, call.plan.price)
        if cost.excess:
            telemetry.OVERRUNS.labels(call.plan.model).inc()
        reply = decode_reply(call.turn.seat, answer.text)
        why = reply if isinstance(reply, str) else kernel.unusable(self._facts, call.turn, reply)
        if isinstance(reply, str) or why:
            telemetry.ATTEMPTS_FAILED.labels(call.plan.model, "malformedReply").inc()
            return _with_answer(AttemptFailed(asked.turn, asked.attempt, "malformedReply", str(why), cost), answer)
        return TurnSpoke(
            asked.turn,
            asked.attempt,
            reply,
            cost,
            answer.raw_usage,
            answer.served_model,
            answer.request_id,
            answer.fingerprint,
        )

    async def _land(self) -> None:
        """Wait for the first reply, or for the deadline, and record every reply that is there."""
        timeout = None if self._facts.stopped else self._log.left_s
        done, _ = await asyncio.wait(self._flying.values(), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if not done and not self._facts.stopped:
            self._stage(DebateStopped("deadline", "the debate's deadline has passed"))
        for turn in sorted(turn for turn, task in self._flying.items() if task in done):
            self._stage(self._flying.pop(turn).result())
        if self._flying:
            await self._flush()

    # -- judging

    def _check(self, check: Check) -> CheckFound:
        engine = citations.ENGINE if check.kind == "citations" else judgement.ENGINE
        return CheckFound(check.id, engine, self._finding(check))

    def _finding(self, check: Check) -> Finding:
        said = {turn: self._facts.said[turn] for turn in check.over}
        match check.kind:
            case "citations":
                return judgement.judge_citations(said, self._verifier(Turn(check.over[0], "").round))
            case "critique":
                return self._critique(said)
            case "injection":
                return judgement.judge_injection(self._sources)
        raise IllegalEntry(f"check {check.id} is of kind {check.kind}, which no format here asks for")

    def _critique(self, said: Mapping[TurnId, Reply]) -> Finding:
        """The last turn is the critique that is judged; the rest is what it attacks and its author's earlier ones."""
        *_, (turn, critique) = said.items()
        earlier = [r for t, r in said.items() if isinstance(r, Critique) and t != turn]
        proposals = [r for r in said.values() if isinstance(r, Proposal)]
        found = self._facts.found.get(f"{turn}/citations")
        verdicts = found.arguments if isinstance(found, CitationsFound) else ()
        if not isinstance(critique, Critique):
            raise IllegalEntry(f"turn {turn} is not a critique")
        return judgement.judge_critique(proposals, earlier, critique, verdicts)

    def _verifier(self, round_: int) -> Callable[[Citation], CitationVerdict]:
        """Checks citations against the documents that a round's seats were given, and no others."""
        given = introduced(self._case, round_)
        if given not in self._verifiers:
            self._verifiers[given] = citations.Sources({d: self._sources[d] for d in given})
        return lambda citation: citations.check(citation, self._verifiers[given])


def _with_answer(failed: AttemptFailed, answer: Answer) -> AttemptFailed:
    """A failed attempt with what came back all the same."""
    return replace(
        failed,
        usage=answer.raw_usage,
        request_id=answer.request_id,
        served_model=answer.served_model,
        fingerprint=answer.fingerprint,
        said=answer.text[:SAID_MAX] or None,
    )
