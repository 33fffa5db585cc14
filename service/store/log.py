"""The audit log of one debate: one statement appends, and reads return the stored bytes.

An append is durable as one statement in one transaction, which appends of other debates may share (`group_commit`).
It moves the debate's head row (epoch, number, last hash, money), and inserts entries, payloads, charges and staging
rows. If the head row is not as expected, nothing is written: another worker, or an abort, has written.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

import msgspec
from msgspec.structs import replace

from service import telemetry
from service.audit.record import Actor, Record, RecordPlace, Times, Writer
from service.audit.stored_record import ChainEnd
from service.debate.amounts import MicroUSD
from service.debate.entries import (
    AttemptFailed,
    CaseReceived,
    DebateConcluded,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSpoke,
    arrival_of,
)
from service.debate.model import TurnId
from service.errors import AuditUnavailable, Fenced, StoreUnavailable
from service.money import Ledger, Refusal
from service.policy import Budgets, EvaluationBudgets
from service.policy.evaluation import USUAL_BUDGETS
from service.report.trace import Moment, trace_of
from service.store import derived
from service.store.clock import DatabaseTime, database_time
from service.store.found_by import as_record, found_by
from service.store.group_commit import DebateAppend, GroupCommit, append_alone
from service.store.pool import Database, Row
from service.store.queue import ClaimedDebate
from service.store.retry_window import retry
from service.store.sealing import columns, decided, decision_body, headline_fields, seal_entry, unwritten
from service.store.stored_debate import StoredDebate, read_debate, read_head

_CHARGED = (TurnSpoke, AttemptFailed)  # a tuple, because a union of classes is built anew each time


class DebateLog:
    """The end of one debate's log, as the writer that holds it knows it.

    A worker opens it with `open_claimed`. A writer that only adds a record (an abort) passes the current head and no
    lease; its append leaves the worker's lease as it is. ``stored`` is what came with the head, for the first
    `new_entries`.
    """

    def __init__(
        self,
        database: Database,
        debate: str,
        head: Row,
        writer: Writer,
        lease_s: float | None,
        budgets: Budgets,
        *,
        stored: StoredDebate | None = None,
    ) -> None:
        self.debate = debate
        self._key = UUID(debate)
        self.ledger = Ledger(0)
        self._set_time_left(head)
        self._database = database
        self._budgets = budgets
        self._granted: MicroUSD = head["granted"]
        self._draws: int = head["draws"]
        self._place = RecordPlace(head["log"], head["tenant"], debate, head["policy"], head["context"])
        self._epoch: int = head["epoch"]
        self._writer = writer
        self._rests: set[derived.Grounds] = set()
        self._entries: list[Entry] = []
        self._moments: list[Moment] = []
        self._lease_s = lease_s
        self._retry_window_s = lease_s or 0.0
        self._next_n = 0
        self._last_hash = b""
        self._last_recorded = ""
        self._asked: dict[TurnId, float] = {}
        self._at_hand = stored
        self.arrival = arrival_of(stored.records[0].payload) if stored else None

    @classmethod
    async def open_claimed(
        cls,
        database: Database,
        claimed: ClaimedDebate,
        writer: Writer,
        lease_s: float,
        budgets: Budgets,
        items: EvaluationBudgets = USUAL_BUDGETS,
    ) -> tuple[Self, dict[str, str]]:
        """The log for a worker that claimed the debate, with the texts of its documents, by id.

        Its epoch is the one of the claim. By now another worker may have the debate, and with the head row's epoch both
        could write. ``budgets`` are the limits that `allocate` keeps to, ``items`` those of evaluations; the zone says
        to which day a charge belongs. Raises `NotFound`, and `EvidenceDamaged` for a debate on which nothing may be
        continued.
        """
        debate = claimed.debate
        stored = await read_debate(database, debate, claimed.tenant, documents=True)
        if claimed.epoch == 1:
            telemetry.WAITED_SECONDS.observe(stored.ages[0])
        head = {**stored.head, "epoch": claimed.epoch}
        if head["purpose"] is not None:
            budgets = replace(budgets, others=items.of(claimed.tenant).money, tenants={})
        log = cls(database, debate, head, writer, lease_s, budgets, stored=stored)
        return log, stored.texts

    @property
    def epoch(self) -> int:
        """How often the debate had been claimed when this writer claimed it, that claim included."""
        return self._epoch

    @property
    def tenant(self) -> str:
        """Whose debate it is."""
        return self._place.tenant

    @property
    def next_n(self) -> int:
        """The number of the next record, as far as this writer knows."""
        return self._next_n

    @property
    def took_s(self) -> float:
        """Seconds from the receipt of the case to the last entry, by the times that their records have."""
        return (_instant(self._last_recorded) - _instant(self._moments[0].recorded)).total_seconds()

    @property
    def trace(self) -> str:
        """The id of the trace of the debate, which is that of its case's request where it came in one."""
        first = self._entries[0] if self._entries else None
        return trace_of(self.debate, first.arrival if isinstance(first, CaseReceived) else None)

    @property
    def deadline_in_s(self) -> float | None:
        """Seconds to the deadline: by the database's last answer, less the time since."""
        return None if self._left_s is None else self._left_s - (time.monotonic() - self._heard_at)

    @property
    def allocated(self) -> MicroUSD:
        """What the debate may reserve and spend in all, as far as this writer has allocated or read it."""
        return self._granted

    @property
    def written(self) -> tuple[Sequence[Entry], Sequence[Moment]]:
        """The entries that this writer has read or recorded, and when each was."""
        return self._entries, self._moments

    def turn_age_s(self, turn: TurnId) -> float:
        """Seconds since the first attempt of a turn, by the database's clock and across workers; 0 if there is none."""
        asked = self._asked.get(turn)
        return 0.0 if asked is None else time.monotonic() - asked

    async def allocate(self, need: MicroUSD, want: MicroUSD) -> Refusal | None:
        """Allocate ``need`` to ``want`` more to the debate, or return the refusal if not even ``need`` remains.

        A refusal allocates nothing. A debate of a tenant without limits has its whole ceiling from the start. Repeating
        the statement after a lost response allocates nothing twice (``draws`` counts the tranches), so a database that
        goes away is asked again within the retry window, as in `append`: paid calls may be in flight. Raises `Fenced`
        when another worker has the debate, and `AuditUnavailable` when the limits cannot be reached: nothing may be
        spent then.
        """
        enough, most = self._granted + need, self._granted + want
        # A loop: a tranche whose response was lost may be smaller than this request, which then needs one more.
        while (short := enough - self._granted) > 0:
            params = self._draw_params(short, most - self._granted)
            try:
                head = await retry(lambda _again, params=params: self._allocated(params), self._retry_window_s)  # type: ignore[misc]
            except StoreUnavailable as error:
                raise AuditUnavailable(
                    "the database does not confirm the allocation from the tenant's limits, so nothing is spent; "
                    "try again when it is back",
                    retry_after=error.retry_after,
                ) from error
            if limit := head.get("short"):
                telemetry.DRAWS.labels(result="refused").inc()
                return Refusal(limit, need, head["remaining"])
            telemetry.DRAWS.labels(result="wanted" if head["granted"] >= most else "needed").inc()
            self._granted, self._draws = head["granted"], head["draws"]
        return None

    def _draw_params(self, need: MicroUSD, want: MicroUSD) -> dict[str, Any]:
        budget = self._budgets.of(self._place.tenant)
        return {
            "debate": self._key,
            "tenant": self._place.tenant,
            "epoch": self._epoch,
            "draws": self._draws,
            "need": need,
            "want": want,
            "zone": self._budgets.zone,
            "day": budget.day,
            "month": budget.month,
        }

    async def _allocated(self, params: Mapping[str, Any]) -> Row:
        rows = await self._database.query("draw", params)
        return rows[0] if rows else await self._allocated_before()

    async def _allocated_before(self) -> Row:
        """The head row with an allocation of ours whose response was lost; raises `Fenced` when there is none."""
        head = await read_head(self._database, self.debate, self._place.tenant)
        if head["epoch"] != self._epoch or head["draws"] == self._draws:
            raise Fenced(f"debate {self.debate} was claimed by another worker, or is not running; read it again")
        return head

    async def new_entries(self) -> list[Entry]:
        """The entries that any writer recorded since the last call; the first call returns all.

        Raises `EvidenceDamaged` when what is stored does not follow from what this writer knows.
        """
        stored, self._at_hand = self._at_hand, None
        if stored is None:
            after = ChainEnd(self._next_n, self._last_hash)
            stored = await read_debate(self._database, self.debate, self._place.tenant, after=after)
        entries = [record.entry for record in stored.records]
        for entry, record, age_s in zip(entries, stored.records, stored.ages, strict=True):
            at = Moment(record.at, record.recorded, _process(record.actor))
            self.ledger = self.ledger.add(entry)
            self._fold(entry, record.leaf_hash, at, age_s=age_s)
        return entries

    async def append(self, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        """Record these entries, all or none; ``occurred`` says when each happened, by `time.monotonic`.

        A database that goes away is asked again as long as the lease would last, because an entry may be a reply that
        was paid for. Raises `Fenced` when another writer has written or claimed the debate (call `new_entries`, then
        ask the kernel again), and `AuditUnavailable` when the log cannot be written.
        """
        read = await self._read_time()
        at = self._times(read, occurred or [time.monotonic()] * len(entries))
        records, prev, after = [], self._last_hash, self.ledger
        for n, (entry, when) in enumerate(zip(entries, at, strict=True), self._next_n):
            record = seal_entry(entry, place=self._place, writer=self._writer, n=n, prev=prev, times=when)
            records.append(record)
            prev, after = record.leaf_hash, after.add(entry)
        rests = set(derived.grounds(entries)) - self._rests
        row = await self._append_again(self._values(entries, records, after, rests), records, entries)
        if row is None:
            raise Fenced(f"debate {self.debate} was written to or claimed by another process; read it again")
        self._set_time_left(row)
        self._rests |= rests
        self.ledger = after
        process, stored_us = _process(self._writer.actor), round(read.now() * 1e6)
        for record, entry, when in zip(records, entries, at, strict=True):
            self._fold(entry, record.leaf_hash, Moment(when.occurred, when.recorded, process, stored_us))

    def _values(
        self, entries: Sequence[Entry], records: Sequence[Record], after: Ledger, rests: set[derived.Grounds]
    ) -> dict[str, Any]:
        """What is written beside the records, by the names of the parameters of `append`."""
        return {
            "debate": self._key,
            "tenant": self._place.tenant,
            "epoch": self._epoch,
            "next_n": self._next_n,
            "prev": self._last_hash,
            "count": len(records),
            "last_hash": records[-1].leaf_hash,
            "lease": self._lease_s,
            "zone": self._budgets.zone,
            **_money(self.ledger, after, entries),
            "charges": _charges(self._next_n, entries),
            "rests": _json([{"what": what, "value": value} for what, value in sorted(rests)]),
            **self._end(entries, after),
        }

    def _end(self, entries: Sequence[Entry], after: Ledger) -> dict[str, Any]:
        """The state, the track record, the decision, and what the debate is found by, if these entries end it."""
        concluded = [entry.outcome.status for entry in entries if isinstance(entry, DebateConcluded)]
        if not concluded:
            return {"state": None, "tracked": None, "decision": None, "found_by": None}
        whole = [*self._entries, *entries]
        decision = decided(whole, after)
        row = found_by(whole, decision, after)
        return {
            "state": concluded[-1],
            "tracked": _json(derived.performances(whole)),
            "decision": decision_body(decision),
            "found_by": None if row is None else as_record(row, self._place.tenant, self.debate),
        }

    async def _read_time(self) -> DatabaseTime:
        """The time; raises `AuditUnavailable`."""
        try:
            return await retry(lambda _again: database_time(self._database), self._retry_window_s)
        except StoreUnavailable as error:
            raise unwritten(error) from error

    def _times(self, read: DatabaseTime, occurred: Sequence[float]) -> list[Times]:
        """The times of records that are recorded now.

        No record is before the one before it: a clock that was set back gives that one's time again, until it has
        caught up.
        """
        now, here = read.now(), time.monotonic()
        recorded = max(headline_fields(now), self._last_recorded)
        return [Times(headline_fields(now - max(0.0, here - at)), recorded) for at in occurred]

    async def _append_again(
        self, values: Mapping[str, Any], records: Sequence[Record], entries: Sequence[Entry]
    ) -> Row | None:
        """Append the same bytes again until the database answers; they can be stored only once.

        A lost response may have been a commit. So after the first try, no row can also mean that our own append was
        stored. An abort has a statement of its own, which the login that serves callers may run.
        """
        stops = self._lease_s is None and isinstance(entries[0], DebateStopped)

        async def offer(again: bool) -> Row | None:
            row = await (self._offer_stop(values, records) if stops else self._offer(asked, again=again))
            return await self._stored_head(records) if row is None and again else row

        try:
            asked = self._asked_for(values, records)
            begun = time.monotonic()
            row = await retry(offer, self._retry_window_s)
            telemetry.APPEND_SECONDS.observe(time.monotonic() - begun)
            return row
        except StoreUnavailable as error:
            raise unwritten(error) from error

    def _asked_for(self, values: Mapping[str, Any], records: Sequence[Record]) -> DebateAppend:
        first = self._next_n
        return DebateAppend.of(
            self.debate,
            values,
            {"ns": range(first, first + len(records)), **columns(records)},
            moves_limits=self._draws > 0 and (values["state"] is not None or values["excess"] > 0),
        )

    async def _offer(self, asked: DebateAppend, *, again: bool) -> Row | None:
        """Together with others the first time; afterwards alone, so that no fault of theirs comes back."""
        if again:
            return await append_alone(self._database, asked)
        return await GroupCommit.of(self._database).append(self._database, asked)

    async def _offer_stop(self, values: Mapping[str, Any], records: Sequence[Record]) -> Row | None:
        rows = await self._database.query("append_stop", {**values, **columns(records)})
        return rows[0] if rows else None

    async def _stored_head(self, records: Sequence[Record]) -> Row | None:
        """The head row if the stored records after this writer's last one are these."""
        key = {"debate": self._key, "tenant": self._place.tenant}
        stored = await self._database.query("records", {**key, "from_n": self._next_n, "documents": False})
        leaves = [row["leaf"] for row in stored if row["part"] == "record"]
        if leaves[: len(records)] != [record.leaf for record in records]:
            return None
        return await read_head(self._database, self.debate, self._place.tenant)

    async def renew(self) -> None:
        """Renew the lease; raises `Fenced` when another worker has the debate."""
        key = {"debate": self._key, "tenant": self._place.tenant, "epoch": self._epoch}
        if not await self._database.query("renew", {**key, "lease": self._lease_s}):
            raise Fenced(f"debate {self.debate} was claimed by another worker")

    def _set_time_left(self, head: Row) -> None:
        self._left_s: float | None = head["left_s"]
        self._heard_at = time.monotonic()

    def _fold(self, entry: Entry, last_hash: bytes, at: Moment, age_s: float = 0.0) -> None:
        if isinstance(entry, TurnAsked):
            self._asked.setdefault(entry.turn, time.monotonic() - age_s)
        self._entries.append(entry)
        self._next_n += 1
        self._moments.append(at)
        self._last_hash, self._last_recorded = last_hash, at.recorded


def _money(before: Ledger, after: Ledger, entries: Sequence[Entry]) -> dict[str, Any]:
    """How these entries change the head row's money."""
    hold = sum(entry.held for entry in entries if isinstance(entry, TurnAsked))
    return {
        "spent": after.spent - before.spent,
        "excess": after.excess - before.excess,
        "hold": hold,
        "release": sum(before.held.values()) + hold - sum(after.held.values()),
    }


def _process(actor: Actor) -> str:
    """The name of a process of this service; empty for a caller, whom traces do not name."""
    return actor.id if actor.via == "databaseRole" else ""


def _instant(recorded: str) -> datetime:
    return datetime.fromisoformat(recorded)


def _charges(first: int, entries: Sequence[Entry]) -> str | None:
    """The rows of the charge table for these entries, as JSON.

    ``earlier`` is the sum of the charges before a row, without excess. It says where in the debate's tranches a charge
    begins, and so to which periods it belongs.
    """
    rows, earlier = [], 0
    for n, entry in enumerate(entries, first):
        if not isinstance(entry, _CHARGED):
            continue
        charge = entry.charge
        rows.append(
            {
                "n": n,
                "turn": entry.turn,
                "attempt": entry.attempt,
                "basis": charge.basis,
                "amount": charge.amount,
                "excess": charge.excess,
                "earlier": earlier,
            }
        )
        earlier += charge.amount - charge.excess
    return _json(rows)


def _json(rows: Sequence[Any]) -> str | None:
    """Rows as JSON; none as a null, which has no rows either."""
    return msgspec.json.encode(rows).decode() if rows else None
