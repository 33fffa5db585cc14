"""Batches as they are stored: lines with their texts, the limit that all of a batch's debates draw from, and its end.

PostgreSQL enforces the limit (migrations/0023_batches.sql), as it does a tenant's day. This module writes what came,
gives a feeder its turn, and reads how a batch stands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

import msgspec
from msgspec import Struct, structs

from service import telemetry
from service.debate.amounts import MicroUSD
from service.errors import NotFound
from service.store.array_parameters import ByteaArray
from service.store.clock import database_time
from service.store.pool import Database, Row
from service.store.sealing import uuid7

Stop = Literal["aborted", "deadline", "revoked"]
Refused = Literal["budget", "deadline", "aborted", "revoked", "invalid", "key", "fault"]
CHUNK_BYTES = 4 << 20
"""So much of a file is one statement: none may take as long as a large batch."""
STRAY_S = 3_600.0
"""Lines without a batch are of an upload that was cut off, after this time."""


class NewLine(Struct, frozen=True):
    """A line of a file: its number, its own key, and the text of its case."""

    line: int
    key: str | None
    body: bytes


class Bringer(Struct, frozen=True, kw_only=True):
    """Who brought a batch, as a caller is known, and in which trace: the records of its cases name both."""

    tenant: str
    subject: str
    role: str
    kind: str
    via: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...] | None
    credential: str
    trace: str | None


class NewBatch(Struct, frozen=True):
    """A batch that is to be stored. ``key`` and ``body`` are SHA-256 of its idempotency key and of what came."""

    by: Bringer
    lines: Sequence[NewLine]
    ceiling: MicroUSD
    deadline: datetime | None
    name: str | None
    key: bytes | None
    body: bytes


class LineCount(Struct, frozen=True):
    """So many lines stand like this: a status of debates, ``waiting``, or why they are refused. ``spent`` is theirs."""

    stands: str
    refused: bool
    joined: bool
    lines: int
    spent: MicroUSD


class StoredBatch(Struct, frozen=True, kw_only=True):
    """One batch and its limit, in micro-dollars; ``subject`` brought it.

    ``counts`` are how its lines stand, once that is kept: after its end nothing of it changes.
    """

    batch: str
    subject: str
    name: str | None
    lines: int
    deadline: datetime | None
    created: datetime
    stop: Stop | None
    stop_detail: str | None
    pause: str | None
    pause_until: datetime | None
    ended: datetime | None
    counts: tuple[LineCount, ...] | None
    ceiling: MicroUSD
    drawn: MicroUSD
    excess: MicroUSD


class StoredLine(Struct, frozen=True, kw_only=True):
    """A line and what became of it. ``decision`` is JSON as it is stored, and ``stands`` the status of its debate."""

    line: int
    key: str | None
    debate: str | None
    joined: bool
    refused: Refused | None
    detail: str | None
    stands: str | None
    format: str | None
    task_type: str | None
    spent: MicroUSD | None
    decision: bytes | None
    erased: bool
    """Whether no case of it is stored: it was erased, or has not begun."""


class ClaimedBatch(Struct, frozen=True, kw_only=True):
    """A batch whose turn it is: who brought it, and what has stopped it. ``late``: its deadline has passed."""

    batch: str
    by: Bringer
    deadline: datetime | None
    stop: Stop | None
    stop_detail: str | None
    late: bool
    revoked: bool


class BatchRoom(Struct, frozen=True):
    """What a batch has left, what its debates under way may still draw, how many these are, and the tenant's queue."""

    remaining: MicroUSD
    reserved: MicroUSD
    under_way: int
    queued: int


class KeyedBatch(Struct, frozen=True):
    """The batch that a key stands for, who brought it, and the hash of what came."""

    batch: str
    subject: str
    body: bytes


async def add_batch(database: Database, new: NewBatch) -> str | None:
    """Store a batch; return its id, or ``None`` where another one has come under its key.

    The lines come first, in parts, and belong to nothing until the batch itself is there. Raises `StoreUnavailable`.
    """
    own = database.of(new.by.tenant)
    batch = UUID(uuid7((await database_time(own)).now()))
    for part in parts_of(new.lines):
        params = {
            "batch": batch,
            "tenant": new.by.tenant,
            "lines": [line.line for line in part],
            "keys": [line.key for line in part],
            "bodies": ByteaArray(line.body for line in part),
        }
        await own.query("add_batch_lines", params)
    params = {
        **structs.asdict(new.by),
        "roles": list(new.by.roles),
        "scopes": None if new.by.scopes is None else list(new.by.scopes),
        "batch": batch,
        "name": new.name,
        "count": len(new.lines),
        "deadline": new.deadline,
        "key": new.key,
        "body": new.body,
        "ceiling": new.ceiling,
    }
    return str(batch) if await own.query("open_batch", params) else None


