"""What this process tells itself of debates: that one has new entries, that one is over, that a head was signed.

What happens here is also put out for other processes, up to twenty times a second, and what they put out is heard here
(`service/store/notifications.py`). Both are hints: whoever waits looks for himself now and then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from weakref import WeakValueDictionary

from msgspec import Struct

from service.debate.entries import DebateConcluded, Entry, GateDecided

UNTOLD_MAX = 10_000
"""More debates than this are not kept for others to hear of: where nobody takes them, or for long, others look."""


class Told(Struct, frozen=True):
    """What one process tells the others: debates with new entries, those that are over, and whether there is work."""

    debates: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    queued: bool = False
    signed: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.debates or self.ended or self.queued or self.signed)


class Board:
    """Where this process says that a debate has new entries, so that listeners need not poll for them."""

    def __init__(self) -> None:
        # Weak: an event lives as long as somebody waits for it.
        self._news: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        self._ends: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        self._debates: dict[str, bool] = {}
        self.known: dict[str, int] = {}
        """Of the debates that are looked after here (`store/watch.py`): entries below this number are no news here."""
        self._queued = self._signed = False
        self.linked = False
        """Whether news of other processes arrive here; while they do not, whoever waits has to look often."""
        self.outgoing = asyncio.Event()
        self.queued = asyncio.Event()
        self.signed = asyncio.Event()

    def announce(self, debate: str, entries: Sequence[Entry], next_n: int = 0) -> None:
        """Wake whoever listens to this debate, and whoever waits for its end when it has come.

        Whoever recorded these entries knows all below ``next_n``, and everybody else here is told now.
        """
        over = ends(entries[-1])
        self.saw(debate, next_n)
        if len(self._debates) >= UNTOLD_MAX:
            self._debates.clear()
        self._debates[debate] = over or self._debates.get(debate, False)
        self.outgoing.set()
        self._wake(debate, over=over)

    def saw(self, debate: str, next_n: int) -> None:
        """All entries below a number are known here."""
        if debate in self.known:
            self.known[debate] = max(next_n, self.known[debate])

    def enqueue(self) -> None:
        """Wake the workers: a debate waits for one."""
        self._queued = True
        self.outgoing.set()
        self.queued.set()

    def sealed(self) -> None:
        """Wake whoever waits for a record to be provable: a head of some log was signed."""
        self._signed = True
        self.outgoing.set()
        self._seal()

    def hear(self, told: Told) -> None:
        """Wake whoever waits for what another process tells of."""
        for debate in told.debates:
            self._wake(debate, over=False)
        for debate in told.ended:
            self._wake(debate, over=True)
        if told.queued:
            self.queued.set()
        if told.signed:
            self._seal()

    def wake(self, debates: Iterable[str]) -> None:
        """Wake whoever waits for anything of these debates: they have moved on while nobody told."""
        for debate in debates:
            self._wake(debate, over=True)

    def missed(self) -> None:
        """Wake everybody: nobody knows what happened while no news came."""
        self.wake({*self._news, *self._ends})
        self.queued.set()
        self._seal()

    def take(self) -> Told:
        """What is to be told to other processes since this was asked last."""
        self.outgoing.clear()
        debates, self._debates = self._debates, {}
        told = Told(
            debates=tuple(debate for debate, over in debates.items() if not over),
            ended=tuple(debate for debate, over in debates.items() if over),
            queued=self._queued,
            signed=self._signed,
        )
        self._queued = self._signed = False
        return told

    def news(self, debate: str) -> asyncio.Event:
        """Set by the next news of the debate. Take it before you look, or news in between is missed."""
        return self._news.setdefault(debate, asyncio.Event())

    def end(self, debate: str) -> asyncio.Event:
        """Set when the debate ends; take it before you look."""
        return self._ends.setdefault(debate, asyncio.Event())

    def _wake(self, debate: str, *, over: bool) -> None:
        if event := self._news.pop(debate, None):
            event.set()
        if over and (event := self._ends.pop(debate, None)):
            event.set()

    def _seal(self) -> None:
        event, self.signed = self.signed, asyncio.Event()
        event.set()


def ends(entry: Entry) -> bool:
    """Whether nothing can follow: an outcome, or a decision not to debate."""
    return isinstance(entry, DebateConcluded) or (isinstance(entry, GateDecided) and not entry.decision.debate)
