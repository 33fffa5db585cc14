"""The least that a reported usage can be, by what the service itself has counted of the call.

    input    a share of the tokens of the request, by our raw count: without safety factor and overhead, cached included
    output   the same share of the tokens of the reply that came back, thinking aside

A tokenizer that is not the vendor's own counts otherwise, but not twice as much. So a usage below the share cannot be
true, whatever its sums are: it is a gateway's placeholder, or it hides what will be billed. A usage above the share can
still be too small (decision 0025): neither hidden thinking nor a different tokenizer shows in a reply.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from service.debate.entries import BelowFloor
from service.debate.replies import Reply
from service.money.tokens import count_tokens
from service.money.usage import Usage

_encoder = msgspec.json.Encoder(order="sorted")


class Counted(NamedTuple):
    """What the service has counted of one call, in tokens of the model's tokenizer, and the share that is required."""

    request: int
    reply: int
    floor_per_mille: int


def below_floor(usage: Usage, counted: Counted) -> BelowFloor | None:
    """Which part of a usage is below the share of our own count, the input first; ``None`` where neither is."""
    if usage.inputs * 1_000 < counted.request * counted.floor_per_mille:
        return "input"
    if usage.output * 1_000 < counted.reply * counted.floor_per_mille:
        return "output"
    return None


def reply_tokens(reply: Reply | None, said: str | None, tokenizer: str) -> int:
    """Tokens of a reply as it is recorded: of the text as it came where that is kept, else of the reply as JSON.

    The record alone decides, so an auditor counts the same. ``said`` is cut if it is long, so the count may be too low
    and never too high for it. Without any reply it is 0.
    """
    if said:
        return count_tokens(said, tokenizer)
    return count_tokens(_encoder.encode(reply).decode(), tokenizer) if reply is not None else 0
