"""Feeds: the entries of a debate as they come, read once for all listeners in this process.

A feed holds the entries of one debate from the first on, as long as it has listeners. It reads the records when the
event hub says that there are new ones. A thousand listeners cost one query an entry, and one wait for the checkpoint
that covers the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from service import log_lines
from service.audit.stored_record import START, ChainEnd
from service.debate.entries import is_end
from service.errors import GainsayError, StoreUnavailable
from service.report import Line, View
from service.reviews.waiters import Waiters
from service.store.entry_poll import EntryPoll
from service.store.hub import EventHub
from service.store.pool import Database
from service.store.stored_debate import StoredDebate, read_debate

Prove = Callable[[str, str, int], Awaitable[object]]
"""Waits until the record (debate, tenant, number) is provable, for as long as it takes."""


class Feed(Waiters):
    """The feed of one debate, and the listeners that wait for more entries."""

    def __init__(self, debate: str, tenant: str) -> None:
        super().__init__()
        self.debate = debate
        self.tenant = tenant
        self.listeners = 0
        self.reader: asyncio.Task[None] | None = None
        self.lines: list[Line] = []
        self.encoded: dict[tuple[int, View | None], bytes] = {}
        """The rendered entries, as far as a listener has rendered them, by number, and the last one by view."""
        self.working = asyncio.Lock()
        """Held while a listener renders an entry."""
        self.given = 0
        """How many entries listeners may have: all, except that the last one of the debate must be provable."""
        self.end = START
        """The end of the chain, behind which the next entries are read."""
        self.over = False
        """Whether the end of the debate is among the entries."""
        self._failure: GainsayError | None = None

    @property
    def failed(self) -> bool:
        """Whether the feed has failed."""
        return self._failure is not None

    def is_done(self, n: int) -> bool:
        """Whether no entry from a number on will ever come; raises the error that ended the feed."""
        if self._failure is not None and n >= self.given:
            raise self._failure.anew()
        return self.over and n >= len(self.lines)

    def add(self, stored: StoredDebate) -> None:
        """Add entries that were read; the last one of the debate is not given out yet."""
        self.lines += [Line(record.n, record.at, record.entry, record.actor) for record in stored.records]
        self.end = ChainEnd(len(self.lines), stored.last_hash)
        self.over = bool(self.lines) and is_end(self.lines[-1].entry)
        self._set_given(len(self.lines) - self.over)

    def prove(self) -> None:
        """Give out the last entry: it is provable."""
        self._set_given(len(self.lines))

    def fail(self, why: GainsayError) -> None:
        """End the feed with an error."""
        self._failure = why.anew()
        self.wake()

    def _set_given(self, given: int) -> None:
        if given != self.given or self.over:
            self.given = given
            self.wake()


class Feeds:
    """The feeds of the debates that have listeners in this process."""

    def __init__(self, database: Database, hub: EventHub, watch: EntryPoll, prove: Prove) -> None:
        self._database = database
        self._hub = hub
        self._watch = watch
        self._prove = prove
        self._kept: dict[str, Feed] = {}

    def has_read(self, debate: str) -> bool:
        """Whether listeners in this process follow the debate, so that its records were compared."""
        feed = self._kept.get(debate)
        return feed is not None and bool(feed.lines) and not feed.failed

    @asynccontextmanager
    async def open(self, debate: str, tenant: str) -> AsyncIterator[Feed]:
        """The feed of a tenant's debate for the length of the block; it reads records while anyone uses it."""
        feed = self._kept.get(debate)
        if feed is None or feed.failed:
            feed = self._kept[debate] = Feed(debate, tenant)
            feed.reader = asyncio.get_running_loop().create_task(self._follow(feed), name=f"tail {debate}")
        feed.listeners += 1
        try:
            yield feed
        finally:
            feed.listeners -= 1
            if not feed.listeners:
                if self._kept.get(debate) is feed:
                    del self._kept[debate]
                if feed.reader is not None:
                    feed.reader.cancel()

    async def _follow(self, feed: Feed) -> None:
        """Read the records of a feed to the debate's end, as notifications come."""
        try:
            with self._watch.watching(feed.debate, feed.tenant):
                while feed.listeners and not feed.over:
                    failures, recorded = self._watch.failures, self._hub.entries_event(feed.debate)
                    stored = await read_debate(self._database.of(feed.tenant), feed.debate, feed.tenant, after=feed.end)
                    feed.add(stored)
                    self._hub.mark_read(feed.debate, len(feed.lines))
                    if not feed.over:
                        await recorded.wait()
                        self._watch.check(failures)
            if feed.over:
                await self._prove(feed.debate, feed.tenant, len(feed.lines) - 1)
                feed.prove()
        except GainsayError as error:
            feed.fail(error)
        except Exception as fault:  # noqa: BLE001 - otherwise the listeners would wait for ever
            log_lines.FEED_FAULT.raised(debate=feed.debate)
            feed.fail(StoreUnavailable(f"a fault of the service ({type(fault).__name__})", retry_after=5))
