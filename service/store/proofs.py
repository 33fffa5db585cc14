"""Provable facts: the checkpoints of a log, the places of records in it, and proofs of both.

The tree is stored as full tiles (C2SP tlog-tiles) and as the hashes of its leaves. A partial tile is computed from what
is below it: leaf hashes, or the roots of full tiles. The tiles of a proof are known beforehand and read in one query.
Every proof is verified against the checkpoints before it is given out (RFC 9162, 2.1.3.2 for inclusion and 2.1.4.2 for
consistency), because the stored hashes may have been changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar
from uuid import UUID

from msgspec import Struct

from service.audit.tiles import (
    WIDTH,
    TileId,
    Tiles,
    tile_width,
    tiles_for_consistency,
    tiles_for_inclusion,
    tiles_for_root,
)
from service.audit.tree import (
    HASH_BYTES,
    ProofError,
    consistency_path,
    inclusion_path,
    root_at,
    verify_consistency,
    verify_inclusion,
)
from service.errors import GainsayError, NotFound
from service.store.pool import Database, Row
from service.store.tiles import StoredTiles

T = TypeVar("T")
AT_ONCE = 32
"""Tiles of leaves that one query reads when many leaves are proven: 8 kB each."""


class LogDamaged(GainsayError):
    """The stored tree of a log contradicts its checkpoints."""

    code = "log_damaged"
    title = "The audit log does not agree with its checkpoints"


class SignedCheckpoint(Struct, frozen=True):
    """A checkpoint of a log: the tree's size and root, and the checkpoint with its cosignatures."""

    log: str
    size: int
    root: bytes
    note: bytes


class StampedCheckpoint(Struct, frozen=True):
    """A checkpoint of a log as its signer signed it, without cosignatures, and the token of its time stamp."""

    head: SignedCheckpoint
    token: bytes


class Proven(Struct, frozen=True):
    """A record under a checkpoint: its leaf's index, and the first head that covers it, which never changes."""

    log: str
    index: int
    size: int
    root: bytes


class TenantLog(Struct, frozen=True):
    """A log of a tenant: its epoch, the verifier key of its heads, and its latest head, if there is one."""

    log: str
    tenant: str
    epoch: int
    key: str
    head: SignedCheckpoint | None


async def latest_checkpoint(database: Database, tenant: str, log: str) -> SignedCheckpoint | None:
    """The latest checkpoint of a log; ``None`` while nothing is signed."""
    return _signed(log, await database.query("latest_head", {"tenant": tenant, "log": log}))


async def countersigned_checkpoint(database: Database, tenant: str, log: str, index: int) -> SignedCheckpoint | None:
    """Of the latest countersigned heads above a leaf, the newest with the most cosignatures.

    The sequencer asks witnesses about once a second, so the latest head of a busy log has no cosignature yet.
    """
    return _signed(log, await database.query("countersigned_head", {"tenant": tenant, "log": log, "above": index}))


async def first_countersigned(
    database: Database, tenant: str, log: str, index: int, size: int
) -> SignedCheckpoint | None:
    """Of the first countersigned heads above a leaf, up to a size, the first with the most cosignatures."""
    return _signed(
        log, await database.query("first_countersigned", {"tenant": tenant, "log": log, "above": index, "upto": size})
    )


async def countersigned_before(
    database: Database, tenant: str, log: str, index: int, by: float
) -> SignedCheckpoint | None:
    """Of the latest heads without a leaf that were countersigned by some time, the newest with the most cosignatures.

    ``by`` is in seconds since 1970. Later cosignatures of the same head are not in its note.
    """
    return _signed(
        log, await database.query("countersigned_before", {"tenant": tenant, "log": log, "upto": index, "by": by})
    )


async def stamped_before(database: Database, tenant: str, log: str, index: int, by: float) -> StampedCheckpoint | None:
    """The newest head without a leaf whose time stamp was stored by some time, in seconds since 1970."""
    return _stamped(
        log, await database.query("stamped_before", {"tenant": tenant, "log": log, "upto": index, "by": by})
    )


