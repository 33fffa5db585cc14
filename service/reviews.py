"""What a calling system can do: submit a case, ask the gate, follow a debate, abort it, read what it came to."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from service import intake, telemetry, versions
from service.aborting import Aborted, stop
from service.audit.record import SALT_BYTES, Actor, Context, Place, Record, Writer, commit, encode_context, leaf_hash
from service.board import Board, ends
from service.debate.entries import (
    CaseReceived,
    DebateStarted,
    Entry,
    GateDecided,
    GateDecision,
)
from service.debate.model import Case, Status
from service.debate.money import MicroUSD
from service.errors import AuditUnavailable, BudgetExhausted, IdempotencyKeyReused, QueueFull, StoreUnavailable
from service.intake import Deployment, Prepared, costs
from service.intake.fingerprint import fingerprint
from service.intake.quote import Quote, quote
from service.intake.ranking import Standing
from service.intake.request import CaseRequest, GateRequest, document_ids
from service.listening import Listening
from service.report import Line, Result, result
from service.store import spend
from service.store.idempotency import IdempotencyKey, UnderWay, find_keyed
from service.store.log import read_documents, read_head, read_records
from service.store.logs import Logs
from service.store.pool import Database
from service.store.recall import standings
from service.store.sealing import NewDebate, open_debate, seal_entry, uuid7
from service.store.waiting import Waiting
from service.tails import Tail

HOLD_S = 3.0
"""How long an answer waits for its proof before its caller is told to come back."""
DECLINED_N = 1
"""The number of a declined case's last entry: the decision."""


class Caller(Struct, frozen=True):
    """On whose behalf something is done. Until identities are configured there is one: ``local`` of ``default``."""

    tenant: str = "default"
    subject: str = "local"
    role: str = "operator"
    kind: Literal["person", "service", "unknown"] = "unknown"
    via: Literal["keyboard", "databaseRole", "none"] = "none"

    @property
    def actor(self) -> Actor:
        """The caller as records name whoever did something."""
        return Actor(self.subject, self.kind, self.role, self.via)


class Submitted(Struct, frozen=True):
    """A recorded case: queued for debate, or declined; one that was ``replayed`` came before, and is wherever it is.

    The ``decision`` of one that came before is told only where there is nothing else to tell: where it was declined.
    """

    debate: str
    status: Status
    decision: GateDecision | None
    replayed: bool = False


class Summary(Struct, frozen=True):
    """A debate in a list: what it is and where it stands, by the working state that its head row holds."""

    debate: str
    task_type: str
    format: str | None
    status: Status
    created: datetime


