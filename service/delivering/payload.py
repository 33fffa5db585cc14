"""What a receiver is sent: that a case has ended and where that is proven, and no word of the case.

No question, no answer, no document, no task type and no name of a person: a receiver that is let in asks for the case.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

EventType = Literal["debate.ended", "webhook.test"]
EndStatus = Literal["declined", "completed", "truncated", "failed", "aborted"]
_encoder = msgspec.json.Encoder()


class EndedData(Struct, frozen=True, kw_only=True, rename="camel"):
    """The end of a case, and its place in the log."""

    debate_id: str
    """The id of the debate, a UUID of version 7."""
    status: EndStatus
    """How it ended. `declined`: the gate saw no need for a debate."""
    href: str
    """The path of the debate in this API. What was decided is asked for there, with a credential."""
    last_record: str
    """SHA-256 of the debate's last leaf, hex: the hash that the log has at `index`."""
    log: str
    """The log that has the record."""
    index: int
    """The place of the record in the log."""
    size: int
    """The size of the first signed checkpoint that covers the record."""
    root: str
    """The root of that checkpoint, hex."""


class EndedEvent(Struct, frozen=True, kw_only=True, rename="camel"):
    """A case has ended, and a signed checkpoint covers its end."""

    type: Literal["debate.ended"] = "debate.ended"
    """The type of the event."""
    timestamp: str
    """When the case ended, by the clock of the database."""
    data: EndedData
    """The end."""


class ProbeData(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which endpoint is tested."""

    webhook: str
    """The id of the endpoint."""


class ProbeEvent(Struct, frozen=True, kw_only=True, rename="camel"):
    """A test that a caller has asked for."""

    type: Literal["webhook.test"] = "webhook.test"
    """The type of the event."""
    timestamp: str
    """When it was asked for."""
    data: ProbeData
    """The endpoint."""


def encode(event: EndedEvent | ProbeEvent) -> bytes:
    """The event as the bytes that are signed and sent, the same in each attempt."""
    return _encoder.encode(event)
