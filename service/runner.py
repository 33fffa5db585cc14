"""The one shell: performs the kernel's moves."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct

from service.budget import Usage
from service.errors import GainsayError
from service.prompts.request import Message, Request

FailureReason = Literal[
    "refusedKey",
    "unknownModel",
    "contextTooLong",
    "rateLimit",
    "overload",
    "timeout",
    "connectionCut",
    "modelRefused",
    "lengthLimit",
    "malformedReply",
    "scriptExhausted",
    "lost",
]


class Answer(Struct, frozen=True):
    """What a provider brought back: the reply's JSON text, the usage as told (raw and normalised), and who served it."""

    text: str
    usage: Usage | None
    raw_usage: dict[str, Any] | None
    served_model: str | None = None
    request_id: str | None = None
    fingerprint: str | None = None


class CallFailed(GainsayError):
    """A call brought no reply. ``usage`` is what was used all the same, ``billable`` whether it can have cost anything.

    ``retry`` says whether another attempt may succeed.
    """

    code = "call_failed"
    status = 502
    title = "A model did not answer"

    def __init__(
        self, reason: FailureReason, detail: str, *, retry: bool = True, billable: bool = True, usage: Usage | None = None
    ) -> None:
        super().__init__(detail)
        self.reason: FailureReason = reason
        self.retry = retry
        self.billable = billable
        self.usage = usage


class Provider(Protocol):
    """One vendor's wire format. ``encode`` and ``spoken`` are pure and inverse where messages are concerned, so that
    the bytes about to go out can be compared with the pins after the adapter has had its way with them."""

    def encode(self, request: Request) -> bytes:
        """The body that goes on the wire."""
        ...

    def spoken(self, body: bytes) -> tuple[Message, ...]:
        """The messages that a body on the wire carries."""
        ...

    async def send(self, body: bytes) -> Answer:
        """Send the body and wait for the answer; raises `CallFailed` and nothing else."""
        ...
