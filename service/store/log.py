"""The audit log of one debate: append as one statement, read as what was stored.

Durable is one statement in one transaction: it moves the debate's head row (epoch, number, last hash, money), and
inserts entries, payloads, charges and staging rows. When the head is not as expected nothing is written: another
worker, or an abort, has been there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from secrets import token_bytes
from typing import Any, Self
from uuid import UUID

import msgspec
from msgspec import Struct

from service import telemetry
from service.audit.record import SALT_BYTES, Record, leaf_hash, open_leaf, seal
from service.budget import Ledger, Refusal
from service.debate.entries import (
    AttemptFailed,
    DebateConcluded,
    Entry,
    TurnAsked,
    TurnSpoke,
    decode,
    encode,
    kind,
)
from service.debate.model import Case
from service.debate.money import MicroUSD
from service.errors import AuditUnavailable, Fenced, NotFound, StoreUnavailable
from service.policy import Budgets
from service.store.pool import Database, Row, StatementRefused

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
"""How long a worker waits before it offers a record again to a database that went away, at first and at most."""


class Stored(Struct, frozen=True):
    """A record as it was stored: the leaf's bytes, the payload's bytes, and when its writer says it was written."""

    n: int
    at: str
    actor: str
    leaf: bytes
    salt: bytes
    payload: bytes

    @property
    def entry(self) -> Entry:
        """The entry that the payload holds."""
        return decode(self.payload)


class NewDebate(Struct, frozen=True):
    """What opens a debate, or records a declined case: entries and documents (id -> salt, UTF-8 bytes)."""

    debate: str
    tenant: str
    log: str
    actor: str
    case: Case
    format: str | None
    state: str
    ceiling: int
    deadline: str | None
    records: tuple[Record, ...]
    documents: Mapping[str, tuple[bytes, bytes]]
    limited: bool = False
    """Whether the tenant has limits: the debate then has to draw on them before it may spend anything."""


def seal_entry(entry: Entry, *, log: str, tenant: str, debate: str, n: int, prev: bytes, actor: str) -> Record:
    """The record of an entry, written now, with a salt of its own."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return seal(
        encode(entry),
        token_bytes(SALT_BYTES),
        log=log,
        tenant=tenant,
        kind=kind(entry),
        debate=debate,
        n=n,
        prev=prev,
        at=at,
        actor=actor,
    )


async def open_debate(database: Database, new: NewDebate) -> None:
    """Write a new debate whole or not at all; raises `AuditUnavailable`."""
    params = {
        "debate": UUID(new.debate),
        "tenant": new.tenant,
        "log": new.log,
        "format": new.format,
        "task_type": new.case.task_type,
        "state": new.state,
        "ceiling": new.ceiling,
        "granted": 0 if new.limited else new.ceiling,
        "deadline": new.deadline,
        "next_n": len(new.records),
        "last_hash": new.records[-1].leaf_hash,
        "document_ids": list(new.documents),
        "document_salts": [salt for salt, _ in new.documents.values()],
        "document_bodies": [body for _, body in new.documents.values()],
        **_columns(new.records),
    }
    await _write(database, "open_debate", params)


