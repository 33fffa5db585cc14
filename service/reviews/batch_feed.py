"""Opens the cases of batches, a few at a time, beside the worker.

A turn of a batch, which one process has at a time:

    1. What has stopped the batch refuses all lines that wait: an abort, its deadline, a revoked caller. After an abort
       its debates are aborted too.
    2. The next lines are recorded as cases of the caller that brought the batch, while its tenant has places for
       batches in the queue and the batch has money: `TURN` lines at most, then other batches have their turns.
    3. A batch without a line that waits ends when its debates have ended.

When the end of each of its debates is provable, the counts of its lines are kept, and no reading counts them again.

A case is recorded under a key that is made of its batch and line, or of the line's own key. So a turn that was cut off
anywhere, or two feeders at one batch, record it once.

A process keeps its batches of a round by renewing their leases between lines. A process that stood still,
and whose batch another one has taken meanwhile, changes no line of it any more.

The ceiling is kept by the database, whatever is done here (migrations/0023_batches.sql). What is done here keeps
debates whole: a case begins while what is left covers its ceiling beside those of all that are under way. With less
left, cases begin one at a time. One that cannot begin although nothing else of its batch is under way is refused.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC
from functools import partial
from typing import NamedTuple

from service import log_lines, telemetry
from service.audit.record import Writer
from service.debate.amounts import MicroUSD, usd
from service.debate.entries import Arrival
from service.errors import (
    AuditUnavailable,
    BudgetExhausted,
    EvidenceDamaged,
    GainsayError,
    IdempotencyKeyReused,
    InvalidCase,
    QueueFull,
    StoreUnavailable,
    TooLarge,
)
from service.intake import Deployment
from service.intake.decoding import decode
from service.intake.request import CaseRequest
from service.observing import attributes as names
from service.observing import tracing
from service.observing.span import Span
from service.report.trace import batch_span, batch_trace
from service.reviews import Reviews
from service.reviews.batch_callers import caller_of
from service.reviews.feeding import BUSY_S, IDLE_S, Feeder
from service.reviews.submission import BatchTerms
from service.store import batches
from service.store.batches import ClaimedBatch, NewLine
from service.store.clock import database_now
from service.store.idempotency import IdempotencyKey, find_keyed
from service.store.pool import Database
from service.store.spend import BATCH
from service.store.stored_debate import read_head

TURN = 10
"""The most lines of a turn."""
TAKEN = 4
"""The most batches that a process takes in one go."""
REST_S = 0.3
"""How long a batch without a line to record has no other turn, in any process."""
LATER_S = 5.0
"""How long a batch waits after a fault, or for money of its tenant."""
KEEP_S, KEPT = 1.0, 2
"""How long a batch that has ended waits for a look at whether it can be counted, and the most that one look counts."""
ABORTS = 100
"""The most debates that one turn aborts."""
FAULTS_MAX = 5
"""A line that a fault of the service has kept from being recorded so often is refused."""
SWEEP_S = 600.0
"""How often lines of uploads that were cut off are looked for."""
REASONS: dict[str, str] = {
    "aborted": "the batch was aborted before this case began",
    "deadline": "the deadline of the batch passed before this case began",
    "revoked": "the caller that brought the batch was revoked before this case began",
}


class _Allocated(GainsayError):
    """A case begins later: what is left of the batch is allocated to debates that are under way."""


class _Faulty(GainsayError):
    """A fault of the service kept a line from being recorded; it is tried again."""


class _Wait(NamedTuple):
    """Until when a batch waits, by this process's clock, and for what; ``ends`` is when that is over, if known."""

    until: float
    reason: str
    ends: str | None


