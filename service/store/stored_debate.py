"""Reads one debate, and compares all of it with what commits to it before it is shown.

Every reader of one debate goes through `read_debate`: answers and reports, streams, the worker that continues a debate,
an abort, replays, bundles. A difference is `EvidenceDamaged`, an incident and a metric. Head row and records are read
in one statement, so they are of one moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from msgspec import MsgspecError, Struct

from service.audit.record import Actor
from service.audit.stored_record import (
    HEAD_ROW,
    START,
    ChainEnd,
    Linked,
    Mismatch,
    StoredHead,
    StoredParts,
    compare_context,
    compare_documents,
    compare_records,
)
from service.debate.entries import CaseReceived, DebateConcluded, Entry, decode, is_end
from service.errors import NotFound
from service.store.damage import damaged_debate
from service.store.pool import Database, Row

ENDS = ("debate.concluded", "gate.decided")
"""The kinds of records after which a debate may be over."""
THREAD_BYTES = 1 << 20
"""Above so many bytes a debate is hashed in a thread: a megabyte takes some milliseconds."""


class StoredRecord(Struct, frozen=True):
    """A stored record: leaf and payload as their bytes, when it happened and was recorded, and the actor."""

    n: int
    at: str
    recorded: str
    actor: Actor
    kind: str
    leaf: bytes
    leaf_hash: bytes
    salt: bytes
    payload: bytes
    schema: int

    @property
    def entry(self) -> Entry:
        """The entry that the payload holds."""
        return decode(self.payload, self.schema)


class StoredDebate(NamedTuple):
    """A debate's records behind some end, its documents if they were read, and its head row at the same moment.

    ``ages`` has for each record the seconds since it was stored, by the database's clock; 0 where that is unknown.
    """

    head: Row
    records: tuple[StoredRecord, ...]
    ages: tuple[float, ...]
    texts: dict[str, str]

    @property
    def last_hash(self) -> bytes:
        """The hash of the last record's leaf."""
        return bytes(self.head["last_hash"])


async def read_head(database: Database, debate: str, tenant: str) -> Row:
    """The head row of a debate; raises `NotFound`, also for ids that are none and for other tenants' debates."""
    rows = await database.query("head", {"debate": _key(debate), "tenant": tenant})
    if not rows:
        raise absent(debate)
    return rows[0]


def absent(debate: str) -> NotFound:
    """What is said of a debate that does not exist, of another tenant's, and of one that the caller does not reach."""
    try:
        UUID(debate)
    except ValueError:
        return NotFound(f"there is no debate {debate!r}; ids are UUIDs, as answered by POST /v1/debates")
    return NotFound(f"there is no debate {debate}")


async def read_debate(
    database: Database,
    debate: str,
    tenant: str,
    *,
    after: ChainEnd = START,
    documents: bool = False,
    case: tuple[StoredRecord, ...] = (),
) -> StoredDebate:
    """A debate from ``after`` on, compared. Documents are read on request, and compared with the first record.

    A reader that has read that one before gives it as the ``case``.
    Raises `NotFound` as `read_head` does, and `EvidenceDamaged`.
    """
    key = _key(debate)
    params = {"debate": key, "tenant": tenant, "from_n": after.next_n, "documents": documents}
    rows = await database.query("records", params)
    if rows[0]["tenant"] is None:
        raise absent(debate)
    try:
        if sum(len(row["body"] or b"") for row in rows) > THREAD_BYTES:
            return await asyncio.to_thread(_compared, str(key), rows, after, documents, case)
        return _compared(str(key), rows, after, documents, case)
    except Mismatch as found:
        raise await damaged_debate(database, str(key), rows[0], found) from found


async def read_records(database: Database, debate: str, tenant: str, from_n: int = 0) -> Sequence[StoredRecord]:
    """The records of a debate from ``from_n`` on, in order; raises what `read_debate` raises."""
    return (await read_debate(database, debate, tenant)).records[from_n:]


