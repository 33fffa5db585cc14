"""Places in a body of JSON: line and column for people, and the byte for programs."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

TOKENS_BYTES = 1 << 18
"""Places are looked for in so much of a body."""
_TOKEN = re.compile(rb'\s*+("[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]++|".*+)', re.DOTALL)
_OPENERS = {b"{": b"}", b"[": b"]"}
_NAMES = {b"{": "object", b"[": "list", b'"': "text"}


class Frame:
    """An object or a list that is open: where it begins, its keys so far with their places, and the present key."""

    def __init__(self, kind: bytes, at: int) -> None:
        self.kind, self.at = kind, at
        self.keys: dict[str, int] = {}
        self.step: str | int = 0
        self.naming = kind == b"{"


class Repeated(NamedTuple):
    """A member that its object has twice: the way to it, and where its name stands."""

    path: tuple[str, ...]
    first: int
    second: int


def place(raw: bytes, at: int) -> str:
    """A byte of a body in words: line and column are counted from 1, in characters, and bytes from 0."""
    before = raw[:at].decode("utf-8", "replace")
    line = before.count("\n") + 1
    return f"line {line}, column {len(before) - before.rfind(chr(10))} (byte {at})"


def unclosed(raw: bytes) -> str:
    """What is open at the end of a body that was cut off, in words, or an empty text."""
    frames, _, rest = _read(raw)
    if rest is not None:
        return f"inside the text that begins at {place(raw, rest)}"
    if frames:
        return f"inside the {_NAMES[frames[-1].kind]} that begins at {place(raw, frames[-1].at)}"
    return ""


def repeated_member(raw: bytes) -> Repeated | None:
    """The first member of valid JSON that its object has twice, unless it is beyond `TOKENS_BYTES`."""
    return _read(raw)[1]


def _read(raw: bytes) -> tuple[list[Frame], Repeated | None, int | None]:
    """The objects and lists that are open at the end, the first repeated member, and where an unended text begins."""
    frames: list[Frame] = []
    for found in _TOKEN.finditer(raw, 0, TOKENS_BYTES):
        token, at = found[1], found.start(1)
        kind = token[:1]
        if kind == b'"' and (len(token) == 1 or not _ended(token)):
            return frames, None, at
        if kind in _OPENERS:
            frames.append(Frame(kind, at))
        elif kind in b"}]":
            if frames:
                frames.pop()
        elif frames and (repeated := _step(frames, token, at)):
            return frames, repeated, None
    return frames, None, None


def _step(frames: list[Frame], token: bytes, at: int) -> Repeated | None:
    """Take in a comma, a colon or a value inside an object or a list."""
    inside = frames[-1]
    if token == b",":
        inside.naming = inside.kind == b"{"
        if isinstance(inside.step, int):
            inside.step += 1
    elif token == b":":
        inside.naming = False
    elif inside.naming and token[:1] == b'"':
        name = _name(token)
        if name in inside.keys:
            path = (*(str(frame.step) for frame in frames[:-1]), name)
            return Repeated(path, inside.keys[name], at)
        inside.keys[name] = at
        inside.step = name
    return None


def _name(token: bytes) -> str:
    """The name that a key stands for: ``"\\u0061"`` is ``a``."""
    try:
        return str(json.loads(token))
    except ValueError:
        return token.decode("utf-8", "replace")


def _ended(token: bytes) -> bool:
    """Whether a token that begins with a quotation mark is a whole text."""
    return re.fullmatch(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', token, re.DOTALL) is not None
