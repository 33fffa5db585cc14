"""The listeners to event streams in this process: how each is woken, and how many the process admits.

A listener waits for the first of five things: an entry, the time of the next heartbeat, the stop of the service, the
revocation of its caller's credential, or the end of its connection. All five wake one future, so thousands of idle
listeners need no tasks and hardly any time. One task asks for each caller, not for each listener, whether its
credential is still good.
"""

from __future__ import annotations

import asyncio
import math
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from litestar.types import Scope

from service import telemetry
from service.errors import Overloaded, RateLimited
from service.identity.authentication import Authenticator
from service.identity.caller import Caller
from service.reviews.waiters import Awaited, resolve
from service.web.connection_bounds import BoundedConnection
from service.web.rate_limits import key_of
from service.web.revocation import LOOK_S, is_still_good

CONNECTION = "gainsay.connection"
"""The name under which the state of a request holds its connection."""
UNSENT = 16 << 10
"""The bytes buffered for a connection whose client does not read, besides the piece being sent."""
RESERVED = 128
"""Descriptors reserved for PostgreSQL, for providers and for short requests; no listener gets one of them."""
LOOKED_AT_ONCE = 32
"""Callers whose credentials are looked at together."""
COUNT_S = 0.25
"""The least time between two counts of descriptors."""
FULL_RETRY_S = 5


class Listener:
    """A listener: whether it is still connected, and the future on which it waits."""

    def __init__(self, connection: StreamConnection | None) -> None:
        self.connection = connection
        self.gone = connection is not None and connection.transport.is_closing()
        """Whether the connection is closed: by the client, unless the service `dropped` it."""
        self.dropped = False
        """Whether the service closed the connection because the client does not read."""
        self.caller: Caller | None = None
        """Whose credential is looked at while the listener is here; ``None`` where the service knows no identities."""
        self.revoked = False
        """Whether that credential is not good any more."""
        self._waiting: asyncio.Future[bool] | None = None

    async def rest(self, feed: Awaited, seconds: float) -> bool:
        """Wait for a new entry or a wake-up; whether one came within these seconds."""
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            return await feed.wait_changed(seconds, self._waiting)
        finally:
            self._waiting = None

    def wake(self) -> None:
        """Make the listener check its state."""
        if self._waiting is not None:
            resolve(self._waiting)

    def refuse(self) -> None:
        """Mark the caller's credential as revoked."""
        self.revoked = True
        self.wake()

    def leave(self) -> None:
        """Mark the connection as lost."""
        self.gone = True
        self.wake()

    async def through(self, seconds: float) -> bool:
        """Whether the buffer drained within these seconds, so that more can be sent; if not, drop the listener."""
        if self.connection is None or not self.connection.flow.write_paused:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self.connection.flow.drain()
        except TimeoutError:
            self.dropped = True
            self.connection.transport.abort()
        return not self.dropped


class StreamConnection(BoundedConnection):
    """A connection of the server. The application finds it in the scope, and it wakes its listener when it is lost."""

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
        """Wake the listener: the connection is lost."""
        super().connection_lost(exc)
        if self.listener is not None:
            self.listener.leave()


class Listeners:
    """All listeners of this process."""

    def __init__(self, closing: asyncio.Event, authenticator: Authenticator) -> None:
        self._closing = closing
        self._authenticator = authenticator
        self._here: set[Listener] = set()
        self._held = Counter[str]()
        self._waking: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._left = math.inf
        self._counted_at = -math.inf

    @contextmanager
    def one(self, scope: Scope, caller: Caller) -> Iterator[Listener]:
        """A new listener of a caller, as long as the block lasts."""
        connection = scope["state"].get(CONNECTION)
        listener = Listener(connection if isinstance(connection, StreamConnection) else None)
        self._here.add(listener)
        self._held[key_of(caller)] += 1
        if listener.connection is not None:
            listener.connection.listener = listener
        if self._waking is None or self._waking.done():
            self._waking = asyncio.get_running_loop().create_task(self._wake(), name="closing")
        if self._authenticator.configured:
            listener.caller = caller
            if self._looking is None or self._looking.done():
                self._looking = asyncio.get_running_loop().create_task(self._look(), name="revocations")
        try:
            yield listener
        finally:
            self._here.discard(listener)
            self._let_go(key_of(caller))
            if listener.connection is not None:
                listener.connection.listener = None
            if not self._here:
                self._rest()

    @contextmanager
    def waiting(self, caller: str, most: int | None) -> Iterator[bool]:
        """Whether a caller may wait for a debate during the block: it has fewer listeners and waits than ``most``."""
        if most is not None and self._held[caller] >= most:
            yield False
            return
        self._held[caller] += 1
        try:
            yield True
        finally:
            self._let_go(caller)

    def _let_go(self, caller: str) -> None:
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]

    def admit(self, caller: str = "", most: int | None = None) -> None:
        """Admit one more listener of a caller.

        Raises `RateLimited` where the caller has ``most`` listeners and waits, and `Overloaded` where the process would
        run out of descriptors.
        """
        if most is not None and self._held[caller] >= most:
            telemetry.HTTP_REFUSED.labels(reason="listeners").inc()
            raise RateLimited(
                f"listeners: {most} event streams and waits at the same time are the share of this caller in one "
                "process; close one before the next, or poll",
                retry_after=FULL_RETRY_S,
            )
        if time.monotonic() - self._counted_at > COUNT_S:
            self._left, self._counted_at = remaining(), time.monotonic()
        self._left -= 1
        if self._left < RESERVED:
            raise Overloaded(
                f"this process has its most connections open ({len(self._here)} of them event streams); connect again "
                "later or to another process, and raise the limit of open files (ulimit -n) if this persists",
                retry_after=FULL_RETRY_S,
            )

    def _rest(self) -> None:
        """End both tasks. They are forgotten at once: one that is not over yet would be taken for one that goes on."""
        for task in (self._waking, self._looking):
            if task is not None:
                task.cancel()
        self._waking = self._looking = None

    async def _wake(self) -> None:
        await self._closing.wait()
        for listener in list(self._here):
            listener.wake()

    async def _look(self) -> None:
        """End the streams of callers whose credentials are revoked."""
        while True:
            await asyncio.sleep(LOOK_S)
            callers = defaultdict[Caller, list[Listener]](list)
            for listener in self._here:
                if listener.caller is not None:
                    callers[listener.caller].append(listener)
            # Some at a time: one after another, the last of many callers would be looked at too late.
            asked = list(callers)
            for begin in range(0, len(asked), LOOKED_AT_ONCE):
                part = asked[begin : begin + LOOKED_AT_ONCE]
                good = await asyncio.gather(*(is_still_good(self._authenticator, caller) for caller in part))
                for listener in chain(*(callers[one] for one, is_good in zip(part, good, strict=True) if not is_good)):
                    listener.refuse()


def raise_limit() -> None:
    """Raise the limit of descriptors to the hard limit: the usual 1,024 allow only a thousand connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # some systems name a hard limit that they do not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def remaining() -> float:
    """How many descriptors this process may still open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return math.inf
    return soft - sum(1 for _ in Path("/dev/fd").iterdir())
