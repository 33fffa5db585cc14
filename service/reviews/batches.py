"""What a caller can do with batches: bring one, see how it stands, read its results, abort it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Literal
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from service import intake
from service.audit.record import SALT_BYTES
from service.debate.amounts import MicroUSD, is_plain, micro
from service.errors import AuditUnavailable, BadRequest, IdempotencyKeyReused, InvalidCase, QueueFull, StoreUnavailable
from service.identity.caller import Caller
from service.identity.roles import Scope
from service.intake import Deployment, validation
from service.intake.batch_file import BatchFile
from service.intake.decoding import most_bytes
from service.intake.request import CaseRequest, document_ids
from service.policy import Batches
from service.report.result.decision_types import Decision
from service.reviews.batch_callers import bringer_of
from service.store import batches
from service.store.batches import LineCount, NewBatch, NewLine, StoredBatch, StoredLine, absent
from service.store.clock import database_now
from service.store.pool import Database

NAME_MAX = 200
PAGE = 200
"""Lines of results that are held at once."""
HURRY_S = 1
"""Retry-After where a tenant has its most batches."""
UNDER_WAY = ("queued", "running")
CEILING_MAX = 10**15
"""A thousand million US dollars, in micro-dollars."""


class AskedBatch(Struct, frozen=True):
    """What is asked of a batch beside its file; a ceiling that is left out is policy's."""

    ceiling_usd: str | None = None
    deadline: str | None = None
    name: str | None = None


class Brought(Struct, frozen=True):
    """A batch that is stored. A ``replayed`` one was stored before, under the same key."""

    batch: str
    replayed: bool


class Progress(Struct, frozen=True, kw_only=True):
    """How a batch stands. ``counts`` are lines by the status of their debates, with ``waiting`` and ``refused``.

    ``refused`` are the refused ones by reason, ``joined`` those whose debate was recorded before this batch. Amounts
    are micro-dollars; ``remaining`` is what no debate has drawn.
    """

    stored: StoredBatch
    counts: Mapping[str, int]
    refused: Mapping[str, int]
    joined: int
    spent: MicroUSD

    @property
    def remaining(self) -> MicroUSD:
        """What is left to draw, never below zero."""
        return max(0, self.stored.ceiling - self.stored.drawn - self.stored.excess)

    @property
    def version(self) -> str:
        """A text that changes with all that is shown."""
        shown = (self.stored, sorted(self.counts.items()), sorted(self.refused.items()), self.joined, self.spent)
        return sha256(msgspec.json.encode(shown)).hexdigest()[:16]


class LineResult(Struct, frozen=True, kw_only=True):
    """One line of a batch and what became of it. ``status`` is that of its debate, ``waiting`` or ``refused``."""

    line: int
    key: str | None
    status: str
    debate: str | None
    joined: bool
    refused: str | None
    detail: str | None
    format: str | None
    task_type: str | None
    spent: MicroUSD | None
    decision: Decision | None


