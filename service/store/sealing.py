"""Seals and writes records: new debates, and events of a log itself. The database's clock dates them (`clock`)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from secrets import randbits, token_bytes
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from service import log_lines, telemetry
from service.audit import log_events
from service.audit.record import SALT_BYTES, Link, Record, RecordPlace, Times, Writer, closed, seal
from service.debate.entries import KINDS, Entry, encode, kind
from service.debate.model import Case
from service.errors import AuditUnavailable, IllegalEntry, StoreUnavailable
from service.money import Ledger
from service.report import build_decision
from service.report.result.decision_types import Decision
from service.store import derived
from service.store.array_parameters import ByteaArray, TextArray
from service.store.clock import database_time
from service.store.evaluation_room import NO_ROOM, ItemRoom
from service.store.found_by import as_record, case_words, found_by
from service.store.idempotency import DerivedKey, IdempotencyKey, Key, find_keyed
from service.store.pool import Database, Row
from service.store.retry_window import retry

closed({**KINDS.last, **log_events.LAST})

THREAD_BYTES = 1 << 20
"""Documents of more bytes are hashed in a thread."""
OFFERED_S = 5.0
"""The retry window of a new debate: the response to an earlier try may have been lost."""


class AskedEntry(Struct, frozen=True):
    """The entry of an evaluation that says that an item is asked: its number, its record, and that record's id."""

    evaluation: str
    n: int
    chain: str
    record: Record

    def params(self) -> dict[str, object]:
        """The parameters by which the statement that opens the debate records it."""
        return {
            "asking": UUID(self.evaluation),
            "asked_n": self.n,
            "asked_record": UUID(self.chain),
            "asked_leaf": self.record.leaf,
            "asked_salt": self.record.salt,
            "asked_body": self.record.payload,
        }


NOT_ASKED: dict[str, object] = dict.fromkeys(
    ("asking", "asked_n", "asked_record", "asked_leaf", "asked_salt", "asked_body")
)
"""The parameters of a debate that is opened without such an entry."""


class NewDebate(Struct, frozen=True):
    """What opens a debate, or records a declined case: entries and documents (id -> salt, UTF-8 bytes).

    ``context`` is what the place's commitment is to: its salt, and its bytes.
    """

    place: RecordPlace
    context: tuple[bytes, bytes]
    case: Case
    format: str | None
    state: str
    ceiling: int
    deadline: str | None
    records: tuple[Record, ...]
    documents: Mapping[str, tuple[bytes, bytes]]
    limited: bool = False
    """Whether the tenant has limits: the debate must then get an allocation before it spends anything."""
    key: Key | None = None
    """The case's idempotency key, sent or derived, which stands for this debate from then on."""
    templates: str | None = None
    """The templates of its requests: workers with other templates leave it to those that have these."""
    subject: str | None = None
    """The opaque id of the caller that submitted it."""
    batch: str | None = None
    """The batch from whose limit the debate draws too."""
    room: ItemRoom | None = None
    """What an item of an evaluation needs, and has, in the place of the tenant's limits."""
    asked: AskedEntry | None = None
    """The entry of the evaluation that is recorded with the debate of its item."""


def times(recorded: float) -> Times:
    """The times of a record of what happens now: in seconds since 1970, by the database's clock."""
    text = headline_fields(recorded)
    return Times(text, text)


def seal_entry(entry: Entry, *, place: RecordPlace, writer: Writer, n: int, prev: bytes, times: Times) -> Record:
    """The record of an entry, with its own salt."""
    return seal(
        encode(entry),
        token_bytes(SALT_BYTES),
        kind(entry),
        place=place,
        writer=writer,
        link=Link(n, prev),
        times=times,
    )


def seal_event(event: log_events.Event, *, log: str, tenant: str, writer: Writer, now: float) -> tuple[str, Record]:
    """The record of an event of a log itself, and its id: a chain of its own, made ``now``."""
    place = RecordPlace(log, tenant, uuid7(now))
    return place.debate, seal(
        log_events.encode(event),
        token_bytes(SALT_BYTES),
        log_events.kind(event),
        place=place,
        writer=writer,
        link=Link(0, b""),
        times=times(now),
    )


def uuid7(seconds: float) -> str:
    """A UUID of version 7 (RFC 9562, 5.7): milliseconds since 1970, then random bits, so that ids sort by time."""
    value = _microseconds(seconds) // 1_000 << 80 | randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))


async def open_debate(database: Database, new: NewDebate, entries: Sequence[Entry]) -> bool:
    """Write a new debate whole or not at all; return whether it is recorded, and not another one under the same key.

    An item of an evaluation that has no room, or whose entry has a number that is taken, is not recorded either.

    ``entries`` are those of its records. A lost response may follow a commit, so the same debate, which can exist only
    once, is offered again within the retry window. Raises `AuditUnavailable`: then it is not recorded, or that is
    unknown.
    """
    long = sum(len(body) for _, body in new.documents.values()) > THREAD_BYTES
    params = await asyncio.to_thread(_opening, new, entries) if long else _opening(new, entries)

    async def offer(_again: bool) -> bool:
        return bool(await database.query("open_debate", params)) or await _is_recorded(database, new)

    try:
        return await retry(offer, OFFERED_S)
    except StoreUnavailable as error:
        raise unwritten(error) from error


async def _is_recorded(database: Database, new: NewDebate) -> bool:
    """Whether the debate that exists already is this very debate."""
    if new.key is None:
        return bool(await database.query("head", {"debate": UUID(new.place.debate), "tenant": new.place.tenant}))
    found = await find_keyed(database, new.place.tenant, new.key)
    return found is not None and found.debate == new.place.debate


