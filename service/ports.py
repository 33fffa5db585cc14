"""What the shell needs from outside: models that answer, and a log that records. Adapters stand behind these."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from service.budget import Ledger, Refusal, Usage
from service.debate.entries import Entry
from service.debate.model import TurnId
from service.debate.money import MicroUSD
from service.errors import GainsayError
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


class News(Protocol):
    """What whoever runs a debate hears of others: that they may have recorded something in it."""

    async def wait(self) -> None:
        """Return once somebody else may have."""
        ...

    def heard(self) -> bool:
        """Whether somebody else may have, since this was asked last; to be asked before one looks."""
        ...


class Silence:
    """No news of others, ever."""

    async def wait(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    def heard(self) -> bool:
        """Nothing is heard."""
        return False


class AuditLog(Protocol):
    """The end of one debate's log, held by whoever runs the debate."""

    @property
    def debate(self) -> str:
        """The debate's id."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The money that the recorded entries leave."""
        ...

    @property
    def granted(self) -> MicroUSD:
        """What the debate may reserve and spend: its ceiling, or what it has drawn from its tenant's limits."""
        ...

    async def draw(self, need: MicroUSD, want: MicroUSD) -> Refusal | None:
        """Draw on the tenant's limits, ``need`` at least and ``want`` at most; or why not even ``need`` is left.

        Nothing is drawn then. Raises `Fenced` or `AuditUnavailable`.
        """
        ...

    @property
    def left_s(self) -> float | None:
        """Seconds to the deadline in database time; ``None`` without one."""
        ...

    def asked_s(self, turn: TurnId) -> float:
        """Seconds since a turn was first asked, by the database's clock, whoever asked; 0 where nobody has."""
        ...

    async def tail(self) -> list[Entry]:
        """The entries recorded since the last look; the first look gives all."""
        ...

    async def append(self, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        """Record all or none; ``occurred`` says of each when it happened, in seconds since 1970.

        Raises `Fenced` or `AuditUnavailable`.
        """
        ...

    async def renew(self) -> None:
        """Keep the lease; raises `Fenced` when another worker has the debate."""
        ...
