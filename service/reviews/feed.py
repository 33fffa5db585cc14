"""The entries of a debate as they come, read when the event hub says that there are new ones.

A thousand listeners cost one query an entry, and one wait for the checkpoint that covers the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from service.audit.stored_record import START, ChainEnd
from service.debate.entries import is_end
from service.report import Line, View
from service.reviews.shared_feed import SharedFeed, SharedFeeds
from service.store.entry_poll import EntryPoll
from service.store.hub import EventHub
from service.store.pool import Database
from service.store.stored_debate import StoredDebate, read_debate

Prove = Callable[[str, str, int], Awaitable[object]]
"""Waits until the record (debate, tenant, number) is provable, for as long as it takes."""


class Feed(SharedFeed[Line]):
    """The feed of one debate."""

    def __init__(self, of: str, tenant: str) -> None:
        super().__init__(of, tenant)
        self.encoded: dict[tuple[int, View | None], bytes] = {}
        """The rendered entries, as far as a listener has rendered them, by number, and the last one by view."""
        self.working = asyncio.Lock()
        """Held while a listener renders an entry."""
        self.end = START
        """The end of the chain, behind which the next entries are read."""

    def take(self, stored: StoredDebate) -> None:
        """Add entries that were read."""
        lines = [Line(record.n, record.at, record.entry, record.actor) for record in stored.records]
        self.end = ChainEnd(len(self.items) + len(lines), stored.last_hash)
        last = [*self.items[-1:], *lines][-1:]
        self.add(lines, over=bool(last) and is_end(last[0].entry))


class Feeds(SharedFeeds[Feed]):
    """The feeds of the debates that have listeners in this process."""

    KIND = "debate"

    def __init__(self, database: Database, hub: EventHub, watch: EntryPoll, prove: Prove) -> None:
        super().__init__()
        self._database = database
        self._hub = hub
        self._watch = watch
        self._prove = prove

    def has_read(self, debate: str) -> bool:
        """Whether listeners in this process follow the debate, so that its records were compared."""
        feed = self._kept.get(debate)
        return feed is not None and bool(feed.items) and not feed.failed

    def begin(self, of: str, tenant: str) -> Feed:
        """A feed without an entry."""
        return Feed(of, tenant)

    async def read(self, feed: Feed) -> None:
        """Read the records of a feed to the debate's end, as notifications come, and wait until that is provable."""
        debate, tenant = feed.of, feed.tenant
        with self._watch.watching(debate, tenant):
            while feed.listeners and not feed.over:
                failures, recorded = self._watch.failures, self._hub.entries_event(debate)
                feed.take(await read_debate(self._database.of(tenant), debate, tenant, after=feed.end))
                self._hub.mark_read(debate, len(feed.items))
                if not feed.over:
                    await recorded.wait()
                    self._watch.check(failures)
        if feed.over:
            await self._prove(debate, tenant, len(feed.items) - 1)
            feed.prove()
