"""A proof that a leaf is in a log, in one file that needs nothing but pinned keys (C2SP tlog-proof).

c2sp.org/tlog-proof@v1
extra <base64>              only when there is extra data, which nothing authenticates
index <n>
<base64 hash>               the leaf's sibling first, the root's child last

<the signed checkpoint, verbatim>
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from service.audit.checkpoint import Checkpoint, cosignatures, open_checkpoint
from service.audit.note import NUMBER_MAX, PublicKey, decode_base64, encode_base64, parse_decimal, parse_note
from service.audit.tree import HASH_BYTES, ProofError, verify_inclusion
from service.errors import GainsayError

MAGIC = "c2sp.org/tlog-proof@v1"
PATH_MAX = 63


class BadProof(GainsayError):
    """A file is not a proof of inclusion."""

    code = "bad_proof"
    status = 400
    title = "A proof of the audit log cannot be read"


class TlogProof(Struct, frozen=True):
    """Where a leaf stands, the path from it to a root, and the signed checkpoint of that root, verbatim.

    Raises `BadProof` when made of anything that the format cannot say.
    """

    index: int
    path: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.index <= NUMBER_MAX:
            raise BadProof(f"expected an index from 0 to 2**63 - 1, found {self.index}")
        if self.extra == b"":
            raise BadProof("expected extra data, or None where there is none, found no bytes")
        expect_path(self.path)

    def encode(self) -> bytes:
        """The proof as a ``.tlog-proof`` file."""
        extra = [] if self.extra is None else [f"extra {encode_base64(self.extra)}"]
        head = [MAGIC, *extra, f"index {self.index}", *map(encode_base64, self.path)]
        return b"".join(f"{line}\n".encode() for line in [*head, ""]) + self.checkpoint


def parse_proof(data: bytes) -> TlogProof:
    """Read a proof, which is not yet verified; raises `BadProof`."""
    head, blank, checkpoint = data.partition(b"\n\n")
    if not blank:
        raise BadProof("expected an empty line before the checkpoint of a proof, found none")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise BadProof("expected the lines of a proof in ASCII, found other bytes") from None
    if lines.pop(0) != MAGIC:
        raise BadProof(f"expected a file that begins with {MAGIC}, found another")
    extra = None
    if lines and lines[0].startswith("extra "):
        extra = decode_base64(lines.pop(0).removeprefix("extra "))
        if extra is None:
            raise BadProof("expected the extra data of a proof in base64, found another text")
    return TlogProof(_index(lines[:1]), parse_path(lines[1:]), checkpoint, extra)


def parse_path(lines: Sequence[str]) -> tuple[bytes, ...]:
    """Hashes in base64, one a line, at most 63; raises `BadProof`."""
    path = tuple(decode_base64(line) or b"" for line in lines)
    expect_path(path)
    return path


def expect_path(path: Sequence[bytes]) -> None:
    """Raise `BadProof` for a path longer than any tree is high, or with something else than hashes."""
    if len(path) > PATH_MAX:
        raise BadProof(f"expected at most {PATH_MAX} hashes in a path, found {len(path)}")
    if any(len(found) != HASH_BYTES for found in path):
        raise BadProof(f"expected hashes of {HASH_BYTES} bytes in a path, in base64 one a line, found something else")


def check_proof(
    proof: TlogProof,
    leaf_hash: bytes,
    log_keys: Sequence[PublicKey],
    witnesses: Sequence[PublicKey],
    quorum: int,
    *,
    origin: str | None = None,
) -> Checkpoint:
    """The head under which the leaf is proven.

    1. The checkpoint carries the signature of one of the log's keys, and is of the log ``origin`` if one is given.
    2. At least ``quorum`` of the witnesses cosigned it.
    3. The path leads from the leaf to its root.

    Raises `BadNote` or `BadCheckpoint` when the checkpoint cannot be read or a signature is wrong, and `ProofError`
    when a step does not hold.
    """
    # 1
    checkpoint, _ = open_checkpoint(proof.checkpoint, log_keys)
    if origin is not None and checkpoint.origin != origin:
        raise ProofError(f"expected a checkpoint of the log {origin!r}, found one of {checkpoint.origin!r}")
    # 2
    cosigned = cosignatures(parse_note(proof.checkpoint), checkpoint, witnesses)
    if len(cosigned) < quorum:
        raise ProofError(f"expected cosignatures of {quorum} known witnesses, found {len(cosigned)}")
    # 3
    verify_inclusion(leaf_hash, proof.index, checkpoint.size, proof.path, checkpoint.root)
    return checkpoint


def _index(lines: Sequence[str]) -> int:
    for line in lines:
        index = parse_decimal(line.removeprefix("index "))
        if line.startswith("index ") and index is not None:
            return index
    raise BadProof("expected a line 'index' with a decimal number without leading zeros, found another")
