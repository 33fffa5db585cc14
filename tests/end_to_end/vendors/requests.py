"""Requests as a debate makes them, for tests that need one and no debate: any seat, its pinned prompt and schema."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from service.debate.replies import REPLY_TYPES
from service.prompts import Prompts
from service.prompts.fence import Block, fence
from service.prompts.request import Message, Request

MARK = "3f9a51c07be2d864"
TEXT = (
    "12.1 The Supplier shall indemnify the Bank against all losses arising from a breach of confidence. "
    "12.2 Neither party's liability shall exceed the fees paid in the twelve months before the claim."
)
REPLY: dict[str, Any] = {
    "thesis": "The indemnity has no ceiling of its own.",
    "arguments": [
        {
            "n": 1,
            "text": "Clause 12.1 is “without limit” – in those words.",
            "citations": [{"quote": "shall indemnify the Bank against all losses", "sourceId": "D1"}],
        }
    ],
    "conclusion": "upheld",
}
"""A proposer's reply that its type takes."""
TOLD = msgspec.json.encode(REPLY).decode()
msgspec.json.decode(TOLD, type=REPLY_TYPES["proposer"])


@cache
def prompts() -> Prompts:
    """The pinned texts of this checkout."""
    return Prompts.load()


def a_request(
    seat: str = "proposer", *, model_name: str = "fake-1", allowance: int = 1_800, about: str = TEXT
) -> Request:
    """The request of a seat's first turn."""
    case = [
        Block("question", {}, "Does this agreement leave us with uncapped liability?"),
        Block("document", {"id": "D1", "title": "Master agreement", "round": 1}, about),
    ]
    turn = [Block("proposition", {}, '{"thesis":"The agreement leaves us uncapped.","scope":"All."}')]
    messages = (
        Message("house", prompts().text("house"), ("house",)),
        Message("data", _fenced(case)),
        Message("data", _fenced(turn)),
        Message("seat", prompts().text(seat), (seat,)),
    )
    return Request(seat, model_name, model_name, messages, seat, prompts().schema(seat), allowance)


def _fenced(blocks: list[Block]) -> str:
    return "\n".join(fence(MARK, block) for block in blocks)