def _opening(new: NewDebate, entries: Sequence[Entry]) -> dict[str, Any]:
    ledger = Ledger.of(entries)
    decision = decided(entries, ledger)
    rests = [*derived.grounds(entries), *derived.documents({name: body for name, (_, body) in new.documents.items()})]
    return {
        "debate": UUID(new.place.debate),
        "tenant": new.place.tenant,
        "log": new.place.log,
        "policy": new.place.policy,
        "context": new.place.context,
        "context_salt": new.context[0],
        "context_body": new.context[1],
        "format": new.format,
        "task_type": new.case.task_type,
        "state": new.state,
        "ceiling": new.ceiling,
        "granted": 0 if new.limited else new.ceiling,
        "deadline": new.deadline,
        "next_n": len(new.records),
        "last_hash": new.records[-1].leaf_hash,
        "document_ids": TextArray(new.documents),
        "document_salts": ByteaArray(salt for salt, _ in new.documents.values()),
        "document_bodies": ByteaArray(body for _, body in new.documents.values()),
        "key": new.key.key if isinstance(new.key, IdempotencyKey) else None,
        "key_body": new.key.body if isinstance(new.key, IdempotencyKey) else None,
        "derived": new.key.key if isinstance(new.key, DerivedKey) else None,
        "templates": new.templates,
        "subject": new.subject,
        "batch": None if new.batch is None else UUID(new.batch),
        **(NO_ROOM if new.room is None else new.room.params()),
        **(NOT_ASKED if new.asked is None else new.asked.params()),
        "decision": decision_body(decision),
        **found_columns(entries, decision, ledger, new.place.tenant, new.place.debate),
        **columns(new.records),
        **grounds_arrays(rests),
    }


async def write_event(database: Database, event: log_events.Event, log: str, tenant: str, writer: Writer) -> None:
    """Record an event of a log itself; raises `AuditUnavailable`."""
    chain, record = seal_event(event, log=log, tenant=tenant, writer=writer, now=await written_at(database))
    params = {
        "debate": UUID(chain),
        "log": log,
        "tenant": tenant,
        "leaf": record.leaf,
        "salt": record.salt,
        "body": record.payload,
    }
    await write(database, "note", params)


async def written_at(database: Database) -> float:
    """Now by the database's clock, for a record; raises `AuditUnavailable`."""
    try:
        return (await database_time(database)).now()
    except StoreUnavailable as error:
        raise unwritten(error) from error


async def write(database: Database, name: str, params: Mapping[str, Any]) -> list[Row]:
    """Run a statement that records.

    No record, no call: whatever prevents a record from being written is an outage of the audit log.
    """
    try:
        return await database.query(name, params)
    except StoreUnavailable as error:
        raise unwritten(error) from error


def unwritten(error: StoreUnavailable) -> AuditUnavailable:
    """The error for the caller of a record that the database does not confirm."""
    telemetry.AUDIT_FAILURES.inc()
    log_lines.NOT_RECORDED(detail=error.detail, code=error.code)
    return AuditUnavailable(
        "the audit log does not confirm the record, so nothing further is done; try again when the database is back",
        retry_after=error.retry_after,
    )


def columns(records: Sequence[Record]) -> dict[str, ByteaArray]:
    """Records as the parameters of the statements that insert them."""
    return {
        "leaves": ByteaArray(r.leaf for r in records),
        "salts": ByteaArray(r.salt for r in records),
        "bodies": ByteaArray(r.payload for r in records),
    }


def grounds_arrays(found: Iterable[derived.Grounds]) -> dict[str, TextArray]:
    """The items on which a debate rests, as parameters of the statements that store it."""
    each = sorted(set(found))
    return {"rests_what": TextArray(what for what, _ in each), "rests_value": TextArray(value for _, value in each)}


def decided(entries: Sequence[Entry], ledger: Ledger) -> Decision | None:
    """The decision of a debate of these entries, with the money after them; none while it is under way.

    It is none as well for entries that no result can be made of: a projection never keeps a record from being written.
    """
    try:
        return build_decision(entries, ledger)
    except IllegalEntry as error:
        log_lines.DECISION_UNREADABLE(why=error)
        return None


def decision_body(decision: Decision | None) -> bytes | None:
    """A decision as a parameter of the statements that store it: JSON."""
    return None if decision is None else msgspec.json.encode(decision)


def found_columns(
    entries: Sequence[Entry], decision: Decision | None, ledger: Ledger, tenant: str, debate: str
) -> dict[str, Any]:
    """What a debate is found by, as parameters of the statements that store it; ``entries`` are all, from the first."""
    row, said = found_by(entries, decision, ledger), case_words(entries, tenant)
    return {
        "found_by": None if row is None else as_record(row, tenant, debate),
        "words": None if said is None else said.words,
        "metadata": TextArray(said.metadata if said else ()),
    }


def tracked(found: Sequence[derived.Performance]) -> str:
    """The models' scores in a debate, as a parameter of the statements that store them: JSON."""
    return msgspec.json.encode(found).decode()


def headline_fields(seconds: float) -> str:
    """RFC 3339 in UTC, to the millisecond, of seconds since 1970; the rest is cut off."""
    second, rest = divmod(_microseconds(seconds), 1_000_000)
    return f"{_second_text(second)}.{rest // 1_000:03d}Z"


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)


@lru_cache(maxsize=64)
def _second_text(whole: int) -> str:
    """A second as text, cached because many records fall into the same one."""
    return datetime.fromtimestamp(whole, UTC).isoformat().removesuffix("+00:00")
