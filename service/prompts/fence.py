"""Fences that keep data apart from orders.

    [[3f9a51c07be2d864 begin document {"id":"D1","title":"Master agreement"}]]
    ...the text...
    [[3f9a51c07be2d864 end document]]

The text and the attributes are those that a reader would see (`service.debate.neutral`); an attribute has no line
break, so that it cannot leave the line of its fence. The nonce comes from the debate's seed, which commits to the
documents, so no document can contain it on purpose; a reply can, because its model has read it. Where a text holds the
nonce all the same, in any case or width, words say so in its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from service.debate.neutral import PIECE, neutral, neutral_line, pieces_of

NEUTRALISED = "[fence removed]"
MOST_BMP = "\uffff"
"""The last character of the Basic Multilingual Plane."""
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
    """The block between its fences, without what no reader sees and without the nonce."""
    attributes = _encoder.encode({name: _line(nonce, value) for name, value in block.attributes.items()}).decode()
    body = _without(nonce, neutral(block.text))
    return f"[[{nonce} begin {block.kind} {attributes}]]\n{body}\n[[{nonce} end {block.kind}]]"


def blocks(text: str) -> tuple[Block, ...]:
    """The fenced blocks of a message, in order; the inverse of `fence` for neutral texts without the nonce."""
    found = []
    at = 0
    while match := _BEGIN.search(text, at):
        mark, kind, attributes = match.groups()
        closing = f"\n[[{mark} end {kind}]]"
        end = text.index(closing, match.end())
        found.append(Block(kind, msgspec.json.decode(attributes), text[match.end() + 1 : end]))
        at = end + len(closing)
    return tuple(found)


def mark_of(text: str) -> str:
    """The nonce of the first fence of a message, which is that of its debate; empty in a text without one."""
    return found[1] if (found := _BEGIN.search(text)) else ""


def _line(nonce: str, value: Any) -> Any:
    """An attribute whose texts stay within one line."""
    match value:
        case str():
            return _without(nonce, neutral_line(value))
        case list() | tuple():
            return [_line(nonce, each) for each in value]
        case _:
            return value


def _without(nonce: str, text: str) -> str:
    """A neutral text with words in the place of each nonce."""
    if not _may_hold(nonce, text):
        return text
    cleared = re.sub("".join(f"[{digit}{digit.upper()}{_FORMS[digit]}]" for digit in nonce), NEUTRALISED, text)
    return neutral(cleared)  # once more: a selector behind the nonce has lost the digit that it stood behind


def _may_hold(nonce: str, text: str) -> bool:
    """Whether a text holds the nonce in any case, or a digit in another form."""
    if text.isascii() and len(text) <= PIECE:
        return nonce in text.lower()
    before = ""
    for piece in pieces_of(text):
        if nonce in (before + piece).lower():
            return True
        if not piece.isascii() and (_STYLED.search(piece) or (_ASTRAL.search(piece) and _STYLED_ASTRAL.search(piece))):
            return True
        before = (before + piece)[1 - len(nonce) :]
    return False


def _other_forms(digits: str) -> Mapping[str, str]:
    """By a hexadecimal digit, the other characters whose compatibility form it is."""
    forms = dict.fromkeys(digits, "")
    for char in (chr(at) for first, last in _REPEATED for at in range(first, last + 1)):
        if (plain := unicodedata.normalize("NFKC", char).lower()) in forms:
            forms[plain] += char
    return forms


_REPEATED = ((0xB2, 0xBA), (0x1D2C, 0x1D9C), (0x2070, 0x214F), (0x2460, 0x24FF), (0xFF10, 0xFF5A), (0x1D400, 0x1D7FF))
"""Where Unicode repeats digits and letters in other forms: raised, circled, in full width, bold, in double strokes."""
_FORMS = _other_forms("0123456789abcdef")
_ALL_FORMS = "".join(_FORMS.values())
_ASTRAL = re.compile("[^\0-\uffff]")
_STYLED = re.compile(f"[{''.join(filter(MOST_BMP.__ge__, _ALL_FORMS))}]")
_STYLED_ASTRAL = re.compile(f"[{''.join(filter(MOST_BMP.__lt__, _ALL_FORMS))}]")
"""Two expressions: `re` compares a character with those of a class beyond the Basic Multilingual Plane one by one."""
