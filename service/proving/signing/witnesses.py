"""Submits heads to witnesses (C2SP tlog-witness), and accepts only a cosignature of the pinned key.

200                     one of the lines is the witness's own for this head: that line
409 with a size         the witness holds a head of another size: `WitnessConflict`, prove from there
409 otherwise           the witness holds another root for this size, a split view: `WitnessRefused`
403, 404, 422, other 4  the witness refuses this head, and would refuse it again: `WitnessRefused`
5, 429, anything else   `WitnessUnavailable`, as when no complete answer comes
"""

from __future__ import annotations

from collections.abc import Sequence

from service.audit.checkpoint import Checkpoint, parse_checkpoint, verify_cosignature
from service.audit.note import BadNote, PublicKey, Signature, parse_decimal, parse_note, parse_signature_line
from service.audit.witness import AddCheckpoint
from service.errors import GainsayError
from service.policy import Witness
from service.proving.signing.wire import CALL_S, SignerReply, SignerUnreachable, Wire

SIZE_TYPE = "text/x.tlog.size"
_AGAIN = (408, 425, 429)


class WitnessConflict(GainsayError):
    """The witness holds a head of another size, ``size``.

    For a smaller one, prove consistency from there. One that is larger than ours ever was shows that our log has
    shrunk.
    """

    code = "witness_conflict"
    status = 409
    title = "A witness holds a head of another size"

    def __init__(self, detail: str, size: int) -> None:
        super().__init__(detail)
        self.size = size


class WitnessRefused(GainsayError):
    """The witness refuses to countersign this head; ``answered`` is its HTTP status."""

    code = "witness_refused"
    title = "A witness refuses a head"

    def __init__(self, detail: str, answered: int) -> None:
        super().__init__(detail)
        self.answered = answered


class WitnessUnavailable(GainsayError):
    """The witness cannot be reached, or its answer cannot be used: ask again later."""

    code = "witness_unavailable"
    status = 503
    title = "A witness cannot be reached"


class Witnesses:
    """Connections to witnesses. ``call_s`` is the most that one submission takes."""

    def __init__(self, call_s: float = CALL_S) -> None:
        self._wire = Wire(call_s=call_s)

    async def submit(self, witness: Witness, old: int, path: Sequence[bytes], checkpoint: bytes) -> str:
        """The witness's line for a signed checkpoint, verified with its pinned key.

        ``path`` proves that the tree of size ``old``, which the witness should hold, is the beginning of this head's.
        Raises `WitnessConflict`, `WitnessRefused` or `WitnessUnavailable`, and `BadNote` or `BadCheckpoint` for a
        checkpoint that is none.
        """
        key, head = PublicKey.parse(witness.key), parse_checkpoint(parse_note(checkpoint).text)
        body = AddCheckpoint(old, tuple(path), checkpoint).encode()
        try:
            reply = await self._wire.exchange("POST", f"{witness.url}/add-checkpoint", body, "text/plain")
        except SignerUnreachable as error:
            raise _unavailable(key, str(error)) from None
        if reply.status != 200:
            raise _refusal(reply, key, head, old)
        return _line(reply.body, head, key)

    async def close(self) -> None:
        """Close all connections."""
        await self._wire.close()


def _line(body: bytes, head: Checkpoint, key: PublicKey) -> str:
    """The witness's line among those of an answer; lines of other keys are skipped, as C2SP tlog-witness demands."""
    for signature in _signatures(body, key):
        if (signature.name, signature.key_id) == (key.name, key.id):
            try:
                verify_cosignature(head, signature, key)
            except BadNote as error:
                raise _unavailable(key, f"{error.detail}; check the pinned key") from None
            return signature.line()
    raise _unavailable(key, "the answer has no cosignature of the pinned key; check the pinned key")


def _signatures(body: bytes, key: PublicKey) -> list[Signature]:
    try:
        text = body.decode()
        lines = text.split("\n")
        if lines.pop() or not lines:
            raise _unavailable(key, "the answer is not made of signature lines")
        return [parse_signature_line(f"{line}\n") for line in lines]
    except (UnicodeDecodeError, BadNote):
        raise _unavailable(key, "the answer is not made of signature lines") from None


def _refusal(reply: SignerReply, key: PublicKey, head: Checkpoint, old: int) -> GainsayError:
    whose, what = f"the witness {key.name!r}", f"the head of {head.size} leaves of the log {head.origin}"
    if reply.status == 409:
        size = _size(reply)
        if size is not None and size != old:
            return WitnessConflict(f"{whose} holds a head of {size} leaves of the log {head.origin}, not {old}", size)
        if reply.media_type == SIZE_TYPE and size is None:
            return _unavailable(key, "it answers 409 with something that is no size")
        return WitnessRefused(f"{whose} holds another root than {what}: a split view", 409)
    if 400 <= reply.status < 500 and reply.status not in _AGAIN:
        why = {
            403: "it knows another key of this log; give it the present verifier key",
            404: "it does not know this log; give it the log's verifier key",
            422: "the proof from its own head is wrong: the log may have been rewritten",
        }.get(reply.status, "it rejects the submission")
        return WitnessRefused(f"{whose} answers {reply.status} to {what}: {why}", reply.status)
    return _unavailable(key, f"it answers {reply.status}")


def _size(reply: SignerReply) -> int | None:
    """The size in a conflict: a decimal and a newline."""
    if reply.media_type != SIZE_TYPE or not reply.body.endswith(b"\n"):
        return None
    try:
        return parse_decimal(reply.body[:-1].decode("ascii"))
    except UnicodeDecodeError:
        return None


def _unavailable(key: PublicKey, reason: str) -> WitnessUnavailable:
    return WitnessUnavailable(f"no cosignature of the witness {key.name!r}: {reason}", retry_after=5)
