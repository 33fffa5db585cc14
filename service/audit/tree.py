"""The Merkle tree of a log: roots, and proofs that a verifier recomputes.

Hashes follow RFC 6962, section 2.1, with SHA-256: the empty tree is SHA-256(""), a leaf SHA-256(0x00 || bytes), a node
SHA-256(0x01 || left || right), and a tree of n leaves splits at the largest power of two below n. The proofs are those
of its sections 2.1.1 and 2.1.2, the verification is that of RFC 9162, sections 2.1.3.2 and 2.1.4.2, step by step.

A proof binds a leaf to a root, not to a size: sizes whose trees have the same shape along the path accept the same
proof. So size and root must come together from one checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256

from service.errors import GainsayError

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()
SIZE_MAX = 2**63 - 1
"""The largest tree: the limit of C2SP's other implementations (int64)."""

Node = Callable[[int, int], bytes]
"""(level, index) -> the hash of the complete subtree of 2**level leaves that begins at leaf index * 2**level."""
Place = tuple[int, int]
"""(level, index) of a complete subtree. Its hash never changes once it is complete."""


class ProofError(GainsayError):
    """A proof does not prove its claim."""

    code = "proof_failed"
    status = 422
    title = "A proof of the audit log does not hold"


def leaf_hash(leaf: bytes) -> bytes:
    """RFC 6962, section 2.1: SHA-256(0x00 || leaf)."""
    return sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """RFC 6962, section 2.1: SHA-256(0x01 || left || right)."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The state of a growing tree: the roots of its complete subtrees, the largest first.

    Their number is that of the set bits of the size, so a tree of a million leaves needs 640 bytes at most.
    """

    __slots__ = ("_hashes", "size")

    def __init__(self) -> None:
        self.size = 0
        self._hashes: list[bytes] = []

    def add(self, leaf_hash: bytes) -> None:
        """Append one leaf, given its hash."""
        self.extend((leaf_hash,))

    def extend(self, leaf_hashes: Iterable[bytes]) -> None:
        """Append leaves in their order, given their hashes."""
        hashes, size, digest = self._hashes, self.size, sha256
        try:
            # Each set bit of the size is one complete subtree. A new leaf merges with them like a binary carry, which
            # gives the split of RFC 6962, 2.1, at the largest power of two.
            for node in leaf_hashes:
                pending = size
                while pending & 1:
                    node = digest(b"\x01" + hashes.pop() + node).digest()  # noqa: PLW2901 - the leaf becomes its subtree
                    pending >>= 1
                hashes.append(node)
                size += 1
        finally:
            self.size = size  # also if the iterable fails: earlier leaves count

    def root(self) -> bytes:
        """The root of the present tree."""
        return _fold(self._hashes)

    def copy(self) -> Frontier:
        """An independent frontier with the same leaves."""
        twin = Frontier()
        twin.size, twin._hashes = self.size, self._hashes.copy()
        return twin

    def encode(self) -> bytes:
        """The hashes one after the other, the largest subtree first, 32 bytes each."""
        return b"".join(self._hashes)

    @classmethod
    def decode(cls, size: int, data: bytes) -> Frontier:
        """The frontier of a tree of ``size`` leaves; raises `ValueError` when there are more or fewer hashes."""
        count = size.bit_count()
        if size < 0 or len(data) != count * HASH_BYTES:
            raise ValueError(f"expected the {count} hashes of a tree of {size} leaves, found {len(data)} bytes")
        frontier = cls()
        frontier.size = size
        frontier._hashes = [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]
        return frontier


def root_of(leaf_hashes: Iterable[bytes]) -> bytes:
    """The root of a tree, given the hashes of its leaves in order."""
    frontier = Frontier()
    frontier.extend(leaf_hashes)
    return frontier.root()


def root_at(size: int, node: Node) -> bytes:
    """The root that a tree had when it had ``size`` leaves."""
    return _fold([node(level, index) for level, index in subtrees(0, size)])


def inclusion_path(index: int, size: int, node: Node) -> list[bytes]:
    """PATH(index, D[size]) of RFC 6962, 2.1.1: the leaf's sibling first, the root's child last.

    Raises `ValueError` for an index that the tree does not have.
    """
    if not 0 <= index < size:
        raise ValueError(f"expected the index of a leaf in a tree of {size}, found {index}")
    # RFC 6962, 2.1.1, from the root down to the leaf: the subtree without the leaf is the next hash of the path. The
    # recursion appends it after the path within the other subtree, so the list is reversed at the end.
    path: list[bytes] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + _split(end - begin)
        if index < middle:
            path.append(_range_hash(middle, end, node))
            end = middle
        else:
            path.append(_range_hash(begin, middle, node))
            begin = middle
    return path[::-1]


