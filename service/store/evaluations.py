"""Evaluations as they are stored: the records of their entries, in order, and which process goes on with which.

Entries are written in one statement with their rows, whose key is the number in the evaluation: of two processes that
write the entry with one number, one alone does, and the other one reads again (`Fenced`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct, structs

from service.audit import log_events
from service.audit.evaluation_events import (
    EvaluationEntry,
    EvaluationRegistered,
    EvaluationStopped,
    ItemScored,
    is_last,
)
from service.audit.record import Record, Writer, commit, open_leaf
from service.errors import EvidenceDamaged, Fenced, NotFound
from service.store.batches import Bringer
from service.store.pool import Database, Row
from service.store.sealing import columns, seal_event, write, written_at

RESULTS_STEP = 20
"""Results that are read at a time: one may have some megabytes."""


class StoredEvaluation(Struct, frozen=True, kw_only=True):
    """An evaluation's row. ``result`` is the whole result as JSON, once there is one; lists leave it out.

    It has an end, and a result, from when a checkpoint covers its last entry: until then they could be lost.
    A ``lost`` one has ended in a log that was left after a loss of records, and no checkpoint will ever cover its end.
    It has no result here, whatever is recorded: see `service.store.left_logs`.
    """

    evaluation: str
    name: str
    subject: str
    registered: datetime
    ended: datetime | None
    pause: str | None
    result: bytes | None
    lost: bool


class Keyed(Struct, frozen=True):
    """A key under which a plan came, and the plan: SHA-256 of both."""

    key: bytes
    sent: bytes


class KeyedEvaluation(Struct, frozen=True):
    """The evaluation that a key stands for, who registered it, and the SHA-256 of the plan that came under it."""

    evaluation: str
    subject: str
    sent: bytes


class Place(Struct, frozen=True):
    """Where a registration is: its log, the index of its leaf there, and since how many seconds it is recorded."""

    log: str
    index: int
    age_s: float


class ClaimedEvaluation(Struct, frozen=True):
    """An evaluation whose turn it is, and who registered it."""

    evaluation: str
    by: Bringer


class Wait(Struct, frozen=True):
    """What an evaluation waits for: one of `service.observing.evaluation_metrics.WAITS_FOR`, and a sentence."""

    reason: str
    detail: str


class Spent(Struct, frozen=True):
    """Shares of an evaluation's ceiling: what its scores cost, and what all of its debates would at that rate.

    ``None`` where that is not known.
    """

    used: float | None = None
    needed: float | None = None


UNKNOWN = Spent()


async def register(
    database: Database,
    entry: EvaluationRegistered,
    by: Bringer,
    held: Mapping[str, int],
    log: str,
    writer: Writer,
    *,
    keyed: Keyed | None = None,
) -> None:
    """Record a registration, by which the evaluation begins; ``held`` are the sets of which it asks that split, each
    with its looks as the registration has them.

    Raises `AuditUnavailable`, and `Fenced` where an evaluation has this id, or stands for this key, or where a set has
    other looks by now.
    """
    who = {name: value for name, value in structs.asdict(by).items() if name != "trace"}
    params = {
        **who,
        "roles": list(by.roles),
        "scopes": None if by.scopes is None else list(by.scopes),
        "name": str(entry.plan.get("name", "")),
        "held": list(held),
        "looks": list(held.values()),
        "key": None if keyed is None else keyed.key,
        "sent": None if keyed is None else keyed.sent,
        **await _sealed(database, entry, by.tenant, log, writer),
    }
    if not await write(database.of(by.tenant), "register_evaluation", params):
        raise Fenced(
            f"there is an evaluation {entry.evaluation}, or one under this key or on a held split of it; read again"
        )


async def add_entries(
    database: Database,
    entries: Sequence[EvaluationEntry],
    tenant: str,
    log: str,
    writer: Writer,
    *,
    result: bytes | None = None,
) -> None:
    """Record the next entries of an evaluation, all or none, and the whole ``result`` beside a conclusion.

    Raises `AuditUnavailable`, and `Fenced` where another process has written the entry of the first number, or the
    evaluation is over.
    """
    first, now = entries[0], await written_at(database)
    sealed = [seal(entry, tenant, log, writer, now) for entry in entries]
    params = {
        "evaluation": UUID(first.evaluation),
        "tenant": tenant,
        "log": log,
        "n": first.n,
        "scored": any(isinstance(entry, ItemScored) for entry in entries),
        "ended": is_last(entries[-1]),
        "result": result,
        "records": [UUID(chain) for chain, _ in sealed],
        **columns([record for _, record in sealed]),
    }
    if not await write(database.of(tenant), "add_evaluation_entries", params):
        raise _written_before(first)


async def add_stop(database: Database, entry: EvaluationStopped, tenant: str, log: str, writer: Writer) -> None:
    """Record a person's stop as the next entry; raises `AuditUnavailable` and `Fenced`, as `add_entries`."""
    params = {"n": entry.n, **await _sealed(database, entry, tenant, log, writer)}
    if not await write(database.of(tenant), "stop_evaluation", params):
        raise _written_before(entry)


