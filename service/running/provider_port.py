"""The port to models: what the runner sends to a provider and gets back. An adapter per vendor implements it."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct

from service.errors import GainsayError
from service.prompts.request import Request, WireTexts

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
    "unsupported",
    "scriptExhausted",
    "providerFault",
    "lost",
]


class Answer(Struct, frozen=True):
    """A provider's response: the reply's JSON text, its usage as reported, and its model's name."""

    text: str
    raw_usage: dict[str, Any] | None
    served_model: str | None = None
    request_id: str | None = None
    fingerprint: str | None = None


class CallFailed(GainsayError):
    """A call returned no usable reply.

    ``answer`` is the response if there was one, with the usage that it reports. ``billable`` says whether the call can
    have cost anything, ``retry`` whether another attempt at the same model may succeed, and ``retry_after_s`` after how
    many seconds at the earliest. ``unavailable`` says that the vendor takes no calls for now, whatever they ask: it is
    down or overloaded, or limits our rate. ``detail`` is recorded: it holds no secret and no free text of a vendor.
    """

    code = "call_failed"
    status = 502
    title = "A model did not answer"

    def __init__(
        self,
        reason: FailureReason,
        detail: str,
        *,
        retry: bool = True,
        billable: bool = True,
        answer: Answer | None = None,
        retry_after_s: float | None = None,
        unavailable: bool = False,
    ) -> None:
        super().__init__(detail)
        self.reason: FailureReason = reason
        self.retry = retry
        self.billable = billable
        self.answer = answer
        self.retry_after_s = retry_after_s
        self.unavailable = unavailable


class Provider(Protocol):
    """One vendor's wire format.

    For messages ``encode`` and ``spoken`` are pure and inverse, so that the bytes about to go out are compared with the
    pins after the adapter has encoded them.
    """

    def encode(self, request: Request) -> bytes:
        """The body that goes on the wire."""
        ...

    def decode_request(self, body: bytes) -> WireTexts:
        """The messages and the reply schema that a body on the wire gives the model."""
        ...

    async def send(self, body: bytes) -> Answer:
        """Send the body and wait for the response; raises `CallFailed` and nothing else."""
        ...

    def backoff_s(self, model: str) -> float:
        """Seconds of backoff that the vendor, or this model of it, still has; 0 when it may be called."""
        return 0.0

    @property
    def circuit_open(self) -> bool:
        """Whether the circuit is open because the vendor failed too often."""
        return False

    async def close(self) -> None:
        """Close all connections; nothing is sent after this."""
        return
