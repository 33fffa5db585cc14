"""A sequencer on a test's database: records to be sequenced, a signer that remembers, and what the log came to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import psycopg

from service.audit.checkpoint import Checkpoint, open_checkpoint, sign_checkpoint
from service.audit.note import PublicKey, SigningKey
from service.audit.record import leaf_hash
from service.audit.tree import root_of
from service.audit.witnessing import Head
from service.sequencer import Sequencer
from service.signing import SignerUnavailable
from service.signing.local import expect_consistent
from service.store.sequence import Lead, Sequencing
from tests.postgres import Database

LOG = "localhost/default/1"
KEY = SigningKey.from_seed("localhost", b"\x05" * 32)
END_THE_LEADER = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
"""Ends the session of the sequencer that leads; others lead in other databases of the server."""


class MemorySigner:
    """A signer whose heads are in memory. ``down`` makes it fail, and ``deaf`` die after it has signed."""

    def __init__(self, key: SigningKey = KEY) -> None:
        self.key = key
        self.heads: dict[str, Head] = {}
        self.signed: list[Checkpoint] = []
        self.down = self.deaf = False

    async def keys(self) -> tuple[PublicKey, ...]:
        """The one key."""
        return (self.key.public,)

    async def last(self, origin: str) -> Head | None:
        """The last head of a log."""
        return self.heads.get(origin)

    async def sign(self, checkpoint: Checkpoint, key: PublicKey, path: Sequence[bytes]) -> bytes:
        """Keep the head and sign it; refuses what contradicts the last one."""
        if self.down or key != self.key.public:
            raise SignerUnavailable("the signer is down, or has another key")
        expect_consistent(self.heads.get(checkpoint.origin), checkpoint, path)
        self.heads[checkpoint.origin] = Head(checkpoint.size, checkpoint.root)
        self.signed.append(checkpoint)
        if self.deaf:
            raise SignerUnavailable("the answer is lost")
        return sign_checkpoint(checkpoint, self.key)

    async def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def a_sequencer(database: Database, signer: Any = None, **more: Any) -> AsyncIterator[Sequencer]:
    """A sequencer that does what it is told, one at a time; run it, or let it catch up."""
    async with Sequencing.open(database.sequencer_url, size=4) as store:
        lead = Lead(database.sequencer_url)
        try:
            yield Sequencer(store, lead, signer or MemorySigner(), **more)
        finally:
            await lead.close()


def stage(
    database: Database | str, chain: int, numbers: Sequence[int], log: str = LOG, *, commit: bool = True
) -> psycopg.Connection[Any]:
    """Stage records of one chain as the service would, each with a leaf of its own; give the connection back."""
    url = database if isinstance(database, str) else database.service_url
    connection = psycopg.connect(url, options="-c search_path=gainsay")
    ids = [UUID(int=chain)] * len(numbers)
    connection.execute(
        "WITH new AS (SELECT * FROM unnest(%s::uuid[], %s::int[], %s::bytea[]) AS r (debate, n, leaf)), "
        "kept AS (INSERT INTO entry (debate, n, leaf) SELECT * FROM new) "
        "INSERT INTO pending (log, debate, n) SELECT %s, debate, n FROM new ORDER BY n",
        (ids, list(numbers), [a_leaf(chain, n) for n in numbers], log),
    )
    if commit:
        connection.commit()
        connection.close()
    return connection


def a_leaf(chain: int, n: int) -> bytes:
    """The bytes of a leaf that no other record has."""
    return f"record {n} of chain {chain}".encode()


def leaves(database: Database, log: str = LOG) -> list[tuple[int, int]]:
    """The records of a log in the order of its tree, as (chain, number), after the tree was recomputed."""
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as connection:
        rows = connection.execute(
            "SELECT idx, debate, n, hash, leaf FROM leaf JOIN entry USING (debate, n) WHERE log = %s ORDER BY idx",
            (log,),
        ).fetchall()
        batches = connection.execute(
            "SELECT first, next, root FROM batch WHERE log = %s ORDER BY first", (log,)
        ).fetchall()
        heads = connection.execute(
            "SELECT size, root, note FROM checkpoint WHERE log = %s ORDER BY size", (log,)
        ).fetchall()
    hashes = [bytes(hash_) for _, _, _, hash_, _ in rows]
    assert [idx for idx, *_ in rows] == list(range(len(rows)))
    assert hashes == [leaf_hash(bytes(leaf)) for *_, leaf in rows]
    assert [first for first, *_ in batches] == [0, *[next_ for _, next_, _ in batches]][: len(batches)]
    for _, size, root in batches:
        assert bytes(root) == root_of(hashes[:size])
    for size, root, note in heads:
        assert bytes(root) == root_of(hashes[:size])
        assert open_checkpoint(bytes(note), [KEY.public])[0] == Checkpoint(log, size, bytes(root))
    return [(debate.int, n) for _, debate, n, _, _ in rows]


def signed_size(database: Database, log: str = LOG) -> int:
    """The size of the latest signed head."""
    with psycopg.connect(database.admin_url) as connection:
        row = connection.execute("SELECT max(size) FROM gainsay.checkpoint WHERE log = %s", (log,)).fetchone()
    return (row and row[0]) or 0
