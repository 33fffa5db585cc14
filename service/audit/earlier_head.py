"""An earlier head of a log in one file, with the proof that a later head of the same log continues it.

gainsay-earlier-head/1
<base64 hash>               the consistency proof (RFC 9162, 2.1.4), none where both heads are of one size

<the signed checkpoint, verbatim>

A witness's cosignature says when it saw a head. So an earlier head says when the log had so many records, and no more.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from service.audit.checkpoint import Checkpoint, parse_checkpoint
from service.audit.note import Note, encode_base64, parse_note
from service.audit.proof import BadProof, expect_path, parse_path
from service.audit.tree import verify_consistency

MAGIC: Final = "gainsay-earlier-head/1"


class EarlierHead(Struct, frozen=True):
    """A signed checkpoint, verbatim, and the path from it to a later one; raises `BadProof` for no such path."""

    path: tuple[bytes, ...]
    checkpoint: bytes

    def __post_init__(self) -> None:
        expect_path(self.path)

    def encode(self) -> bytes:
        """The file."""
        lines = [MAGIC, *map(encode_base64, self.path), ""]
        return b"".join(f"{line}\n".encode() for line in lines) + self.checkpoint


def parse_earlier_head(data: bytes) -> EarlierHead:
    """Read such a file, which is not yet verified; raises `BadProof`."""
    head, blank, checkpoint = data.partition(b"\n\n")
    if not blank:
        raise BadProof("expected an empty line before the checkpoint of an earlier head, found none")
    try:
        magic, *lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise BadProof("expected the lines of an earlier head in ASCII, found other bytes") from None
    if magic != MAGIC:
        raise BadProof(f"expected a file that begins with {MAGIC}, found another")
    return EarlierHead(parse_path(lines), checkpoint)


def open_earlier_head(data: bytes, later: Checkpoint) -> tuple[Note, Checkpoint]:
    """The note and the head of such a file, proven to be of the tree of ``later``; signatures are not verified.

    Raises `BadProof`, `BadNote` or `BadCheckpoint` for a file that cannot be read, and `ProofError` for a head of
    another log or another tree.
    """
    found = parse_earlier_head(data)
    note = parse_note(found.checkpoint)
    head = parse_checkpoint(note.text)
    if head.origin != later.origin:
        raise BadProof(f"expected an earlier head of the log {later.origin!r}, found one of {head.origin!r}")
    verify_consistency(head.size, later.size, found.path, head.root, later.root)
    return note, head
