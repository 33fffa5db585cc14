"""The proof that an older tree of a log is the beginning of a newer one (RFC 9162, section 2.1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

EMPTY_ROOT = sha256(b"").digest()
HASH_BYTES = 32
PATH_MAX = 63


class BadConsistency(Exception):
    """The proof does not hold."""


def verify_consistency(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    """Check by RFC 9162, 2.1.4.2 that ``old`` records under ``old_root`` begin the ``new`` ones; else `BadConsistency`.

    An empty tree begins every tree, and equal sizes have equal roots: neither needs a path.
    """
    if not 0 <= old <= new:
        raise BadConsistency(f"expected an older size from 0 to {new}, found {old}")
    if len(path) > PATH_MAX or any(len(node) != HASH_BYTES for node in (old_root, new_root, *path)):
        raise BadConsistency(f"expected at most {PATH_MAX} hashes of {HASH_BYTES} bytes")
    if old in (0, new):
        if path or (old_root != new_root if old == new else old_root != EMPTY_ROOT):
            raise BadConsistency(f"the roots of {old} and {new} records do not follow from each other")
        return
    _climb(old, new, path, old_root, new_root)


def _climb(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    """The steps of RFC 9162, 2.1.4.2."""
    nodes = list(path) if old & (old - 1) else [old_root, *path]  # step 2: a full tree is a node of the new one
    if not nodes:  # step 1
        raise BadConsistency("the path is empty")
    fn, sn = old - 1, new - 1  # step 3
    while fn & 1:  # step 4
        fn, sn = fn >> 1, sn >> 1
    fr = sr = nodes[0]  # step 5
    for node in nodes[1:]:  # step 6
        if sn == 0:
            raise BadConsistency("the path has more hashes than are needed")
        if fn & 1 or fn == sn:
            fr, sr = _parent(node, fr), _parent(node, sr)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = _parent(sr, node)
        fn, sn = fn >> 1, sn >> 1
    if sn != 0:  # step 7
        raise BadConsistency("the path has fewer hashes than are needed")
    if fr != old_root or sr != new_root:
        raise BadConsistency(f"the path leads to another root of {old if fr != old_root else new} records")


def _parent(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()
