"""The port to models: what the runner asks of a vendor, and what comes back. Each vendor has an adapter behind it."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct

from service.errors import GainsayError
from service.money import Usage
from service.prompts.request import Request, Spoken

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
    """What a provider brought back: the reply's JSON text, the usage (normalised, and as told), and who served it."""

    text: str
    usage: Usage | None
    raw_usage: dict[str, Any] | None
    served_model: str | None = None
    request_id: str | None = None
    fingerprint: str | None = None


class CallFailed(GainsayError):
    """A call brought no reply that can be used.

    ``answer`` is what came back all the same, with the usage that it tells; ``billable`` is whether the call can have
    cost anything. ``retry`` says whether another attempt at the same model may succeed, and ``retry_after_s`` not
    before how many seconds. ``detail`` is recorded: it holds no secret, and nothing that a vendor wrote freely.
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
    ) -> None:
        super().__init__(detail)
        self.reason: FailureReason = reason
        self.retry = retry
        self.billable = billable
        self.answer = answer
        self.retry_after_s = retry_after_s


class Provider(Protocol):
    """One vendor's wire format. ``encode`` and ``spoken`` are pure and inverse where messages are concerned, so that
    the bytes about to go out can be compared with the pins after the adapter has had its way with them."""

    def encode(self, request: Request) -> bytes:
        """The body that goes on the wire."""
        ...

    def spoken(self, body: bytes) -> Spoken:
        """What a body on the wire tells the model."""
        ...

    async def send(self, body: bytes) -> Answer:
        """Send the body and wait for the answer; raises `CallFailed` and nothing else."""
        ...

    def paused_s(self, model: str) -> float:
        """Seconds for which the vendor, or that model of it, is left alone; 0 when it may be called."""
        return 0.0

    @property
    def down(self) -> bool:
        """Whether the vendor is left alone because it failed too often."""
        return False

    async def close(self) -> None:
        """Give up connections; nothing is sent after this."""
        return