async def read_documents(database: Database, debate: str, tenant: str) -> dict[str, str]:
    """The texts of a debate's documents, by id; raises what `read_debate` raises."""
    return (await read_debate(database, debate, tenant, documents=True)).texts


async def read_texts(database: Database, debate: str, stored: StoredDebate) -> dict[str, str]:
    """The texts of the documents of a debate that was read from its first record on, by id, without reading that again.

    They are compared with the case of ``stored``, and it with the records behind it, if there are any by now. Raises
    what `read_debate` raises.
    """
    head = stored.head
    after = ChainEnd(head["next_n"], bytes(head["last_hash"]))
    return (
        await read_debate(database, debate, head["tenant"], after=after, documents=True, case=stored.records[:1])
    ).texts


def _key(debate: str) -> UUID:
    try:
        return UUID(debate)
    except ValueError:
        raise absent(debate) from None


def _compared(
    debate: str, rows: Sequence[Row], after: ChainEnd, documents: bool, case: tuple[StoredRecord, ...] = ()
) -> StoredDebate:
    """The debate of these rows; raises `Mismatch`."""
    head, *others = rows
    stored = [row for row in others if row["part"] == "record"]
    linked = compare_records(debate, map(_parts, stored), _said(head), after)
    records = tuple(map(_record, stored, linked))
    if not after.next_n:
        beside = [(row["salt"], row["body"]) for row in others if row["part"] == "context"]
        compare_context(linked, *(beside[0] if beside else (None, None)))
    texts = {row["id"]: (row["salt"], row["body"]) for row in others if row["part"] == "document"}
    _compare_case(head, case + records, texts if documents else None)
    _compare_state(head, records)
    return StoredDebate(
        head, records, tuple(row["age_s"] for row in stored), {name: body.decode() for name, (_, body) in texts.items()}
    )


def _said(head: Row) -> StoredHead:
    end = ChainEnd(head["next_n"], bytes(head["last_hash"]))
    return StoredHead(head["tenant"], head["log"], head["policy"], head["context"], end)


def _parts(row: Row) -> StoredParts:
    return StoredParts(row["n"], row["leaf"], row["salt"], row["body"], row["logged"])


def _record(row: Row, linked: Linked) -> StoredRecord:
    said = linked.envelope
    return StoredRecord(
        n=row["n"],
        at=said.occurred,
        recorded=said.recorded,
        actor=said.actor,
        kind=said.kind,
        leaf=row["leaf"],
        leaf_hash=linked.leaf_hash,
        salt=row["salt"],
        payload=row["body"],
        schema=said.schema,
    )


def _compare_case(head: Row, records: Sequence[StoredRecord], texts: Mapping[str, tuple[bytes, bytes]] | None) -> None:
    """What the head row says of the case, and the documents where they were read."""
    received = _entry(records[0]) if records and records[0].n == 0 else None
    if not isinstance(received, CaseReceived):
        return
    if received.case.task_type != head["task_type"]:
        raise Mismatch(HEAD_ROW, "names another task type than the case")
    if texts is not None:
        compare_documents({document.id: document.commitment for document in received.case.documents}, texts)


def _compare_state(head: Row, records: Sequence[StoredRecord]) -> None:
    """The state in the head row is that of the last record; before its end a debate is queued or running."""
    if not records:
        return
    last = _entry(records[-1]) if records[-1].kind in ENDS else None
    if isinstance(last, DebateConcluded):
        agrees = head["state"] == last.outcome.status
    elif last is not None and is_end(last):
        agrees = head["state"] == "declined"
    else:
        agrees = head["state"] in ("queued", "running")
    if not agrees:
        raise Mismatch(HEAD_ROW, f"says that the debate is {head['state']}, and its last record does not")


def _entry(record: StoredRecord) -> Entry | None:
    """The entry of a record; ``None`` for one of a kind or version that this build cannot read."""
    try:
        return record.entry
    except (MsgspecError, ValueError):
        return None
