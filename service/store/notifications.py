"""Notifications between the processes on one database: sends the event hub's events, and receives theirs.

Each process has one connection for this. It listens on one channel, and sends what has come together since the last
time, up to twenty times a second. Notifications are hints and may be lost: waiters also read the tables from time to
time. A pooler may accept LISTEN and deliver nothing, so each process expects its own notification every few seconds.
While that does not arrive `EventHub.linked` is False and all waiters poll often (`entry_poll.py`).
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import psycopg
from msgspec import Struct

from service import log_lines, telemetry
from service.store.hub import EventHub, HubNotice
from service.store.pool import WIRE, Connection
from service.store.queries import queries

PERIOD_S = 0.05
"""The shortest interval between two notifications."""
ALIVE_S = 5.0
"""How often a process without events sends an empty notification, to hear itself."""
ECHO_S = 2.0
"""The age at which an own notification that was not received counts as lost."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0
"""The first and the longest wait before the connection is made again."""
MOST = 150
"""Debates in one payload: PostgreSQL takes fewer than 8,000 bytes, and an id with its quotes has 39."""
DRAIN_S = 0.02
LAST_S = 0.5
"""How long sending the last events may take."""


class Payload(Struct, frozen=True, omit_defaults=True):
    """One notification, as JSON; fields of later versions are ignored. ``by`` is one running process."""

    by: str
    debates: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    queued: bool = False
    signed: bool = False


def payloads(by: str, notice: HubNotice) -> list[str]:
    """All events, in as many payloads as they need, at least one."""
    marked = [(debate, False) for debate in notice.debates] + [(debate, True) for debate in notice.ended]
    parts = [marked[n : n + MOST] for n in range(0, len(marked), MOST)] or [[]]
    return [
        msgspec.json.encode(
            Payload(
                by,
                tuple(debate for debate, over in part if not over),
                tuple(debate for debate, over in part if over),
                queued=notice.queued and not nth,
                signed=notice.signed and not nth,
            )
        ).decode()
        for nth, part in enumerate(parts)
    ]


class Notifications:
    """Sends and receives until it is stopped; reconnects when the database was away."""

    def __init__(self, url: str, hub: EventHub) -> None:
        self._url = url
        self._hub = hub
        self._name = secrets.token_hex(8)
        self._connection: Connection | None = None
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._troubled = False
        self._pause_s = FIRST_PAUSE_S
        self._sent_at = -ALIVE_S
        self._unheard_since: float | None = None

    async def run(self) -> None:
        """Send and receive until `stop`. Errors are logged and never end the loop."""
        while not self._stopping.is_set():
            try:
                await self._use_connection()
            except (psycopg.Error, OSError) as error:
                self._mark_lost(type(error).__name__)
            except Exception as fault:  # noqa: BLE001 - a dead loop would leave a process without notifications
                log_lines.NOTICES_FAULT.raised()
                self._mark_lost(type(fault).__name__)
            if not self._stopping.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pause_s):
                        await self._stopping.wait()
                self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)

    async def stop(self) -> None:
        """Receive nothing more, and send the last events if the server answers. `run` cannot be used after this."""
        self._stopping.set()
        self._hub.linked = False
        if self._connection is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_S):
                    await self._ended.wait()

    async def _use_connection(self) -> None:
        """Use one connection until it is lost, or until the last events are sent."""
        options: dict[str, Any] = {"autocommit": True, **WIRE}
        connection = await Connection.connect(self._url, **options)
        self._connection = connection
        self._ended.clear()
        try:
            await connection.execute(queries()["subscribe"])
            self._sent_at, self._unheard_since = -ALIVE_S, None
            while not self._stopping.is_set():
                await self._exchange(connection)
            if self._hub.outgoing.is_set():
                await self._send(connection)
        finally:
            self._connection = None
            self._ended.set()
            connection.cut()  # a goodbye could block if the server does not answer
            await connection.close()

    async def _exchange(self, connection: Connection) -> None:
        """Wait until there is something to receive or to send, and do it."""
        arrived = await self._wait_for_work(connection, self._rest_s())
        if sends := time.monotonic() - self._sent_at >= (PERIOD_S if self._hub.outgoing.is_set() else ALIVE_S):
            await self._send(connection)
        if arrived or sends:  # notifications also come with the answer to what was sent
            async for notice in connection.notifies(timeout=DRAIN_S if arrived else 0.0, stop_after=1):
                self._receive(notice.payload)
        if self._unheard_since is not None and time.monotonic() - self._unheard_since > ECHO_S:
            self._mark_lost("own notifications are not delivered, as behind a transaction pooler")

    def _rest_s(self) -> float:
        """Seconds until something is due if no event comes."""
        due = self._sent_at + (PERIOD_S if self._hub.outgoing.is_set() else ALIVE_S)
        if self._unheard_since is not None and not self._troubled:
            due = min(due, self._unheard_since + ECHO_S)
        return max(0.0, due - time.monotonic())

    async def _wait_for_work(self, connection: Connection, seconds: float) -> bool:
        """Wait for data, an event to send, or a stop; return whether data arrived within these seconds."""
        loop, socket_ = asyncio.get_running_loop(), connection.fileno()
        arrived: asyncio.Future[None] = loop.create_future()
        waits: set[asyncio.Future[Any]] = {arrived, asyncio.ensure_future(self._stopping.wait())}
        if not self._hub.outgoing.is_set():
            waits.add(asyncio.ensure_future(self._hub.outgoing.wait()))
        loop.add_reader(socket_, _set_done, arrived)
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return arrived.done()
        finally:
            loop.remove_reader(socket_)
            for wait in waits:
                wait.cancel()

    async def _send(self, connection: Connection) -> None:
        bodies = payloads(self._name, self._hub.drain_outgoing())
        async with asyncio.timeout(ECHO_S):  # nothing is received during this time either
            await connection.execute(queries()["tell"], {"payloads": bodies})
        telemetry.NOTICES.labels(direction="sent").inc(len(bodies))
        self._sent_at = time.monotonic()
        if self._unheard_since is None:
            self._unheard_since = self._sent_at

    def _receive(self, payload: str) -> None:
        """Handle a notification; an own one proves that they are delivered. One that cannot be decoded is ignored."""
        try:
            heard = msgspec.json.decode(payload, type=Payload)
        except msgspec.MsgspecError:
            return
        if heard.by == self._name:
            self._unheard_since = None
            self._mark_linked()
            return
        telemetry.NOTICES.labels(direction="heard").inc()
        self._hub.receive(HubNotice(heard.debates, heard.ended, heard.queued, heard.signed))

    def _mark_linked(self) -> None:
        if self._hub.linked or self._stopping.is_set():
            return
        self._hub.linked, self._pause_s = True, FIRST_PAUSE_S
        self._hub.missed()
        if self._troubled:
            self._troubled = False
            log_lines.NOTICES_RECOVERED()

    def _mark_lost(self, why: str) -> None:
        self._hub.linked = False
        if not self._troubled and not self._stopping.is_set():
            self._troubled = True
            log_lines.NOTICES_AWAY(why=why)


def _set_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


@asynccontextmanager
async def listening(url: str, hub: EventHub) -> AsyncIterator[None]:
    """Exchange notifications with the other processes on a database during the block, as far as it can be reached.

    A part that sends notifications to the end, such as a worker that releases debates, must end inside this block.
    """
    notices = Notifications(url, hub)
    task = asyncio.create_task(notices.run(), name="notices")
    try:
        yield
    finally:
        await notices.stop()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