class DebateLog:
    """The end of one debate's log, as the writer that holds it knows it."""

    def __init__(
        self, database: Database, debate: str, head: Row, actor: str, lease_s: float | None, budgets: Budgets
    ) -> None:
        self.debate = debate
        self.ledger = Ledger(0)
        self._hear(head)
        self._database = database
        self._budgets = budgets
        self._granted: MicroUSD = head["granted"]
        self._draws: int = head["draws"]
        self._tenant: str = head["tenant"]
        self._log: str = head["log"]
        self._epoch: int = head["epoch"]
        self._actor = actor
        self._lease_s = lease_s
        self._next_n = 0
        self._last_hash = b""

    @classmethod
    async def at(
        cls,
        database: Database,
        debate: str,
        actor: str,
        lease_s: float | None = None,
        epoch: int | None = None,
        budgets: Budgets = Budgets(),  # noqa: B008 - frozen
    ) -> Self:
        """The log of a debate; raises `NotFound`. Without a lease, appending leaves the worker's lease as it is.

        ``epoch`` is the one that the worker was given with the debate: by now another one may have it, and the head's
        epoch would let both write. Whoever only adds a word (an abort) takes the head's. ``budgets`` are the limits
        that `draw` keeps to, and their zone is that of the charges' days.
        """
        head = await read_head(database, debate)
        return cls(database, debate, head if epoch is None else {**head, "epoch": epoch}, actor, lease_s, budgets)

    @property
    def epoch(self) -> int:
        """How often the debate had been taken when this writer took it, itself included."""
        return self._epoch

    @property
    def left_s(self) -> float | None:
        """Seconds to the deadline: the database's clock when last heard of, less what has passed since."""
        return None if self._left_s is None else self._left_s - (time.monotonic() - self._heard_at)

    @property
    def granted(self) -> MicroUSD:
        """What the debate may reserve and spend in all, as far as this writer has drawn it or found it."""
        return self._granted

    async def draw(self, need: MicroUSD, want: MicroUSD) -> Refusal | None:
        """Have the debate granted ``need`` more at least, ``want`` while there is plenty; or why not even ``need``.

        Nothing is granted then. A debate of a tenant without limits has its whole ceiling from the start. Asking again
        after an answer was lost draws nothing twice. Raises `Fenced` when another worker has the debate, and
        `AuditUnavailable` when the limits cannot be reached: nothing may be spent then.
        """
        enough, most = self._granted + need, self._granted + want
        while (short := enough - self._granted) > 0:
            try:
                rows = await self._database.query("draw", self._draw_params(short, most - self._granted))
                head = rows[0] if rows else await self._drawn_before()
            except StoreUnavailable as error:
                raise AuditUnavailable(
                    "the database does not confirm the draw on the tenant's limits, so nothing is spent; try again "
                    "when it is back",
                    retry_after=error.retry_after,
                ) from error
            if limit := head.get("short"):
                telemetry.DRAWS.labels("refused").inc()
                return Refusal(limit, need, head["remaining"])
            telemetry.DRAWS.labels("wanted" if head["granted"] >= most else "needed").inc()
            self._granted, self._draws = head["granted"], head["draws"]
        return None

    def _draw_params(self, need: MicroUSD, want: MicroUSD) -> dict[str, Any]:
        budget = self._budgets.of(self._tenant)
        return {
            "debate": UUID(self.debate),
            "epoch": self._epoch,
            "draws": self._draws,
            "need": need,
            "want": want,
            "zone": self._budgets.zone,
            "day": budget.day,
            "month": budget.month,
        }

    async def _drawn_before(self) -> Row:
        """The head with a draw of ours whose answer was lost; raises `Fenced` when there is none."""
        head = await read_head(self._database, self.debate)
        if head["epoch"] != self._epoch or head["draws"] == self._draws:
            raise Fenced(f"debate {self.debate} was taken over by another worker, or is not running; read it again")
        return head

    async def tail(self) -> list[Entry]:
        """The entries that were recorded since the last look, by anybody; the first look gives all of them."""
        stored = await read_records(self._database, self.debate, self._next_n)
        for record in stored:
            self._seen(record.entry, record.leaf)
        return [record.entry for record in stored]

    async def append(self, entries: Sequence[Entry]) -> None:
        """Record these entries, all or none.

        A database that goes away is waited for as long as the lease would last, for what is to be recorded may be a
        reply that was paid for. Raises `Fenced` when somebody else has written or taken over (look at `tail`, and ask
        the kernel again), and `AuditUnavailable` when the log cannot be written.
        """
        records, prev = [], self._last_hash
        for n, entry in enumerate(entries, self._next_n):
            record = seal_entry(
                entry, log=self._log, tenant=self._tenant, debate=self.debate, n=n, prev=prev, actor=self._actor
            )
            records.append(record)
            prev = record.leaf_hash
        params = {
            "debate": UUID(self.debate),
            "epoch": self._epoch,
            "next_n": self._next_n,
            "prev": self._last_hash,
            "count": len(records),
            "last_hash": prev,
            "lease": self._lease_s,
            "zone": self._budgets.zone,
            **_money(self.ledger, entries),
            **_columns(records),
            "charges": _charges(self._next_n, entries),
        }
        rows = await self._insist(params, records)
        if not rows:
            raise Fenced(f"debate {self.debate} was written to or taken over by somebody else; read it again")
        self._hear(rows[0])
        for record, entry in zip(records, entries, strict=True):
            self._seen(entry, record.leaf, record.leaf_hash)

    async def _insist(self, params: Mapping[str, Any], records: Sequence[Record]) -> list[Row]:
        """Append until the database answers: the same bytes again, which can be there only once.

        An answer that was lost may have been a commit, so after a first try no row can also mean that it was ours.
        """
        until, pause, again = time.monotonic() + (self._lease_s or 0.0), FIRST_PAUSE_S, False
        while True:
            try:
                rows = await self._database.query("append", params)
                return rows if rows or not again else await self._landed(records)
            except StoreUnavailable as error:
                if isinstance(error, StatementRefused) or time.monotonic() + pause > until:
                    raise _unwritten(error) from error
            await asyncio.sleep(pause)
            pause, again = min(2 * pause, LONGEST_PAUSE_S), True

    async def _landed(self, records: Sequence[Record]) -> list[Row]:
        """The head, when these very records follow what this writer knows; no row otherwise."""
        stored = await read_records(self._database, self.debate, self._next_n)
        if [s.leaf for s in stored[: len(records)]] != [r.leaf for r in records]:
            return []
        return [await read_head(self._database, self.debate)]

    async def renew(self, lease_s: float | None = None) -> None:
        """Keep the lease, for as long as is said; raises `Fenced` when another worker has the debate by now."""
        lease = self._lease_s if lease_s is None else lease_s
        params = {"debate": UUID(self.debate), "epoch": self._epoch, "lease": lease}
        if not await self._database.query("renew", params):
            raise Fenced(f"debate {self.debate} was taken over by another worker")

    async def release(self) -> None:
        """Give the lease back."""
        await self._database.query("release", {"debate": UUID(self.debate), "epoch": self._epoch})

    def _hear(self, head: Row) -> None:
        self._left_s: float | None = head["left_s"]
        self._heard_at = time.monotonic()

    def _seen(self, entry: Entry, leaf: bytes, known_hash: bytes | None = None) -> None:
        self.ledger = self.ledger.add(entry)
        self._next_n += 1
        self._last_hash = known_hash or leaf_hash(leaf)


