"""The long texts that a child process has: each goes there once, and later calls name it by its number.

A debate makes some ten checks over the same documents. Those of two tenants are never one: how soon an answer comes
must not say that another tenant has the same document. Parent and child drop a text that no call has named between two
sweeps (`service.checks.kept`), or whose place newer ones need.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, NamedTuple

from service.checks.kept import MOST_CHARACTERS

SENT_ONCE = 4_096
"""The characters of a text from which on it is sent once."""


class Call(NamedTuple):
    """A call as it is sent, and the size of all that it reads: its own bytes, and characters of long texts."""

    pickled: bytes
    size: int


class SentTexts:
    """The numbers of the texts that one child has, those named longest ago first.

    Where `call` raises, or the child does not get what it returned, the two do not know the same texts any more.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._named = set[int]()
        self._characters = self._last = 0

    def call(self, sweeps: bool, tenant: str, asked: object) -> Call:
        """A call in two pickles, as `service.running.check_child` reads it."""
        dropped = self._swept() if sweeps else []
        new, named = dict[int, str](), dict[int, str]()

        def number(text: str) -> int:
            found = self._numbers.pop((tenant, text), None)
            if found is None:
                found = self._last = self._last + 1
                new[found] = text
                self._characters += len(text)
            self._numbers[tenant, text] = found  # with the object at hand: the next call compares it by identity
            named[found] = text
            return found

        body = BytesIO()
        _Pickler(body, number).dump(asked)
        self._named.update(named)
        dropped += self._without_room(named)
        header = pickle.dumps((sweeps, tenant, dropped, new), pickle.HIGHEST_PROTOCOL)
        return Call(header + body.getvalue(), body.tell() + sum(map(len, named.values())))

    def _swept(self) -> list[int]:
        """Drop the texts that no call has named since the last sweep."""
        dropped = self._drop(lambda number: number not in self._named)
        self._named.clear()
        return dropped

    def _without_room(self, named: Mapping[int, str]) -> list[int]:
        """Drop the texts named longest ago, but for those of this call, until the others are within the bound."""
        return self._drop(lambda number: self._characters > MOST_CHARACTERS and number not in named)

    def _drop(self, is_dropped: Callable[[int], bool]) -> list[int]:
        dropped = []
        for key, number in list(self._numbers.items()):
            if is_dropped(number):
                dropped.append(number)
                del self._numbers[key]
                self._characters -= len(key[1])
        return dropped


class _Pickler(pickle.Pickler):
    """Writes the numbers of long texts in their place."""

    def __init__(self, file: BytesIO, number: Callable[[str], int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._number = number

    def persistent_id(self, given: Any) -> int | None:
        return self._number(given) if type(given) is str and len(given) >= SENT_ONCE else None
