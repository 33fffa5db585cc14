"""What a calling system can do: submit a case, ask the gate, follow a debate, abort it, read what it came to."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from service import intake, telemetry
from service.audit.record import SALT_BYTES, Actor, Context, Place, Record, Writer, commit, encode_context, leaf_hash
from service.board import Board, ends
from service.budget import Ledger
from service.debate.entries import (
    CaseReceived,
    DebateStarted,
    DebateStopped,
    Entry,
    GateDecided,
    GateDecision,
)
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Case, Conclude, Status
from service.debate.money import MicroUSD
from service.errors import AuditUnavailable, Fenced, StoreUnavailable
from service.intake import Deployment, Prepared, costs
from service.intake.quote import Quote, quote
from service.intake.ranking import Standing
from service.intake.request import CaseRequest, GateRequest, document_ids
from service.listening import Listening
from service.report import Line, Result, result
from service.store import spend
from service.store.log import DebateLog, read_documents, read_head, read_records
from service.store.logs import Logs
from service.store.pool import Database
from service.store.recall import standings
from service.store.sealing import NewDebate, open_debate, seal_entry, uuid7

HOLD_S = 3.0
"""How long an answer waits for its proof before its caller is told to come back."""
ABORT_TRIES = 20


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
    """A recorded case: queued for debate, or declined."""

    debate: str
    status: Status
    decision: GateDecision


class Aborted(Struct, frozen=True):
    """What an abort found: calls in flight are not known yet, so ``held`` may still be charged. Micro-dollars."""

    debate: str
    status: Status
    spent: MicroUSD
    held: MicroUSD


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

        Raises `InvalidCase` and its kind, and `BudgetExhausted`, with nothing written, and `AuditUnavailable`.
        """
        deployment = self._deployment()
        # In a thread: counting the tokens of long documents takes too long for whoever else is being answered.
        log = await self._log(caller.tenant)
        standings = await self._standings(request, deployment, caller)
        prepared, new, entries = await asyncio.to_thread(_prepared, request, deployment, caller, log, standings)
        if prepared.decision.debate:
            await self._refuse_exhausted(prepared, deployment, caller)
        await open_debate(self._database, new, entries)
        _count(request.task_type, prepared.decision)
        if prepared.decision.debate:
            telemetry.DEBATES_STARTED.labels(request.task_type, new.format).inc()
            self._board.enqueue()
        else:
            await self._listening.proved(new.place.debate, len(new.records) - 1, HOLD_S)
        return Submitted(new.place.debate, "queued" if prepared.decision.debate else "declined", prepared.decision)

    async def _log(self, tenant: str) -> str:
        try:
            return await self._logs.current(tenant)
        except StoreUnavailable as error:
            raise AuditUnavailable(
                "the audit log cannot be reached, so the case is not taken; try again when the database is back",
                retry_after=error.retry_after,
            ) from error

    async def _standings(self, request: CaseRequest, deployment: Deployment, caller: Caller) -> tuple[Standing, ...]:
        """How models did in the tenant's own panels, where that matters to a case."""
        if not intake.needs_standings(request, deployment.policy):
            return ()
        try:
            return await standings(self._database, caller.tenant)
        except StoreUnavailable as error:
            raise AuditUnavailable(
                "the database, which knows how models did in panels, cannot be reached; try again when it is back",
                retry_after=error.retry_after,
            ) from error

    async def _refuse_exhausted(self, prepared: Prepared, deployment: Deployment, caller: Caller) -> None:
        """Nobody queues for what the tenant's limits cannot pay. What counts is what the debate draws when it runs."""
        try:
            limits = await spend.left(self._database, caller.tenant, deployment.policy.budgets)
        except StoreUnavailable as error:
            raise AuditUnavailable(
                "the tenant's limits and the audit log cannot be reached, so the case is not taken; try again when the "
                "database is back",
                retry_after=error.retry_after,
            ) from error
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

    async def wait(self, debate: str, caller: Caller, seconds: float) -> bool:
        """Whether the debate was over, and its end provable, within these seconds."""
        return await self._listening.wait(debate, caller.tenant, seconds)

    async def abort(self, debate: str, caller: Caller, why: str) -> Aborted:
        """End a debate without asking anyone else; doing it again, or too late, changes nothing.

        Raises `NotFound`, and `NotProvable` for one that has ended and whose end has to be held.
        """
        await read_head(self._database, debate, caller.tenant)
        for _ in range(ABORT_TRIES):
            log = await DebateLog.at(self._database, debate, Writer(caller.actor, self._deployment().build_hash))
            entries = await log.tail()
            facts = Facts.of(entries)
            if ends(entries[-1]):  # what it came to is told when it is provable
                await self._listening.proved(debate, len(entries) - 1, HOLD_S)
            if facts.started is None or facts.stopped or facts.concluded:
                return _aborted(debate, facts, log.ledger)
            with suppress(Fenced):
                stopped = DebateStopped("abort", why)
                await log.append([stopped])
                self._board.announce(debate, [stopped])
                self._board.enqueue()
                return _aborted(debate, facts, log.ledger)
        raise AuditUnavailable("the debate moves on faster than the abort can be recorded; try again", retry_after=1)


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
    add(GateDecided(prepared.decision))
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
    )
    return new, entries


def _context(case: Case) -> Context:
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


def _aborted(debate: str, facts: Facts, ledger: Ledger) -> Aborted:
    status: Status = "aborted"
    if facts.started is None or facts.stopped or facts.concluded:  # an abort that came too late did not end it
        move = decide(facts)
        status = move.outcome.status if isinstance(move, Conclude) else status
    return Aborted(debate, status, ledger.spent + ledger.excess, sum(ledger.held.values()))


def _count(task_type: str, decision: GateDecision) -> None:
    result = "debate" if decision.debate else "decline"
    telemetry.GATE_DECISIONS.labels(task_type, result, decision.decided_by).inc()