def parts_of(lines: Sequence[NewLine]) -> list[Sequence[NewLine]]:
    """The lines in parts of at most `CHUNK_BYTES`, or of one line."""
    parts, begin, size = [], 0, 0
    for at, line in enumerate(lines):
        size += len(line.body)
        if size > CHUNK_BYTES and at > begin:
            parts.append(lines[begin:at])
            begin, size = at, len(line.body)
    return [*parts, lines[begin:]] if begin < len(lines) else parts


async def find_keyed_batch(database: Database, tenant: str, key: bytes) -> KeyedBatch | None:
    """The batch of a tenant's key, if the key was ever used; raises `StoreUnavailable`."""
    rows = await database.of(tenant).query("keyed_batch", {"tenant": tenant, "key": key})
    return KeyedBatch(str(rows[0]["batch"]), rows[0]["subject"], bytes(rows[0]["body"])) if rows else None


async def count_open(database: Database, tenant: str) -> int:
    """How many batches of a tenant have not ended."""
    (row,) = await database.of(tenant).query("open_batches", {"tenant": tenant})
    count: int = row["open"]
    return count


async def read_batch(database: Database, batch: str, tenant: str, subject: str | None) -> StoredBatch:
    """A batch, of one subject alone where one is named; raises `NotFound`."""
    key = _id(batch)
    rows = await database.of(tenant).query("batch", {"batch": key, "tenant": tenant, "subject": subject}) if key else []
    if not rows:
        raise absent(batch)
    return _stored(rows[0])


async def list_batches(
    database: Database, tenant: str, subject: str | None, below: UUID | None, limit: int
) -> list[StoredBatch]:
    """Batches below an id, the newest first."""
    params = {"tenant": tenant, "subject": subject, "below": below, "limit": limit}
    return [_stored(row) for row in await database.of(tenant).query("batches", params)]


async def count_lines(database: Database, stored: StoredBatch, tenant: str, *, held: bool) -> Sequence[LineCount]:
    """How the lines of a batch stand: counted while it is under way, and read once its counts are kept."""
    if stored.counts is not None:
        return stored.counts
    params = {"batch": UUID(stored.batch), "tenant": tenant, "held": held}
    return [LineCount(**row) for row in await database.of(tenant).query("batch_counts", params)]


async def lines_after(
    database: Database, batch: str, tenant: str, after: int, limit: int, *, held: bool
) -> list[StoredLine]:
    """The next lines of a batch with what became of them."""
    params = {"batch": UUID(batch), "tenant": tenant, "after": after, "limit": limit, "held": held}
    return [
        StoredLine(
            **{
                **row,
                "debate": str(row["debate"]) if row["debate"] else None,
                "decision": bytes(row["decision"]) if row["decision"] else None,
            }
        )
        for row in await database.of(tenant).query("batch_results", params)
    ]


async def stop_batch(database: Database, batch: str, tenant: str, stop: Stop, detail: str) -> None:
    """Begin nothing more of a batch; the first stop stays, but an abort comes after one by deadline or revocation."""
    params = {"batch": UUID(batch), "tenant": tenant, "stop": stop, "detail": detail}
    await database.of(tenant).query("stop_batch", params)


# -- what a feeder does, for every tenant


async def claim_batches(database: Database, feeder: str, lease_s: float, most: int) -> list[ClaimedBatch]:
    """Batches whose turn it is, for this feeder alone while its lease lasts."""
    rows = await database.query("claim_batches", {"feeder": feeder, "lease": lease_s, "most": most})
    return [
        ClaimedBatch(
            batch=str(row["batch"]),
            by=_bringer(row),
            deadline=row["deadline"],
            stop=row["stop"],
            stop_detail=row["stop_detail"],
            late=row["late"],
            revoked=row["revoked"],
        )
        for row in rows
    ]


async def renew_batches(database: Database, feeder: str, lease_s: float, held: Collection[str]) -> set[str]:
    """Keep batches for this feeder; returns those that no other one has taken meanwhile."""
    params = {"feeder": feeder, "lease": lease_s, "batches": [UUID(batch) for batch in held]}
    return {str(row["batch"]) for row in await database.query("renew_batches", params)}