class Reviews:
    """The service's operations, on one database, under one deployment.

    What was decided leaves the house when a signed head of the log covers it, and not before; ``held`` False lets it go
    at once, which is for looking at a database whose sequencer is not at work. ``show`` hears of the head (log, size,
    root) that an answer rests on.
    """

    def __init__(
        self,
        database: Database,
        deployment: Callable[[], Deployment],
        board: Board,
        logs: Logs,
        *,
        held: bool = True,
        show: Callable[[str, int, bytes], None] = lambda _log, _size, _root: None,
    ) -> None:
        self._database = database
        self._listening = Listening(database, board, held=held, show=show)
        self._logs = logs
        self._held = held
        self._deployment = deployment
        self._board = board
        self._waiting = Waiting(database)
        self._under_way = UnderWay()

    @property
    def deployment(self) -> Deployment:
        """What runs now; prices are those of today."""
        return self._deployment()

    def decide(self, request: GateRequest, caller: Caller) -> GateDecision:
        """The gate's decision alone: nothing is stored but a metric."""
        deployment = self._deployment()
        decision = intake.decide(request, deployment.policy, deployment.day, caller.role, deployment.prompts)
        _count(request.task_type, decision)
        return decision

    async def submit(self, request: CaseRequest, caller: Caller) -> Submitted:
        """Check the case, decide, and record it whole: case, decision and, unless declined, all that is fixed.

        Raises `InvalidCase` and its kind, `BudgetExhausted` and `QueueFull`, with nothing written, and
        `AuditUnavailable`; `NotProvable` for a declined case whose answer has to be held.
        """
        submitted = await self.record(request, caller)
        await self.prove(submitted)
        return submitted

    async def record(self, request: CaseRequest, caller: Caller, key: str | None = None) -> Submitted:
        """The same before anything is told of it. Under one ``key`` a tenant's case is recorded once.

        Raises `IdempotencyKeyReused` for another case under a key that was used.
        """
        kept = IdempotencyKey.of(key, await asyncio.to_thread(fingerprint, request)) if key is not None else None
        if kept is not None and (before := await self._before(kept, caller)):
            return before
        deployment = self._deployment()
        try:
            with _reaching("the audit log"), self._under_way.recording(caller.tenant, kept):
                async with self._waiting.place(caller.tenant, deployment.policy.queue):
                    return await self._recorded(request, caller, deployment, kept)
        except (QueueFull, BudgetExhausted):  # the place, or the money, may be what the very same case has
            if kept is not None:
                await self._under_way.recorded(caller.tenant, kept)
                if before := await self._before(kept, caller):
                    return before
            raise

    async def _recorded(
        self, request: CaseRequest, caller: Caller, deployment: Deployment, kept: IdempotencyKey | None
    ) -> Submitted:
        log = await self._logs.current(caller.tenant)
        standings = await self._standings(request, deployment, caller)
        # In a thread: counting the tokens of long documents takes too long for whoever else is being answered.
        prepared, new, entries = await asyncio.to_thread(_prepared, request, deployment, caller, log, standings)
        if prepared.decision.debate:
            await self._refuse_exhausted(prepared, deployment, caller)
        if not await open_debate(self._database, replace(new, key=kept), entries):
            return await self._at_once(kept, caller)
        _count(request.task_type, prepared.decision)
        if prepared.decision.debate:
            telemetry.DEBATES_STARTED.labels(task_type=request.task_type, format=str(new.format)).inc()
            self._board.enqueue()
        return Submitted(new.place.debate, "queued" if prepared.decision.debate else "declined", prepared.decision)

    async def stands(self, debate: str, caller: Caller) -> Literal["queued", "running"]:
        """Where a debate stands that has come to nothing yet that may be told; raises `NotFound`."""
        head = await read_head(self._database, debate, caller.tenant)
        return "queued" if head["state"] == "queued" else "running"

    async def prove(self, submitted: Submitted) -> None:
        """Hold the answer to a declined case until it is provable; raises `NotProvable`."""
        if submitted.status == "declined":
            await self._listening.proved(submitted.debate, DECLINED_N, HOLD_S)

    async def refuse_full(self, caller: Caller) -> None:
        """Raise `QueueFull` before a case is read that would be refused for it, and `AuditUnavailable`."""
        with _reaching("the audit log"):
            await self._waiting.refuse_full(caller.tenant, self._deployment().policy.queue)

    async def _before(self, kept: IdempotencyKey, caller: Caller) -> Submitted | None:
        """What a case became that was recorded under this key, wherever it is by now; raises `IdempotencyKeyReused`."""
        with _reaching("the audit log"):
            found = await find_keyed(self._database, caller.tenant, kept)
            if found is None:
                return None
            if found.body != kept.body:
                telemetry.REPLAYS.labels(result="otherCase").inc()
                raise IdempotencyKeyReused(
                    f"the key stands for debate {found.debate}, whose case is another one; send a new key with a new "
                    "case, or the case as it was under its own"
                )
            head = await read_head(self._database, found.debate, caller.tenant)
            decision = await self._declined(found.debate) if head["state"] == "declined" else None
        return Submitted(found.debate, head["state"], decision, replayed=True)

    async def _declined(self, debate: str) -> GateDecision | None:
        """The decision that a declined case ended with."""
        (last,) = await self._listening.lines(debate, DECLINED_N)
        return last.entry.decision if isinstance(last.entry, GateDecided) else None

    async def _at_once(self, kept: IdempotencyKey | None, caller: Caller) -> Submitted:
        """What a case became that somebody else recorded under this key in the very moment in which we would have."""
        if kept is None:
            raise AuditUnavailable("the database has not recorded the case, and does not say why; try again")
        if before := await self._before(kept, caller):
            return before
        raise AuditUnavailable("the case is being recorded by somebody else under this key; try again", retry_after=1)

    async def _standings(self, request: CaseRequest, deployment: Deployment, caller: Caller) -> tuple[Standing, ...]:
        """How models did in the tenant's own panels, where that matters to a case."""
        if not intake.needs_standings(request, deployment.policy):
            return ()
        with _reaching("the database, which knows how models did in panels,"):
            return await standings(self._database, caller.tenant)

    async def _refuse_exhausted(self, prepared: Prepared, deployment: Deployment, caller: Caller) -> None:
        """Nobody queues for what the tenant's limits cannot pay. What counts is what the debate draws when it runs."""
        with _reaching("the tenant's limits and the audit log"):
            limits = await spend.left(self._database, caller.tenant, deployment.policy.budgets)
        if any(limit.amount < prepared.ceiling for limit in limits):
            spend.refuse_exhausted(limits, await asyncio.to_thread(_least, prepared, deployment))

    async def quote(self, request: CaseRequest, caller: Caller) -> tuple[Quote, Mapping[str, MicroUSD]]:
        """What a case would cost, and what the tenant's limits leave: limit -> micro-dollars. Nothing is stored.

        Raises what `submit` raises of a case, but nothing is too little money for it.
        """
        deployment = self._deployment()
        known = await self._standings(request, deployment, caller)
        found = await asyncio.to_thread(_quoted, request, deployment, caller.role, known)
        limits = await spend.left(self._database, caller.tenant, deployment.policy.budgets)
        return found, {limit.limit: limit.amount for limit in limits}

    async def result(self, debate: str, caller: Caller) -> Result:
        """What a debate has come to so far, with the hash of its last record and, once it is over, where that stands.

        Raises `NotFound`, and `NotProvable` for an answer that has to be held.
        """
        await read_head(self._database, debate, caller.tenant)
        stored = await read_records(self._database, debate)
        lines = [Line(record.n, record.at, record.entry) for record in stored]
        last = leaf_hash(stored[-1].leaf).hex()
        if not ends(lines[-1].entry):
            return result(debate, lines, last_record=last)
        position = await self._listening.proved(debate, len(lines) - 1, HOLD_S)
        # In a thread: long texts are looked through for their clauses.
        texts = await read_documents(self._database, debate)
        return await asyncio.to_thread(result, debate, lines, last_record=last, position=position, texts=texts)

    async def recent(self, caller: Caller, limit: int, below: UUID | None = None) -> list[Summary]:
        """The caller's newest debates, newest first, from below an id on: ids sort by time."""
        params = {"tenant": caller.tenant, "below": below, "limit": limit}
        return [
            Summary(
                str(row["debate"]),
                row["task_type"],
                row["format"],
                row["told" if self._held else "state"],
                row["created"],
            )
            for row in await self._database.query("list_debates", params)
        ]

    async def lines(self, debate: str, caller: Caller, from_n: int = 0) -> list[Line]:
        """The recorded entries of a debate from a number on; raises `NotFound`."""
        await read_head(self._database, debate, caller.tenant)
        return await self._listening.lines(debate, from_n)

    def follow(
        self, debate: str, caller: Caller, from_n: int = 0, *, patience_s: float = math.inf
    ) -> AsyncGenerator[Line, None]:
        """Every entry from a number on, once and in order, until the debate is over; see `Listening.follow`."""
        return self._listening.follow(debate, caller.tenant, from_n, patience_s=patience_s)

    def tail(self, debate: str, caller: Caller) -> AbstractAsyncContextManager[Tail]:
        """The entries of a debate as they come, shared by everybody who listens; see `Listening.tail`."""
        return self._listening.tail(debate, caller.tenant)

    async def passed(self, debate: str, caller: Caller, n: int) -> bool:
        """Whether nothing can follow an entry, since it ended its debate; raises `NotFound`."""
        return await self._listening.passed(debate, caller.tenant, n)

    async def wait(self, debate: str, caller: Caller, seconds: float) -> bool:
        """Whether the debate was over, and its end provable, within these seconds."""
        return await self._listening.wait(debate, caller.tenant, seconds)

    async def abort(self, debate: str, caller: Caller, why: str) -> Aborted:
        """End a debate without asking anyone else; doing it again, or too late, changes nothing.

        Raises `NotFound`, and `NotProvable` for one that has ended and whose end has to be held.
        """
        await read_head(self._database, debate, caller.tenant)
        writer = Writer(caller.actor, self._deployment().build_hash)
        found, ended = await stop(self._database, self._board, debate, writer, why)
        if ended is not None:  # what it came to is told when it is provable
            await self._listening.proved(debate, ended, HOLD_S)
        return found