def path_subtrees(leaf_hash: bytes, index: int, size: int, path: Sequence[bytes]) -> Iterator[tuple[Place, bytes]]:
    """Every complete subtree of which an inclusion path tells the hash, from the leaf upwards.

    The path is one that `verify_inclusion` accepted for this size: then each hash is that of its place in the tree.
    """
    siblings: list[tuple[int, int]] = []
    begin, end = 0, size
    while end - begin > 1:  # the splits of `inclusion_path`
        middle = begin + _split(end - begin)
        if index < middle:
            siblings.append((middle, end))
            end = middle
        else:
            siblings.append((begin, middle))
            begin = middle
    yield (0, index), leaf_hash
    node = leaf_hash
    for (first, last), sibling in zip(reversed(siblings), path, strict=True):
        node = node_hash(sibling, node) if first < begin else node_hash(node, sibling)
        begin, end = min(first, begin), max(last, end)
        for hashed, (low, high) in ((sibling, (first, last)), (node, (begin, end))):
            if (high - low).bit_count() == 1:
                level = (high - low).bit_length() - 1
                yield (level, low >> level), hashed


def growing_subtrees(leaf_hashes: Iterable[bytes]) -> Iterator[tuple[Place, bytes]]:
    """Every complete subtree of a tree, each when its last leaf is read; memory is that of a `Frontier`."""
    complete: list[bytes] = []
    for index, leaf in enumerate(leaf_hashes):
        level, node = 0, leaf
        yield (0, index), node
        while index >> level & 1:  # the carry of `Frontier.extend`
            node = node_hash(complete.pop(), node)
            level += 1
            yield (level, index >> level), node
        complete.append(node)


def subtrees(begin: int, end: int) -> Iterator[Place]:
    """The complete subtrees of the leaves from ``begin`` to before ``end``, the largest first."""
    while begin < end:
        level = (end - begin).bit_length() - 1
        yield level, begin >> level
        begin += 1 << level


def consistency_path(old: int, new: int, node: Node) -> list[bytes]:
    """PROOF(old, D[new]) of RFC 6962, 2.1.2; empty when the sizes are equal or the old tree is empty.

    Raises `ValueError` when the old tree is larger than the new.
    """
    if not 0 <= old <= new:
        raise ValueError(f"expected an older size from 0 to {new}, found {old}")
    if old in (0, new):
        return []
    # SUBPROOF(old, D[new], true) of RFC 6962, 2.1.2, from the root down to the subtree that ends at the old size.
    path: list[bytes] = []
    begin, end = 0, new
    while end != old:
        middle = begin + _split(end - begin)
        if old <= middle:
            path.append(_range_hash(middle, end, node))
            end = middle
        else:
            path.append(_range_hash(begin, middle, node))
            begin = middle
    if begin > 0:  # at 0 the subtree is the old tree itself (b = true), whose root the verifier has
        path.append(_range_hash(begin, end, node))
    return path[::-1]


