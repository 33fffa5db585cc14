"""The witness itself (C2SP tlog-witness): it countersigns the heads of logs that it knows, as long as they only grow.

`service.audit.witness` decides the answer. This module stores the decision on disk in the same step, as tlog-witness
demands, and returns it only then. A witness knows a log by a verifier key: the name ``example.com`` covers the origin
``example.com`` and every origin below it, ``example.com/…``, since one key signs all logs of a host.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from service import log_lines
from service.audit.checkpoint import Checkpoint, cosign
from service.audit.note import (
    COSIGNATURE,
    ED25519,
    Note,
    PublicKey,
    SigningKey,
    encode_base64,
    parse_note,
    parse_signature_line,
)
from service.audit.witness import (
    AddCheckpoint,
    BadSubmission,
    Verdict,
    consider,
    open_submission,
    parse_add_checkpoint,
)
from service.errors import SettingsError
from service.proving.signing.checkpoint_files import CheckpointFiles, StoredCheckpoint
from service.proving.signing.witnesses import SIZE_TYPE

TEXT = "text/plain; charset=utf-8"


class Answer(Struct, frozen=True):
    """An answer over HTTP."""

    status: int
    body: str
    media_type: str = TEXT


class Countersigner:
    """A witness with its keys, the logs that it knows, and the last heads that it has seen.

    Every key signs, the newest first, so that clients with an older pinned key are served too. Raises `SettingsError`
    for keys of the wrong type.
    """

    def __init__(
        self,
        keys: Sequence[SigningKey],
        logs: Sequence[PublicKey],
        heads: CheckpointFiles,
        now: Callable[[], float] = time.time,
    ) -> None:
        if not keys or any(key.public.algorithm != COSIGNATURE for key in keys):
            raise SettingsError(
                "expected a witness's cosignature key, found none, or a log's; make one with "
                "`gainsay audit key new --witness`"
            )
        if not logs or any(log.algorithm != ED25519 for log in logs):
            raise SettingsError("expected the verifier keys of logs, of type 1 (Ed25519), found none, or a witness's")
        self._keys, self._logs, self._heads, self._now = tuple(keys), tuple(logs), heads, now

    async def add(self, body: bytes) -> Answer:
        """Answer a submission; raises `HeadsUnusable` when the head cannot be stored."""
        return await asyncio.to_thread(self._add, body)

    async def latest(self, hashed_origin: str) -> bytes | None:
        """The last countersigned head of a log, with the signatures, by the SHA-256 of its origin, hex."""
        kept = await asyncio.to_thread(self._heads.last_of, hashed_origin)
        return kept.note if kept else None

    def known(self, origin: str) -> tuple[PublicKey, ...]:
        """The verifier keys of a log; none when it is not known here."""
        return tuple(log for log in self._logs if origin == log.name or origin.startswith(f"{log.name}/"))

    def _add(self, body: bytes) -> Answer:
        try:
            submission = parse_add_checkpoint(body)
            checkpoint, _ = open_submission(submission)
        except BadSubmission as error:
            return Answer(400, f"{error.detail}\n")
        keys = self.known(checkpoint.origin)
        if not keys:
            return Answer(404, "the witness does not know the checkpoint's origin\n")
        decided: list[Verdict] = []

        def decide(last: StoredCheckpoint | None) -> bytes | None:
            verdict = consider(last.head if last else None, submission, keys)
            decided.append(verdict)
            return self._countersigned(submission, checkpoint, keys) if verdict.status == 200 else None

        kept = self._heads.advance(checkpoint.origin, decide)
        return self._granted(kept) if kept else _declined(decided[0], submission)

    def _countersigned(self, submission: AddCheckpoint, checkpoint: Checkpoint, keys: Sequence[PublicKey]) -> bytes:
        """The checkpoint with the log's valid signatures and ours; lines of unknown keys are left out."""
        at = int(self._now())
        ours = [parse_signature_line(cosign(checkpoint, at, key)) for key in self._keys]
        known = {(key.name, key.id) for key in keys}
        theirs = [s for s in parse_note(submission.checkpoint).signatures if (s.name, s.key_id) in known]
        return Note(checkpoint.body(), (*theirs[: len(keys)], *ours)).encode()

    def _granted(self, kept: StoredCheckpoint) -> Answer:
        ours = {(key.public.name, key.public.id) for key in self._keys}
        lines = [s.line() for s in parse_note(kept.note).signatures if (s.name, s.key_id) in ours]
        return Answer(200, "".join(lines))


def _declined(verdict: Verdict, submission: AddCheckpoint) -> Answer:
    """Refuse. A head that contradicts the last one, signed by its log's key, is logged with that evidence."""
    stale = verdict.status == 409 and verdict.head is not None and verdict.head.size != submission.old
    if verdict.checkpoint and (verdict.status == 422 or (verdict.status == 409 and not stale)):
        fields = {"origin": verdict.checkpoint.origin, "size": verdict.checkpoint.size, "reason": verdict.reason}
        evidence = encode_base64(submission.checkpoint)
        log_lines.WITNESS_CONTRADICTION(**fields, checkpoint=evidence)
    if stale and verdict.head:
        return Answer(409, f"{verdict.head.size}\n", SIZE_TYPE)
    return Answer(verdict.status, f"{verdict.reason}\n")
