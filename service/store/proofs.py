"""What is provable: the signed heads of a log, and where a record stands in it."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from service.store.pool import Database


class SignedHead(Struct, frozen=True):
    """The latest signed head of a log: the tree's size and root, and the checkpoint with what countersigns it."""

    log: str
    size: int
    root: bytes
    note: bytes


class Proven(Struct, frozen=True):
    """A record under a signed head: its leaf's index, and the first head that covers it, which stays the same."""

    log: str
    index: int
    size: int
    root: bytes


async def latest_head(database: Database, log: str) -> SignedHead | None:
    """The latest signed head of a log; ``None`` while nothing is signed."""
    rows = await database.query("latest_head", {"log": log})
    return SignedHead(log, rows[0]["size"], bytes(rows[0]["root"]), bytes(rows[0]["note"])) if rows else None


async def proven(database: Database, debate: str, n: int) -> Proven | None:
    """Where a record stands under a signed head of its log; ``None`` while it is durable and no more."""
    rows = await database.query("proven", {"debate": UUID(debate), "n": n})
    if not rows:
        return None
    return Proven(rows[0]["log"], rows[0]["idx"], rows[0]["size"], bytes(rows[0]["root"]))
