"""A whole log, recomputed leaf by leaf from stored rows. Pure.

    leaves    each stored leaf hashes to the hash that its index was given, opens, and says its own log and number
    payloads  each stored payload is the one that its leaf commits to
    chains    within a debate each record names the hash of the one before
    batches   the tree after each batch has the root that the batch was written with
    tiles     each full tile holds the hashes that it stands for
    heads     each signed head is the tree's at its size, and its signature is good

The recomputation trusts no stored value. Findings are sentences that name the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from service.audit.checkpoint import open_checkpoint
from service.audit.log_events import KINDS
from service.audit.note import PublicKey
from service.audit.record import commit, leaf_hash, open_leaf
from service.audit.tiles import Builder
from service.audit.tree import Frontier
from service.errors import GainsayError

FINDINGS_MAX = 20
"""The most findings in words; further ones are only counted, for one forged row can break every later root."""
DAMAGED_MAX = 1_000
"""The most records that are named as damaged."""

LAST = (*KINDS, "debate.concluded")
"""The kinds after which a chain ends."""


class StoredLeaf(Struct, frozen=True):
    """A row of the tree with the record that it stands for; what is not stored is ``None``."""

    index: int
    hash: bytes
    debate: str
    n: int
    leaf: bytes | None
    salt: bytes | None
    payload: bytes | None


class StoredHead(Struct, frozen=True):
    """A root that was written down at a size; ``note`` is the signed checkpoint, ``None`` for a batch's own root."""

    size: int
    root: bytes
    note: bytes | None


class Recomputation:
    """A log under recomputation, from its first leaf on."""

    def __init__(self, log: str, keys: Sequence[PublicKey]) -> None:
        self.log = log
        self.findings: list[str] = []
        self.more = 0
        self.in_tree: str | None = None
        """The first finding about the log itself: its batches, tiles and heads."""
        self.in_debates: dict[tuple[str, int], str] = {}
        """The first finding about each record that is damaged, by its debate and number."""
        self._keys = keys
        self._tree = Frontier()
        self._tiles = Builder()
        self._made: dict[tuple[int, int], bytes] = {}
        self._ends: dict[str, tuple[int, bytes]] = {}

    @property
    def size(self) -> int:
        """The number of leaves so far."""
        return self._tree.size

    @property
    def root(self) -> bytes:
        """The root over them."""
        return self._tree.root()

    def leaves(self, rows: Iterable[StoredLeaf]) -> None:
        """The next leaves, in order."""
        hashes: list[bytes] = []
        for row in rows:
            self._leaf(row)
            if row.index != self.size + len(hashes):
                self._find(f"expected leaf {self.size + len(hashes)}, found leaf {row.index}: leaves are missing")
            hashes.append(row.hash)  # that of the leaf itself is compared in `_leaf`: it damages one debate, no tree
        self._tree.extend(hashes)
        for tile in self._tiles.add(hashes):
            self._made[tile.level, tile.index] = tile.hashes

    def head(self, head: StoredHead) -> None:
        """A root that was written down at the size that the log has come to."""
        what = "batch that ends" if head.note is None else "signed head"
        if head.size != self.size:
            self._find(f"expected a {what} at {self.size}, found it at {head.size}: leaves are missing")
        elif head.root != self.root:
            self._find(f"the {what} at {head.size} has another root than the leaves come to")
        if head.note is not None:
            self._signature(head)

    def tile(self, level: int, index: int, hashes: bytes) -> None:
        """A stored tile, after the leaves that it stands for."""
        if self._made.pop((level, index), None) != hashes:
            self._find(f"tile {level}/{index} does not hold the hashes that it stands for")

    def note(self, debate: str, n: int, what: str) -> None:
        """Add a finding of the caller about a record, counted with the others."""
        self._find_record(debate, n, what)

    def end(self) -> None:
        """End the log: report the parts that are missing."""
        for level, index in sorted(self._made):
            self._find(f"tile {level}/{index} is missing")

    def _leaf(self, row: StoredLeaf) -> None:
        place = f"record {row.n} of {row.debate} (leaf {row.index})"

        def find(what: str) -> None:
            self._find_record(row.debate, row.n, what)

        if row.leaf is None:
            find(f"{place} is not stored")
            return
        found = leaf_hash(row.leaf)
        if found != row.hash:
            find(f"{place} is not the one that was logged")
        try:
            envelope = open_leaf(row.leaf)
        except ValueError:
            find(f"{place} is not a leaf as records are sealed")
            return
        if (envelope.log, envelope.debate, envelope.n) != (self.log, row.debate, row.n):
            find(f"{place} says that it is record {envelope.n} of {envelope.debate} in {envelope.log}")
        if row.payload is None or row.salt is None:
            find(f"the payload of {place} is not stored")
        elif commit(row.salt, row.payload) != envelope.commitment:
            find(f"the payload of {place} is not the one that the record commits to")
        before = self._ends.get(row.debate, (-1, b""))
        if (row.n - 1, envelope.prev) != (before[0], before[1].hex()):
            find(f"{place} does not follow the record before it")
        if envelope.kind in LAST:
            self._ends.pop(row.debate, None)
        else:
            self._ends[row.debate] = (row.n, found)

    def _signature(self, head: StoredHead) -> None:
        try:
            checkpoint, _ = open_checkpoint(head.note or b"", self._keys)
        except GainsayError as error:
            self._find(f"the signed head at {head.size} is not signed by the log's key: {error.detail}")
            return
        if (checkpoint.origin, checkpoint.size, checkpoint.root) != (self.log, head.size, head.root):
            self._find(f"the signed head at {head.size} says something else than is stored beside it")

    def _find_record(self, debate: str, n: int, what: str) -> None:
        if len(self.in_debates) < DAMAGED_MAX:
            self.in_debates.setdefault((debate, n), what)
        self._list(what)

    def _find(self, what: str) -> None:
        """A finding about the log itself."""
        self.in_tree = self.in_tree or what
        self._list(what)

    def _list(self, what: str) -> None:
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(what)
        else:
            self.more += 1
