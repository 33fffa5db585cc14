"""The stored tree of a log, read tile by tile in one query (C2SP tlog-tiles).

Full tiles and the hashes of leaves are stored. The hashes of a partial tile are those of leaves, or the roots of the
full tiles below it. A full tile, and what is joined from full tiles, never changes and is cached. A caller whose proof
does not match the signed root clears the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

from service.audit.tiles import WIDTH, TileId, tile_root
from service.audit.tree import HASH_BYTES
from service.store.pool import Database, Row

TILES_KEPT = 512
"""Full tiles, and partial ones of the upper levels, in the cache: 4 MB."""
ROOTS_KEPT = 16_384
"""Roots of full tiles in the cache: a partial tile needs up to 255 of the level below."""


Owned = tuple[str, str]
"""A tenant, and the name of a log that is its own."""


class StoredTree(NamedTuple):
    """The hashes of tiles, and the root of the requested checkpoint, if there is one."""

    tiles: dict[TileId, bytes]
    root: bytes | None


class StoredTiles:
    """The tiles of every log of one database."""

    _known: ClassVar[WeakKeyDictionary[Database, StoredTiles]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._tiles = _Kept(TILES_KEPT)
        self._roots = _Kept(ROOTS_KEPT)

    @classmethod
    def of(cls, database: Database) -> StoredTiles:
        """The cache of a database: each has its own, so that two are never mixed up; its keys begin with the tenant."""
        return cls._known.setdefault(database.pooled, cls())

    def forget(self) -> None:
        """Clear the cache."""
        self._tiles.clear()
        self._roots.clear()

    async def read(
        self, database: Database, tenant: str, log: str, wanted: Iterable[TileId], size: int = 0
    ) -> StoredTree:
        """Tiles of a tenant's log, with at most one partial tile of leaves among them, and the head of ``size``
        records.

        A tile is shorter than its width if some of its hashes are not stored. Raises `StoreUnavailable`.
        """
        places, owned = set(wanted), (tenant, log)
        tiles = self._tiles.those(owned, places)
        # Three kinds of places are left: full tiles are stored; a partial tile of level 0 consists of stored leaf
        # hashes; a partial tile above consists of the roots of the full tiles below it, which are hashed here.
        lacking = {place for place in places - tiles.keys() if place.width == WIDTH}
        partial = places - tiles.keys() - lacking
        below = {under for place in partial if place.level for under in _tiles_below(place)}
        roots = self._roots.those(owned, below)
        found = _Found(
            await database.query("tree_parts", _parts_query(owned, lacking | below - roots.keys(), partial, size))
        )
        # A full tile can be wanted twice over: as itself, and as a source of a root one level above.
        for place, hashes in found.full.items():
            if place in lacking:
                tiles[place] = self._tiles.keep(owned, place, hashes)
            if place in below:
                roots[place] = self._roots.keep(owned, place, tile_root(hashes))
        for place in partial:
            tiles[place] = self._joined(owned, place, roots) if place.level else found.leaves
        return StoredTree(tiles, found.root)

    def _joined(self, owned: Owned, place: TileId, roots: Mapping[TileId, bytes]) -> bytes:
        """A partial tile, joined from the roots below it; cached if all of them are there."""
        hashes = b"".join(roots.get(under, b"") for under in _tiles_below(place))
        whole = len(hashes) == place.width * HASH_BYTES
        return self._tiles.keep(owned, place, hashes) if whole else hashes


class _Kept:
    """The tiles that were read last, up to a number of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple[Owned, TileId], bytes] = {}

    def those(self, owned: Owned, places: Iterable[TileId]) -> dict[TileId, bytes]:
        """The cached ones of these tiles, which then are the last to be dropped."""
        found = {}
        for place in places:
            if (hashes := self._known.pop((owned, place), None)) is not None:
                found[place] = self._known[owned, place] = hashes
        return found

    def keep(self, owned: Owned, place: TileId, hashes: bytes) -> bytes:
        """Cache one more, and return it."""
        self._known[owned, place] = hashes
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return hashes

    def clear(self) -> None:
        """Clear the cache."""
        self._known.clear()


class _Found:
    """The result of one query."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.full: dict[TileId, bytes] = {}
        self.leaves = b""
        self.root: bytes | None = None
        for row in rows:
            hashes = bytes(row["hashes"] or b"")
            match row["part"]:
                case "tile":
                    self.full[TileId(row["level"], row["idx"], WIDTH)] = hashes
                case "leaves":
                    self.leaves = hashes
                case _:
                    self.root = hashes


def _parts_query(owned: Owned, lacking: Set[TileId], partial: Set[TileId], size: int) -> dict[str, Any]:
    """The parameters of `tree_parts`."""
    levels, indexes = [place.level for place in lacking], [place.n for place in lacking]
    first = end = 0
    for place in partial:
        if not place.level:
            first, end = place.n * WIDTH, place.n * WIDTH + place.width
    own = {"tenant": owned[0], "log": owned[1]}
    return {**own, "levels": levels, "indexes": indexes, "first": first, "end": end, "size": size}


def _tiles_below(place: TileId) -> list[TileId]:
    """The full tiles whose roots are the hashes of a partial tile one level above (C2SP tlog-tiles)."""
    first = place.n * WIDTH
    return [TileId(place.level - 1, first + nth, WIDTH) for nth in range(place.width)]
