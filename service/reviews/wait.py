"""What listeners wait for: the next entries of a debate, its end, and the checkpoint that covers a record."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from service import telemetry
from service.errors import BadRequest, NotProvable
from service.report import Line
from service.report.result.types import LogPosition
from service.reviews.feed import Feed, Feeds
from service.store.entry_poll import POLL_S, EntryPoll
from service.store.hub import EventHub
from service.store.left_logs import is_left, refuse_lost
from service.store.pool import Database
from service.store.proofs import proven
from service.store.stored_debate import read_debate, read_head, read_records

LOOK_S = 0.02
"""The first interval of looking for a checkpoint, in case no notification of it comes."""
LOST_S = 2.0
"""After so long without a checkpoint it is asked whether there will ever be one."""
RETRY_WINDOW_S = 5.0
"""The longest interval, while notifications arrive: many listeners may wait for a signer that is away."""


class DebateWaiter:
    """Waits for records of this process or another.

    A decision is given when a checkpoint covers it, and not before, unless ``held`` is False. ``show`` gets the head
    (log, size, root) that an answer rests on. ``every_tenant`` is the service's own login, which reads incidents.
    """

    def __init__(
        self,
        database: Database,
        watch: EntryPoll,
        hub: EventHub,
        *,
        held: bool,
        show: Callable[[str, int, bytes], None],
        every_tenant: Database,
    ) -> None:
        self._database = database
        self._every_tenant = every_tenant
        self._hub = hub
        self._held = held
        self._show = show
        self._watch = watch
        self._feeds = Feeds(database, hub, self._watch, self._prove)

    @asynccontextmanager
    async def feed(self, debate: str, tenant: str) -> AsyncIterator[Feed]:
        """The feed of a debate, shared by all its listeners in this process; raises `NotFound`."""
        await read_head(self._database.of(tenant), debate, tenant)
        async with self._feeds.open(debate, tenant) as feed:
            yield feed

    async def follow(
        self, debate: str, tenant: str, from_n: int = 0, *, retry_window_s: float = math.inf
    ) -> AsyncGenerator[Line, None]:
        """Every entry from a number on, once and in order, until the debate has ended; raises `NotFound`.

        The last one comes when it is provable; raises `NotProvable` when that takes longer than ``retry_window_s``.
        """
        async with self.feed(debate, tenant) as feed:
            until = math.inf
            while not feed.is_done(from_n):
                if from_n < feed.given:
                    yield feed.items[from_n]
                    from_n += 1
                    continue
                if feed.over and until == math.inf:
                    until = time.monotonic() + retry_window_s
                if until <= time.monotonic():
                    raise _not_provable(debate)
                await feed.wait_changed(until - time.monotonic())

    async def wait(self, debate: str, tenant: str, seconds: float) -> bool:
        """Wait up to so many seconds; return whether the debate ended, with a provable end, in that time."""
        until = time.monotonic() + seconds
        with self._watch.watching(debate, tenant):
            while True:
                failures, end = self._watch.failures, self._hub.end_event(debate)
                head = await read_head(self._database.of(tenant), debate, tenant)
                if head["state"] not in ("queued", "running"):
                    return await self._is_proved(debate, tenant, head["next_n"] - 1, until - time.monotonic())
                left = until - time.monotonic()
                if left <= 0:
                    return False
                await _wait_set(end, left)
                self._watch.check(failures)

    async def is_past_end(self, debate: str, tenant: str, n: int) -> bool:
        """Whether an entry is the last one of its debate. Raises `NotFound` and `EvidenceDamaged`.

        Records that a feed of this process has compared are not read again. Raises `BadRequest` for an entry that is
        not recorded yet: no client can have its id. Raises `RecordsLost` for a debate whose end can never be proven.
        """
        head = await read_head(self._database.of(tenant), debate, tenant)
        if not self._feeds.has_read(debate):
            head = (await read_debate(self._database.of(tenant), debate, tenant)).head
        over = head["state"] not in ("queued", "running")
        if n >= head["next_n"] and not over:
            raise BadRequest(
                f"Last-Event-ID must be the id of an event of this stream, found {n}, and its last entry is "
                f"{head['next_n'] - 1}; leave it out to read from the beginning"
            )
        if over and n >= head["next_n"] - 1:
            return True
        if over and self._held and not await proven(self._database.of(tenant), tenant, debate, head["next_n"] - 1):
            await refuse_lost(self._every_tenant, debate, tenant)
        return False

    async def refuse_lost(self, debate: str, tenant: str) -> None:
        """Raise `RecordsLost` for a debate whose end is not proven and can never be."""
        await refuse_lost(self._every_tenant, debate, tenant)

    async def is_left(self, debate: str, tenant: str) -> bool:
        """Whether a debate lies in a log that was left after a loss."""
        return await is_left(self._every_tenant, debate, tenant)

    async def _is_proved(self, debate: str, tenant: str, n: int, seconds: float) -> bool:
        try:
            await self.wait_provable(debate, tenant, n, seconds)
        except NotProvable:
            return False
        return True

    async def wait_provable(self, debate: str, tenant: str, n: int, seconds: float) -> LogPosition | None:
        """The place of a record in the log, once a checkpoint covers it.

        Raises `NotProvable` after these seconds, and `RecordsLost` where none ever will.
        """
        begun, pause, database = time.monotonic(), LOOK_S, self._database.of(tenant)
        while True:
            signed = self._hub.signed
            if found := await proven(database, tenant, debate, n):
                self._show(found.log, found.size, found.root)
                return LogPosition(log=found.log, index=found.index, size=found.size, root=found.root.hex())
            if not self._held:
                return None
            waited = time.monotonic() - begun
            if waited >= min(seconds, LOST_S):
                await refuse_lost(self._every_tenant, debate, tenant)
            if waited >= seconds:
                raise _not_provable(debate)
            await _wait_set(signed, min(seconds - waited, pause))
            pause = min(2 * pause, RETRY_WINDOW_S if self._hub.linked and waited > RETRY_WINDOW_S else POLL_S)

    async def _prove(self, debate: str, tenant: str, n: int) -> None:
        await self.wait_provable(debate, tenant, n, math.inf)

    async def lines(self, debate: str, tenant: str, from_n: int = 0) -> list[Line]:
        """The recorded entries of a debate from a number on; raises `NotFound` and `EvidenceDamaged`."""
        stored = await read_records(self._database.of(tenant), debate, tenant, from_n)
        return [Line(record.n, record.at, record.entry, record.actor) for record in stored]


def _not_provable(debate: str) -> NotProvable:
    telemetry.ANSWERS_HELD.inc()
    return NotProvable(
        f"debate {debate} is decided and recorded, but no checkpoint of the log covers it yet, so the answer is held; "
        f"ask for /v1/debates/{debate} again, and if this persists, check that the sequencer runs",
        retry_after=1,
    )


async def _wait_set(event: asyncio.Event, within_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()
