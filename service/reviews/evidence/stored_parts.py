"""Reads everything that a bundle of one debate consists of, as it is stored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec
from msgspec import Struct

from service.audit.bundle import BEFORE, FIRST, STAMPED_BEFORE, STAMPED_FIRST
from service.audit.checkpoint import parse_checkpoint
from service.audit.log_events import LogOpened
from service.audit.note import parse_note
from service.audit.record import Envelope, moment, open_leaf
from service.debate.entries import CaseReceived, DebateStarted, Entry, GateDecided, decode
from service.debate.versions import Part, version_of
from service.errors import GainsayError
from service.reviews.evidence.covering_head import CoveringHead, not_covered
from service.store import contents
from service.store.pool import STATEMENT_S, Database, Row
from service.store.proofs import (
    LogDamaged,
    Proven,
    SignedCheckpoint,
    consistency,
    countersigned_before,
    countersigned_checkpoint,
    first_countersigned,
    first_stamped,
    inclusions,
    logs_of,
    stamped_before,
)
from service.store.sealing import OFFERED_S

Salted = tuple[bytes, bytes]
"""A salt and the bytes that are committed to with it."""
WHOLE_S = 1.0
UNDER_WAY_S = OFFERED_S + STATEMENT_S
"""How long the first record of a debate may be under way to the database."""


class StoredParts(Struct, frozen=True):
    """A stored record, and the index of its leaf; ``payload`` is ``None`` if it is not stored."""

    n: int
    index: int
    leaf: bytes
    payload: Salted | None


class ProvenRecord(Struct, frozen=True):
    """A record of a log itself, with its path to a checkpoint of that log."""

    record: StoredParts
    path: tuple[bytes, ...]
    head: SignedCheckpoint


class DatedHead(Struct, frozen=True):
    """A countersigned or stamped head for a file of a bundle, with the consistency proof to the bundle's own head.

    ``token`` is the time stamp of a stamped one.
    """

    file: str
    path: tuple[bytes, ...]
    note: bytes
    token: bytes | None = None


class BundleParts(Struct, frozen=True):
    """All of a debate's evidence. A part that was not found is ``None``, or missing in its mapping.

    ``place`` is the place of the last record. ``paths`` lead from each record's leaf, by index, to ``head``. ``opened``
    are the records that opened the tenant's logs up to the debate's own, the oldest first. ``times`` are
    countersigned heads of the debate's log without the debate and with all of it, and stamped ones. ``issued`` are
    the records of its reports that were handed out, by log and place.
    """

    debate: str
    tenant: str
    status: str
    records: tuple[StoredParts, ...]
    entries: tuple[Entry, ...] | None
    context: Salted | None
    documents: Mapping[str, Salted]
    prompts: Mapping[str, bytes] | None
    policy: bytes | None
    configuration: bytes | None
    place: Proven
    head: SignedCheckpoint
    paths: Mapping[int, Sequence[bytes]]
    opened: tuple[ProvenRecord, ...]
    times: tuple[DatedHead, ...]
    issued: tuple[ProvenRecord, ...]

    @property
    def case(self) -> CaseReceived | None:
        """The first entry; ``None`` if it cannot be read."""
        first = self.entries[0] if self.entries else None
        return first if isinstance(first, CaseReceived) else None

    def version(self, part: Part) -> str:
        """The version that the gate's decision names for a part; the first one if that record cannot be read."""
        second = self.entries[1] if self.entries and len(self.entries) > 1 else None
        return version_of(second.versions if isinstance(second, GateDecided) else {}, part)

    @property
    def started(self) -> DebateStarted | None:
        """The start of the debate; ``None`` for a declined case."""
        return _started(self.entries or ())


async def read_parts(database: Database, debate: str, head: Row, place: Proven, covering: CoveringHead) -> BundleParts:
    """Read everything; ``head`` is the debate's head row.

    Raises `StoreUnavailable`, `LogDamaged` if the log does not prove the records any more, and `NotProvable` if no head
    of a later log covers a report that was issued.
    """
    tenant = head["tenant"]
    key = {"debate": UUID(debate), "tenant": tenant}
    rows = await database.query("bundle_records", key)
    records = [_stored_record(row) for row in rows]
    if [record.n for record in records] != list(range(head["next_n"])):
        raise LogDamaged(f"expected {head['next_n']} records of debate {debate} in the log, found {len(records)}")
    signed = covering.signed
    entries = _entries(records)
    started = _started(entries or ())
    context = await database.query("bundle_context", key)
    return BundleParts(
        debate=debate,
        tenant=tenant,
        status=head["state"],
        records=tuple(records),
        entries=entries,
        context=_salted(context[0]) if context else None,
        documents={row["id"]: _salted(row) for row in await database.query("documents", key)},
        prompts=await contents.read_prompts(database, started.pin) if started else None,
        policy=await _content(database, _policy_of(records, started)),
        configuration=await _content(database, started.configuration_hash) if started else None,
        place=place,
        head=signed,
        paths=await inclusions(database, tenant, place.log, [record.index for record in records], signed.size),
        opened=await _opening_records(database, tenant, signed),
        times=await _dated_heads(database, tenant, signed, place, records[0].index, _stored_at(rows[0])),
        issued=await _issued(database, debate, tenant, covering),
    )