async def first_stamped(database: Database, tenant: str, log: str, index: int, size: int) -> StampedCheckpoint | None:
    """The first stamped head above a leaf, up to a size."""
    return _stamped(
        log, await database.query("first_stamped", {"tenant": tenant, "log": log, "above": index, "upto": size})
    )


async def checkpoint_at(database: Database, tenant: str, log: str, size: int) -> SignedCheckpoint | None:
    """The checkpoint of a log of exactly this size; ``None`` if there is none."""
    return _signed(log, await database.query("head_at", {"tenant": tenant, "log": log, "size": size}))


async def logs_of(database: Database, tenant: str) -> list[TenantLog]:
    """The logs of a tenant, the oldest first, each with its latest checkpoint."""
    return [_log(row) for row in await database.query("logs_of", {"tenant": tenant, "log": None})]


async def log_of(database: Database, tenant: str, log: str) -> TenantLog:
    """One log of a tenant; raises `NotFound`, also for another tenant's."""
    rows = [] if "\0" in log else await database.query("logs_of", {"tenant": tenant, "log": log})
    if not rows:
        raise NotFound(f"there is no log {log[:200]!r}; GET /v1/audit/logs lists those that there are")
    return _log(rows[0])


async def proven(database: Database, tenant: str, debate: str, n: int) -> Proven | None:
    """The place of a record under a checkpoint of its log; ``None`` while it is only durable."""
    rows = await database.query("proven", {"debate": UUID(debate), "tenant": tenant, "n": n})
    if not rows:
        return None
    return Proven(rows[0]["log"], rows[0]["idx"], rows[0]["size"], bytes(rows[0]["root"]))


async def inclusion(database: Database, tenant: str, log: str, index: int, size: int) -> list[bytes]:
    """The audit path (RFC 6962, 2.1.1) from a leaf to the root of the checkpoint of this size.

    Raises `ValueError` for an index beyond it, `NotFound` if no head of this size was signed, and `LogDamaged`.
    """
    return (await inclusions(database, tenant, log, (index,), size))[index]


async def inclusions(
    database: Database, tenant: str, log: str, indexes: Iterable[int], size: int
) -> dict[int, list[bytes]]:
    """The audit paths of many leaves, by index, as `inclusion` gives each; neighbours are read together."""
    paths: dict[int, list[bytes]] = {}
    for some in _neighbour_groups(indexes):
        wanted = set().union(*(tiles_for_inclusion(index, size) | _tile_of(index, size) for index in some))

        def prove(tiles: Tiles, root: bytes, some: Sequence[int] = some) -> dict[int, list[bytes]]:
            return {index: _included(index, tiles, root) for index in some}

        paths |= await _prove(database, tenant, log, wanted, size, prove)
    return paths


async def consistency(database: Database, tenant: str, log: str, old: int, new: int) -> list[bytes]:
    """The consistency proof (RFC 6962, 2.1.2) from ``old`` leaves to ``new``, of which a head was signed.

    ``old`` may be any size up to that. Raises `ValueError`, `NotFound` and `LogDamaged` as `inclusion` does.
    """
    return (await _proven_consistency(database, tenant, log, old, new))[0]


async def root_at_size(database: Database, tenant: str, log: str, size: int, head: SignedCheckpoint) -> bytes:
    """The root of a log at a size, proven consistent with a checkpoint; raises as `consistency` does."""
    return (await _proven_consistency(database, tenant, log, size, head.size))[1]


async def tile(database: Database, tenant: str, log: str, level: int, index: int, width: int) -> bytes:
    """The stored hashes of a tile that the log has (`has_tile`), 32 bytes each.

    A partial tile stays available when it has become full, as C2SP tlog-tiles allows. Raises `LogDamaged` if hashes are
    missing.
    """
    place = TileId(level, index, width)
    found = (await StoredTiles.of(database).read(database, tenant, log, {place})).tiles.get(place, b"")
    if len(found) != width * HASH_BYTES:
        raise LogDamaged(f"expected {width} hashes in tile {index} of level {level}, found {len(found) // HASH_BYTES}")
    return found


