"""Feeds: what is recorded of a debate or of an evaluation, as it comes, read once for all listeners in this process.

A feed holds its items from the first on, as long as it has listeners. The last one of all is given out once a
checkpoint covers it.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from service import log_lines
from service.errors import GainsayError, StoreUnavailable
from service.reviews.waiters import Waiters

Item = TypeVar("Item")


class SharedFeed(Waiters, Generic[Item]):
    """The feed of one thing, named by its id and tenant, and the listeners that wait for more of it."""

    def __init__(self, of: str, tenant: str) -> None:
        super().__init__()
        self.of = of
        self.tenant = tenant
        self.listeners = 0
        self.reader: asyncio.Task[None] | None = None
        self.items: list[Item] = []
        self.given = 0
        """How many items listeners may have: all, except that the last one of all must be provable."""
        self.over = False
        """Whether the last one of all is among the items."""
        self._failure: GainsayError | None = None

    @property
    def failed(self) -> bool:
        """Whether the feed has failed."""
        return self._failure is not None

    def is_done(self, n: int) -> bool:
        """Whether no item from a number on will ever come; raises the error that ended the feed."""
        if self._failure is not None and n >= self.given:
            raise self._failure.anew()
        return self.over and n >= len(self.items)

    def add(self, items: list[Item], *, over: bool) -> None:
        """Add items that were read; the last one of all is not given out yet."""
        self.items += items
        self.over = over
        self._give(len(self.items) - over)

    def prove(self) -> None:
        """Give out the last item: it is provable."""
        self._give(len(self.items))

    def fail(self, why: GainsayError) -> None:
        """End the feed with an error."""
        self._failure = why.anew()
        self.wake()

    def _give(self, given: int) -> None:
        if given != self.given or self.over:
            self.given = given
            self.wake()


Fed = TypeVar("Fed", bound=SharedFeed[Any])


class SharedFeeds(ABC, Generic[Fed]):
    """The feeds of what has listeners in this process."""

    KIND: str
    """What is followed, as lines of the log name it."""

    def __init__(self) -> None:
        self._kept: dict[str, Fed] = {}

    @abstractmethod
    def begin(self, of: str, tenant: str) -> Fed:
        """A feed without an item."""

    @abstractmethod
    async def read(self, feed: Fed) -> None:
        """Read what there is of a feed, and what comes, until its last item is given out."""

    @asynccontextmanager
    async def open(self, of: str, tenant: str) -> AsyncIterator[Fed]:
        """The feed of something of a tenant for the length of the block; it is read while anyone uses it."""
        feed = self._kept.get(of)
        if feed is None or feed.failed:
            feed = self._kept[of] = self.begin(of, tenant)
            feed.reader = asyncio.get_running_loop().create_task(self._follow(feed), name=f"tail {of}")
        feed.listeners += 1
        try:
            yield feed
        finally:
            feed.listeners -= 1
            if not feed.listeners:
                if self._kept.get(of) is feed:
                    del self._kept[of]
                if feed.reader is not None:
                    feed.reader.cancel()

    async def _follow(self, feed: Fed) -> None:
        try:
            await self.read(feed)
        except GainsayError as error:
            feed.fail(error)
        except Exception as fault:  # noqa: BLE001 - otherwise the listeners would wait for ever
            log_lines.FEED_FAULT.raised(**{self.KIND: feed.of})
            feed.fail(StoreUnavailable(f"a fault of the service ({type(fault).__name__})", retry_after=5))
