"""Signed heads of a log after C2SP tlog-checkpoint, and witnesses' cosignatures after C2SP tlog-cosignature.

    <origin>
    <size>
    <base64 root>

is the text of a signed note. The origin binds the head to one log, whatever the name of the key that signed it.
Extension lines are refused, because no proof covers them. An empty tree has the root SHA-256("").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from service.audit.note import (
    COSIGNATURE,
    NUMBER_MAX,
    TIME_BYTES,
    BadNote,
    Note,
    PublicKey,
    Signature,
    SigningKey,
    cosigned,
    decode_base64,
    encode_base64,
    is_note_text,
    is_signed,
    parse_decimal,
    parse_note,
    parse_signature_line,
    sign_note,
    verify_note,
)
from service.audit.tree import EMPTY_ROOT, HASH_BYTES
from service.errors import GainsayError


class BadCheckpoint(GainsayError):
    """The text of a note is not that of a checkpoint."""

    code = "bad_checkpoint"
    status = 422
    title = "A checkpoint of the audit log cannot be read"


class Checkpoint(Struct, frozen=True):
    """The head of the log ``origin`` when it had ``size`` leaves. Raises `BadCheckpoint` when no log can have it."""

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        if not self.origin or "\n" in self.origin or not is_note_text(self.origin):
            raise BadCheckpoint("expected an origin of one line without control characters, found another")
        if not 0 <= self.size <= NUMBER_MAX:
            raise BadCheckpoint(f"expected a size from 0 to 2**63 - 1, found {self.size}")
        if len(self.root) != HASH_BYTES:
            raise BadCheckpoint(f"expected a root of {HASH_BYTES} bytes, found {len(self.root)}")
        if self.size == 0 and self.root != EMPTY_ROOT:
            raise BadCheckpoint(f"expected the root {EMPTY_ROOT.hex()} of an empty log, found {self.root.hex()}")

    def body(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{encode_base64(self.root)}\n"


def parse_checkpoint(text: str) -> Checkpoint:
    """The head in a note's text; raises `BadCheckpoint` for any other text."""
    lines = text.split("\n")
    if len(lines) != 4 or lines[3]:
        raise BadCheckpoint(f"expected the three lines origin, size and root, found {len(lines) - 1}")
    size, root = parse_decimal(lines[1]), decode_base64(lines[2])
    if size is None:
        raise BadCheckpoint("expected the log's size as a decimal number without leading zeros, found another text")
    if root is None:
        raise BadCheckpoint("expected the log's root in base64 with padding, found another text")
    return Checkpoint(lines[0], size, root)


def sign_checkpoint(checkpoint: Checkpoint, key: SigningKey) -> bytes:
    """The signed note of a head."""
    return sign_note(checkpoint.body(), key).encode()


def open_checkpoint(data: bytes, keys: Sequence[PublicKey]) -> tuple[Checkpoint, tuple[PublicKey, ...]]:
    """The head of a signed note, and which of the known keys signed it; raises `BadNote` or `BadCheckpoint`."""
    note = parse_note(data)
    signers = verify_note(note, keys)
    return parse_checkpoint(note.text), signers


def cosign(checkpoint: Checkpoint, at: int, key: SigningKey) -> str:
    """The line by which a witness says that this is the largest consistent head it saw, at ``at`` seconds since 1970.

    Raises `ValueError` for a key that is not a witness's, or a time that cannot be written.
    """
    if key.public.algorithm != COSIGNATURE or not 0 <= at <= NUMBER_MAX:
        raise ValueError(f"expected a cosignature key and a time from 0, found type {key.public.algorithm} and {at}")
    value = at.to_bytes(TIME_BYTES) + key.sign(cosigned(checkpoint.body(), at))
    return Signature(key.public.name, key.public.id, value).line()


def verify_cosignature(checkpoint: Checkpoint, signature: Signature, key: PublicKey) -> int:
    """When this witness cosigned the head, in seconds since 1970; raises `BadNote` when it did not."""
    if key.algorithm != COSIGNATURE or (signature.name, signature.key_id) != (key.name, key.id):
        raise BadNote(f"expected a cosignature of {key.name!r}, found a signature of another key")
    if not is_signed(checkpoint.body(), signature, key):
        raise BadNote(f"the cosignature of the known witness {key.name!r} does not hold for this checkpoint")
    return int.from_bytes(signature.value[:TIME_BYTES])


def cosignatures(note: Note, checkpoint: Checkpoint, witnesses: Sequence[PublicKey]) -> dict[str, int]:
    """The known witnesses that cosigned, by name, each with the latest time it gave.

    Keys of other types are ignored. Raises `BadNote` when the note is of another head, or a
    known witness's cosignature is wrong.
    """
    if note.text != checkpoint.body():
        raise BadNote("expected cosignatures on this checkpoint, found a note with another text")
    times: dict[str, int] = {}
    for signature in note.signatures:
        known = [k for k in witnesses if (k.name, k.id) == (signature.name, signature.key_id)]
        for key in known:
            if key.algorithm == COSIGNATURE:
                at = verify_cosignature(checkpoint, signature, key)
                times[key.name] = max(at, times.get(key.name, at))
    return times


def add_lines(note: bytes, lines: Iterable[str]) -> bytes:
    """The note with signature lines added below, at most one of a key: the one that was there first stays.

    The lines are not verified here. Raises `BadNote` when the note or a line cannot be read.
    """
    read = parse_note(note)
    signatures = {(signature.name, signature.key_id) for signature in read.signatures}
    added: list[Signature] = []
    for signature in map(parse_signature_line, lines):
        if (signature.name, signature.key_id) not in signatures:
            signatures.add((signature.name, signature.key_id))
            added.append(signature)
    return Note(read.text, (*read.signatures, *added)).encode()
