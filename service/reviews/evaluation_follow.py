"""The entries of an evaluation as they come.

Its records are chains of their own, of which no notification tells. So they are looked for twice a second, while there
are listeners.
"""

from __future__ import annotations

import asyncio
import time

from service.audit.evaluation_events import EvaluationEntry, is_last
from service.reviews.evaluations import EvaluationDesk
from service.reviews.shared_feed import SharedFeed, SharedFeeds

EVERY_S = 0.5
"""How often new entries are looked for."""
LOST_S = 2.0
"""After so long without a checkpoint over the last entry it is asked, as often, whether there will ever be one."""


class EvaluationFeed(SharedFeed[EvaluationEntry]):
    """The feed of one evaluation."""


class EvaluationFeeds(SharedFeeds[EvaluationFeed]):
    """The feeds of the evaluations that have listeners in this process."""

    KIND = "evaluation"

    def __init__(self, desk: EvaluationDesk, *, every_s: float = EVERY_S) -> None:
        super().__init__()
        self._desk = desk
        self._every_s = every_s

    def begin(self, of: str, tenant: str) -> EvaluationFeed:
        """A feed without an entry."""
        return EvaluationFeed(of, tenant)

    async def read(self, feed: EvaluationFeed) -> None:
        """Read entries to the last one, and wait until that is provable; raises `RecordsLost` where it never will."""
        asked = time.monotonic()
        while not await self._is_whole(feed):
            if not feed.over:
                asked = time.monotonic()
            elif time.monotonic() - asked >= LOST_S:
                await self._desk.refuse_lost(feed.of, feed.tenant)
                asked = time.monotonic()
            await asyncio.sleep(self._every_s)
        feed.prove()

    async def _is_whole(self, feed: EvaluationFeed) -> bool:
        """Read what is new; whether the last entry of all is here and provable."""
        if not feed.over and (entries := await self._desk.entries(feed.of, feed.tenant, len(feed.items))):
            feed.add(entries, over=is_last(entries[-1]))
        return feed.over and await self._desk.is_provable(feed.of, feed.tenant, len(feed.items) - 1)
