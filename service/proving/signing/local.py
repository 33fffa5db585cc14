"""The signer in this process: keys, and the last head of each log on disk.

1  a smaller tree than the last                      refused
2  the same size with another root: a split view     refused
3  a path that does not prove (RFC 9162, 2.1.4.2)    refused (no path is needed from an empty tree, or to the same size)
   that this head continues the last one
4  otherwise the head is stored with its note, on disk, and is returned only then
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import ED25519, PublicKey, SigningKey
from service.audit.tree import EMPTY_ROOT, ProofError, verify_consistency
from service.audit.witness import KnownCheckpoint
from service.errors import SettingsError
from service.proving.signing import CheckpointRefused, SignerUnavailable
from service.proving.signing.checkpoint_files import CheckpointFiles, StoredCheckpoint


class LocalSigner:
    """Implements `service.proving.signing.Signer`. Several on one folder of heads, in any processes, act as one.

    Raises `SettingsError` for keys of another type than Ed25519.
    """

    def __init__(self, keys: Sequence[SigningKey], heads: CheckpointFiles) -> None:
        if not keys or any(key.public.algorithm != ED25519 for key in keys):
            raise SettingsError(
                "expected Ed25519 keys to sign heads with, found none, or a witness's; make one with "
                "`gainsay audit key new`"
            )
        self._keys = {key.public: key for key in keys}
        self._heads = heads

    async def keys(self) -> tuple[PublicKey, ...]:
        """The public keys, the one for new logs first."""
        return tuple(self._keys)

    async def last(self, origin: str) -> KnownCheckpoint | None:
        """The last head that was signed of a log; raises `CheckpointFilesUnusable`."""
        kept = await asyncio.to_thread(self._heads.last, origin)
        return kept.head if kept else None

    async def sign(self, checkpoint: Checkpoint, key: PublicKey, path: Sequence[bytes]) -> bytes:
        """The signed checkpoint; raises `CheckpointRefused`, `CheckpointFilesUnusable`, or `SignerUnavailable` for an
        unknown key.

        A caller that gets `CheckpointRefused` with a ``last`` that its own tree also had computes the path again from
        there.
        """
        signing = self._keys.get(key)
        if signing is None:
            raise SignerUnavailable(foreign_key(key))
        return await asyncio.to_thread(self._sign, checkpoint, signing, path)

    async def close(self) -> None:
        """Release the folder of heads."""
        self._heads.close()

    def _sign(self, checkpoint: Checkpoint, key: SigningKey, path: Sequence[bytes]) -> bytes:
        def decide(last: StoredCheckpoint | None) -> bytes:
            check_consistent(last.head if last else None, checkpoint, path)
            return sign_checkpoint(checkpoint, key)

        kept = self._heads.advance(checkpoint.origin, decide)
        if kept is None:
            raise AssertionError("a decision to sign always gives a note")
        return kept.note


def check_consistent(last: KnownCheckpoint | None, checkpoint: Checkpoint, path: Sequence[bytes]) -> None:
    """Raise `CheckpointRefused` unless the path proves that this head continues the last one, or an empty tree."""
    held = last or KnownCheckpoint(0, EMPTY_ROOT)
    if checkpoint.size < held.size:  # rule 1
        reason = f"the tree has shrunk: a head of {held.size} leaves was signed before one of {checkpoint.size}"
        raise CheckpointRefused(refusal_text(checkpoint, reason), last)
    if checkpoint.size == held.size and checkpoint.root != held.root:  # rule 2
        reason = f"two roots for {held.size} leaves: {held.root.hex()} was signed before {checkpoint.root.hex()}"
        raise CheckpointRefused(refusal_text(checkpoint, reason), last)
    try:  # rule 3
        verify_consistency(held.size, checkpoint.size, path, held.root, checkpoint.root)
    except ProofError as error:
        raise CheckpointRefused(refusal_text(checkpoint, error.detail), last) from error


def refusal_text(checkpoint: Checkpoint, reason: str) -> str:
    """The message of a refusal."""
    return f"the head of {checkpoint.size} leaves of the log {checkpoint.origin} is not signed: {reason}"


def foreign_key(key: PublicKey) -> str:
    """The message for a key that the signer does not have."""
    return (
        f"the signer does not have the key {key.name}+{key.id.hex()}; add it to the signer's key file, or open the "
        "tenant's next log (`gainsay audit rotate`)"
    )