@contextmanager
def _reaching(what: str) -> Iterator[None]:
    """A case is not taken where something that it needs cannot be reached: no record, no debate."""
    try:
        yield
    except StoreUnavailable as error:
        telemetry.AUDIT_FAILURES.inc()
        raise AuditUnavailable(
            f"{what} cannot be reached, so the case is not taken; try again when the database is back",
            retry_after=error.retry_after,
        ) from error


def _quoted(request: CaseRequest, deployment: Deployment, role: str, standings: tuple[Standing, ...]) -> Quote:
    """A quote; counting long documents takes a while, so it is made beside the event loop."""
    salts = dict.fromkeys(document_ids(request), bytes(SALT_BYTES))  # nothing that they hide is kept
    return quote(intake.prepare(request, deployment, role, salts, datetime.now(UTC), standings), deployment)


def _prepared(
    request: CaseRequest, deployment: Deployment, caller: Caller, log: str, standings: tuple[Standing, ...]
) -> tuple[Prepared, NewDebate, list[Entry]]:
    """A checked case, and what opens it."""
    salts = {name: secrets.token_bytes(SALT_BYTES) for name in document_ids(request)}
    prepared = intake.prepare(request, deployment, caller.role, salts, datetime.now(UTC), standings)
    return prepared, *_opening(prepared, deployment, caller, log, salts)


