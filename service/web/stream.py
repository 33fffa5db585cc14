"""A debate as server-sent events: one recorded entry and its events, the entry's number the id of the last of them.

    retry: 1000               how long to wait before connecting again
    event, data               an event of an entry that has more than one, before its last
    id, event, data           from the entry after Last-Event-ID on, however long ago that was
    : still here              a comment every quarter of a minute, so that no proxy takes silence for the end

The stream ends after ``final``, or after the ``gate`` event of a declined case. It also ends when the service stops
and when the database cannot be read; whoever listens then connects again with the last id that it saw, and misses
nothing. Leaving a stream changes nothing in the debate.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import msgspec

from service import telemetry
from service.debate.entries import DebateConcluded
from service.errors import GainsayError
from service.report import Event, Line, final
from service.report import events as events_of
from service.web.problems import request_id
from service.web.site import LOCAL, Site

EVENT_STREAM = "text/event-stream"
RETRY_MS = 1_000


async def events(site: Site, debate: str, after: int | None) -> AsyncGenerator[bytes, None]:
    """The stream's bytes, from the entry after ``after`` on."""
    told = request_id.get()
    before: list[Line] = []
    seen = -1 if after is None else after
    yield f"retry: {RETRY_MS}\n\n".encode()
    with telemetry.STREAMS.track_inprogress():
        try:
            async with aclosing(_paced(site.reviews.follow(debate, LOCAL), site)) as lines:
                async for line in lines:
                    if line is None:
                        yield b": still here\n\n"
                        continue
                    if line.n > seen:
                        for found in await _events(site, debate, line, before):
                            yield found
                    before.append(line)
        except GainsayError as error:
            telemetry.LOG.warning("event stream cut", extra={"request": told, "debate": debate, "code": error.code})
            yield b": interrupted; connect again with Last-Event-ID\n\n"
            return
        if site.closing.is_set():
            yield f"retry: {RETRY_MS}\n: stopping; connect again with Last-Event-ID\n\n".encode()


def encode(event: Event, number: int | None) -> bytes:
    """One event, without an id where ``number`` is ``None``: more of its entry follows.

    JSON as msgspec writes it has no line break, so the data is one line.
    """
    told = b"event: %s\ndata: %s\n\n" % (event.name.encode(), msgspec.json.encode(event.data))
    return told if number is None else b"id: %d\n%s" % (number, told)


async def _events(site: Site, debate: str, line: Line, before: list[Line]) -> list[bytes]:
    if isinstance(line.entry, DebateConcluded):  # the same as is answered without a stream
        return [encode(final(line, await site.reviews.result(debate, LOCAL)), line.n)]
    told = events_of(line, debate, before)
    return [encode(event, None) for event in told[:-1]] + [encode(event, line.n) for event in told[-1:]]


async def _paced(lines: AsyncIterator[Line], site: Site) -> AsyncGenerator[Line | None, None]:
    """The lines as they come, ``None`` whenever none came for a while, and an end when the service stops."""
    closing: asyncio.Future[Any] = asyncio.ensure_future(site.closing.wait())
    coming: asyncio.Future[Any] | None = None
    try:
        while not closing.done():
            coming = coming or asyncio.ensure_future(anext(lines))
            await asyncio.wait({coming, closing}, timeout=site.heartbeat_s, return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                try:
                    line = coming.result()
                except StopAsyncIteration:
                    return
                coming = None
                yield line
            elif not closing.done():
                yield None
    finally:
        for task in (closing, coming):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError, StopAsyncIteration, GainsayError):
                    await task
