"""The tree of a log as it is stored, read tile by tile in one query.

Full tiles and the hashes of leaves are stored. The hashes of a partial tile are those of leaves, or the roots of the
full tiles below it. What was full, or joined of what was full, never changes, so it is kept for a while; whoever finds
that what it proves is not what was signed has it forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

from service.audit.tiles import WIDTH, TileId, tile_root
from service.audit.tree import HASH_BYTES
from service.store.pool import Database, Row

TILES_KEPT = 512
"""Full tiles, and partial ones of the upper levels: 4 MB."""
ROOTS_KEPT = 16_384
"""Roots of full tiles: a partial tile needs up to 255 of the level below."""


class Stored(NamedTuple):
    """The hashes of tiles, and the root of the signed head that was asked for, if there is one."""

    tiles: dict[TileId, bytes]
    root: bytes | None


class Tiling:
    """The tiles of every log of one database."""

    _known: ClassVar[WeakKeyDictionary[Database, Tiling]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._tiles = _Kept(TILES_KEPT)
        self._roots = _Kept(ROOTS_KEPT)

    @classmethod
    def of(cls, database: Database) -> Tiling:
        """What is kept of a database: each has its own, so that one is never taken for another."""
        return cls._known.setdefault(database, cls())

    def forget(self) -> None:
        """Keep nothing of what was read."""
        self._tiles.clear()
        self._roots.clear()

    async def read(self, database: Database, log: str, wanted: Iterable[TileId], size: int = 0) -> Stored:
        """These tiles of a log, of which one at most is a partial one of leaves, and the head of ``size`` records.

        A tile of which not everything is stored is shorter than it should be. Raises `StoreUnavailable`.
        """
        places = set(wanted)
        tiles = self._tiles.those(log, places)
        lacking = {place for place in places - tiles.keys() if place.width == WIDTH}
        partial = places - tiles.keys() - lacking
        below = {under for place in partial if place.level for under in _below(place)}
        roots = self._roots.those(log, below)
        found = _Found(await database.query("tree_parts", _asked(log, lacking | below - roots.keys(), partial, size)))
        for place, hashes in found.full.items():
            if place in lacking:
                tiles[place] = self._tiles.keep(log, place, hashes)
            if place in below:
                roots[place] = self._roots.keep(log, place, tile_root(hashes))
        for place in partial:
            tiles[place] = self._joined(log, place, roots) if place.level else found.leaves
        return Stored(tiles, found.root)

    def _joined(self, log: str, place: TileId, roots: Mapping[TileId, bytes]) -> bytes:
        """A partial tile of the roots below it, which stays as it is when all of them are there."""
        hashes = b"".join(roots.get(under, b"") for under in _below(place))
        whole = len(hashes) == place.width * HASH_BYTES
        return self._tiles.keep(log, place, hashes) if whole else hashes


class _Kept:
    """What was read last of tiles, up to a number of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple[str, TileId], bytes] = {}

    def those(self, log: str, places: Iterable[TileId]) -> dict[TileId, bytes]:
        """What is kept of these, which then is the last to go."""
        found = {}
        for place in places:
            if (hashes := self._known.pop((log, place), None)) is not None:
                found[place] = self._known[log, place] = hashes
        return found

    def keep(self, log: str, place: TileId, hashes: bytes) -> bytes:
        """Keep one more, and give it back."""
        self._known[log, place] = hashes
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return hashes

    def clear(self) -> None:
        """Keep nothing."""
        self._known.clear()


class _Found:
    """What one query gave."""

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


def _asked(log: str, lacking: Set[TileId], partial: Set[TileId], size: int) -> dict[str, Any]:
    """The parameters of `tree_parts`."""
    levels, indexes = [place.level for place in lacking], [place.n for place in lacking]
    first = end = 0
    for place in partial:
        if not place.level:
            first, end = place.n * WIDTH, place.n * WIDTH + place.width
    return {"log": log, "levels": levels, "indexes": indexes, "first": first, "end": end, "size": size}


def _below(place: TileId) -> list[TileId]:
    """The full tiles whose roots are the hashes of a partial one."""
    first = place.n * WIDTH
    return [TileId(place.level - 1, first + nth, WIDTH) for nth in range(place.width)]
