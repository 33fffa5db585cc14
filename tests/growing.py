"""A log that grows without a service: leaves, tiles and signed heads, put there as superuser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any
from uuid import UUID

import psycopg

from service.audit.checkpoint import Checkpoint, cosign, sign_checkpoint
from service.audit.note import SigningKey
from service.audit.tiles import Builder, Tile
from service.audit.tree import Frontier, leaf_hash

LOG = "localhost/default/1"
KEY = SigningKey.from_seed("localhost", b"\x01" * 32)
WITNESS = SigningKey.from_seed("witness.example", b"\x02" * 32, algorithm=0x04)
EVIDENCE = ("entry", "payload", "leaf", "batch", "tile", "checkpoint", "cosignature", "log_epoch")


class Growing:
    """A log and what its tree comes to, kept here as well as in the database."""

    def __init__(self, url: str, log: str = LOG, tenant: str = "default", epoch: int = 1) -> None:
        self.log = log
        self.hashes: list[bytes] = []
        self.roots: dict[int, bytes] = {}
        self._connection: psycopg.Connection[Any] = psycopg.connect(url, options="-c search_path=gainsay")
        self._builder, self._frontier = Builder(), Frontier()
        self._ids = (UUID(int=(epoch << 64) + n) for n in count(1))
        self._do("INSERT INTO log_epoch VALUES (%s, %s, %s, %s)", log, tenant, epoch, KEY.public.encode())

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()

    def grow(self, leaves: Sequence[bytes], *, signed: bool = True) -> int:
        """Add leaves as one batch, each a chain of its own, and sign the head unless told not to; the new size."""
        hashes = [leaf_hash(leaf) for leaf in leaves]
        ids = [next(self._ids) for _ in leaves]
        with self._connection.cursor() as cursor, cursor.copy("COPY entry (debate, n, leaf) FROM STDIN") as copy:
            for id_, leaf in zip(ids, leaves, strict=True):
                copy.write_row((id_, 0, leaf))
        return self.add(hashes, ids, signed=signed)

    def add(self, hashes: Sequence[bytes], ids: Sequence[UUID] = (), *, signed: bool = True) -> int:
        """Add leaves by their hashes alone."""
        first = len(self.hashes)
        ids = ids or [next(self._ids) for _ in hashes]
        self.hashes += hashes
        self._frontier.extend(hashes)
        size, root = len(self.hashes), self._frontier.root()
        self._do(
            "INSERT INTO batch (log, first, next, root, frontier) VALUES (%s, %s, %s, %s, %s)",
            *(self.log, first, size, root, self._frontier.encode()),
        )
        with self._connection.cursor() as cursor:
            with cursor.copy("COPY leaf (log, idx, debate, n, hash) FROM STDIN") as copy:
                for index, (id_, hash_) in enumerate(zip(ids, hashes, strict=True), first):
                    copy.write_row((self.log, index, id_, 0, hash_))
            self._tiles(cursor, self._builder.add(hashes))
        if signed:
            self.sign()
        self._connection.commit()
        return size

    def sign(self) -> None:
        """Sign and countersign the head as it stands."""
        size, root = len(self.hashes), self._frontier.root()
        self.roots[size] = root
        head = Checkpoint(self.log, size, root)
        self._do("INSERT INTO checkpoint VALUES (%s, %s, %s, %s)", self.log, size, root, sign_checkpoint(head, KEY))
        line = cosign(head, 1_795_000_000, WITNESS)
        self._do("INSERT INTO cosignature VALUES (%s, %s, %s, %s)", self.log, size, WITNESS.public.name, line)

    def tamper(self, statement: str, *params: object) -> None:
        """Change what is stored, as nobody may: triggers are switched off meanwhile."""
        for table in EVIDENCE:
            self._do(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        self._do(statement, *params)
        for table in EVIDENCE:
            self._do(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER refuse_change")
            self._do(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER refuse_truncate")
        self._connection.commit()

    def _tiles(self, cursor: psycopg.Cursor[Any], tiles: Iterable[Tile]) -> None:
        with cursor.copy("COPY tile (log, level, idx, hashes) FROM STDIN") as copy:
            for tile in tiles:
                copy.write_row((self.log, tile.level, tile.index, tile.hashes))

    def _do(self, statement: str, *params: object) -> None:
        self._connection.execute(statement.encode(), params)
        self._connection.commit()
