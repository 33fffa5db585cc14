"""The entries of an evaluation as they come, read once for all of its listeners in this process.

The records of an evaluation are chains of their own, of which no notification tells. So they are looked for twice a
second, while there are listeners. The last entry is given out once a checkpoint covers it, as that of a debate.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service import log_lines
from service.audit.evaluation_events import EvaluationConcluded, EvaluationEntry, EvaluationStopped
from service.errors import GainsayError, StoreUnavailable
from service.reviews.evaluations import EvaluationDesk
from service.reviews.waiters import Waiters

EVERY_S = 0.5
"""How often new entries are looked for."""


def is_last(entry: EvaluationEntry) -> bool:
    """Whether nothing follows an entry."""
    return isinstance(entry, EvaluationConcluded) or (isinstance(entry, EvaluationStopped) and entry.by == "set")


class EvaluationFeed(Waiters):
    """The entries of one evaluation, and the listeners that wait for more."""

    def __init__(self, evaluation: str, tenant: str) -> None:
        super().__init__()
        self.evaluation = evaluation
        self.tenant = tenant
        self.listeners = 0
        self.reader: asyncio.Task[None] | None = None
        self.entries: list[EvaluationEntry] = []
        self.given = 0
        """How many entries listeners may have: all, except that the last one of all must be provable."""
        self._failure: GainsayError | None = None

    @property
    def over(self) -> bool:
        """Whether the last entry of all is here."""
        return bool(self.entries) and is_last(self.entries[-1])

    @property
    def failed(self) -> bool:
        """Whether the feed has failed."""
        return self._failure is not None

    def is_done(self, n: int) -> bool:
        """Whether no entry from a number on will ever come; raises the error that ended the feed."""
        if self._failure is not None and n >= self.given:
            raise self._failure.anew()
        return self.over and n >= len(self.entries)

    def give(self, given: int) -> None:
        """Give out the entries up to a number."""
        if given != self.given:
            self.given = given
            self.wake()

    def fail(self, why: GainsayError) -> None:
        """End the feed with an error."""
        self._failure = why.anew()
        self.wake()


class EvaluationFeeds:
    """The feeds of the evaluations that have listeners in this process."""

    def __init__(self, desk: EvaluationDesk, *, every_s: float = EVERY_S) -> None:
        self._desk = desk
        self._every_s = every_s
        self._kept: dict[tuple[str, str], EvaluationFeed] = {}

    @asynccontextmanager
    async def open(self, evaluation: str, tenant: str) -> AsyncIterator[EvaluationFeed]:
        """The feed of a tenant's evaluation for the length of the block; it reads while it has listeners."""
        key = tenant, evaluation
        feed = self._kept.get(key)
        if feed is None or feed.failed:
            feed = self._kept[key] = EvaluationFeed(evaluation, tenant)
            feed.reader = asyncio.get_running_loop().create_task(self._follow(feed), name=f"tail {evaluation}")
        feed.listeners += 1
        try:
            yield feed
        finally:
            feed.listeners -= 1
            if not feed.listeners:
                if self._kept.get(key) is feed:
                    del self._kept[key]
                if feed.reader is not None:
                    feed.reader.cancel()

    async def _follow(self, feed: EvaluationFeed) -> None:
        """Read entries to the last one, and wait until that is provable."""
        try:
            while True:
                if await self._read(feed):
                    return
                await asyncio.sleep(self._every_s)
        except GainsayError as error:
            feed.fail(error)
        except Exception as fault:  # noqa: BLE001 - otherwise the listeners would wait for ever
            log_lines.FEED_FAULT.raised(debate=feed.evaluation)
            feed.fail(StoreUnavailable(f"a fault of the service ({type(fault).__name__})", retry_after=5))

    async def _read(self, feed: EvaluationFeed) -> bool:
        """Read what is new; whether everything is given out."""
        if not feed.over:
            feed.entries += await self._desk.entries(feed.evaluation, feed.tenant, len(feed.entries))
        given = len(feed.entries) - feed.over
        if feed.over and await self._desk.is_provable(feed.evaluation, feed.tenant, given):
            given += 1
        feed.give(given)
        return given == len(feed.entries) and feed.over
