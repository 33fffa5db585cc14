"""Tiles of a log after C2SP tlog-tiles: the tree cut into pieces of 256 hashes that never change.

Tile ``n`` of level ``l`` holds the roots of 256 neighbouring complete subtrees of 256**l leaves each; those of level 0
are leaf hashes. In the notation of RFC 6962, 2.1, its hash ``i`` is

    MTH(D[(n * 256 + i) * 256**l : (n * 256 + i + 1) * 256**l])

The last tile of a level may be partial: it has ``size // 256**l % 256`` hashes, and it does not exist if that is 0.
Nodes between two tile levels are not stored; a proof hashes them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Literal, NamedTuple

from msgspec import Struct

from service.audit.tree import (
    EMPTY_ROOT,
    HASH_BYTES,
    SIZE_MAX,
    Node,
    ProofError,
    consistency_path,
    inclusion_path,
    root_at,
)

WIDTH = 256
HEIGHT = 8
LEVEL_MAX = 63
ENTRY_BYTES_MAX = 65_535
TILES_KEPT = 256
"""Tiles whose inner nodes the process caches by content: some 6 MB."""

Level = int | Literal["entries"]
Read = Callable[[int, int, int], bytes]
"""(level, index, width) -> the tile's hashes, width * 32 bytes."""

_PATH = re.compile(r"tile/(entries|[0-9]{1,2})/((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([0-9]{1,3}))?", re.ASCII)


class TileId(NamedTuple):
    """A tile: its level, its index ``n`` in the level, and the number of its hashes in a tree of a given size."""

    level: int
    n: int
    width: int


class TilePath(NamedTuple):
    """The parsed path of a tile, or of a bundle of leaves (level "entries")."""

    level: Level
    n: int
    width: int


class Tile(Struct, frozen=True):
    """A tile with its hashes, 32 bytes each."""

    level: int
    index: int
    hashes: bytes

    @property
    def width(self) -> int:
        """The number of hashes of the tile."""
        return len(self.hashes) // HASH_BYTES


class Builder:
    """Cuts a growing tree into full tiles.

    ``partial`` holds the hashes of each level's last, partial tile. A later builder continues from them;
    `partial_counts` gives their numbers.
    """

    def __init__(self, size: int = 0, partial: Sequence[Sequence[bytes]] = ()) -> None:
        counts = partial_counts(size)
        if [len(hashes) for hashes in partial] != counts:
            found = [len(hashes) for hashes in partial]
            raise ValueError(f"expected {counts} hashes of partial tiles for a tree of {size} leaves, found {found}")
        self.size = size
        self._open = [list(hashes) for hashes in partial]

    @property
    def partial(self) -> list[list[bytes]]:
        """The hashes of each level's partial tile, the leaves' level first."""
        return [hashes.copy() for hashes in self._open]

    def add(self, leaf_hashes: Iterable[bytes]) -> list[Tile]:
        """Append leaves; the tiles that became full, each before the one above it."""
        full: list[Tile] = []
        for leaf_hash in leaf_hashes:
            self.size += 1
            node, level = leaf_hash, 0
            # A full tile's root is the next hash of the level above, which may fill that level's tile in turn.
            while self._push(level, node):
                tile = Tile(level, (self.size >> HEIGHT * (level + 1)) - 1, b"".join(self._open[level]))
                full.append(tile)
                self._open[level].clear()
                node, level = tile_root(tile.hashes), level + 1
        return full

    def _push(self, level: int, node: bytes) -> bool:
        """Append a hash to a level; whether that fills the tile."""
        if level == len(self._open):
            self._open.append([])
        self._open[level].append(node)
        return len(self._open[level]) == WIDTH


class Tiles:
    """The nodes of a tree of ``size`` leaves, read from its tiles.

    Each tile is read once, unless more than ``kept`` others were read since. A tile of a wrong length raises
    `ProofError`; errors of ``read`` pass through.
    """

    def __init__(self, read: Read, size: int, *, kept: int = 64) -> None:
        self.size = size
        self._read = read
        self._rows = lru_cache(maxsize=kept)(self._load)

    def node(self, level: int, index: int) -> bytes:
        """The hash of the complete subtree of 2**level leaves that begins at leaf index * 2**level."""
        place, row, at = _place(level, index, self.size)
        return self._rows(place)[row][at * HASH_BYTES : (at + 1) * HASH_BYTES]

    def _load(self, place: TileId) -> tuple[bytes, ...]:
        hashes = self._read(*place)
        if len(hashes) != place.width * HASH_BYTES:
            expected = f"{place.width * HASH_BYTES} bytes in {tile_path(*place)}"
            raise ProofError(f"expected {expected}, found {len(hashes)}")
        return _known_rows(hashes)


def partial_counts(size: int) -> list[int]:
    """The number of hashes of each level's partial tile in a tree of ``size`` leaves, the leaves' level first."""
    counts = []
    while size:
        counts.append(size % WIDTH)
        size >>= HEIGHT
    return counts


def tile_width(level: int, index: int, size: int) -> int:
    """The number of hashes of a tile in a tree of ``size`` leaves: 256, fewer if it is partial, 0 if it is absent."""
    # The level has one hash for each complete subtree of 256**level leaves; the tile begins at the hash index * 256.
    return max(0, min(WIDTH, (size >> HEIGHT * level) - index * WIDTH))