async def entries(database: Database, tenant: str, log: str, index: int, width: int) -> list[bytes]:
    """The stored leaves of a bundle that the log has (`has_tile` of level 0).

    Raises `LogDamaged` if leaves are missing.
    """
    params = {"tenant": tenant, "log": log, "first": index * WIDTH, "end": index * WIDTH + width}
    leaves = [bytes(row["leaf"]) for row in await database.query("leaves_between", params)]
    if len(leaves) != width:
        raise LogDamaged(f"expected {width} leaves from {index * WIDTH} on, found {len(leaves)}")
    return leaves


def has_tile(level: int, index: int, width: int, size: int) -> bool:
    """Whether a log of this size has a tile of this width; level 0 also answers for the bundle of leaves."""
    return 1 <= width <= tile_width(level, index, size)


async def _proven_consistency(
    database: Database, tenant: str, log: str, old: int, new: int
) -> tuple[list[bytes], bytes]:
    """The consistency proof from an old size to that of a checkpoint, and the old root."""
    roots = {TileId(level, n, tile_width(level, n, new)) for level, n, _ in tiles_for_root(old)}

    def prove(tiles: Tiles, root: bytes) -> tuple[list[bytes], bytes]:
        path, before = consistency_path(old, new, tiles.node), root_at(old, tiles.node)
        verify_consistency(old, new, path, before, root)
        return path, before

    return await _prove(database, tenant, log, tiles_for_consistency(old, new) | roots, new, prove)


async def _prove(
    database: Database, tenant: str, log: str, wanted: set[TileId], size: int, prove: Callable[[Tiles, bytes], T]
) -> T:
    """The result of ``prove`` on tiles and the signed root of a size.

    A first failure may come from cached tiles (if the database was restored, say), so the cache is cleared and
    everything is read once more. Raises `NotFound` and `LogDamaged`.
    """
    tiling = StoredTiles.of(database)
    for _ in range(2):
        found = await tiling.read(database, tenant, log, wanted, size)
        if found.root is None:
            raise NotFound(f"no head of {size} records was signed for the log {log}; its checkpoint names the latest")
        try:
            return prove(Tiles(partial(_read, found.tiles), size), found.root)
        except ProofError:
            tiling.forget()
    raise LogDamaged(
        f"the log {log} is signed with {size} records, and the stored hashes make another tree; nothing is proven from "
        "it. Keep the database as it is, and compare it with the heads that were signed and witnessed"
    )


def _read(tiles: Mapping[TileId, bytes], level: int, index: int, width: int) -> bytes:
    return tiles.get(TileId(level, index, width), b"")


def _tile_of(index: int, size: int) -> set[TileId]:
    """The tile of a leaf itself: verifying the path needs the leaf's hash."""
    return {TileId(0, index // WIDTH, tile_width(0, index // WIDTH, size))}


def _included(index: int, tiles: Tiles, root: bytes) -> list[bytes]:
    path = inclusion_path(index, tiles.size, tiles.node)
    verify_inclusion(tiles.node(0, index), index, tiles.size, path, root)
    return path


def _neighbour_groups(indexes: Iterable[int]) -> Iterator[Sequence[int]]:
    """The indexes in groups whose leaves lie in a few tiles."""
    by_tile: dict[int, list[int]] = {}
    for index in sorted(set(indexes)):
        by_tile.setdefault(index // WIDTH, []).append(index)
    tiles = list(by_tile.values())
    for at in range(0, len(tiles), AT_ONCE):
        yield [index for tile in tiles[at : at + AT_ONCE] for index in tile]


def _signed(log: str, rows: Sequence[Row]) -> SignedCheckpoint | None:
    return SignedCheckpoint(log, rows[0]["size"], bytes(rows[0]["root"]), bytes(rows[0]["note"])) if rows else None


def _stamped(log: str, rows: Sequence[Row]) -> StampedCheckpoint | None:
    head = _signed(log, rows)
    return StampedCheckpoint(head, bytes(rows[0]["token"])) if head else None


def _log(row: Row) -> TenantLog:
    head = _signed(row["log"], [row]) if row["size"] is not None else None
    return TenantLog(row["log"], row["tenant"], row["epoch"], row["key"], head)
