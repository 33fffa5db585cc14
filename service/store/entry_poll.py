"""The poll: one query for all debates that something in this process waits for, in case a notification was lost.

Notifications of other processes may be lost, and older versions send none. So one statement asks for everything that is
waited for: every few seconds while notifications arrive, twice a second while they do not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from service import log_lines
from service.errors import StoreUnavailable
from service.store.hub import EventHub, HubNotice
from service.store.pool import Database

POLL_S = 0.5
"""The interval of the poll while no notifications of other processes arrive."""
SELDOM = 10
"""The factor by which the interval is longer while they arrive."""


class EntryPoll:
    """Polls as long as anything waits."""

    def __init__(self, database: Database, hub: EventHub) -> None:
        self._database = database
        self._hub = hub
        self._waiting: dict[str, Counter[str]] = {}
        """The watchers of each debate, by the tenant on whose behalf they watch it."""
        self._failure: StoreUnavailable | None = None
        self.failures = 0
        """How many polls have failed; remember it before you read the records, for `check`."""
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def watching(self, debate: str, tenant: str) -> Iterator[None]:
        """Poll this debate of a tenant for the length of the block; another tenant's never moves."""
        self._waiting.setdefault(debate, Counter())[tenant] += 1
        self._hub.known.setdefault(debate, 0)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="watch")
        try:
            yield
        finally:
            self._unwatch(debate, tenant)

    def check(self, since: int) -> None:
        """Raise `StoreUnavailable` if a poll has failed since this number of failures."""
        if self._failure is not None and self.failures > since:
            raise self._failure.anew()

    def _unwatch(self, debate: str, tenant: str) -> None:
        self._waiting[debate] -= Counter((tenant,))
        if not self._waiting[debate]:
            del self._waiting[debate]
            self._hub.known.pop(debate, None)
        if not self._waiting and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        passed = 0
        while self._waiting:
            await asyncio.sleep(POLL_S)
            passed += 1
            if self._hub.linked and passed < SELDOM:
                continue
            passed = 0
            try:
                await self._poll()
            except StoreUnavailable as error:
                self._fail_waiters(error)
            except Exception as fault:  # noqa: BLE001 - a dead loop would leave all waiters waiting
                log_lines.POLL_FAULT.raised()
                self._fail_waiters(StoreUnavailable(f"a fault of the service ({type(fault).__name__})", retry_after=5))

    async def _poll(self) -> None:
        watched = [(debate, tenant) for debate, tenants in self._waiting.items() for tenant in tenants]
        known = self._hub.known
        asked = {
            "debates": [UUID(debate) for debate, _ in watched],
            "tenants": [tenant for _, tenant in watched],
            "ns": [known[debate] for debate, _ in watched],
        }
        moved, ended = [], []
        for row in await self._database.query("moved", asked):
            debate = str(row["debate"])
            if row["over"]:
                ended.append(debate)
            elif row["next_n"] > known.get(debate, 0):  # unless it was announced here during the query
                moved.append(debate)
            self._hub.mark_read(debate, row["next_n"])
        self._hub.receive(HubNotice(tuple(moved), tuple(ended)))

    def _fail_waiters(self, error: StoreUnavailable) -> None:
        """Wake all waiters with an error: what happens from now on is not known here."""
        self._failure = error.anew()
        self.failures += 1
        self._hub.wake(list(self._waiting))
