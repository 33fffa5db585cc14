"""The client of Gainsay: one call for a review, one bill, a stream that goes on, and a log that cannot fork unseen.

    from gainsay_client import Gainsay

    with Gainsay("https://gainsay.example") as gainsay:
        result = gainsay.review(case)
        print(result["decision"]["answer"])

Answers are the JSON that the service sends, typed by `gainsay_client.types`. Amounts are decimal strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gainsay_client.calls import Submitted
from gainsay_client.errors import (
    BadHeadStore,
    BudgetExhausted,
    Conflict,
    FieldFault,
    GainsayError,
    KeyReused,
    LogForked,
    NotFound,
    Refused,
    ServiceFault,
    TimedOut,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    UntrustedAddress,
)
from gainsay_client.events import Event
from gainsay_client.head_memory import HeadNotice
from gainsay_client.heads import FileHeads, Head, HeadStore, MemoryHeads
from gainsay_client.wire import Answer

if TYPE_CHECKING:
    from gainsay_client.async_client import AsyncGainsay
    from gainsay_client.client import Gainsay

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncGainsay",
    "BadHeadStore",
    "BudgetExhausted",
    "Conflict",
    "Event",
    "FieldFault",
    "FileHeads",
    "Gainsay",
    "GainsayError",
    "Head",
    "HeadNotice",
    "HeadStore",
    "KeyReused",
    "LogForked",
    "MemoryHeads",
    "NotFound",
    "Refused",
    "ServiceFault",
    "Submitted",
    "TimedOut",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "Unreachable",
    "UntrustedAddress",
]


def __getattr__(name: str) -> type:
    """The clients, whose connections take a fifth of a second to import, once they are asked for."""
    if name == "Gainsay":
        from gainsay_client.client import Gainsay

        return Gainsay
    if name == "AsyncGainsay":
        from gainsay_client.async_client import AsyncGainsay

        return AsyncGainsay
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
