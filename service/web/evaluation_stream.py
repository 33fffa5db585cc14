"""An evaluation as server-sent events: one recorded entry and its event, the entry's number the id.

It goes on after Last-Event-ID, is silent for 15 seconds at most, and ends as the stream of a debate does
(`service.web.stream`); after its last entry it ends by itself. A listener that leaves changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from msgspec import Struct

from service import log_lines, telemetry
from service.errors import GainsayError
from service.identity.caller import Caller
from service.reviews.evaluation_follow import EvaluationFeed
from service.unseen import escape_json
from service.web.app_state import AppState
from service.web.evaluation_types import EvaluationEvent
from service.web.problems import request_id
from service.web.revocation import WORDS
from service.web.stream import RETRY_MS
from service.web.stream_listeners import Listener


class FollowingEvaluation(Struct, frozen=True):
    """What a listener asked for: an evaluation from the entry after ``after`` on."""

    site: AppState
    caller: Caller
    evaluation: str
    after: int

    async def events(self, listener: Listener) -> AsyncGenerator[bytes, None]:
        """The stream's bytes."""
        yield f"retry: {RETRY_MS}\n\n".encode()
        with telemetry.STREAMS.track_inprogress():
            try:
                async with (
                    self.site.evaluation_feeds.open(self.evaluation, self.caller.tenant) as feed,
                    aclosing(self._chunks(feed, listener)) as chunks,
                ):
                    async for chunk in chunks:
                        yield chunk
            except GainsayError as error:
                telemetry.STREAMS_CUT.labels(reason="error").inc()
                log_lines.STREAM_CUT(request=request_id.get(), debate=self.evaluation, code=error.code)
                yield b": interrupted; connect again with Last-Event-ID\n\n"

    async def _chunks(self, feed: EvaluationFeed, listener: Listener) -> AsyncGenerator[bytes, None]:
        """The entries as they come, a comment after each silence, and an end when the service stops."""
        site, n, spoke_at = self.site, self.after + 1, time.monotonic()
        while not (feed.is_done(n) or listener.gone or listener.dropped):
            if listener.revoked:
                telemetry.STREAMS_CUT.labels(reason="revoked").inc()
                yield f": ended, because {WORDS}\n\n".encode()
                return
            if n < feed.given:
                yield _event(feed, n)
                spoke_at = time.monotonic()
                n += 1
            elif site.closing.is_set():
                telemetry.STREAMS_CUT.labels(reason="stopping").inc()
                yield f"retry: {RETRY_MS}\n: stopping; connect again with Last-Event-ID\n\n".encode()
                return
            elif not await listener.rest(feed, spoke_at + site.heartbeat_s - time.monotonic()):
                yield b": still here\n\n"
                spoke_at = time.monotonic()


def _event(feed: EvaluationFeed, n: int) -> bytes:
    event = EvaluationEvent.of(feed.entries[n])
    data = escape_json(msgspec.json.encode(event))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (n, event.kind.encode(), data)
