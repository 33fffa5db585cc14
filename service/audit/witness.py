"""A witness's decision on a submitted checkpoint (C2SP tlog-witness). Its caller stores and cosigns.

The checks in order, and the answer of each:

    400  the submission cannot be read
    404  the origin is not one that the witness knows
    403  no key of that origin signed the checkpoint, or the signature of one is wrong
    400  the old size is above the checkpoint's
    409  the old size differs from the stored one (0 without one); the answer has the stored size
    409  the size equals the stored one, but the root differs: a split view
    422  the consistency proof is wrong, or given where none is needed
    200  the caller stores the head, in one atomic step with the check of the stored one, then cosigns
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
    """A submission: the size that the witness should have stored, the consistency proof from it, the checkpoint.

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


class KnownCheckpoint(Struct, frozen=True):
    """A size of a log and its root."""

    size: int
    root: bytes


class Verdict(Struct, frozen=True):
    """The HTTP status to answer with, and why.

    ``head`` is the head to store at 200 and the stored one at 409. ``checkpoint`` is the submitted one if it is
    readable.
    """

    status: int
    head: KnownCheckpoint | None
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
    """The submitted checkpoint, not yet verified: its origin selects the keys; raises `BadSubmission`."""
    try:
        note = parse_note(submission.checkpoint)
        return parse_checkpoint(note.text), note
    except (BadNote, BadCheckpoint) as error:
        raise BadSubmission(error.detail) from None


def consider(last: KnownCheckpoint | None, submission: AddCheckpoint, keys: Sequence[PublicKey]) -> Verdict:
    """The answer by the table above.

    ``last`` is the stored head of the checkpoint's origin. ``keys`` are the keys of that origin, none if the witness
    does not know it.
    """
    try:
        checkpoint, note = open_submission(submission)
    except BadSubmission as error:
        return Verdict(400, None, None, error.detail)
    held = last or KnownCheckpoint(0, EMPTY_ROOT)
    submitted = KnownCheckpoint(checkpoint.size, checkpoint.root)
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
