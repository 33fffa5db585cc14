"""RFC 6962's definitions written down as they stand there, by recursion: what the audit log's trees are held against.

Nothing here is shared with `service.audit`, and nothing here is fast. And edits of bytes, for readers that must take
exactly one spelling.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from hypothesis import strategies as st

# The leaves of the test trees that certificate-transparency has used since RFC 6962, and the roots it publishes.
CT_LEAVES = [
    bytes.fromhex(text)
    for text in ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
]
CT_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def leaf(content: bytes) -> bytes:
    return sha256(b"\x00" + content).digest()


def parent(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def leaves(size: int, seed: str = "") -> list[bytes]:
    """The hashes of so many different leaves."""
    return [leaf(f"{seed}{n}".encode()) for n in range(size)]


def split(size: int) -> int:
    """The largest power of two below the size."""
    k = 1
    while 2 * k < size:
        k *= 2
    return k


def mth(hashes: Sequence[bytes]) -> bytes:
    """2.1: the Merkle tree hash."""
    if not hashes:
        return sha256(b"").digest()
    if len(hashes) == 1:
        return hashes[0]
    k = split(len(hashes))
    return parent(mth(hashes[:k]), mth(hashes[k:]))


def path(m: int, hashes: Sequence[bytes]) -> list[bytes]:
    """2.1.1: the audit path of leaf m."""
    if len(hashes) == 1:
        return []
    k = split(len(hashes))
    if m < k:
        return [*path(m, hashes[:k]), mth(hashes[k:])]
    return [*path(m - k, hashes[k:]), mth(hashes[:k])]


def proof(m: int, hashes: Sequence[bytes], whole: bool = True) -> list[bytes]:
    """2.1.2: the consistency proof from the first m leaves, 0 < m."""
    if m == len(hashes):
        return [] if whole else [mth(hashes)]
    k = split(len(hashes))
    if m <= k:
        return [*proof(m, hashes[:k], whole), mth(hashes[k:])]
    return [*proof(m - k, hashes[k:], False), mth(hashes[:k])]


def root_by_path(hashed: bytes, m: int, size: int, hashes: Sequence[bytes]) -> bytes | None:
    """Where a path leads, from the root down; None when it has another length than leaf m of the size needs."""
    if size == 1:
        return None if hashes else hashed
    if not hashes:
        return None
    k, last = split(size), hashes[-1]
    below = root_by_path(hashed, m, k, hashes[:-1]) if m < k else root_by_path(hashed, m - k, size - k, hashes[:-1])
    if below is None:
        return None
    return parent(below, last) if m < k else parent(last, below)


def roots_by_proof(
    m: int, size: int, hashes: Sequence[bytes], old_root: bytes, whole: bool = True
) -> tuple[bytes, bytes] | None:
    """The older and the newer root that a proof leads to, 0 < m <= size; None when it has another length."""
    if m == size:
        if whole:
            return None if hashes else (old_root, old_root)
        return (hashes[0], hashes[0]) if len(hashes) == 1 else None
    if not hashes:
        return None
    k, last = split(size), hashes[-1]
    if m <= k:
        below = roots_by_proof(m, k, hashes[:-1], old_root, whole)
        return below and (below[0], parent(below[1], last))
    below = roots_by_proof(m - k, size - k, hashes[:-1], old_root, False)
    return below and (parent(last, below[0]), parent(last, below[1]))


def spans(m: int, size: int) -> list[tuple[int, int]]:
    """The subtrees around leaf m, from itself to the whole tree, as the leaves they begin and end with."""
    found = [(0, size)]
    while found[-1][1] - found[-1][0] > 1:
        begin, end = found[-1]
        k = begin + split(end - begin)
        found.append((begin, k) if m < k else (k, end))
    return found[::-1]


def node_of(hashes: Sequence[bytes]) -> Callable[[int, int], bytes]:
    """The nodes of the tree over some leaves; a node that the tree does not have complete is an error."""

    def node(level: int, index: int) -> bytes:
        begin, end = index << level, (index + 1) << level
        assert 0 <= begin < end <= len(hashes)
        return mth(hashes[begin:end])

    return node


def mangled(data: bytes) -> st.SearchStrategy[bytes]:
    """The bytes after one to four edits: something put in, left out, or put in the place of something else."""
    piece = st.one_of(
        st.sampled_from(
            [b"\n", b"\n\n", b" ", b"+", b"=", b"\r\n", b"\x00", b"\t", b"0", b"\xc2\xa0", b"\xff", b"\xe2"]
        ),
        st.sampled_from([data[at : at + 7] for at in range(0, len(data), 5)]),
        st.binary(max_size=3),
    )
    edit = st.tuples(st.integers(0, len(data)), st.integers(0, 3), piece)

    def apply(edits: list[tuple[int, int, bytes]]) -> bytes:
        changed = data
        for at, length, put in edits:
            changed = changed[:at] + put + changed[at + length :]
        return changed

    return st.lists(edit, min_size=1, max_size=4).map(apply)


def reads_one_way(read: Callable[[bytes], Any], refusal: type[Exception], data: bytes) -> None:
    """Any bytes are refused by their one error, or are the only spelling of what they say."""
    try:
        value = read(data)
    except refusal:
        return
    assert value.encode() == data
