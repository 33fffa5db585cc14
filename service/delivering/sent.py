"""How an attempt to deliver a message went."""

from __future__ import annotations

from msgspec import Struct

GONE = 410


class Sent(Struct, frozen=True):
    """How an attempt went: the status, or the reason why there is none, and the address that was asked last.

    ``refused`` says that the rules of addresses forbade it. ``retry_after`` is the header as it came.
    """

    status: int | None = None
    reason: str = ""
    asked: str | None = None
    refused: bool = False
    retry_after: str | None = None

    @property
    def taken(self) -> bool:
        """Whether the receiver took the message."""
        return self.status is not None and 200 <= self.status < 300