def _opening(
    prepared: Prepared, deployment: Deployment, caller: Caller, log: str, salts: dict[str, bytes]
) -> tuple[NewDebate, list[Entry]]:
    """The records that open a debate. The seed is the hash of the first one, which nobody can choose."""
    salt, context = secrets.token_bytes(SALT_BYTES), encode_context(_context(prepared.case))
    place = Place(log, caller.tenant, uuid7(), deployment.policy.gate.hash, commit(salt, context))
    writer = Writer(caller.actor, deployment.build_hash)
    records: list[Record] = []
    entries: list[Entry] = []

    def add(entry: Entry) -> Record:
        prev = records[-1].leaf_hash if records else b""
        records.append(seal_entry(entry, place=place, writer=writer, n=len(records), prev=prev))
        entries.append(entry)
        return records[-1]

    seed = add(CaseReceived(prepared.case, caller.subject)).leaf_hash.hex()
    add(GateDecided(prepared.decision, dict(versions.CURRENT)))
    started: DebateStarted | None = None
    if prepared.decision.debate:
        started = intake.start(prepared, deployment, seed)
        add(started)
    new = NewDebate(
        place=place,
        context=(salt, context),
        case=prepared.case,
        format=started.format if started else None,
        state="queued" if started else "declined",
        ceiling=prepared.ceiling,
        deadline=prepared.case.deadline,
        records=tuple(records),
        documents={name: (salts[name], text.encode()) for name, text in prepared.sources.items()},
        limited=spend.limited(deployment.policy.budgets.of(caller.tenant)),
        templates=deployment.prompts.templates,
    )
    return new, entries


def _context(case: Case) -> Context:
    # On purpose not shared with `service.verify.records.about`: a slip in one of the two shows there.
    return Context(
        task_type=case.task_type,
        downside=str(case.estimated_downside),
        downside_basis=case.downside_basis,
        use_case=case.use_case,
        intended_use=case.intended_use,
        materiality=case.materiality,
    )


def _least(prepared: Prepared, deployment: Deployment) -> MicroUSD:
    """What the debate of a case needs at least to begin; counted as in `_prepared`, beside the event loop."""
    started = intake.fix(prepared, deployment, seed="")
    tokens = costs.counted(prepared.case, prepared.sources, started, deployment.prompts, round_=1)
    return costs.needed(started, tokens)


def _count(task_type: str, decision: GateDecision) -> None:
    result = "debate" if decision.debate else "decline"
    telemetry.GATE_DECISIONS.labels(task_type=task_type, result=result, decided_by=decision.decided_by).inc()
