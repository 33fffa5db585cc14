"""The signer in a process of its own (`gainsay signer`), over HTTP.

    GET  /keys             200: verifier keys, one a line, the one for new logs first
    GET  /last?origin=…    200: the checkpoint's text of the last checkpoint; 204: there is none
    POST /sign             200: the signature line

The body of POST /sign has the layout of C2SP tlog-witness's add-checkpoint, with the text of a checkpoint instead of a
note: a line ``key <verifier key>``, the hashes of the consistency proof in base64, an empty line, the text. The signer
answers 409 with its last head, as above, when that contradicts the new one (empty when there is none), 404 when it does
not have the key, 401 without the right bearer token, and 503 when it cannot store the head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from service.audit.checkpoint import BadCheckpoint, Checkpoint, parse_checkpoint
from service.audit.note import (
    BadKey,
    BadNote,
    Note,
    PublicKey,
    encode_base64,
    parse_signature_line,
    verify_note,
)
from service.audit.proof import BadProof, parse_path
from service.audit.witness import KnownCheckpoint
from service.errors import BadRequest
from service.policy.mounted_secrets import TOKEN, reveal_text
from service.proving.signing import CheckpointRefused, SignerUnavailable
from service.proving.signing.local import check_consistent, foreign_key, refusal_text
from service.proving.signing.wire import SignerReply, SignerUnreachable, Wire

SIGN_TYPE = "text/x.gainsay.sign"
"""A page in a browser cannot send this type to a signer on the same machine without being asked first."""
HEAD_TYPE = "text/x.gainsay.head"
LINE_TYPE = "text/plain"


class RemoteSigner:
    """Implements `service.proving.signing.Signer`; every answer is verified before it is used.

    ``token`` is the token, or ``file:PATH`` with it.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._wire = Wire()

    async def keys(self) -> tuple[PublicKey, ...]:
        """The public keys that it signs with, the one for new logs first; raises `SignerUnavailable`."""
        reply = await self._ask("GET", "/keys")
        try:
            keys = tuple(PublicKey.parse(line) for line in reply.body.decode().splitlines())
        except (UnicodeDecodeError, BadKey):
            keys = ()
        if reply.status != 200 or not keys:
            raise self._useless(reply)
        return keys

    async def last(self, origin: str) -> KnownCheckpoint | None:
        """The last head that it signed of a log; raises `SignerUnavailable`."""
        reply = await self._ask("GET", f"/last?origin={quote(origin, safe='')}")
        if reply.status == 204:
            return None
        if reply.status != 200:
            raise self._useless(reply)
        return self._head(reply, origin)

    async def sign(self, checkpoint: Checkpoint, key: PublicKey, path: Sequence[bytes]) -> bytes:
        """The signed checkpoint; raises `CheckpointRefused` and `SignerUnavailable`."""
        reply = await self._ask("POST", "/sign", encode_sign(checkpoint, key, path))
        match reply.status:
            case 200:
                return self._note(reply, checkpoint, key)
            case 409 if reply.media_type == HEAD_TYPE:
                last = self._head(reply, checkpoint.origin) if reply.body else None
                check_consistent(last, checkpoint, path)
                raise CheckpointRefused(refusal_text(checkpoint, "the signer refuses it and gives no reason"), last)
            case 404 if reply.media_type == LINE_TYPE:
                raise SignerUnavailable(foreign_key(key))
        raise self._useless(reply)

    async def close(self) -> None:
        """Close all connections."""
        await self._wire.close()

    async def _ask(self, method: str, path: str, body: bytes = b"") -> SignerReply:
        try:
            return await self._wire.exchange(
                method, self._url + path, body, SIGN_TYPE if body else None, headers=self._authorised()
            )
        except SignerUnreachable as error:
            raise SignerUnavailable(f"the signer at {self._url} does not answer: {error}", retry_after=5) from None

    def _authorised(self) -> dict[str, str]:
        """The token's header, with the token as it is now."""
        return {"authorization": f"Bearer {reveal_text(self._token, form=TOKEN)}"} if self._token else {}

    def _note(self, reply: SignerReply, checkpoint: Checkpoint, key: PublicKey) -> bytes:
        try:
            note = Note(checkpoint.body(), (parse_signature_line(reply.body.decode()),))
            verify_note(note, (key,))
        except (UnicodeDecodeError, BadNote):
            raise SignerUnavailable(
                f"expected the signature of {key.name}+{key.id.hex()} from the signer at {self._url}, found another"
            ) from None
        return note.encode()

    def _head(self, reply: SignerReply, origin: str) -> KnownCheckpoint:
        try:
            found = parse_checkpoint(reply.body.decode())
        except (UnicodeDecodeError, BadCheckpoint):
            raise self._useless(reply) from None
        if reply.media_type != HEAD_TYPE or found.origin != origin:
            raise self._useless(reply)
        return KnownCheckpoint(found.size, found.root)

    def _useless(self, reply: SignerReply) -> SignerUnavailable:
        why = {
            401: "it expects another token; set the same GAINSAY_SIGNER_TOKEN on both sides",
            503: "it cannot store the head; see its own log",
        }.get(reply.status, "no signer answers this; check the address")
        return SignerUnavailable(f"the signer at {self._url} answers {reply.status}: {why}", retry_after=5)


def encode_sign(checkpoint: Checkpoint, key: PublicKey, path: Sequence[bytes]) -> bytes:
    """The body of POST /sign."""
    lines = [f"key {key.encode()}", *map(encode_base64, path), ""]
    return "".join(f"{line}\n" for line in lines).encode() + checkpoint.body().encode()


def parse_sign(data: bytes) -> tuple[Checkpoint, PublicKey, tuple[bytes, ...]]:
    """Read the body of POST /sign; raises `BadRequest`."""
    head, _, body = data.partition(b"\n\n")
    try:
        first, *lines = head.decode().split("\n")
        if not first.startswith("key "):
            raise BadRequest("expected a line 'key' with a verifier key first, found another")
        path = parse_path(lines)
        return parse_checkpoint(body.decode()), PublicKey.parse(first.removeprefix("key ")), path
    except UnicodeDecodeError:
        raise BadRequest("expected a body in UTF-8, found other bytes") from None
    except (BadKey, BadProof, BadCheckpoint) as error:
        raise BadRequest(error.detail) from None


def head_text(origin: str, head: KnownCheckpoint) -> str:
    """A head as the text of its checkpoint."""
    return Checkpoint(origin, head.size, head.root).body()


def bearer(headers: Mapping[str, str]) -> str | None:
    """The token of an Authorization header, if it has one."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None
