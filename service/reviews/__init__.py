"""What a calling system can do: submit a case, ask the gate, follow a debate, abort it, read what it came to."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from service import intake
from service.audit.record import Writer, leaf_hash
from service.debate.amounts import MicroUSD
from service.debate.entries import GateDecision
from service.debate.model import Status
from service.intake import Deployment
from service.intake.quote import Quote
from service.intake.request import CaseRequest, GateRequest
from service.report import Line, Result, result
from service.reviews.abort import Aborted, stop
from service.reviews.caller import Caller
from service.reviews.feed import Tail
from service.reviews.submission import DECLINED_N, CaseRecorder, Submitted, count_decision
from service.reviews.wait import Listening
from service.store.current_log import Logs
from service.store.hub import Board, ends
from service.store.log import read_documents, read_head, read_records
from service.store.pool import Database

__all__ = ["Caller", "Reviews", "Submitted", "Summary"]

HOLD_S = 3.0
"""How long an answer waits for its proof before its caller is told to come back."""


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
        self._held = held
        self._deployment = deployment
        self._board = board
        self._recorder = CaseRecorder(database, deployment, board, logs, self._listening)

    @property
    def deployment(self) -> Deployment:
        """What runs now; prices are those of today."""
        return self._deployment()

    def decide(self, request: GateRequest, caller: Caller) -> GateDecision:
        """The gate's decision alone: nothing is stored but a metric."""
        deployment = self._deployment()
        decision = intake.decide(request, deployment.policy, deployment.day, caller.role, deployment.prompts)
        count_decision(request.task_type, decision)
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
        """The same without waiting for a proof. Under one ``key`` a tenant's case is recorded once.

        Raises `IdempotencyKeyReused` for another case under a key that was used.
        """
        return await self._recorder.record(request, caller, key)

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
        await self._recorder.refuse_full(caller)

    async def quote(self, request: CaseRequest, caller: Caller) -> tuple[Quote, Mapping[str, MicroUSD]]:
        """What a case would cost, and what the tenant's limits leave: limit -> micro-dollars. Nothing is stored.

        Raises what `submit` raises of a case, but nothing is too little money for it.
        """
        return await self._recorder.quote(request, caller)

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