def _written_before(entry: EvaluationEntry) -> Fenced:
    return Fenced(f"entry {entry.n} of evaluation {entry.evaluation} is another one; read it again")


async def find_keyed_evaluation(database: Database, tenant: str, key: bytes) -> KeyedEvaluation | None:
    """The evaluation of a tenant's key, if the key was ever used; raises `StoreUnavailable`."""
    rows = await database.of(tenant).query("keyed_evaluation", {"tenant": tenant, "key": key})
    return KeyedEvaluation(str(rows[0]["evaluation"]), rows[0]["subject"], bytes(rows[0]["body"])) if rows else None


async def _sealed(database: Database, entry: EvaluationEntry, tenant: str, log: str, writer: Writer) -> dict[str, Any]:
    chain, record = seal(entry, tenant, log, writer, await written_at(database))
    return {
        "evaluation": UUID(entry.evaluation),
        "tenant": tenant,
        "debate": UUID(chain),
        "log": log,
        "leaf": record.leaf,
        "salt": record.salt,
        "body": record.payload,
    }


def seal(entry: EvaluationEntry, tenant: str, log: str, writer: Writer, now: float) -> tuple[str, Record]:
    """The record of an entry, and its id."""
    return seal_event(log_events.valid(entry), log=log, tenant=tenant, writer=writer, now=now)


async def read_entries(database: Database, evaluation: str, tenant: str, first: int = 0) -> list[EvaluationEntry]:
    """The entries from a number on, each held against what commits to it.

    Raises `StoreUnavailable`, and `EvidenceDamaged` for one that is not what was recorded, or is missing.
    """
    params = {"evaluation": _id(evaluation), "tenant": tenant, "first": first}
    rows = await database.of(tenant).query("evaluation_entries", params)
    return [_entry(row, evaluation, tenant, n) for n, row in enumerate(rows, start=first)]


def _entry(row: Row, evaluation: str, tenant: str, n: int) -> EvaluationEntry:
    place, record = f"entry {n} of evaluation {evaluation}", str(row["record"])
    if row["leaf"] is None or row["body"] is None:
        raise EvidenceDamaged(record, place, "is missing")
    try:
        envelope = open_leaf(bytes(row["leaf"]))
        entry = log_events.decode_evaluation(bytes(row["body"]))
    except ValueError:
        raise EvidenceDamaged(record, place, "cannot be read") from None
    agrees = commit(bytes(row["salt"]), bytes(row["body"])) == envelope.commitment
    if not agrees or (envelope.debate, envelope.tenant) != (record, tenant):
        raise EvidenceDamaged(record, place, "is not what its record commits to")
    if (entry.evaluation, entry.n, row["n"]) != (evaluation, n, n):
        raise EvidenceDamaged(record, place, "is an entry of another place")
    return entry


async def read_evaluation(database: Database, evaluation: str, tenant: str) -> StoredEvaluation:
    """An evaluation of a tenant; raises `NotFound`."""
    rows = await database.of(tenant).query("evaluation", {"evaluation": _id(evaluation), "tenant": tenant})
    if not rows:
        raise absent(evaluation)
    return _stored(rows[0])


async def list_evaluations(
    database: Database, tenant: str, limit: int, below: UUID | None = None
) -> list[StoredEvaluation]:
    """A tenant's evaluations below an id, the newest first, without their results."""
    params = {"tenant": tenant, "limit": limit, "below": below}
    return [_stored(row) for row in await database.of(tenant).query("evaluations", params)]


async def results_within(
    database: Database, tenant: str, since: datetime, until: datetime
) -> AsyncGenerator[StoredEvaluation, None]:
    """A tenant's evaluations that were concluded from ``since`` on and before ``until``, with their results."""
    given = {"tenant": tenant, "since": since, "until": until, "after": UUID(int=0), "limit": RESULTS_STEP}
    while rows := await database.of(tenant).query("results_within", given):
        for row in rows:
            yield _stored(row)
        given["after"] = rows[-1]["evaluation"]


async def looks_at_held(database: Database, tenant: str, sets: Sequence[str]) -> dict[str, int]:
    """How many evaluations of a tenant have looked at the held split of each set, or are under way with it."""
    rows = await database.of(tenant).query("looks_at_held", {"tenant": tenant, "sets": list(sets)})
    return {row["id"]: row["looks"] for row in rows}


