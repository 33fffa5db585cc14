"""Idempotency keys: which debate a tenant's key stands for, and of which case.

A key's row is written by the statement that records the debate (`service/store/sealing.py`), so there is never one
without the other; whoever comes second finds the row of whoever was first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from msgspec import Struct

from service.store.pool import Database


class IdempotencyKey(Struct, frozen=True):
    """A key as it is kept: SHA-256 of itself, and of the case that it was sent with."""

    key: bytes
    body: bytes

    @classmethod
    def of(cls, key: str, body: bytes) -> IdempotencyKey:
        """A caller's key for a case of this fingerprint."""
        return cls(sha256(key.encode()).digest(), body)


class Keyed(Struct, frozen=True):
    """The debate that a key stands for, and the fingerprint of its case."""

    debate: str
    body: bytes


class UnderWay:
    """The cases with a key that this process is recording: whoever comes with the same key waits for the first one."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, bytes], asyncio.Event] = {}

    @contextmanager
    def recording(self, tenant: str, key: IdempotencyKey | None) -> Iterator[None]:
        """While the block lasts the case of a key is being recorded."""
        if key is None or (tenant, key.key) in self._first:
            yield
            return
        done = self._first[tenant, key.key] = asyncio.Event()
        try:
            yield
        finally:
            del self._first[tenant, key.key]
            done.set()

    async def recorded(self, tenant: str, key: IdempotencyKey) -> None:
        """Wait until the case of a key is recorded, or was refused, where that is under way here."""
        if first := self._first.get((tenant, key.key)):
            await first.wait()


async def find_keyed(database: Database, tenant: str, key: IdempotencyKey) -> Keyed | None:
    """What a tenant's key stands for, if it was ever used; raises `StoreUnavailable`."""
    rows = await database.query("keyed", {"tenant": tenant, "key": key.key})
    return Keyed(str(rows[0]["debate"]), bytes(rows[0]["body"])) if rows else None
