"""A debate as server-sent events (`service.web.stream`): an entry's number is the id of the last of its events.

    event, data               an event of an entry that has more than one, before its last
    id                        an entry without an event, a check that found nothing: an EventSource notes the id and
                              shows nothing, so ids are without a gap on the wire

The stream ends after ``final``, which a declined case has too. A listener that leaves does not change the debate,
unless the case asks for that (``onDisconnect``). In such a debate a listener that was cut off counts as gone if it does
not come back, except where the service stopped.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from service.debate.entries import CaseReceived, is_end
from service.identity.caller import Caller
from service.report import Event, Line, View
from service.report import events as events_of
from service.reviews.feed import Feed
from service.unseen import escape_json
from service.web.app_state import AppState
from service.web.stream import Following


class FollowingDebate(Following[Feed]):
    """A debate that a listener follows; its last event has a view of the result."""

    KIND = "debate"

    def __init__(self, site: AppState, caller: Caller, of: str, after: int = -1, view: View = "summary") -> None:
        super().__init__(site, caller, of, after)
        self._view = view
        self._counts = False
        """Whether the debate ends when its listeners are gone, and this one was counted among them."""
        self._noted_at = time.monotonic()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Feed]:
        """The feed of the debate, and a listener that is counted out at the end; raises `NotFound`."""
        async with self.site.reviews.feed(self.of, self.caller) as feed:
            try:
                yield feed
            finally:
                if self._counts:
                    of_itself = not (feed.over or self.site.closing.is_set())
                    self.site.leaving.listener_left(self.of, of_itself=of_itself, in_trouble=feed.failed)

    async def chunk(self, feed: Feed, n: int) -> bytes:
        """The events of an entry, computed once for all listeners that are sent the same ones."""
        if not n and _ends_with_listeners(feed.items[0]):
            self.site.leaving.listener_joined(self.of, feed.tenant)
            self._counts = True
        if n <= self.after:
            return b""
        key = n, self._view if is_end(feed.items[n].entry) else None
        if key not in feed.encoded:
            async with feed.working:
                if key not in feed.encoded:
                    feed.encoded[key] = await self._encode(feed, n)
        if feed.encoded[key]:
            self._note()
        return feed.encoded[key]

    def _note(self) -> None:
        """Note again that a listener reads, a period after it was noted; raises `AuditUnavailable`."""
        if (now := time.monotonic()) - self._noted_at >= self.site.noted_s:
            self.site.readings.note(self.caller, "events", self.of)
            self._noted_at = now

    async def _encode(self, feed: Feed, n: int) -> bytes:
        line, reviews = feed.items[n], self.site.reviews
        # What the last event carries is equal to the answer of GET without a stream.
        concluded = await reviews.result(self.of, self.caller) if is_end(line.entry) else None
        rendered = events_of(line, self.of, feed.items[:n], concluded=concluded, view=self._view)
        if not rendered:
            return b"id: %d\n\n" % line.n if line.n else b""  # the case is part of `gate`
        return b"".join([encode(event, None) for event in rendered[:-1]] + [encode(rendered[-1], line.n)])


def encode(event: Event, number: int | None) -> bytes:
    """One event, without an id where ``number`` is ``None``: more of its entry follows.

    JSON as msgspec writes it has no line break, so the data is one line.
    """
    chunk = b"event: %s\ndata: %s\n\n" % (event.name.encode(), escape_json(msgspec.json.encode(event.data)))
    return chunk if number is None else b"id: %d\n%s" % (number, chunk)


def _ends_with_listeners(first: Line) -> bool:
    return isinstance(first.entry, CaseReceived) and first.entry.case.on_disconnect == "abort"
