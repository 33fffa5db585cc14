"""An evaluation as server-sent events (`service.web.stream`): one event for each entry, whose number is the id.

A listener that leaves changes nothing.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import msgspec

from service.reviews.evaluation_follow import EvaluationFeed
from service.unseen import escape_json
from service.web.evaluation_types import EvaluationEvent
from service.web.stream import Following


class FollowingEvaluation(Following[EvaluationFeed]):
    """An evaluation that a listener follows."""

    KIND = "evaluation"

    def open(self) -> AbstractAsyncContextManager[EvaluationFeed]:
        """The feed of the evaluation."""
        return self.site.evaluation_feeds.open(self.of, self.caller.tenant)

    async def chunk(self, feed: EvaluationFeed, n: int) -> bytes:
        """The event of an entry."""
        if n <= self.after:
            return b""
        event = EvaluationEvent.of(feed.items[n])
        data = escape_json(msgspec.json.encode(event))
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (n, event.kind.encode(), data)