async def release_batch(
    database: Database, batch: str, feeder: str, pause: str | None, until: str | None, rest_s: float
) -> None:
    """Give a batch back after its turn, with what it waits for; it has no other turn for so many seconds."""
    params = {"batch": UUID(batch), "feeder": feeder, "pause": pause, "until": until, "rest": rest_s}
    await database.query("release_batch", params)


async def batch_room(database: Database, batch: str) -> BatchRoom:
    """What a batch has left, and how much of it is under way."""
    rows = await database.query("batch_room", {"batch": UUID(batch)})
    return BatchRoom(**rows[0]) if rows else BatchRoom(0, 0, 0, 0)


async def next_line(database: Database, batch: str, after: int, *, stopped: bool = False) -> NewLine | None:
    """The next line that waits, while nothing has stopped the batch; with ``stopped``, also where something has."""
    rows = await database.query("next_batch_line", {"batch": UUID(batch), "after": after, "stopped": stopped})
    return NewLine(rows[0]["line"], rows[0]["key"], bytes(rows[0]["body"])) if rows else None


async def settle_line(
    database: Database,
    batch: str,
    feeder: str,
    line: int,
    *,
    debate: str | None = None,
    refused: Refused | None = None,
    detail: str | None = None,
) -> None:
    """A line has its debate, or is refused, by the feeder that has its batch; its text goes."""
    found = None if debate is None else UUID(debate)
    params = {
        "batch": UUID(batch),
        "feeder": feeder,
        "line": line,
        "debate": found,
        "refused": refused,
        "detail": detail,
    }
    if await database.query("settle_batch_line", params):
        telemetry.BATCH_LINES.labels(result="debate" if debate else "refused").inc()


async def refuse_lines(database: Database, batch: str, feeder: str, refused: Refused, detail: str) -> int:
    """Refuse every line that waits, as the feeder that has the batch; return how many they are."""
    params = {"batch": UUID(batch), "feeder": feeder, "refused": refused, "detail": detail}
    (row,) = await database.query("refuse_batch_lines", params)
    count: int = row["lines"]
    return count


async def under_way(database: Database, batch: str, most: int) -> list[str]:
    """Debates of a batch that have not ended."""
    rows = await database.query("batch_under_way", {"batch": UUID(batch), "most": most})
    return [str(row["debate"]) for row in rows]


class EndedBatch(Struct, frozen=True):
    """A batch that has just ended: when it began and ended, in seconds since 1970, and how many lines it has."""

    began: float
    ended: float
    lines: int


async def end_batch(database: Database, batch: str) -> EndedBatch | None:
    """End a batch whose lines all have an end; ``None`` where it did not end now."""
    rows = await database.query("end_batch", {"batch": UUID(batch)})
    return EndedBatch(**rows[0]) if rows else None


async def keep_counts(database: Database, rest_s: float, most: int, *, held: bool) -> None:
    """Keep how the lines of batches stand that have ended; each is looked at once in so many seconds."""
    await database.query("keep_batch_counts", {"rest": rest_s, "most": most, "held": held})


async def remove_strays(database: Database) -> None:
    """Delete lines of uploads that were cut off some time ago.

    By the database's clock, as their ids are: the clock of another machine could take an upload under way for one.
    """
    now = (await database_time(database)).now()
    first = UUID(int=max(0, int((now - STRAY_S) * 1_000)) << 80)
    await database.query("remove_stray_lines", {"before": first})


def absent(batch: str) -> NotFound:
    """The refusal of a batch that is not there, or not for this caller."""
    return NotFound(f"there is no batch {batch[:80]!r}; GET /v1/batches lists those that you may read")


def _id(batch: str) -> UUID | None:
    try:
        return UUID(batch)
    except ValueError:
        return None


def _stored(row: Row) -> StoredBatch:
    counts = None if row["counts"] is None else msgspec.convert(row["counts"], tuple[LineCount, ...])
    return StoredBatch(**{**row, "batch": str(row["batch"]), "counts": counts})


def _bringer(row: Row) -> Bringer:
    given = {name: row[name] for name in Bringer.__struct_fields__}
    scopes = None if row["scopes"] is None else tuple(row["scopes"])
    return Bringer(**{**given, "roles": tuple(row["roles"]), "scopes": scopes})


def utc(at: datetime) -> str:
    """RFC 3339 in UTC, to the second."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