class BatchFeeder(Feeder):
    """Opens the cases of every tenant's batches until it is stopped."""

    AWAY, BACK, FAULT = log_lines.BATCHES_WAIT, log_lines.BATCHES_GO_ON, log_lines.BATCHES_FAULT

    def __init__(
        self,
        database: Database,
        reviews: Reviews,
        deployment: Callable[[str], Deployment],
        writer: Writer,
        lease_s: float,
    ) -> None:
        super().__init__(writer, lease_s)
        self._database = database
        self._reviews = reviews
        self._deployment = deployment
        self._faults: dict[str, Counter[int]] = {}
        self._waits: dict[str, _Wait] = {}
        self._swept = self._kept = float("-inf")
        self._held: set[str] = set()

    async def round(self) -> float:
        """One turn of each batch that is free; returns the seconds until the next look."""
        await self._sweep()
        await self._keep_counts()
        begun = time.monotonic()
        claimed = await batches.claim_batches(self._database, self._name, self._lease_s, TAKEN)
        self._held, self._renewed = {batch.batch for batch in claimed}, begun
        for batch in claimed:
            if await self._keeps(batch):
                await self._turn(batch)
        return BUSY_S if claimed else IDLE_S

    async def _keeps(self, batch: ClaimedBatch) -> bool:
        """Renew the leases of this round where that is due; whether this process still has the batch."""
        if self._is_renewal_due():
            self._renewed = time.monotonic()
            self._held = await batches.renew_batches(self._database, self._name, self._lease_s, self._held)
        return batch.batch in self._held

    async def _sweep(self) -> None:
        if time.monotonic() - self._swept >= SWEEP_S:
            self._swept = now = time.monotonic()
            # Another process may have ended a batch that waited here; a wait that is over says nothing any more.
            self._waits = {batch: wait for batch, wait in self._waits.items() if wait.until > now}
            await batches.remove_strays(self._database)

    async def _keep_counts(self) -> None:
        if time.monotonic() - self._kept >= KEEP_S:
            self._kept = time.monotonic()
            await batches.keep_counts(self._database, KEEP_S, KEPT, held=self._reviews.batches.held)

    async def _turn(self, batch: ClaimedBatch) -> None:
        """One turn of a batch, and its end. What it waits for is kept with it."""
        waits, rest_s = self._waits.get(batch.batch), REST_S
        try:
            await self._stop(batch)
            if waits is None or waits.until <= time.monotonic():
                self._waits.pop(batch.batch, None)
                waits, opened = await self._feed(batch)
                rest_s = 0.0 if opened else REST_S
            if ended := await batches.end_batch(self._database, batch.batch):
                log_lines.BATCH_ENDED(batch=batch.batch)
                tracing.current().send(_span(batch, ended))
                waits = None
                self._forget(batch.batch)
        except (StoreUnavailable, AuditUnavailable) as error:
            waits = _Wait(time.monotonic() + LATER_S, "database", None)
            log_lines.BATCH_WAITS(detail=error.detail, code=error.code, batch=batch.batch)
        except Exception:  # noqa: BLE001 - one batch must not keep the others of this round waiting for its lease
            waits = _Wait(time.monotonic() + LATER_S, "fault", None)
            log_lines.BATCH_FAULT.raised(batch=batch.batch)
        if waits is not None:
            self._waits[batch.batch] = waits
        self._held.discard(batch.batch)
        for_, ends = (waits.reason, waits.ends) if waits else (None, None)
        await batches.release_batch(self._database, batch.batch, self._name, for_, ends, rest_s)

    def _forget(self, batch: str) -> None:
        """Drop what is kept of a batch, which has ended."""
        self._waits.pop(batch, None)
        self._faults.pop(batch, None)

    async def _stop(self, batch: ClaimedBatch) -> None:
        """Refuse what waits where something has stopped the batch, and abort its debates after an abort."""
        stop = batch.stop or ("revoked" if batch.revoked else "deadline" if batch.late else None)
        if stop is None:
            return
        if batch.stop is None:
            await batches.stop_batch(self._database, batch.batch, batch.by.tenant, stop, REASONS[stop])
        await self._settle_recorded(batch)
        lines = await batches.refuse_lines(self._database, batch.batch, self._name, stop, REASONS[stop])
        telemetry.BATCH_LINES.labels(result="refused").inc(lines)
        if stop == "aborted":
            why = batch.stop_detail or REASONS[stop]
            for debate in await batches.under_way(self._database, batch.batch, ABORTS):
                if not await self._keeps(batch):
                    return
                await self._abort(debate, batch, why)

    async def _abort(self, debate: str, batch: ClaimedBatch, why: str) -> None:
        """Abort a debate of a batch; one that cannot be, such as one of a later version's, keeps no other from it."""
        try:
            with suppress(EvidenceDamaged):
                await self._reviews.abort_as(debate, batch.by.tenant, self._writer, why, wait=False)
        except (StoreUnavailable, AuditUnavailable):
            raise
        except Exception:  # noqa: BLE001 - see above
            log_lines.BATCH_ABORT_FAULT.raised(batch=batch.batch, debate=debate)

    async def _settle_recorded(self, batch: ClaimedBatch) -> None:
        """Note the debates of lines that were recorded by a turn that was cut off then: those began, and are paid for.

        Lines are recorded in their order, so such a line is the first that waits.
        """
        while await self._keeps(batch) and (
            line := await batches.next_line(self._database, batch.batch, 0, stopped=True)
        ):
            key = IdempotencyKey.of(key_of(batch.by.subject, batch.batch, line), b"")
            found = await find_keyed(self._database, batch.by.tenant, key)
            if found is None:
                return
            head = await read_head(self._database, found.debate, batch.by.tenant)
            if str(head["batch"]) != batch.batch:  # it would have been joined
                return
            await batches.settle_line(self._database, batch.batch, self._name, line.line, debate=found.debate)

    async def _feed(self, batch: ClaimedBatch) -> tuple[_Wait | None, int]:
        """Record the next lines; returns what the batch waits for then, and how many lines it was."""
        bounds, after, opened = self._deployment(batch.by.tenant).policy.batch_bounds, 0, 0
        room = await batches.batch_room(self._database, batch.batch)
        for _ in range(min(TURN, bounds.queued_per_tenant - room.queued)):
            if self._stopping.is_set() or not await self._keeps(batch):
                break
            if not (line := await batches.next_line(self._database, batch.batch, after)):
                break
            after, later = line.line, time.monotonic() + LATER_S
            try:
                await self._record(batch, line)
            except _Allocated:
                return _Wait(0.0, BATCH, None), opened
            except QueueFull:
                return _Wait(later, "queue", None), opened
            except BudgetExhausted as error:
                return _Wait(later, error.limit, error.ends), opened
            except _Faulty:
                return _Wait(later, "fault", None), opened
            opened += 1
        return None, opened

    async def _record(self, batch: ClaimedBatch, line: NewLine) -> None:
        """Record a line as a case of the batch's caller, or refuse it."""
        settle = partial(batches.settle_line, self._database, batch.batch, self._name, line.line)
        try:
            case = await asyncio.to_thread(decode, line.body, CaseRequest)
            terms = BatchTerms(
                None if batch.deadline is None else batch.deadline.astimezone(UTC).isoformat(),
                partial(self._may_begin, batch),
            )
            arrival = Arrival(door="batch", trace=batch.by.trace, batch=batch.batch)
            key = key_of(batch.by.subject, batch.batch, line)
            found = await self._reviews.record(case, caller_of(batch.by), key, arrival, terms)
        except (_Allocated, QueueFull, StoreUnavailable, AuditUnavailable):
            raise
        except BudgetExhausted as error:
            if error.limit != BATCH and error.ever:
                raise
            await settle(refused="budget", detail=error.public_detail)
        except IdempotencyKeyReused as error:
            await settle(refused="key", detail=error.public_detail)
        except (InvalidCase, TooLarge) as error:
            if not await self._is_late(batch):
                await settle(refused="invalid", detail=error.public_detail)
        except Exception:  # noqa: BLE001 - one line must not keep all others waiting
            faults = self._faults.setdefault(batch.batch, Counter())
            faults[line.line] += 1
            log_lines.BATCH_LINE_FAULT.raised(batch=batch.batch, line=line.line)
            if faults[line.line] >= FAULTS_MAX:
                detail = f"faults of the service kept this case from being recorded {FAULTS_MAX} times"
                return await settle(refused="fault", detail=detail)
            raise _Faulty("a line could not be recorded") from None
        else:
            await settle(debate=found.debate)

    async def _is_late(self, batch: ClaimedBatch) -> bool:
        """Whether the batch's deadline has passed: its lines are refused for that in the next turn."""
        return batch.deadline is not None and batch.deadline <= await database_now(self._database)

    async def _may_begin(self, batch: ClaimedBatch, ceiling: MicroUSD, least: Callable[[], MicroUSD]) -> None:
        """Raise `_Allocated`, or `BudgetExhausted`, where what is left of the batch does not let a case begin now."""
        room = await batches.batch_room(self._database, batch.batch)
        if room.remaining - room.reserved >= ceiling:
            return
        if room.under_way:
            raise _Allocated("the batch's money is allocated to its debates under way")
        needed: MicroUSD = 1 if room.remaining <= 0 else await asyncio.to_thread(least)
        if room.remaining < needed:
            raise BudgetExhausted(
                f"the batch's ceiling leaves {usd(max(0, room.remaining))} USD, and the debate needs "
                f"{usd(needed)} USD to begin; send the case again under its key in a batch with a higher ceiling",
                limit=BATCH,
                left=room.remaining,
                ends="",
                retry_after=1,
            )


def key_of(subject: str, batch: str, line: NewLine) -> str:
    """The key under which a line is recorded: by its own key for its caller, or by its batch and number.

    It begins with a character that no Idempotency-Key can have, so it is none of those.
    """
    own = f"key\0{subject}\0{line.key}" if line.key is not None else f"line\0{batch}\0{line.line}"
    return f"\0batch\0{own}"


def _span(batch: ClaimedBatch, ended: batches.EndedBatch) -> Span:
    """The span of a batch, from its upload to its end; those of its debates name it. There are few, so each is kept."""
    return Span(
        name="batch",
        trace=batch_trace(batch.batch, batch.by.trace),
        id=batch_span(batch.batch),
        start_us=round(ended.began * 1e6),
        end_us=round(ended.ended * 1e6),
        attributes={names.BATCH: batch.batch, names.TENANT: batch.by.tenant, names.LINES: ended.lines},
    )