def tile_root(hashes: bytes) -> bytes:
    """The root over a full tile: its hash in the tile above. Raises `ValueError` for a partial one."""
    if len(hashes) != WIDTH * HASH_BYTES:
        raise ValueError(f"expected a full tile of {WIDTH * HASH_BYTES} bytes, found {len(hashes)}")
    return _rows(hashes)[-1]


def tiles_for_inclusion(index: int, size: int) -> set[TileId]:
    """The tiles that the inclusion path of a leaf needs, so that a store can read them in one batch."""
    return _recorded(size, lambda node: inclusion_path(index, size, node))


def tiles_for_consistency(old: int, new: int) -> set[TileId]:
    """The tiles, of the newer tree, that a consistency path needs."""
    return _recorded(new, lambda node: consistency_path(old, new, node))


def tiles_for_root(size: int) -> set[TileId]:
    """The tiles that the root of a tree needs."""
    return _recorded(size, lambda node: root_at(size, node))


def tile_path(level: Level, index: int, width: int = WIDTH) -> str:
    """The path of a tile below the log's address (C2SP tlog-tiles); raises `ValueError` for an invalid tile.

    >>> tile_path(1, 1234067, 8)
    'tile/1/x001/x234/067.p/8'
    """
    if level != "entries" and not 0 <= level <= LEVEL_MAX:
        raise ValueError(f"expected a level from 0 to {LEVEL_MAX} or 'entries', found {level}")
    if not (0 <= index <= SIZE_MAX and 1 <= width <= WIDTH):
        raise ValueError(f"expected an index from 0 and a width from 1 to {WIDTH}, found {index} and {width}")
    # C2SP: the index in groups of three digits, each but the last with a leading x.
    digits = str(index)
    digits = digits.zfill(-len(digits) // 3 * -3)
    groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    name = "/".join([*("x" + group for group in groups[:-1]), groups[-1]])
    return f"tile/{level}/{name}" + ("" if width == WIDTH else f".p/{width}")


def parse_tile_path(path: str) -> TilePath:
    """The tile of a path; raises `ValueError` for a path that `tile_path` does not write."""
    found = _PATH.fullmatch(path)
    if found is None:
        raise ValueError("expected a path such as tile/0/x001/067 or tile/entries/000.p/12, found another")
    name, place, width = found.groups()
    level: Level = "entries" if name == "entries" else int(name)
    named = TilePath(level, int(place.replace("x", "").replace("/", "")), int(width) if width else WIDTH)
    if tile_path(*named) != path:
        raise ValueError(f"expected the tile's path as {tile_path(*named)}, found another spelling")
    return named


def encode_entries(leaves: Sequence[bytes]) -> bytes:
    """A bundle of leaves, each after its length in two bytes (C2SP tlog-tiles).

    Raises `ValueError` for more than 256 leaves, or one of more than 65,535 bytes.
    """
    if len(leaves) > WIDTH:
        raise ValueError(f"expected at most {WIDTH} leaves in a bundle, found {len(leaves)}")
    parts: list[bytes] = []
    for leaf in leaves:
        if len(leaf) > ENTRY_BYTES_MAX:
            raise ValueError(f"expected a leaf of at most {ENTRY_BYTES_MAX} bytes, found {len(leaf)}")
        parts += (len(leaf).to_bytes(2), leaf)
    return b"".join(parts)


def decode_entries(data: bytes) -> list[bytes]:
    """The leaves of a bundle; raises `ValueError` if it ends inside a leaf or has more than 256."""
    leaves: list[bytes] = []
    at = 0
    while at < len(data):
        begin = at + 2
        at = begin + int.from_bytes(data[at:begin])
        if at > len(data):
            raise ValueError(f"the bundle ends inside of leaf {len(leaves)}")
        leaves.append(data[begin:at])
    if len(leaves) > WIDTH:
        raise ValueError(f"expected at most {WIDTH} leaves in a bundle, found {len(leaves)}")
    return leaves


def _place(level: int, index: int, size: int) -> tuple[TileId, int, int]:
    """The tile of a node, the row inside the tile (0 is the stored one) and the place in that row."""
    # A tile spans eight levels of the tree; a node of its row r covers 2**r of the 256 stored hashes.
    tile_level, row = divmod(level, HEIGHT)
    tile_index, at = divmod(index, WIDTH >> row)
    return TileId(tile_level, tile_index, tile_width(tile_level, tile_index, size)), row, at


def _recorded(size: int, prove: Callable[[Node], object]) -> set[TileId]:
    """The tiles that a proof reads, found by a proof over dummy nodes: which nodes it reads depends on sizes alone."""
    wanted: set[TileId] = set()

    def node(level: int, index: int) -> bytes:
        wanted.add(_place(level, index, size)[0])
        return EMPTY_ROOT

    prove(node)
    return wanted


def _rows(hashes: bytes) -> tuple[bytes, ...]:
    """The rows of nodes over a tile's hashes, these first; each row has half as many, without an odd last node."""
    rows, digest, pair = [hashes], sha256, 2 * HASH_BYTES
    while len(rows[-1]) >= pair:
        below = rows[-1]
        ends = range(pair, len(below) + 1, pair)
        rows.append(b"".join([digest(b"\x01" + below[end - pair : end]).digest() for end in ends]))
    return tuple(rows)


_known_rows = lru_cache(maxsize=TILES_KEPT)(_rows)
"""Cached by content, so that logs share the cache and a changed tile never gets the rows of an older one."""