async def is_provable(database: Database, evaluation: str, tenant: str, n: int = 0) -> bool:
    """Whether a checkpoint covers an entry; of the first one, the registration: no call is made before."""
    params = {"evaluation": _id(evaluation), "tenant": tenant, "n": n}
    (row,) = await database.of(tenant).query("evaluation_provable", params)
    return bool(row["provable"])


async def place_of(database: Database, evaluation: str, tenant: str) -> Place | None:
    """The place of an evaluation's registration; ``None`` before it is in the tree."""
    params = {"evaluation": _id(evaluation), "tenant": tenant}
    rows = await database.of(tenant).query("evaluation_place", params)
    return Place(rows[0]["log"], rows[0]["idx"], rows[0]["age_s"]) if rows else None


async def log_of(database: Database, evaluation: str, tenant: str) -> str:
    """The log of an evaluation's registration, in which all of its records are.

    Raises `StoreUnavailable`, and `EvidenceDamaged` where the registration is missing or cannot be read.
    """
    params = {"evaluation": _id(evaluation), "tenant": tenant}
    rows = await database.of(tenant).query("evaluation_log", params)
    try:
        return open_leaf(bytes(rows[0]["leaf"])).log
    except (LookupError, ValueError):
        raise EvidenceDamaged(evaluation, f"the registration of evaluation {evaluation}", "cannot be read") from None


async def log_of_item(database: Database, debate: str, tenant: str) -> str | None:
    """The log that the debate of an item is in; ``None`` where there is no such debate."""
    rows = await database.of(tenant).query("item_log", {"debate": UUID(debate), "tenant": tenant})
    return rows[0]["log"] if rows else None


async def ended_of(database: Database, tenant: str, debates: Collection[str]) -> frozenset[str]:
    """Which of these debates have ended."""
    params = {"tenant": tenant, "debates": [UUID(debate) for debate in debates]}
    return frozenset(str(row["debate"]) for row in await database.query("ended_of", params))


async def is_revoked(database: Database, evaluation: str, tenant: str) -> bool:
    """Whether the caller that registered an evaluation was revoked, or its key; registers are the service's to read."""
    params = {"evaluation": UUID(evaluation), "tenant": tenant}
    (row,) = await database.query("evaluation_revoked", params)
    return bool(row["revoked"])


# -- what a feeder does, for every tenant


async def claim_evaluations(
    database: Database, feeder: str, lease_s: float, most: int, only: str | None = None
) -> list[ClaimedEvaluation]:
    """Evaluations whose turn it is, for this feeder alone while its lease lasts; ``only`` one of them."""
    params = {"feeder": feeder, "lease": lease_s, "most": most, "only": None if only is None else _id(only)}
    return [
        ClaimedEvaluation(str(row["evaluation"]), _bringer(row))
        for row in await database.query("claim_evaluations", params)
    ]


async def count_open(database: Database, tenant: str) -> int:
    """How many evaluations of a tenant have not ended."""
    (row,) = await database.query("open_evaluations", {"tenant": tenant})
    return int(row["evaluations"])


async def renew_evaluations(database: Database, feeder: str, lease_s: float, held: Collection[str]) -> set[str]:
    """Keep evaluations for this feeder; returns those that no other one has taken meanwhile."""
    params = {"feeder": feeder, "lease": lease_s, "evaluations": [UUID(one) for one in held]}
    return {str(row["evaluation"]) for row in await database.query("renew_evaluations", params)}


async def release_evaluation(
    database: Database, evaluation: str, feeder: str, rest_s: float, *, wait: Wait | None = None, spent: Spent = UNKNOWN
) -> None:
    """Give an evaluation back after its turn, with what it waits for; it has no other turn for so many seconds."""
    given = {"pause": wait and wait.detail, "waits_for": wait and wait.reason, **structs.asdict(spent)}
    await database.query(
        "release_evaluation", {"evaluation": UUID(evaluation), "feeder": feeder, "rest": rest_s, **given}
    )


def absent(evaluation: str) -> NotFound:
    """The refusal of an evaluation that is not there, or not of this tenant."""
    listed = "GET /v1/evaluations, as `gainsay evaluate show`, lists those of the tenant"
    return NotFound(f"there is no evaluation {evaluation[:80]!r}; {listed}")


def _id(evaluation: str) -> UUID:
    try:
        return UUID(evaluation)
    except ValueError:
        raise absent(evaluation) from None


def _stored(row: Row) -> StoredEvaluation:
    result = None if row["result"] is None or row["lost"] else bytes(row["result"])
    return StoredEvaluation(**{**row, "evaluation": str(row["evaluation"]), "result": result})


def _bringer(row: Row) -> Bringer:
    given = {name: row[name] for name in Bringer.__struct_fields__ if name != "trace"}
    scopes = None if row["scopes"] is None else tuple(row["scopes"])
    return Bringer(**{**given, "roles": tuple(row["roles"]), "scopes": scopes, "trace": None})
