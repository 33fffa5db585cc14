"""What is recorded, as server-sent events, as it comes: a debate, or an evaluation.

    retry: 1000               how long to wait before connecting again
    id, event, data           one recorded entry, from the entry after Last-Event-ID on, however long ago that was
    : still here              a comment after 15 seconds of silence, so that no proxy takes the stream for ended

The stream ends after the last entry. It also ends when the service stops, when the database cannot be read, and within
5 seconds of the revocation of the caller's credential. The listener then connects again with the last id that it saw,
and misses nothing. The same holds for a listener that was cut off because it did not read.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from functools import partial
from typing import Any, Generic, TypeVar

from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from service import log_lines, telemetry
from service.errors import GainsayError
from service.identity.caller import Caller
from service.reviews.shared_feed import SharedFeed
from service.web.app_state import AppState, HttpRequest
from service.web.problems import request_id
from service.web.revocation import WORDS
from service.web.stream_listeners import Listener

EVENT_STREAM = "text/event-stream"
RETRY_MS = 1_000
PIECE = 16 << 10
"""The most bytes passed to a connection in one piece: a large event is never buffered whole for each listener."""
Fed = TypeVar("Fed", bound=SharedFeed[Any])


class Following(ABC, Generic[Fed]):
    """What a listener follows, from the entry after ``after`` on. One for each stream."""

    KIND: str
    """What it is, as lines of the log name it."""

    def __init__(self, site: AppState, caller: Caller, of: str, after: int = -1) -> None:
        self.site = site
        self.caller = caller
        self.of = of
        """The id of what is followed."""
        self.after = after

    @abstractmethod
    def open(self) -> AbstractAsyncContextManager[Fed]:
        """Its feed, shared by all its listeners."""

    @abstractmethod
    async def chunk(self, feed: Fed, n: int) -> bytes:
        """What is sent of an entry: nothing of one that was heard. It is asked of every entry, from the first on."""

    def log_fields(self) -> dict[str, str]:
        """What a line of the log says of it."""
        return {"request": request_id.get(), self.KIND: self.of}


Source = Callable[[Listener], AsyncGenerator[bytes, None]]
"""The bytes of a stream, as long as its listener is there."""


class EventStream(Response[bytes]):
    """The answer that streams what is followed: as its events, or as a ``source`` writes it."""

    def __init__(self, asked: Following[Any], headers: dict[str, str], source: Source | None = None) -> None:
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

    def __init__(self, asked: Following[Any], source: Source, scope: Scope, headers: dict[str, str]) -> None:
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
                log_lines.STREAM_SLOW(**self._asked.log_fields())
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def events(asked: Following[Any], listener: Listener) -> AsyncGenerator[bytes, None]:
    """The stream's bytes."""
    yield f"retry: {RETRY_MS}\n\n".encode()
    with telemetry.STREAMS.track_inprogress():
        try:
            async with asked.open() as feed, aclosing(_chunks(asked, feed, listener)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except GainsayError as error:
            telemetry.STREAMS_CUT.labels(reason="error").inc()
            log_lines.STREAM_CUT(**asked.log_fields(), code=error.code)
            yield b": interrupted; connect again with Last-Event-ID\n\n"


async def _chunks(asked: Following[Fed], feed: Fed, listener: Listener) -> AsyncGenerator[bytes, None]:
    """The entries as they come, a comment after each silence, and an end when the service stops."""
    site, n, spoke_at = asked.site, 0, time.monotonic()
    while not (feed.is_done(n) or listener.gone or listener.dropped):
        if listener.revoked:
            telemetry.STREAMS_CUT.labels(reason="revoked").inc()
            yield f": ended, because {WORDS}\n\n".encode()
            return
        if n < feed.given:
            if chunk := await asked.chunk(feed, n):
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
