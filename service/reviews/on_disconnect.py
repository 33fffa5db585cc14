"""Debates that end with their listeners, where their case asks for that: ``onDisconnect: abort``.

    joined   somebody follows the debate's events, or waits for its end with Prefer: wait
    left     he has gone, or was cut off; what ended from here (the service stops, a wait ran out) is no leaving

When the last one has left and nobody has joined for some seconds, the debate is aborted. Listeners of other processes
count: each process notes in the database what it has listeners to, and one that is left by its last looks there first.
Then it is the other's turn. A note is of use for some seconds, whatever becomes of the debate; a minute later whoever
notes listeners takes it away. A process that stops or dies meanwhile aborts nothing: the debate goes on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from service import telemetry
from service.errors import GainsayError, NotProvable, StoreUnavailable
from service.store.pool import Database

LEAVE_S = 5.0
"""How long a listener may be away: one whose connection was cut comes back within a second or two."""
LATE_S = 1.0
"""How late another process's note of its listeners may be."""
UNSEEN_S = 60.0
"""After this a note that was not made again is taken away; nobody asks for one that is older than some seconds."""
TIDIED = 24
"""At every so many notes of one process that is done, beginning with its first."""


class Leaving:
    """What one process knows of the listeners to debates that end with them. ``abort`` is given debate and reason."""

    def __init__(self, database: Database, process: str, abort: Callable[[str, str], Awaitable[object]]) -> None:
        self._database = database
        self._process = process
        self._abort = abort
        self._here: Counter[str] = Counter()
        self._departures: dict[str, asyncio.Task[None]] = {}
        self._joined = asyncio.Event()
        self._noting: asyncio.Task[None] | None = None
        self._notes = 0
        self._unwell = False

    def joined(self, debate: str) -> None:
        """Somebody listens to a debate that ends with its listeners."""
        self._departures.pop(debate, None)
        self._here[debate] += 1
        self._joined.set()
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._note(), name="listeners")

    def left(self, debate: str, *, of_itself: bool = True, in_trouble: bool = False) -> None:
        """A listener that had joined is gone: of itself, or because it was sent away from here.

        ``in_trouble`` says that the database failed: he cannot come back before it is well.
        """
        self._here[debate] -= 1
        if self._here[debate] > 0:
            return
        del self._here[debate]
        if of_itself:
            self._departures[debate] = asyncio.create_task(self._depart(debate, in_trouble), name=f"leaving {debate}")

    async def close(self) -> None:
        """Abort nothing more."""
        tasks = [*self._departures.values(), *([self._noting] if self._noting else [])]
        self._departures.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _note(self) -> None:
        """Note every so often that there are listeners here, and at once when one joins."""
        while self._here:
            self._joined.clear()
            params = {"process": self._process, "debates": [UUID(debate) for debate in self._here]}
            try:
                await self._database.query("listen", params)
                self._unwell = False
                self._notes += 1
                if self._notes % TIDIED == 1:
                    await self._tidy()
            except StoreUnavailable as error:
                if not self._unwell:
                    telemetry.LOG.warning(
                        "listeners are not noted: other processes may take them for gone", extra={"code": error.code}
                    )
                self._unwell = True
            with suppress(TimeoutError):
                async with asyncio.timeout(_note_s()):
                    await self._joined.wait()

    async def _tidy(self) -> None:
        """Take away old notes; what cannot be taken now is taken some notes later, by whichever process."""
        with suppress(StoreUnavailable):
            await self._database.query("forget_listeners", {"unseen": UNSEEN_S})

    async def _depart(self, debate: str, in_trouble: bool) -> None:
        """Abort a debate once nobody has listened to it for a while, unless somebody joins again, here or elsewhere.

        While the database fails nobody can join: the while counts from when it answers again.
        """
        me = asyncio.current_task()
        while True:
            await asyncio.sleep(LEAVE_S)
            if self._departures.get(debate) is not me:
                return
            try:
                elsewhere = await self._elsewhere(debate)
                if self._departures.get(debate) is not me:
                    return  # somebody has joined here while we looked there
                if in_trouble:
                    in_trouble = False
                    continue
                if not elsewhere:
                    why = f"its last listener went away and nobody came back within {LEAVE_S:g} s (onDisconnect: abort)"
                    await self._abort(debate, why)
            except NotProvable:
                pass  # it had ended by itself
            except GainsayError as error:
                telemetry.LOG.warning("left debate not aborted yet", extra={"debate": debate, "code": error.code})
                in_trouble = True
                continue
            if self._departures.get(debate) is me:
                del self._departures[debate]
            return

    async def _elsewhere(self, debate: str) -> bool:
        """Whether another process has had listeners meanwhile; one note of these may be missing, or late."""
        params = {"debate": UUID(debate), "process": self._process, "within": LEAVE_S + _note_s() + LATE_S}
        (row,) = await self._database.query("listened", params)
        return bool(row["elsewhere"])


def _note_s() -> float:
    """How often a process notes what it has listeners to."""
    return LEAVE_S / 2
