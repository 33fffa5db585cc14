"""Signers and witnesses: what signs the heads of our logs, and what countersigns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service.audit.checkpoint import Checkpoint
from service.audit.note import PublicKey
from service.audit.witness import KnownCheckpoint
from service.errors import GainsayError


class SignerUnavailable(GainsayError):
    """The signer cannot be reached, or cannot store what it signs: nothing is signed."""

    code = "signer_unavailable"
    status = 503
    title = "The heads of logs cannot be signed"


class CheckpointRefused(GainsayError):
    """The signer has signed a head of this log that this one does not continue; ``last`` is that head."""

    code = "head_refused"
    title = "A head was refused because it contradicts one that was signed before"

    def __init__(self, detail: str, last: KnownCheckpoint | None) -> None:
        super().__init__(detail)
        self.last = last


class Signer(Protocol):
    """Holds the keys, and the last head that it signed of each log. It signs no head that contradicts that one."""

    async def keys(self) -> tuple[PublicKey, ...]:
        """The public keys that it signs with, the one for new logs first; raises `SignerUnavailable`."""
        ...

    async def last(self, origin: str) -> KnownCheckpoint | None:
        """The last head that it signed of a log; raises `SignerUnavailable`."""
        ...

    async def sign(self, checkpoint: Checkpoint, key: PublicKey, path: Sequence[bytes]) -> bytes:
        """The signed checkpoint; ``path`` proves that it continues the last head of the log.

        The signer stores it before it returns it. Raises `CheckpointRefused` or `SignerUnavailable`.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
