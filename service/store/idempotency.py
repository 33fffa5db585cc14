"""Idempotency keys: which debate a tenant's key stands for, and of which case.

A key's row is written by the statement that records the debate (`service/store/sealing.py`), so there is never one
without the other; whoever comes second finds the row of whoever was first.
"""

from __future__ import annotations

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


async def find_keyed(database: Database, tenant: str, key: IdempotencyKey) -> Keyed | None:
    """What a tenant's key stands for, if it was ever used; raises `StoreUnavailable`."""
    rows = await database.query("keyed", {"tenant": tenant, "key": key.key})
    return Keyed(str(rows[0]["debate"]), bytes(rows[0]["body"])) if rows else None
