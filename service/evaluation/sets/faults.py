"""Faults of a golden set: the file, the line, the member, and a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from service.errors import InvalidCase

SHOWN_MAX = 500
"""Faults that one refusal lists."""
_SAID_MAX = 80


class Fault(NamedTuple):
    """A fault of a set; ``line`` counts from 1 and is 0 where a file as a whole is at fault."""

    file: str
    line: int
    member: str
    words: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.member}: {self.words}" if self.member else f"{place}: {self.words}"


class BadSet(InvalidCase):
    """A golden set has faults, so nothing of it is used. ``faults`` are all of them, by file and line."""

    code = "bad_set"
    title = "The golden set has faults"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        listed = [str(fault) for fault in self.faults[:SHOWN_MAX]]
        if left := len(self.faults) - len(listed):
            listed.append(f"and {left} faults more; mend these first")
        super().__init__("\n".join(listed))
        if len(listed) > 1:
            self._parts = tuple(_Part(words) for words in listed)


class _Part(InvalidCase):
    """One of several faults."""

    code = BadSet.code
    title = BadSet.title


def said(value: object) -> str:
    """A value as a message repeats it: on one line, and not at length."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SAID_MAX else f"{text[:_SAID_MAX]}..."