def verify_inclusion(leaf_hash: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> None:
    """Check that a leaf is the one at ``index`` of the tree with this size and root; raises `ProofError` if not.

    The steps are those of RFC 9162, 2.1.3.2.
    """
    _expect_hashes((leaf_hash, root, *path))
    if not 0 <= index < size:
        raise ProofError(f"expected the index of a leaf in a tree of {size}, found {index}")
    # Step 1 is the check above. Steps 2 and 3: fn is the leaf's place on its level, sn that of the level's last node,
    # and node is the RFC's r.
    fn, sn, node = index, size - 1, leaf_hash
    for sibling in path:  # step 4
        if sn == 0:  # step 4a: the root is reached, so a further hash belongs to no level
            raise ProofError(f"the inclusion path has {len(path)} hashes, more than leaf {index} of {size} needs")
        if fn & 1 or fn == sn:  # step 4b: a right child, or the last node of its level: the sibling is on the left
            node = node_hash(sibling, node)
            while not fn & 1 and fn:  # a last node without a sibling rises unhashed to the level that has one
                fn, sn = fn >> 1, sn >> 1
        else:  # a left child: the sibling is on the right
            node = node_hash(node, sibling)
        fn, sn = fn >> 1, sn >> 1  # step 4c: to the level above
    if sn != 0:  # step 5: the path must end at the root, and at this root
        raise ProofError(f"the inclusion path has {len(path)} hashes, fewer than leaf {index} of {size} needs")
    if node != root:
        raise ProofError(f"the inclusion path of leaf {index} of {size} leads to another root: {_differ(root, node)}")


def verify_consistency(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    """Check that the older tree is a prefix of the newer one; raises `ProofError` if the path does not prove it."""
    _expect_hashes((old_root, new_root, *path))
    if not 0 <= old <= new:
        raise ProofError(f"expected an older size from 0 to {new}, found {old}")
    if old in (0, new):
        _verify_trivial(old, new, path, old_root, new_root)
        return
    rest = iter(path)
    # RFC 9162, 2.1.4.2, step 2: an old tree whose size is a power of two is a node of the new tree, so its root, which
    # the verifier has, comes before the path. Step 1: otherwise an empty path proves nothing.
    first = old_root if old & (old - 1) == 0 else next(rest, None)
    if first is None:
        raise ProofError(f"the consistency path from {old} to {new} is empty")
    old_found, new_found = _climb(old, new, first, rest)  # steps 3 to 7; the roots of step 7 are compared here
    if old_found != old_root:
        raise ProofError(f"the consistency path leads to another root of size {old}: {_differ(old_root, old_found)}")
    if new_found != new_root:
        raise ProofError(f"the consistency path leads to another root of size {new}: {_differ(new_root, new_found)}")


def _climb(old: int, new: int, first: bytes, rest: Iterator[bytes]) -> tuple[bytes, bytes]:
    """The two roots that a consistency path leads to (RFC 9162, 2.1.4.2, steps 3 to 7)."""
    fn, sn = old - 1, new - 1  # step 3: the last leaf of either tree
    while fn & 1:  # step 4: up to the root of the old tree's last complete subtree, where the path begins
        fn, sn = fn >> 1, sn >> 1
    fr = sr = first  # step 5: fr becomes the old root, sr the new one
    for sibling in rest:  # step 6
        if sn == 0:  # step 6a
            raise ProofError(f"the consistency path has more hashes than from {old} to {new} are needed")
        if fn & 1 or fn == sn:  # step 6b: a left sibling is in both trees
            fr, sr = node_hash(sibling, fr), node_hash(sibling, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:  # a right sibling is in the new tree alone
            sr = node_hash(sr, sibling)
        fn, sn = fn >> 1, sn >> 1  # step 6c
    if sn != 0:  # step 7; the caller compares fr and sr with the roots
        raise ProofError(f"the consistency path has fewer hashes than from {old} to {new} are needed")
    return fr, sr


def _verify_trivial(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    """Equal sizes have equal roots, and an empty tree is a prefix of every tree; neither needs a path."""
    if path:
        raise ProofError(f"from {old} to {new} no consistency path is needed, found {len(path)} hashes")
    if old == 0 and old_root != EMPTY_ROOT:
        raise ProofError(f"expected the root of the empty tree, found another: {_differ(EMPTY_ROOT, old_root)}")
    if old == new and old_root != new_root:
        raise ProofError(f"two trees of {new} leaves have different roots: {_differ(old_root, new_root)}")


def _split(size: int) -> int:
    """The largest power of two below ``size``, which is at least 2."""
    return 1 << ((size - 1).bit_length() - 1)


def _range_hash(begin: int, end: int, node: Node) -> bytes:
    """MTH(D[begin:end]) where ``begin`` is where RFC 6962 splits, so that complete subtrees lie at their own places."""
    return _fold([node(level, index) for level, index in subtrees(begin, end)])


def _fold(hashes: Sequence[bytes]) -> bytes:
    """The root over complete subtrees, the largest first."""
    if not hashes:
        return EMPTY_ROOT
    root = hashes[-1]
    for left in reversed(hashes[:-1]):
        root = node_hash(left, root)
    return root


def _expect_hashes(hashes: Sequence[bytes]) -> None:
    for found in hashes:
        if len(found) != HASH_BYTES:
            raise ProofError(f"expected hashes of {HASH_BYTES} bytes, found one of {len(found)}")


def _differ(expected: bytes, found: bytes) -> str:
    return f"expected {expected.hex()}, found {found.hex()}"
