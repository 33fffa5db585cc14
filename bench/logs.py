"""Logs of a size that nobody waits for, put into the database as superuser: of real debates' records, and of hashes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from msgspec.structs import replace

from bench.appending import observed
from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import PublicKey, SigningKey
from service.audit.record import Record, RecordPlace, commit, leaf_hash
from service.audit.tiles import Builder, Tile
from service.audit.tree import Frontier
from service.debate.entries import DebateStarted
from service.store.pool import Database
from service.store.sealing import seal_entry, times, uuid7
from service.store.stored_debate import StoredRecord, read_records
from tests.fixtures.running import Bench, CannedProvider, a_writer

KEY = SigningKey.from_seed("localhost", b"\x01" * 32)
BATCH = 1_024


async def a_log_of_records(database: Database, admin: str, records: int) -> tuple[str, PublicKey]:
    """A signed log of at least so many records: one debate that was really run, under ids and salts of their own."""
    debate, _ = await observed(Bench(database, {"offline": CannedProvider()}))
    run = await read_records(database, debate, "default")
    key = {"debate": UUID(debate), "tenant": "default"}
    (head,) = await database.query("head", key)
    (context,) = await database.query("bundle_context", key)
    log, sealed = "localhost/records/1", dict[UUID, list[Record]]()
    while len(sealed) * len(run) < records:
        now = time.time()
        place = RecordPlace(
            log, "records", uuid7(now), head["policy"], commit(bytes(context["salt"]), bytes(context["body"]))
        )
        sealed[UUID(place.debate)] = _sealed(run, place, now)
    every = [(debate, record) for debate, each in sealed.items() for record in each]
    with psycopg.connect(admin) as connection:
        _copy(connection, "COPY entry (debate, n, leaf) FROM STDIN", ((d, r.n, r.leaf) for d, r in every))
        _copy(
            connection,
            "COPY payload (debate, n, salt, body) FROM STDIN",
            ((d, r.n, r.salt, r.payload) for d, r in every),
        )
        _copy(
            connection,
            "COPY context (debate, salt, body) FROM STDIN",
            ((d, context["salt"], context["body"]) for d in sealed),
        )
        _copy(
            connection,
            "COPY leaf (log, idx, debate, n, hash) FROM STDIN",
            ((log, index, d, r.n, r.leaf_hash) for index, (d, r) in enumerate(every)),
        )
        _grow(connection, log, "records", [record.leaf_hash for _, record in every])
    return log, KEY.public


def a_log_of_hashes(admin: str, leaves: int) -> str:
    """A signed log of so many leaves, whose records are nowhere: leaf i is eight bytes, the most significant first."""
    log = "localhost/hashes/1"
    with psycopg.connect(admin) as connection:
        connection.execute(
            "INSERT INTO leaf (log, idx, debate, n, hash) "
            "SELECT %s, i, ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 0, "
            "sha256('\\x00'::bytea || int8send(i)) FROM generate_series(0, %s::bigint - 1) AS i",
            (log, leaves),
        )
        _grow(connection, log, "hashes", [leaf_hash(index.to_bytes(8, "big")) for index in range(leaves)])
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE leaf, tile")  # what autovacuum would do while we measure
    return log


def _sealed(run: Sequence[StoredRecord], place: RecordPlace, now: float) -> list[Record]:
    """The records of one more debate, by the actors of the one that was run; its seed is the hash of its own first."""
    records: list[Record] = []
    for n, stored in enumerate(run):
        prev, entry = records[-1].leaf_hash if records else b"", stored.entry
        seeded = replace(entry, seed=records[0].leaf_hash.hex()) if isinstance(entry, DebateStarted) else entry
        writer = replace(a_writer("bench"), actor=stored.actor)
        records.append(seal_entry(seeded, place=place, writer=writer, n=n, prev=prev, times=times(now)))
    return records


def _grow(connection: psycopg.Connection[Any], log: str, tenant: str, hashes: Sequence[bytes]) -> None:
    """The rest of a log: its epoch, batches and tiles, and the signed head."""
    builder, frontier, left = Builder(), Frontier(), iter(hashes)
    batches: list[tuple[Any, ...]] = []
    tiles: list[Tile] = []
    while some := list(islice(left, BATCH)):
        first = frontier.size
        frontier.extend(some)
        tiles += builder.add(some)
        batches.append((log, first, frontier.size, frontier.root(), frontier.encode()))
    connection.execute("INSERT INTO log_epoch VALUES (%s, %s, 1, %s)", (log, tenant, KEY.public.encode()))
    _copy(connection, "COPY batch (log, first, next, root, frontier) FROM STDIN", batches)
    _copy(connection, "COPY tile FROM STDIN", ((log, tile.level, tile.index, tile.hashes) for tile in tiles))
    note = sign_checkpoint(Checkpoint(log, frontier.size, frontier.root()), KEY)
    connection.execute("INSERT INTO checkpoint VALUES (%s, %s, %s, %s)", (log, frontier.size, frontier.root(), note))


def _copy(connection: psycopg.Connection[Any], into: LiteralString, rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor() as cursor, cursor.copy(into) as copy:
        for row in rows:
            copy.write_row(row)
