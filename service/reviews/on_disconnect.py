"""Aborts debates whose last listener has gone, if the case asks for that: ``onDisconnect: abort``.

    joined   a listener follows the debate's events, or waits for its end with Prefer: wait
    left     the listener went away, or was cut off; an end by this process (a stop, a wait that ran out) does not count

When the last listener has left and none has joined for some seconds, the debate is aborted. Listeners of other
processes count. Each process writes to the database which debates have listeners here. When the last one leaves, the
process looks there first, and another process with listeners writes its own. Such a row is valid for some seconds, and
is deleted after a minute. A process that stops or dies in between aborts nothing: the debate goes on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from service import log_lines
from service.errors import GainsayError, NotProvable, StoreUnavailable
from service.store.left_logs import RecordsLost
from service.store.pool import Database

LEAVE_S = 5.0
"""How long a listener may be away: a client whose connection was cut comes back within a second or two."""
LATE_S = 1.0
"""How late another process's row of its listeners may be."""
UNSEEN_S = 60.0
"""The age after which a row that was not renewed is deleted; no process reads rows of more than some seconds."""
TIDIED = 24
"""A process deletes old rows with every so many of its own writes, beginning with the first."""


class DisconnectWatch:
    """The listeners of this process to debates that end with them.

    ``abort`` gets the debate, its tenant and the reason. The database is that of the service's own login: one statement
    writes the listeners of all tenants.
    """

    def __init__(self, database: Database, process: str, abort: Callable[[str, str, str], Awaitable[object]]) -> None:
        self._database = database
        self._process = process
        self._abort = abort
        self._here: Counter[str] = Counter()
        self._tenants: dict[str, str] = {}
        self._departures: dict[str, asyncio.Task[None]] = {}
        self._joined = asyncio.Event()
        self._noting: asyncio.Task[None] | None = None
        self._notes = 0
        self._unwell = False

    def listener_joined(self, debate: str, tenant: str) -> None:
        """A listener has joined a debate of this tenant that ends with its listeners."""
        self._departures.pop(debate, None)
        self._tenants[debate] = tenant
        self._here[debate] += 1
        self._joined.set()
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._publish_listeners(), name="listeners")

    def listener_left(self, debate: str, *, of_itself: bool = True, in_trouble: bool = False) -> None:
        """A listener has gone: of itself, or because this process ended its connection.

        ``in_trouble`` says that the database failed: the listener cannot come back before it works again.
        """
        self._here[debate] -= 1
        if self._here[debate] > 0:
            return
        del self._here[debate]
        tenant = self._tenants.pop(debate)
        if of_itself:
            self._departures[debate] = asyncio.create_task(
                self._abort_later(debate, tenant, in_trouble), name=f"leaving {debate}"
            )

    async def close(self) -> None:
        """Stop; abort nothing more."""
        tasks = [*self._departures.values(), *([self._noting] if self._noting else [])]
        self._departures.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _publish_listeners(self) -> None:
        """Write the debates with listeners here, periodically, and at once when a listener joins."""
        while self._here:
            self._joined.clear()
            here = list(self._here)
            params = {
                "process": self._process,
                "debates": [UUID(debate) for debate in here],
                "tenants": [self._tenants[debate] for debate in here],
            }
            try:
                await self._database.query("listen", params)
                self._unwell = False
                self._notes += 1
                if self._notes % TIDIED == 1:
                    await self._delete_stale()
            except StoreUnavailable as error:
                if not self._unwell:
                    log_lines.LISTENERS_UNRECORDED(code=error.code)
                self._unwell = True
            with suppress(TimeoutError):
                async with asyncio.timeout(_note_s()):
                    await self._joined.wait()

    async def _delete_stale(self) -> None:
        """Delete old rows; a later write of any process deletes what cannot be deleted now."""
        with suppress(StoreUnavailable):
            await self._database.query("forget_listeners", {"unseen": UNSEEN_S})

    async def _abort_later(self, debate: str, tenant: str, in_trouble: bool) -> None:
        """Abort a debate once it has had no listener for some seconds, unless one joins again, here or elsewhere.

        While the database fails no listener can join, so the time counts from when it answers again.
        """
        me = asyncio.current_task()
        while True:
            await asyncio.sleep(LEAVE_S)
            if self._departures.get(debate) is not me:
                return
            try:
                elsewhere = await self._has_listeners_elsewhere(debate, tenant)
                if self._departures.get(debate) is not me:
                    return  # a listener has joined here while we asked the database
                if in_trouble:
                    in_trouble = False
                    continue
                if not elsewhere:
                    why = f"its last listener went away and none came back within {LEAVE_S:g} s (onDisconnect: abort)"
                    await self._abort(debate, tenant, why)
            except (NotProvable, RecordsLost):
                pass  # the debate had ended by itself
            except GainsayError as error:
                log_lines.DISCONNECT_ABORT_LATE(debate=debate, code=error.code)
                in_trouble = True
                continue
            if self._departures.get(debate) is me:
                del self._departures[debate]
            return

    async def _has_listeners_elsewhere(self, debate: str, tenant: str) -> bool:
        """Whether another process has had listeners lately; one of its rows may be missing or late."""
        key = {"debate": UUID(debate), "tenant": tenant}
        params = {**key, "process": self._process, "within": LEAVE_S + _note_s() + LATE_S}
        (row,) = await self._database.query("listened", params)
        return bool(row["elsewhere"])


def _note_s() -> float:
    """How often a process writes which debates have listeners."""
    return LEAVE_S / 2