async def read_head(database: Database, debate: str, tenant: str | None = None) -> Row:
    """The working state of a debate; raises `NotFound`, also for ids that are none and for other tenants' debates."""
    try:
        key = UUID(debate)
    except ValueError:
        raise NotFound(f"there is no debate {debate!r}; ids are UUIDs, as answered by POST /v1/debates") from None
    rows = await database.query("head", {"debate": key, "tenant": tenant})
    if not rows:
        raise NotFound(f"there is no debate {debate}")
    return rows[0]


async def read_records(database: Database, debate: str, from_n: int = 0) -> list[Stored]:
    """The records of a debate from ``from_n`` on, in order, as their bytes were stored."""
    rows = await database.query("records", {"debate": UUID(debate), "from_n": from_n})
    stored = []
    for row in rows:
        envelope = open_leaf(row["leaf"])
        stored.append(Stored(row["n"], envelope.at, envelope.actor, row["leaf"], row["salt"], row["body"]))
    return stored


async def read_documents(database: Database, debate: str) -> dict[str, str]:
    """The texts of a debate's documents, by id."""
    rows = await database.query("documents", {"debate": UUID(debate)})
    return {row["id"]: bytes(row["body"]).decode() for row in rows}


async def _write(database: Database, name: str, params: Mapping[str, Any]) -> list[Row]:
    """No record, no call: whatever keeps a record from being written is an outage of the audit log."""
    try:
        return await database.query(name, params)
    except StoreUnavailable as error:
        raise _unwritten(error) from error


def _unwritten(error: StoreUnavailable) -> AuditUnavailable:
    telemetry.AUDIT_FAILURES.inc()
    return AuditUnavailable(
        "the audit log does not confirm the record, so nothing further is done; try again when the database is back",
        retry_after=error.retry_after,
    )


def _columns(records: Sequence[Record]) -> dict[str, list[Any]]:
    return {
        "leaves": [r.leaf for r in records],
        "hashes": [r.leaf_hash for r in records],
        "salts": [r.salt for r in records],
        "bodies": [r.payload for r in records],
    }


def _money(ledger: Ledger, entries: Sequence[Entry]) -> dict[str, Any]:
    """How these entries move the head's money, and the state that they leave the debate in."""
    after, hold = ledger, 0
    for entry in entries:
        after = after.add(entry)
        hold += entry.held if isinstance(entry, TurnAsked) else 0
    before, held = sum(ledger.held.values()), sum(after.held.values())
    concluded = [e.outcome.status for e in entries if isinstance(e, DebateConcluded)]
    return {
        "spent": after.spent - ledger.spent,
        "excess": after.excess - ledger.excess,
        "hold": hold,
        "release": before + hold - held,
        "state": concluded[-1] if concluded else None,
    }


def _charges(first: int, entries: Sequence[Entry]) -> str:
    """The rows of the charge table that go with these entries, as JSON.

    ``earlier`` is what those before it charge, without the excess: it says where in the debate's draws a charge begins.
    """
    rows, earlier = [], 0
    for n, entry in enumerate(entries, first):
        if not isinstance(entry, TurnSpoke | AttemptFailed):
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
    return msgspec.json.encode(rows).decode()
