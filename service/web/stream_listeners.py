"""Who listens to event streams in this process, how each of them is woken, and how many there is room for.

A listener waits for whatever comes first: an entry, the next sign of life, the end of the service, or that he is gone
himself. All of that wakes one future, so that thousands who hear nothing cost no tasks and hardly any time.
"""

from __future__ import annotations

import asyncio
import math
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from litestar.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.errors import Overloaded
from service.reviews.feed import Tail, settle

CONNECTION = "gainsay.connection"
"""Under this name the state of a request has the connection that it came by."""
UNSENT = 16 << 10
"""The bytes that are kept for a connection whose other end does not read, beside what is being handed over."""
RESERVED = 128
"""Descriptors that no listener takes: for PostgreSQL, for providers, and for requests that are soon answered."""
COUNT_S = 0.25
"""How often they are counted at most."""
FULL_RETRY_S = 5


class Listener:
    """One who listens: whether he is still there, and what he waits with."""

    def __init__(self, connection: Connection | None) -> None:
        self.connection = connection
        self.gone = connection is not None and connection.transport.is_closing()
        """Whether his connection is: by his own doing, unless he was `dropped`."""
        self.dropped = False
        """Whether he was sent away because he does not read."""
        self._waiting: asyncio.Future[bool] | None = None

    async def rest(self, tail: Tail, seconds: float) -> bool:
        """Wait for something new in the tail, or a word from here, and say whether that came within these seconds."""
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            return await tail.stirred(seconds, self._waiting)
        finally:
            self._waiting = None

    def wake(self) -> None:
        """Let him look around."""
        if self._waiting is not None:
            settle(self._waiting)

    def leave(self) -> None:
        """His connection is lost."""
        self.gone = True
        self.wake()

    async def through(self, seconds: float) -> bool:
        """Whether so much of what was sent has reached him within these seconds that more can be; or drop him."""
        if self.connection is None or not self.connection.flow.write_paused:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self.connection.flow.drain()
        except TimeoutError:
            self.dropped = True
            self.connection.transport.abort()
        return not self.dropped


class Connection(HttpToolsProtocol):
    """uvicorn's connection, which the application finds in the scope, and which tells a listener of its end."""

    listener: Listener | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to take requests."""
        transport.set_write_buffer_limits(high=UNSENT)
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self.scope["state"][CONNECTION] = self

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing can be sent any more."""
        super().connection_lost(exc)
        if self.listener is not None:
            self.listener.leave()


class Listeners:
    """Everybody who listens here."""

    def __init__(self, closing: asyncio.Event) -> None:
        self._closing = closing
        self._here: set[Listener] = set()
        self._waking: asyncio.Task[None] | None = None
        self._left = math.inf
        self._counted_at = -math.inf

    @contextmanager
    def one(self, scope: Scope) -> Iterator[Listener]:
        """One more, for as long as the block lasts."""
        connection = scope["state"].get(CONNECTION)
        listener = Listener(connection if isinstance(connection, Connection) else None)
        self._here.add(listener)
        if listener.connection is not None:
            listener.connection.listener = listener
        if self._waking is None or self._waking.done():
            self._waking = asyncio.get_running_loop().create_task(self._wake(), name="closing")
        try:
            yield listener
        finally:
            self._here.discard(listener)
            if listener.connection is not None:
                listener.connection.listener = None
            if not self._here:
                self._waking.cancel()

    def admit(self) -> None:
        """Count on one more; raises `Overloaded` where the process would run out of descriptors."""
        if time.monotonic() - self._counted_at > COUNT_S:
            self._left, self._counted_at = left(), time.monotonic()
        self._left -= 1
        if self._left < RESERVED:
            raise Overloaded(
                f"this process has as many connections open as it can ({len(self._here)} of them event streams); "
                "connect again later or elsewhere, and raise the limit of open files (ulimit -n) if this stays",
                retry_after=FULL_RETRY_S,
            )

    async def _wake(self) -> None:
        await self._closing.wait()
        for listener in list(self._here):
            listener.wake()


def raise_limit() -> None:
    """Let this process have as many descriptors as it may: the usual 1,024 are a thousand connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # some systems name a hard limit that they do not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def left() -> float:
    """How many descriptors this process may still open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return math.inf
    return soft - sum(1 for _ in Path("/dev/fd").iterdir())
