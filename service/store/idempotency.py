"""Idempotency keys: which debate a tenant's key stands for, and for which case.

The statement that records a debate also writes its key's row (`service/store/sealing.py`), so neither exists without
the other, and the second request under a key finds the row of the first.

    key        made of                      stands for its debate                 in the table
    sent       what the caller chose        as long as the record                 idempotency_key
    derived    the caller and its body      until ten minutes after its end       derived_key

The two have tables of their own, so a key that a caller sends is never a derived one, whatever it sends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from msgspec import Struct

from service.store.pool import Database


class IdempotencyKey(Struct, frozen=True):
    """A key as it is stored: SHA-256 of the key, and of the case that it came with."""

    key: bytes
    body: bytes

    @classmethod
    def of(cls, key: str, body: bytes) -> IdempotencyKey:
        """A caller's key for a case of this fingerprint."""
        return cls(sha256(key.encode()).digest(), body)


class DerivedKey(Struct, frozen=True):
    """A key in the place of the one that a caller did not send: SHA-256 of the caller and the body of its request."""

    key: bytes

    @classmethod
    def of(cls, subject: str, body: bytes) -> DerivedKey:
        """The key of a subject for a body; the tenant stands beside it in the table."""
        return cls(sha256(b"%s\x00%s" % (sha256(subject.encode()).digest(), body)).digest())


Key = IdempotencyKey | DerivedKey


class Keyed(Struct, frozen=True):
    """The debate that a key stands for, and the fingerprint of its case; a derived key has that in itself."""

    debate: str
    body: bytes | None


class InFlightKeys:
    """The posts with a key that this process is recording. Any of them may be the one that records the case."""

    def __init__(self) -> None:
        self._posts: dict[tuple[str, bytes], set[asyncio.Event]] = {}

    @contextmanager
    def recording(self, tenant: str, key: Key | None) -> Iterator[None]:
        """While the block lasts, one post under this key is being recorded."""
        if key is None:
            yield
            return
        posts, done = self._posts.setdefault((tenant, key.key), set()), asyncio.Event()
        posts.add(done)
        try:
            yield
        finally:
            posts.remove(done)
            done.set()
            if not posts:
                del self._posts[tenant, key.key]

    async def recorded(self, tenant: str, key: Key) -> None:
        """Wait until each post that is under way here with this key has been recorded or refused.

        Posts that come later are not waited for: none of them can hold what the caller was refused for.
        """
        for done in tuple(self._posts.get((tenant, key.key), ())):
            await done.wait()


async def find_keyed(database: Database, tenant: str, key: Key) -> Keyed | None:
    """The debate of a tenant's key, if the key was ever used, and still holds; raises `StoreUnavailable`."""
    if isinstance(key, DerivedKey):
        found = await database.query("derived", {"tenant": tenant, "key": key.key})
        return Keyed(str(found[0]["debate"]), None) if found else None
    rows = await database.query("keyed", {"tenant": tenant, "key": key.key})
    return Keyed(str(rows[0]["debate"]), bytes(rows[0]["body"])) if rows else None
