"""What a witness decides about a head that a log submits (C2SP tlog-witness); to store and cosign is its shell's part.

The checks in their order, and what each answers:

    400  the submission cannot be read
    404  the origin is not one that the witness knows
    403  no key of that origin signed the checkpoint, or one of them wrongly
    400  the old size is above the checkpoint's
    409  the old size is not the one held (0 when none is); the answer tells the size held
    409  the size is the one held, but the root is another: a split view
    422  the consistency proof does not hold, or there is one where none is needed
    200  the head is to be stored, in one atomic step with the check of what is held, then cosigned
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from service.audit.checkpoint import BadCheckpoint, Checkpoint, parse_checkpoint
from service.audit.note import (
    NUMBER_MAX,
    BadNote,
    Note,
    PublicKey,
    encode_base64,
    parse_decimal,
    parse_note,
    verify_note,
)
from service.audit.proof import BadProof, expect_path, parse_path
from service.audit.tree import EMPTY_ROOT, ProofError, verify_consistency
from service.errors import BadRequest


class BadSubmission(BadRequest):
    """A submission to a witness cannot be read."""

    code = "bad_submission"
    title = "The submission to the witness cannot be read"


class AddCheckpoint(Struct, frozen=True):
    """What a log submits: the size that it believes the witness holds, the path from there, its signed head.

    Raises `BadSubmission` when made of anything that the request cannot say.
    """

    old: int
    path: tuple[bytes, ...]
    checkpoint: bytes

    def __post_init__(self) -> None:
        if not 0 <= self.old <= NUMBER_MAX:
            raise BadSubmission(f"expected an old size from 0 to 2**63 - 1, found {self.old}")
        try:
            expect_path(self.path)
        except BadProof as error:
            raise BadSubmission(error.detail) from None

    def encode(self) -> bytes:
        """The body of the request."""
        lines = [f"old {self.old}", *map(encode_base64, self.path), ""]
        return b"".join(f"{line}\n".encode() for line in lines) + self.checkpoint


class Head(Struct, frozen=True):
    """A size and the root that the log had at it."""

    size: int
    root: bytes


class Verdict(Struct, frozen=True):
    """The HTTP status to answer with, and why.

    ``head`` is what to store at 200 and what is held at 409, ``checkpoint`` what was submitted if it could be read.
    """

    status: int
    head: Head | None
    checkpoint: Checkpoint | None
    reason: str


def parse_add_checkpoint(data: bytes) -> AddCheckpoint:
    """Read the body of a request; raises `BadSubmission`."""
    head, blank, checkpoint = data.partition(b"\n\n")
    try:
        first, *lines = head.decode("ascii").split("\n")
        path = parse_path(lines)
    except UnicodeDecodeError:
        raise BadSubmission("expected lines in ASCII before the checkpoint, found other bytes") from None
    except BadProof as error:
        raise BadSubmission(error.detail) from None
    old = parse_decimal(first.removeprefix("old "))
    if not blank or not first.startswith("old ") or old is None:
        raise BadSubmission("expected a line 'old' with a decimal number, hashes and an empty line, found another text")
    return AddCheckpoint(old, path, checkpoint)


def open_submission(submission: AddCheckpoint) -> tuple[Checkpoint, Note]:
    """The head that is submitted, not yet verified: its origin says which keys do; raises `BadSubmission`."""
    try:
        note = parse_note(submission.checkpoint)
        return parse_checkpoint(note.text), note
    except (BadNote, BadCheckpoint) as error:
        raise BadSubmission(error.detail) from None


def consider(last: Head | None, submission: AddCheckpoint, keys: Sequence[PublicKey]) -> Verdict:
    """What to answer, by the table above.

    ``last`` is the head held for the checkpoint's origin, ``keys`` are the keys of that origin, none when the witness
    does not know it.
    """
    try:
        checkpoint, note = open_submission(submission)
    except BadSubmission as error:
        return Verdict(400, None, None, error.detail)
    held = last or Head(0, EMPTY_ROOT)
    submitted = Head(checkpoint.size, checkpoint.root)
    if not keys:
        return Verdict(404, None, checkpoint, "the witness does not know the checkpoint's origin")
    try:
        verify_note(note, keys)
    except BadNote as error:
        return Verdict(403, None, checkpoint, error.detail)
    if submission.old > submitted.size:
        reason = f"expected an old size of at most {submitted.size}, the checkpoint's, found {submission.old}"
        return Verdict(400, None, checkpoint, reason)
    if submission.old != held.size:
        reason = f"expected the old size {held.size}, which the witness holds, found {submission.old}"
        return Verdict(409, held, checkpoint, reason)
    if submitted.size == held.size and submitted.root != held.root:
        return Verdict(409, held, checkpoint, f"the witness holds another root for size {held.size}: a split view")
    try:
        verify_consistency(held.size, submitted.size, submission.path, held.root, submitted.root)
    except ProofError as error:
        return Verdict(422, None, checkpoint, error.detail)
    return Verdict(200, submitted, checkpoint, "consistent with what the witness holds")
