"""The audit paths (RFC 6962, 2.1.1) of many records of a log.

All leaves of a full tile share the part of the path above the tile's root. So the store computes and verifies one path
a tile, and the other leaves' paths differ only inside the tile. Leaves of the last, partial tile are computed one by
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from service.audit.tiles import HEIGHT, WIDTH
from service.audit.tree import HASH_BYTES, ProofError, node_hash, verify_inclusion
from service.store.pool import Database
from service.store.proofs import LogDamaged, SignedCheckpoint, inclusions, tile

Rows = list[list[bytes]]
"""A tile's hashes, and above them the nodes of each level, without its root."""


async def inclusion_paths(
    database: Database, tenant: str, head: SignedCheckpoint, indexes: Iterable[int]
) -> dict[int, list[bytes]]:
    """The path of each leaf to the root of the head, as `service.store.proofs.inclusion` gives it.

    Raises `StoreUnavailable`, and `LogDamaged` if the stored hashes make another tree.
    """
    tiles = {number: list(group) for number, group in groupby(sorted(set(indexes)), key=lambda index: index // WIDTH)}
    full = [number for number in tiles if (number + 1) * WIDTH <= head.size]
    asked = [index for number, group in tiles.items() for index in (group[:1] if number in full else group)]
    found = await inclusions(database, tenant, head.log, asked, head.size)
    for number in full:
        rows = _rows(await tile(database, tenant, head.log, 0, number, WIDTH))
        first, *others = tiles[number]
        _expect_same(head, first, rows, found[first])
        above = found[first][HEIGHT:]
        found.update((index, _siblings_in_tile(rows, index % WIDTH) + above) for index in others)
    return found


def _rows(hashes: bytes) -> Rows:
    rows = [[hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)]]
    while len(rows) < HEIGHT:
        below = rows[-1]
        rows.append([node_hash(left, right) for left, right in zip(below[::2], below[1::2], strict=True)])
    return rows


def _siblings_in_tile(rows: Rows, at: int) -> list[bytes]:
    """The siblings of a leaf on the way to its tile's root: the lower 8 nodes of its audit path."""
    return [rows[level][(at >> level) ^ 1] for level in range(HEIGHT)]


def _expect_same(head: SignedCheckpoint, index: int, rows: Rows, path: Sequence[bytes]) -> None:
    """Raise `LogDamaged` unless the verified path leads through this tile."""
    at = index % WIDTH
    try:
        verify_inclusion(rows[0][at], index, head.size, [*_siblings_in_tile(rows, at), *path[HEIGHT:]], head.root)
    except ProofError as error:
        raise LogDamaged(f"tile {index // WIDTH} of the log {head.log} changed while it was read") from error