async def _issued(database: Database, debate: str, tenant: str, covering: CoveringHead) -> tuple[ProvenRecord, ...]:
    """The records of issued reports, each under a head of its log: the bundle's own, or one of a later log."""
    found = []
    for each in await logs_of(database, tenant):
        indexes = {row["idx"]: _stored_record(row) for row in covering.reports if row["log"] == each.log}
        if not indexes:
            continue
        head: SignedCheckpoint | None = covering.signed
        if each.log != covering.signed.log:
            head = await countersigned_checkpoint(database, tenant, each.log, max(indexes)) or each.head
        if head is None or head.size <= max(indexes):
            raise not_covered(debate, each.log, "signed", "the sequencer runs")
        paths = await inclusions(database, tenant, each.log, indexes, head.size)
        found += [ProvenRecord(record, tuple(paths[index]), head) for index, record in indexes.items()]
    return tuple(found)


async def _dated_heads(
    database: Database, tenant: str, own: SignedCheckpoint, place: Proven, index: int, stored_at: float
) -> tuple[DatedHead, ...]:
    """The countersigned and the stamped heads between which the debate lies, as far as there are any.

    ``index`` is the place of its first record, which the database stored at ``stored_at``: what was countersigned or
    stamped later without that record says only that the sequencer was late.
    """
    found = {
        BEFORE: await countersigned_before(database, tenant, own.log, index, stored_at),
        FIRST: await first_countersigned(database, tenant, own.log, place.index, own.size),
    }
    heads = []
    for file, head in found.items():
        if head is not None:
            path = await consistency(database, tenant, own.log, head.size, own.size)
            heads.append(DatedHead(file, tuple(path), head.note))
    stamped = {
        STAMPED_BEFORE: await stamped_before(database, tenant, own.log, index, stored_at),
        STAMPED_FIRST: await first_stamped(database, tenant, own.log, place.index, own.size),
    }
    for file, each in stamped.items():
        if each is not None:
            path = await consistency(database, tenant, own.log, each.head.size, own.size)
            heads.append(DatedHead(file, tuple(path), each.head.note, each.token))
    return tuple(heads)


def _stored_at(row: Row) -> float:
    """When the database stored a record, in seconds since 1970, by its own clock and not by the record's word.

    A record that says it was written so long before as an honest one may have been under way is believed, to the second
    that a verifier allows: its process's reading of that clock is a little behind.
    """
    stored: float = math.inf if row["at"] is None else row["at"]
    try:
        recorded = moment(open_leaf(bytes(row["leaf"])).recorded) / 1_000_000
    except ValueError:
        return stored
    return recorded + WHOLE_S if stored - recorded <= UNDER_WAY_S else stored


async def _opening_records(database: Database, tenant: str, own: SignedCheckpoint) -> tuple[ProvenRecord, ...]:
    """The records that opened the tenant's logs up to that of ``own``, the oldest first, as far as they are provable.

    The debate's own log is proven under the same head as everything else, and each one before it under the head that
    the next log carries.
    """
    logs = {each.log for each in await logs_of(database, tenant)}
    found: list[ProvenRecord] = []
    head: SignedCheckpoint | None = own
    while head is not None and head.log in logs:
        rows = await database.query("opening", {"tenant": tenant, "log": head.log, "below": head.size})
        if not rows:
            break
        record = _stored_record(rows[0])
        paths = await inclusions(database, tenant, head.log, [record.index], head.size)
        found.append(ProvenRecord(record, tuple(paths[record.index]), head))
        head = _carried(record)
    return tuple(reversed(found))


def _carried(opening: StoredParts) -> SignedCheckpoint | None:
    """The last head of the log before, as a record that opens a log carries it; ``None`` where it cannot be read."""
    try:
        event = msgspec.json.decode(opening.payload[1] if opening.payload else b"", type=LogOpened)
        note = (event.previous or "").encode()
        checkpoint = parse_checkpoint(parse_note(note).text)
    except (msgspec.MsgspecError, GainsayError, ValueError):
        return None
    return SignedCheckpoint(checkpoint.origin, checkpoint.size, checkpoint.root, note)


async def _content(database: Database, digest: str) -> bytes | None:
    return (await contents.read(database, [digest])).get(digest) if digest else None


def _policy_of(records: Sequence[StoredParts], started: DebateStarted | None) -> str:
    """The policy's hash by the first record, or by the start: records of the first version do not name it."""
    try:
        envelope: Envelope | None = open_leaf(records[0].leaf)
    except ValueError:
        envelope = None
    return (envelope.policy if envelope else "") or (started.policy_hash if started else "")


def _entries(records: Sequence[StoredParts]) -> tuple[Entry, ...] | None:
    """The entries; ``None`` if one is missing or cannot be read, which a verifier then reports."""
    try:
        if not _is_complete(records):
            return None
        return tuple(decode(r.payload[1], open_leaf(r.leaf).schema) for r in records if r.payload)
    except (msgspec.MsgspecError, ValueError):
        return None


def _is_complete(records: Sequence[StoredParts]) -> bool:
    return all(record.payload is not None for record in records)


def _started(entries: Sequence[Entry]) -> DebateStarted | None:
    return next((entry for entry in entries if isinstance(entry, DebateStarted)), None)


def _stored_record(row: Row) -> StoredParts:
    if row["leaf"] is None:
        raise LogDamaged(f"expected the record of leaf {row['idx']} of the log {row['log']}, found none")
    payload = _salted(row) if row["body"] is not None else None
    return StoredParts(row["n"], row["idx"], bytes(row["leaf"]), payload)


def _salted(row: Row) -> Salted:
    return bytes(row["salt"]), bytes(row["body"])