class BatchDesk:
    """The operations of batches on one database. With ``held`` False every end is shown, as in `Reviews`."""

    def __init__(self, database: Database, deployment: Callable[[str], Deployment], *, held: bool) -> None:
        self._database = database
        self._deployment = deployment
        self._held = held

    @property
    def held(self) -> bool:
        """Whether an end is shown only once it is provable."""
        return self._held

    def bounds_of(self, tenant: str) -> Batches:
        """The bounds of a tenant's batches."""
        return self._deployment(tenant).policy.batch_bounds

    async def bring(
        self, raw: bytes, asked: AskedBatch, caller: Caller, key: str | None = None, trace: str | None = None
    ) -> Brought:
        """Check every line of a file, and store it as a batch; under one ``key`` a tenant's batch is stored once.

        ``trace`` is that of the request, which the records of its cases name.

        Raises `BadRequest`, `InvalidCase` and `TooLarge` with the faults by line, and nothing is stored; `QueueFull`
        where the tenant has its most batches; `IdempotencyKeyReused` and `AuditUnavailable`.
        """
        hashed = None if key is None else sha256(key.encode()).digest()
        # In a thread: the hash of a large file would delay the other requests.
        body = await asyncio.to_thread(_fingerprint, raw, asked)
        if hashed is not None and (before := await self._repeated(hashed, body, caller)):
            return before
        deployment = self._deployment(caller.tenant)
        try:
            now = await database_now(self._database.of(caller.tenant))
        except StoreUnavailable as error:
            raise _unavailable(error) from error
        ceiling, deadline = _terms(asked, deployment, now)
        await self._refuse_many(caller, deployment.policy.batch_bounds)
        lines = await self._read(raw, deployment, caller, now)
        new = NewBatch(bringer_of(caller, trace), lines, ceiling, deadline, asked.name, hashed, body)
        try:
            batch = await batches.add_batch(self._database, new)
        except StoreUnavailable as error:
            raise _unavailable(error) from error
        if batch is None:
            if hashed is not None and (before := await self._repeated(hashed, body, caller)):
                return before
            raise AuditUnavailable("the database did not store the batch and gave no reason; send it again")
        return Brought(batch, replayed=False)

    async def _read(self, raw: bytes, deployment: Deployment, caller: Caller, now: datetime) -> list[NewLine]:
        """Every line of a file, checked. In threads, a part at a time: other requests are answered meanwhile."""
        policy = deployment.policy
        file = await asyncio.to_thread(
            BatchFile,
            raw,
            cases=policy.batch_bounds.cases,
            line_bytes=most_bytes(policy.limits.total_characters),
            check=partial(_check, deployment, caller.role, now),
        )
        steps = file.steps()
        while await asyncio.to_thread(next, steps, self) is not self:
            pass
        return [NewLine(line.number, line.key, line.case) for line in file.lines]

    async def _repeated(self, key: bytes, body: bytes, caller: Caller) -> Brought | None:
        """The batch that was stored under this key; raises `IdempotencyKeyReused` for another one."""
        try:
            found = await batches.find_keyed_batch(self._database, caller.tenant, key)
        except StoreUnavailable as error:
            raise _unavailable(error) from error
        if found is None:
            return None
        if found.subject != caller.subject:
            raise IdempotencyKeyReused(
                "another caller of the tenant has used this key; send a new key, such as a new UUID, with each batch"
            )
        if found.body != body:
            raise IdempotencyKeyReused(
                f"the key belongs to batch {found.batch}, which has another file or other parameters; send a new key "
                "with a new batch, or the first batch again under this key"
            )
        return Brought(found.batch, replayed=True)

    async def _refuse_many(self, caller: Caller, bounds: Batches) -> None:
        try:
            found = await batches.count_open(self._database, caller.tenant)
        except StoreUnavailable as error:
            raise _unavailable(error) from error
        if found >= bounds.per_tenant:
            raise QueueFull(
                f"expected fewer than {bounds.per_tenant} batches of this tenant under way, found {found}, so this one "
                "is not accepted; wait until one has ended, or abort one",
                retry_after=HURRY_S,
            )

    async def read(self, batch: str, caller: Caller, scope: Scope = "case.read") -> Progress:
        """How a batch stands; raises `NotFound` for one that the caller does not reach with a scope."""
        stored = await batches.read_batch(self._database, batch, caller.tenant, _own(caller, scope, batch))
        counts = await batches.count_lines(self._database, stored, caller.tenant, held=self._held)
        return _progress(stored, counts)

    async def find(self, caller: Caller, below: UUID | None, limit: int) -> tuple[list[Progress], str | None]:
        """A page of batches that the caller reaches, the newest first, and the id behind which the next one begins."""
        reach = caller.reach("case.read")
        if not reach & {"tenant", "own"}:
            return [], None
        own = None if "tenant" in reach else caller.subject
        found = await batches.list_batches(self._database, caller.tenant, own, below, limit + 1)
        shown = [
            _progress(stored, await batches.count_lines(self._database, stored, caller.tenant, held=self._held))
            for stored in found[:limit]
        ]
        return shown, shown[-1].stored.batch if len(found) > limit else None

    async def results(self, batch: str, caller: Caller) -> AsyncGenerator[list[LineResult], None]:
        """The lines of a batch in the order of its file, a page at a time. `read` says before whether there is one."""
        after = 0
        while True:
            page = await batches.lines_after(self._database, batch, caller.tenant, after, PAGE, held=self._held)
            if not page:
                return
            yield await asyncio.to_thread(lambda page=page: [_result(line) for line in page])  # type: ignore[misc]
            after = page[-1].line

    async def abort(self, batch: str, caller: Caller, why: str) -> Progress:
        """Begin nothing more of a batch; a feeder aborts its debates under way. A second abort changes nothing."""
        found = await self.read(batch, caller, "case.abort")
        await batches.stop_batch(self._database, found.stored.batch, caller.tenant, "aborted", why)
        return await self.read(batch, caller, "case.abort")


