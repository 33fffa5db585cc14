"""Submit a case: check it, decide, and record it once under each idempotency key; or quote it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from service import intake, telemetry
from service.audit.evaluation_events import ItemAsked
from service.audit.record import Writer
from service.debate.amounts import MicroUSD
from service.debate.entries import Arrival, GateDecided, GateDecision
from service.debate.model import Status
from service.debate.purpose import decides
from service.debate.whose import WHOSE
from service.errors import AuditUnavailable, BudgetExhausted, Fenced, IdempotencyKeyReused, QueueFull, StoreUnavailable
from service.identity.caller import Caller
from service.intake import Deployment, Prepared
from service.intake.fingerprint import fingerprint
from service.intake.model_ranking import Standing
from service.intake.moderator_tilts import RecordedTilt
from service.intake.quote import CaseQuote
from service.intake.request import CaseRequest, characters
from service.observing import labelled
from service.policy.policy import AUTO
from service.policy.task_types import read_type
from service.reviews.opening import Earlier, least, prepare, quoted
from service.reviews.reach import limit_of
from service.reviews.unblocked import unblocked
from service.reviews.wait import DebateWaiter
from service.store import spend
from service.store.clock import database_time
from service.store.current_log import CurrentLogs
from service.store.evaluation_room import ItemRoom, refuse_without_room
from service.store.evaluations import seal
from service.store.hub import EventHub
from service.store.idempotency import DerivedKey, IdempotencyKey, InFlightKeys, Key, find_keyed
from service.store.impact import standings
from service.store.moderator_tilts import standing_tilts
from service.store.pool import Database
from service.store.queue_limits import QueueLimits
from service.store.reach import is_reached
from service.store.sealing import AskedEntry, NewDebate, open_debate
from service.store.stored_debate import read_head

MODERATED = "adversarial"
"""The format that has a moderator."""
DECLINED_N = 1
"""The number of a declined case's last entry, the decision."""


class Submitted(Struct, frozen=True):
    """A recorded case: queued for a debate, or declined.

    A ``replayed`` case was recorded before, and has its status by now; it has its ``decision`` only if it was declined.
    """

    debate: str
    status: Status
    decision: GateDecision | None
    replayed: bool = False


class AskedWith(Struct, frozen=True):
    """The entry of an evaluation that is recorded with the debate of its item: ``entry`` makes it of the debate's id.

    ``log`` is that of the registration, in which both are.
    """

    log: str
    writer: Writer
    entry: Callable[[str], ItemAsked]

    def sealed(self, debate: str, tenant: str, now: float) -> AskedEntry:
        """The entry for this debate, with its record."""
        entry = self.entry(debate)
        return AskedEntry(entry.evaluation, entry.n, *seal(entry, tenant, self.log, self.writer, now))


class ItemTerms(Struct, frozen=True):
    """What a debate of an evaluation's item needs of the budget of evaluations, and the entry that it is asked with."""

    reserve: MicroUSD
    asked: AskedWith | None = None


class BatchTerms(Struct, frozen=True):
    """What a batch asks of a case of it, beside what the case says: to end by its deadline, and money to begin.

    ``may_begin`` gets the ceiling of the case and the least that its debate needs; it raises where that is not left.
    The case stays the one that came: its key stands for it whatever the batch.
    """

    deadline: str | None
    may_begin: Callable[[MicroUSD, Callable[[], MicroUSD]], Awaitable[None]]


