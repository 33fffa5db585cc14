"""What this process tells itself of debates: that one has new entries, that one is over, that a head was signed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from service.debate.entries import DebateConcluded, Entry, GateDecided


class Board:
    """Where this process says that a debate has new entries, so that listeners need not poll for them."""

    def __init__(self) -> None:
        # Weak: an event lives as long as somebody waits for it.
        self._news: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        self._ends: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        self.queued = asyncio.Event()
        self.signed = asyncio.Event()

    def announce(self, debate: str, entries: Sequence[Entry]) -> None:
        """Wake whoever listens to this debate, and whoever waits for its end when it has come."""
        if event := self._news.pop(debate, None):
            event.set()
        if ends(entries[-1]) and (event := self._ends.pop(debate, None)):
            event.set()

    def sealed(self) -> None:
        """Wake whoever waits for a record to be provable: a head of some log was signed."""
        event, self.signed = self.signed, asyncio.Event()
        event.set()

    def news(self, debate: str) -> asyncio.Event:
        """Set by the next news of the debate. Take it before you look, or news in between is missed."""
        return self._news.setdefault(debate, asyncio.Event())

    def end(self, debate: str) -> asyncio.Event:
        """Set when the debate ends; take it before you look."""
        return self._ends.setdefault(debate, asyncio.Event())


def ends(entry: Entry) -> bool:
    """Whether nothing can follow: an outcome, or a decision not to debate."""
    return isinstance(entry, DebateConcluded) or (isinstance(entry, GateDecided) and not entry.decision.debate)
