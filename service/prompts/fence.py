"""Fences that keep data apart from orders.

    [[3f9a51c07be2d864 begin document {"id":"D1","title":"Master agreement"}]]
    ...the text...
    [[3f9a51c07be2d864 end document]]

The nonce comes from the debate's seed, which commits to the documents, so no document can contain it on purpose. If a
text contains it all the same, the nonce in the text is neutralised, and the fence states that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

NEUTRALISED = "[fence removed]"
_BEGIN = re.compile(r"^\[\[([0-9a-f]{16}) begin ([a-z-]+) (\{.*\})\]\]$", re.MULTILINE)
_encoder = msgspec.json.Encoder(order="sorted")


class Block(NamedTuple):
    """A fenced piece of data: its kind, its attributes and its text."""

    kind: str
    attributes: Mapping[str, Any]
    text: str


def nonce(seed: str, scope: str = "debate") -> str:
    """Sixteen hexadecimal digits that cannot be known before the case is recorded."""
    return sha256(f"{seed}|fence|{scope}".encode()).hexdigest()[:16]


def fence(nonce: str, block: Block) -> str:
    """The block between its fences; occurrences of the nonce inside it are neutralised."""
    attributes = _cleared(nonce, _encoder.encode(block.attributes).decode())
    body = _cleared(nonce, block.text)
    return f"[[{nonce} begin {block.kind} {attributes}]]\n{body}\n[[{nonce} end {block.kind}]]"


def _cleared(nonce: str, text: str) -> str:
    """A text without the nonce, in capitals either: a model may read those as the same."""
    if nonce not in text.lower():
        return text
    return re.sub(re.escape(nonce), NEUTRALISED, text, flags=re.IGNORECASE)


def blocks(text: str) -> tuple[Block, ...]:
    """The fenced blocks of a message, in order; the inverse of `fence` for texts without the nonce."""
    found = []
    at = 0
    while match := _BEGIN.search(text, at):
        mark, kind, attributes = match.groups()
        closing = f"\n[[{mark} end {kind}]]"
        end = text.index(closing, match.end())
        found.append(Block(kind, msgspec.json.decode(attributes), text[match.end() + 1 : end]))
        at = end + len(closing)
    return tuple(found)