class CaseRecorder:
    """Records cases on one database, each under its tenant's deployment."""

    def __init__(
        self,
        database: Database,
        waiting: QueueLimits,
        deployment: Callable[[str], Deployment],
        hub: EventHub,
        logs: CurrentLogs,
        listening: DebateWaiter,
    ) -> None:
        self._database = database
        self._deployment = deployment
        self._hub = hub
        self._logs = logs
        self._listening = listening
        self._waiting = waiting
        self._under_way = InFlightKeys()

    async def record(
        self,
        request: CaseRequest,
        caller: Caller,
        key: str | DerivedKey | None = None,
        arrival: Arrival | None = None,
        terms: BatchTerms | None = None,
        *,
        item: ItemTerms | None = None,
    ) -> Submitted:
        """Check the case, decide, and record it with how it came. Under one ``key`` a tenant's case is recorded once.

        An ``item`` of an evaluation needs room in the budget of evaluations, and none in the tenant's own limits. Under
        a derived key a case is recorded again ten minutes after its debate has ended. Raises `IdempotencyKeyReused` for
        another case under a used key, what the ``terms`` of a batch raise, and `Fenced` where the entry that an item is
        asked with cannot be recorded: then its debate is not opened either.
        """
        body = await unblocked(characters(request), partial(fingerprint, request)) if isinstance(key, str) else b""
        kept = IdempotencyKey.of(key, body) if isinstance(key, str) else key
        if kept is not None and item is None and (before := await self._find_repeated(kept, caller)):
            return before  # an item that was recorded before is met where it would be opened: hardly one ever was
        deployment = self._deployment(caller.tenant)
        try:
            with _audit_available("the audit log"), self._under_way.recording(caller.tenant, kept):
                async with self._waiting.reserve_slot(caller.tenant, deployment.policy.queue, item=item is not None):
                    return await self._recorded(request, caller, deployment, kept, arrival, terms, item=item)
        except (QueueFull, BudgetExhausted):  # the same case may have the place, or the money
            if kept is not None:
                await self._under_way.recorded(caller.tenant, kept)
                if before := await self._find_repeated(kept, caller):
                    return before
            raise

    async def _recorded(
        self,
        request: CaseRequest,
        caller: Caller,
        deployment: Deployment,
        kept: Key | None,
        arrival: Arrival | None,
        terms: BatchTerms | None,
        *,
        item: ItemTerms | None,
    ) -> Submitted:
        WHOSE.set(caller.tenant)  # for a batch and an evaluation, no request did
        if terms is not None:
            request = replace(request, deadline=_earlier(request.deadline, terms.deadline))
        counted = decides(request.metadata, arrival)
        if counted:
            count_task_type(request.task_type, deployment)
        log = await self._logs.current(caller.tenant)
        standings = await self._standings_of(request, deployment, caller)
        earlier = Earlier(standings, await self._tilts_of(request, caller) if counted else ())
        database = self._database.of(caller.tenant)
        clock = await database_time(database)
        made = partial(prepare, request, deployment, caller, log, earlier, clock, arrival=arrival)
        prepared, new, entries = await unblocked(characters(request), made)
        if prepared.decision.debate:
            if item is None:  # room for an item is looked for where it is opened
                await self._refuse_exhausted(request, prepared, deployment, caller)
            if terms is not None:
                await terms.may_begin(prepared.ceiling, partial(least, prepared, deployment))
        new = replace(new, key=kept, subject=caller.subject)
        if item is not None:
            new = _as_item(new, item, deployment, clock.now())
        if not await open_debate(database, new, entries):
            if new.room is not None:
                await refuse_without_room(database, caller.tenant, new.room)
            return await self._at_once(kept, caller, new.asked)
        task_type = prepared.case.task_type
        if counted:
            count_decision(task_type, prepared.decision, deployment)
        if prepared.decision.debate:
            if counted and not deployment.probe:
                telemetry.DEBATES_STARTED.labels(task_type=task_type, format=str(new.format)).inc()
            self._hub.work_queued()
        status: Status = "queued" if prepared.decision.debate else "declined"
        return Submitted(new.place.debate, status, prepared.decision)

    async def refuse_full(self, caller: Caller) -> None:
        """Raise `QueueFull` before reading a case that the full queue would refuse; raises `AuditUnavailable` too."""
        with _audit_available("the audit log"):
            await self._waiting.refuse_full(caller.tenant, self._deployment(caller.tenant).policy.queue)

    async def _find_repeated(self, kept: Key, caller: Caller) -> Submitted | None:
        """The case that was recorded under this key, with its status by now; raises `IdempotencyKeyReused`."""
        with _audit_available("the audit log"):
            found = await find_keyed(self._database.of(caller.tenant), caller.tenant, kept)
            if found is None:
                return None
            if not await self._may_repeat(found.debate, caller):
                telemetry.REPLAYS.labels(result="otherCase").inc()
                raise IdempotencyKeyReused(
                    "another caller of the tenant has used this key; send a new key, such as a new UUID, with each case"
                    if isinstance(kept, IdempotencyKey)
                    else "the same request was recorded before, and its debate is not among those that this caller may "
                    "read now; ask the operator of the tenant for a role that reads its own cases"
                )
            if isinstance(kept, IdempotencyKey) and found.body != kept.body:
                telemetry.REPLAYS.labels(result="otherCase").inc()
                raise IdempotencyKeyReused(
                    f"the key belongs to debate {found.debate}, which has another case; send a new key with a new "
                    "case, or the first case again under this key"
                )
            head = await read_head(self._database.of(caller.tenant), found.debate, caller.tenant)
            is_declined = head["state"] == "declined"
            decision = await self._decline_decision(found.debate, caller.tenant) if is_declined else None
        return Submitted(found.debate, head["state"], decision, replayed=True)

    async def _may_repeat(self, debate: str, caller: Caller) -> bool:
        """Whether the caller may see the case that its key stands for.

        Keys are the tenant's, so that callers that stand in for each other record a case once. What another caller
        recorded is shown to those alone that may read it.
        """
        limit = limit_of(caller, caller.reach("case.read") | caller.reach("case.submit"))
        return limit is None or await is_reached(self._database.of(caller.tenant), debate, caller.tenant, limit)

    async def _decline_decision(self, debate: str, tenant: str) -> GateDecision | None:
        """The decision of a declined case."""
        (last,) = await self._listening.lines(debate, tenant, DECLINED_N)
        return last.entry.decision if isinstance(last.entry, GateDecided) else None

    async def _at_once(self, kept: Key | None, caller: Caller, asked: AskedEntry | None) -> Submitted:
        """The case that another request recorded under this key at the same moment."""
        if kept is None:
            raise AuditUnavailable("the database did not record the case and gave no reason; try again")
        if before := await self._find_repeated(kept, caller):
            return before
        if asked is not None:
            raise Fenced("the evaluation has another entry of this number, or is over; read it again")
        raise AuditUnavailable("another request is recording the case under this key; try again", retry_after=1)

    async def _standings_of(self, request: CaseRequest, deployment: Deployment, caller: Caller) -> tuple[Standing, ...]:
        """The models' track records in the tenant's own panels, if the case needs them."""
        if not intake.needs_standings(request, deployment.policy):
            return ()
        with _audit_available("the database, which has the models' track records,"):
            return await standings(self._database.of(caller.tenant), caller.tenant)

    async def _tilts_of(self, request: CaseRequest, caller: Caller) -> tuple[RecordedTilt, ...]:
        """The findings about moderators that stand, if the case may have one."""
        if request.options.format not in (None, AUTO, MODERATED):
            return ()
        with _audit_available("the database, which has the findings about moderators,"):
            return await standing_tilts(self._database.of(caller.tenant), caller.tenant)

    async def _refuse_exhausted(
        self, request: CaseRequest, prepared: Prepared, deployment: Deployment, caller: Caller
    ) -> None:
        """Refuse a case that the tenant's limits cannot pay for; the running debate's allocations are what counts."""
        with _audit_available("the tenant's limits and the audit log"):
            limits = await spend.remaining(self._database.of(caller.tenant), caller.tenant, deployment.policy.budgets)
        if any(limit.amount < prepared.ceiling for limit in limits):
            needed = await unblocked(characters(request), partial(least, prepared, deployment))
            spend.refuse_exhausted(limits, needed)

    async def quote(self, request: CaseRequest, caller: Caller) -> tuple[CaseQuote, Mapping[str, MicroUSD]]:
        """The cost of a case, and what remains of the tenant's limits: limit -> micro-dollars. Nothing is stored.

        Raises what `submit` raises for a case, but no error for lack of money.
        """
        deployment = self._deployment(caller.tenant)
        known = await self._standings_of(request, deployment, caller)
        made = partial(quoted, request, deployment, caller.role, known)
        found = await unblocked(characters(request), made)
        limits = await spend.remaining(self._database.of(caller.tenant), caller.tenant, deployment.policy.budgets)
        return found, {limit.limit: limit.amount for limit in limits}


