"""The event hub: wakes what waits in this process for new entries, a debate's end, queued work or a checkpoint.

Events of this process also go to other processes, up to twenty times a second, and theirs come in here
(`service/store/notifications.py`). Both are hints: waiters also read the tables from time to time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from weakref import WeakValueDictionary

from msgspec import Struct

from service.debate.entries import Entry, is_end

UNTOLD_MAX = 10_000
"""The most debates that are kept for a notification; above this, or if none is sent for long, other processes poll."""


class HubNotice(Struct, frozen=True):
    """The events for other processes: debates with new entries, ended debates, queued work, a new checkpoint."""

    debates: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    queued: bool = False
    signed: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to send."""
        return bool(self.debates or self.ended or self.queued or self.signed)


class EventHub:
    """The event hub of this process; listeners need not poll for what it announces."""

    def __init__(self) -> None:
        # Weak: an event lives as long as a task waits for it.
        self._entries: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        self._ends: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        self._debates: dict[str, bool] = {}
        self.known: dict[str, int] = {}
        """Of the debates that are polled here (`store/entry_poll.py`): entries below this number are known here."""
        self._queued = self._signed = False
        self.linked = False
        """Whether notifications of other processes arrive here; while they do not, waiters must poll often."""
        self.outgoing = asyncio.Event()
        self.queued = asyncio.Event()
        self.signed = asyncio.Event()

    def entries_recorded(self, debate: str, entries: Sequence[Entry], next_n: int = 0) -> None:
        """Wake the listeners of this debate, and what waits for its end if it has come.

        The process that recorded these entries knows all entries below ``next_n``; its other waiters are woken now.
        """
        over = is_end(entries[-1])
        self.mark_read(debate, next_n)
        if len(self._debates) >= UNTOLD_MAX:
            self._debates.clear()
        self._debates[debate] = over or self._debates.get(debate, False)
        self.outgoing.set()
        self._wake(debate, over=over)

    def mark_read(self, debate: str, next_n: int) -> None:
        """Note that all entries below a number are known here."""
        if debate in self.known:
            self.known[debate] = max(next_n, self.known[debate])

    def work_queued(self) -> None:
        """Wake the workers: a debate is queued."""
        self._queued = True
        self.outgoing.set()
        self.queued.set()

    def checkpoint_signed(self) -> None:
        """Wake what waits for a record to become provable: a head of some log was signed."""
        self._signed = True
        self.outgoing.set()
        self._seal()

    def receive(self, notice: HubNotice) -> None:
        """Wake what waits for events that another process reports."""
        for debate in notice.debates:
            self._wake(debate, over=False)
        for debate in notice.ended:
            self._wake(debate, over=True)
        if notice.queued:
            self.queued.set()
        if notice.signed:
            self._seal()

    def wake(self, debates: Iterable[str]) -> None:
        """Wake everything that waits for these debates: they have moved on without a notification."""
        for debate in debates:
            self._wake(debate, over=True)

    def missed(self) -> None:
        """Wake everything: notifications may have been lost."""
        self.wake({*self._entries, *self._ends})
        self.queued.set()
        self._seal()

    def drain_outgoing(self) -> HubNotice:
        """The events to send to other processes since the last call."""
        self.outgoing.clear()
        debates, self._debates = self._debates, {}
        notice = HubNotice(
            debates=tuple(debate for debate, over in debates.items() if not over),
            ended=tuple(debate for debate, over in debates.items() if over),
            queued=self._queued,
            signed=self._signed,
        )
        self._queued = self._signed = False
        return notice

    def entries_event(self, debate: str) -> asyncio.Event:
        """Set by the next event of the debate. Take it before you read the records, or you may miss an event."""
        return self._entries.setdefault(debate, asyncio.Event())

    def end_event(self, debate: str) -> asyncio.Event:
        """Set when the debate ends; take it before you read the records."""
        return self._ends.setdefault(debate, asyncio.Event())

    def _wake(self, debate: str, *, over: bool) -> None:
        if event := self._entries.pop(debate, None):
            event.set()
        if over and (event := self._ends.pop(debate, None)):
            event.set()

    def _seal(self) -> None:
        event, self.signed = self.signed, asyncio.Event()
        event.set()
