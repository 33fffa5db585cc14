"""The simulated models as a vendor that keeps its own books, and fails at the n-th call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from service.money import Usage, normalise
from service.prompts.request import Request
from service.running.provider_port import Answer, CallFailed
from service.simulated import OfflineProvider
from tests.faults.wire import Hit

How = Literal["cut", "timeout", "malformed", "rate limit", "overload", "broken", "death"]
HOWS: tuple[How, ...] = ("cut", "timeout", "malformed", "rate limit", "overload", "broken", "death")
UNBILLED = ("rate limit", "overload")
APART = {"debater-1": 2, "debater-2": 1, "debater-3": 0}
"""Replies of one round arrive one by one, so that something may happen between any two of them."""
APART_S = 0.005


@dataclass(frozen=True)
class Unanswered:
    """What becomes of which call, counted from 1; ``death`` is that of whoever waits for its answer."""

    at: int
    how: How


@dataclass
class Call:
    """One call as the vendor has it in its books: what was asked, and what it bills for."""

    body: bytes
    usage: Usage | None = None


class Counting(OfflineProvider):
    """Answers one after the other, and writes down every call: with ``note``, also somewhere else."""

    def __init__(self, note: Callable[[int, Call], None] = lambda _n, _call: None) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self._note = note
        self.died = asyncio.Event()
        self.count = 0
        self.hit: Hit | None = None
        self._fault: Unanswered | None = None

    def fail(self, fault: Unanswered | None) -> None:
        """Count from 1 again, and fail as is said."""
        self._fault, self.count, self.hit = fault, 0, None

    async def send(self, body: bytes) -> Answer:
        """An answer, unless it is this call that fails."""
        self.count = n = self.count + 1
        fault = self._fault if self._fault and self._fault.at == n else None
        call = Call(body)
        self.calls.append(call)
        self._note(n, call)
        seat = msgspec.json.decode(body, type=Request).seat
        if fault:
            self.hit = Hit(seat, fault.how)
        if fault and fault.how in UNBILLED:
            raise _failure(fault.how)
        answer = await super().send(body)
        call.usage = normalise("offline", answer.raw_usage)
        self._note(n, call)
        await asyncio.sleep(APART_S * APART.get(seat, 0))
        if fault is None:
            return answer
        if fault.how == "death":
            self.died.set()
            await asyncio.Event().wait()
        if fault.how == "malformed":
            return msgspec.structs.replace(answer, text="I would rather not say.")
        raise _failure(fault.how)


def _failure(how: How) -> Exception:
    """What an adapter raises, or what it never should."""
    match how:
        case "cut":
            return CallFailed("connectionCut", "the connection ended before the answer did")
        case "timeout":
            return CallFailed("timeout", "no answer in time")
        case "rate limit":
            return CallFailed("rateLimit", "too many requests", billable=False, retry_after_s=0.001)
        case "overload":
            return CallFailed("overload", "try later", billable=False)
    return RuntimeError("an adapter broke its promise")