def _as_item(new: NewDebate, item: ItemTerms, deployment: Deployment, now: float) -> NewDebate:
    policy, asked = deployment.policy, item.asked
    room = ItemRoom(item.reserve, policy.evaluations.budget, policy.budgets.zone)
    new = replace(new, room=room, limited=room.limited)
    if asked is None:
        return new
    if asked.log != new.place.log:
        raise Fenced("the log was rotated, and the records of an evaluation are those of one log; look at it again")
    return replace(new, asked=asked.sealed(new.place.debate, new.place.tenant, now))


def _earlier(own: str | None, other: str | None) -> str | None:
    """The earlier of two deadlines. One that cannot be read stays, and is refused for that."""
    if own is None or other is None:
        return own or other
    with suppress(ValueError, TypeError):
        return other if datetime.fromisoformat(other) < datetime.fromisoformat(own) else own
    return own


@contextmanager
def _audit_available(what: str) -> Iterator[None]:
    """Raise `AuditUnavailable` if something that a case needs cannot be reached: no record, no debate."""
    try:
        yield
    except StoreUnavailable as error:
        telemetry.AUDIT_FAILURES.inc()
        raise AuditUnavailable(
            f"{what} cannot be reached, so the case is not accepted; try again when the database is back",
            retry_after=error.retry_after,
        ) from error


def count_decision(task_type: str, decision: GateDecision, deployment: Deployment) -> None:
    """Count a decision of the gate, unless it is the prober's; a task type that policy lacks counts as ``other``."""
    if deployment.probe:
        return
    result = "debate" if decision.debate else "decline"
    known = task_type if task_type in deployment.policy.task_types else labelled.OTHER
    telemetry.GATE_DECISIONS.labels(task_type=known, result=result, decided_by=decision.decided_by).inc()


def count_task_type(asked: str, deployment: Deployment) -> None:
    """Count a task type that policy does not know, by what becomes of it."""
    outcome = read_type(asked, deployment.policy.gate).outcome
    if outcome != "known" and not deployment.probe:
        telemetry.UNKNOWN_TASK_TYPES.labels(outcome=outcome).inc()
