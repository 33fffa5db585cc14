"""A debate as server-sent events: one recorded entry and its events, the entry's number the id of the last of them.

    retry: 1000               how long to wait before connecting again
    event, data               an event of an entry that has more than one, before its last
    id, event, data           from the entry after Last-Event-ID on, however long ago that was
    id                        an entry without an event, a check that found nothing: an EventSource notes the id and
                              shows nothing, so ids are without a gap on the wire
    : still here              a comment after 15 seconds of silence, so that no proxy takes the stream for ended

The stream ends after ``final``, which a declined case has too. It also ends when the service stops, when the database
cannot be read, and within 5 seconds of the revocation of the caller's credential. The listener then connects again with
the last id that it saw, and misses nothing. The same holds for a listener that was cut off because it did not read. A
listener that leaves does not change the debate, unless the case asks for that (``onDisconnect``). In such a debate a
listener that was cut off counts as gone if it does not come back, except where the service stopped.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send
from msgspec import Struct

from service import log_lines, telemetry
from service.debate.entries import CaseReceived, is_end
from service.errors import GainsayError
from service.identity.caller import Caller
from service.report import Event, Line, View
from service.report import events as events_of
from service.reviews.feed import Feed
from service.unseen import escape_json
from service.web.app_state import AppState, HttpRequest
from service.web.problems import request_id
from service.web.revocation import WORDS
from service.web.stream_listeners import Listener

EVENT_STREAM = "text/event-stream"
RETRY_MS = 1_000
PIECE = 16 << 10
"""The most bytes passed to a connection in one piece: a large event is never buffered whole for each listener."""


class Following(Struct, frozen=True):
    """What a listener asked for: a debate from the entry after ``after`` on; ``final`` has this view of the result."""

    site: AppState
    caller: Caller
    debate: str
    after: int
    view: View = "summary"


Source = Callable[[Listener], AsyncGenerator[bytes, None]]
"""The bytes of a stream, as long as its listener is there."""


class EventStream(Response[bytes]):
    """The answer that streams a debate: as its events, or as a ``source`` writes it."""

    def __init__(self, asked: Following, headers: dict[str, str], source: Source | None = None) -> None:
        super().__init__(content=b"", media_type=EVENT_STREAM, headers=headers)
        self._asked = asked
        self._source: Source = source or partial(events, asked)

    def to_asgi_response(self, app: object, request: HttpRequest, **_given: Any) -> ASGIResponse:
        """The answer as the server takes it."""
        headers = {name: str(value) for name, value in self.headers.items()}
        return _Streamed(self._asked, self._source, request.scope, headers)


class _Streamed(ASGIResponse):
    """Sends a stream, and drops a listener that does not read it."""

    _should_set_content_length = False

    def __init__(self, asked: Following, source: Source, scope: Scope, headers: dict[str, str]) -> None:
        super().__init__(headers=headers, media_type=EVENT_STREAM)
        self._asked, self._source, self._scope = asked, source, scope

    async def send_body(self, send: Send, receive: Receive) -> None:
        """Send events until the stream ends or the listener is gone."""
        site = self._asked.site
        with site.listeners.one(self._scope, self._asked.caller) as listener:
            async with aclosing(self._source(listener)) as chunks:
                async for chunk in chunks:
                    for begin in range(0, len(chunk), PIECE):
                        body = chunk[begin : begin + PIECE]
                        await send({"type": "http.response.body", "body": body, "more_body": True})
                        if not await listener.through(site.slow_s):
                            break
            if listener.dropped:
                telemetry.STREAMS_CUT.labels(reason="slow").inc()
                fields = {"request": request_id.get(), "debate": self._asked.debate}
                log_lines.STREAM_SLOW(**fields)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def events(asked: Following, listener: Listener) -> AsyncGenerator[bytes, None]:
    """The stream's bytes."""
    yield f"retry: {RETRY_MS}\n\n".encode()
    with telemetry.STREAMS.track_inprogress():
        try:
            async with (
                asked.site.reviews.feed(asked.debate, asked.caller) as feed,
                aclosing(_chunks(asked, feed, listener)) as chunks,
            ):
                async for chunk in chunks:
                    yield chunk
        except GainsayError as error:
            telemetry.STREAMS_CUT.labels(reason="error").inc()
            fields = {"request": request_id.get(), "debate": asked.debate, "code": error.code}
            log_lines.STREAM_CUT(**fields)
            yield b": interrupted; connect again with Last-Event-ID\n\n"


async def _chunks(asked: Following, feed: Feed, listener: Listener) -> AsyncGenerator[bytes, None]:
    """The entries as they come, a comment after each silence, and an end when the service stops."""
    site, n, joined, spoke_at = asked.site, 0, False, time.monotonic()
    noted_at = spoke_at
    try:
        while not (feed.is_done(n) or listener.gone or listener.dropped):
            if listener.revoked:
                telemetry.STREAMS_CUT.labels(reason="revoked").inc()
                yield f": ended, because {WORDS}\n\n".encode()
                return
            if n < feed.given:
                if not n and _ends_with_listeners(feed.lines[0]):
                    site.leaving.listener_joined(feed.debate, feed.tenant)
                    joined = True
                if n > asked.after and (chunk := await _event_bytes(asked, feed, n)):
                    noted_at = _noted(asked, noted_at)
                    yield chunk
                    spoke_at = time.monotonic()
                n += 1
            elif site.closing.is_set():
                telemetry.STREAMS_CUT.labels(reason="stopping").inc()
                yield f"retry: {RETRY_MS}\n: stopping; connect again with Last-Event-ID\n\n".encode()
                return
            elif not await listener.rest(feed, spoke_at + site.heartbeat_s - time.monotonic()):
                yield b": still here\n\n"
                spoke_at = time.monotonic()
    finally:
        if joined:
            of_itself = not (feed.over or site.closing.is_set())
            site.leaving.listener_left(feed.debate, of_itself=of_itself, in_trouble=feed.failed)


def _noted(asked: Following, at: float) -> float:
    """Note again that a listener reads, a period after it was noted; raises `AuditUnavailable`.

    Returns when it was noted last.
    """
    if (now := time.monotonic()) - at < asked.site.noted_s:
        return at
    asked.site.readings.note(asked.caller, "events", asked.debate)
    return now


async def _event_bytes(asked: Following, feed: Feed, n: int) -> bytes:
    """The events of an entry, computed once for all listeners that are sent the same ones."""
    key = n, asked.view if is_end(feed.lines[n].entry) else None
    if key not in feed.encoded:
        async with feed.working:
            if key not in feed.encoded:
                feed.encoded[key] = await _encode_events(asked, feed, n)
    return feed.encoded[key]


async def _encode_events(asked: Following, feed: Feed, n: int) -> bytes:
    line, reviews = feed.lines[n], asked.site.reviews
    # What the last event carries is equal to the answer of GET without a stream.
    concluded = await reviews.result(feed.debate, asked.caller) if is_end(line.entry) else None
    rendered = events_of(line, feed.debate, feed.lines[:n], concluded=concluded, view=asked.view)
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