def _check(deployment: Deployment, role: str, now: datetime, request: CaseRequest) -> None:
    """Raise what a case is refused for before anything is known of money and queue."""
    salts = dict.fromkeys(document_ids(request), bytes(SALT_BYTES))
    intake.prepare(request, deployment, role, salts, now)


def _terms(asked: AskedBatch, deployment: Deployment, now: datetime) -> tuple[MicroUSD, datetime | None]:
    """The ceiling and the deadline; raises `BadRequest` for a parameter that is none."""
    ceiling, deadline = deployment.policy.batch_bounds.ceiling, None
    if asked.ceiling_usd is not None:
        ceiling = _amount(asked.ceiling_usd)
    if ceiling is None:
        raise BadRequest(
            "expected ceilingUSD, the US dollars that the whole batch may cost at most, found none, and policy names "
            "no ceiling for batches; give one"
        )
    try:
        if (at := validation.deadline(asked.deadline, now)) is not None:
            deadline = datetime.fromisoformat(at)
    except InvalidCase as error:
        raise BadRequest(error.detail) from error
    name = asked.name
    if name is not None and not (0 < len(name) <= NAME_MAX and name.isprintable()):
        raise BadRequest(f"expected a name of 1 to {NAME_MAX} printable characters; shorten it, or leave it out")
    return ceiling, deadline


def _amount(given: str) -> MicroUSD:
    with suppress(ValueError, ArithmeticError):
        amount = micro(given)
        if 0 < amount <= CEILING_MAX and is_plain(given):
            return amount
    raise BadRequest(f"expected ceilingUSD above 0 in US dollars, such as 25.00, found {given[:40]!r}")


def _fingerprint(raw: bytes, asked: AskedBatch) -> bytes:
    return sha256(sha256(raw).digest() + msgspec.json.encode(asked)).digest()


def _own(caller: Caller, scope: Scope, batch: str) -> str | None:
    """The subject whose batches alone a caller reaches; ``None`` where that is the whole tenant."""
    reach = caller.reach(scope)
    if "tenant" in reach:
        return None
    if "own" not in reach:
        raise absent(batch)
    return caller.subject


def _progress(stored: StoredBatch, found: Iterable[LineCount]) -> Progress:
    counts, refused = Counter[str](), Counter[str]()
    joined = spent = 0
    for row in found:
        counts["refused" if row.refused else row.stands] += row.lines
        if row.refused:
            refused[row.stands] += row.lines
        if row.joined:
            joined += row.lines
        else:
            spent += row.spent
    stored = replace(stored, counts=None)  # shown as everywhere; that they are kept now changes no version
    if any(counts[status] for status in UNDER_WAY):  # the last end is recorded, and not provable yet
        stored = replace(stored, ended=None)
    return Progress(stored=stored, counts=dict(counts), refused=dict(refused), joined=joined, spent=spent)


def _result(line: StoredLine) -> LineResult:
    status = "refused" if line.refused else line.stands or "waiting"
    decision = None
    if line.decision is not None and status not in UNDER_WAY:
        with suppress(ValueError):  # a later version's: its result is at its debate
            decision = msgspec.json.decode(line.decision, type=Decision)
            decision = decision.without_words if line.erased else decision
    return LineResult(
        line=line.line,
        key=line.key,
        status=status,
        debate=line.debate,
        joined=line.joined,
        refused=line.refused,
        detail=line.detail,
        format=line.format,
        task_type=line.task_type,
        spent=line.spent,
        decision=decision,
    )


def _unavailable(error: StoreUnavailable) -> AuditUnavailable:
    return AuditUnavailable(
        "the database does not answer, so the batch is not accepted; send it again under its key",
        retry_after=error.retry_after,
    )


Ended = Literal["completed", "aborted", "deadline", "revoked"]


def end_of(stored: StoredBatch) -> Ended | None:
    """How a batch has ended; ``None`` while it is under way."""
    return None if stored.ended is None else stored.stop or "completed"
