"""Who read the content of cases: noted before it is handed out, and recorded within a second.

    note      a reading is counted in memory, without waiting; refused while its tenant's log cannot be written
    run       every second in which something was noted, one record for each tenant: `content.read`
    close     the last records, when the process has handed out its last answer

A record holds at most `READINGS_MAX` readings; more of them make more records. A tenant's readings are in its own log,
and one tenant's log that cannot be written keeps no other tenant from reading. What a killed process had not
recorded is lost: the readings of its last second. What a database confirmed in an answer that was lost is recorded
again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import UUID

from service import log_lines, telemetry
from service.audit.log_events import READINGS_MAX, Content, ContentRead, Reading, valid
from service.audit.record import Via, Writer
from service.errors import AuditUnavailable, GainsayError
from service.identity.caller import Caller
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.sealing import headline_fields, write_event, written_at

EVERY_S = 1.0
"""Seconds between two records of a tenant."""
OLDEST_S = 5.0
"""The age of a reading without a record from which on nothing more is read of its tenant."""
KEPT = 10_000
"""The most readings of a tenant, by caller and case, that wait for their record."""
AT_ONCE = 2
"""Tenants whose records are written at the same time: the rest of the pool serves callers."""
LAST_S = 5.0
"""How long the last records may take."""


class _Who(NamedTuple):
    """What readings are counted by."""

    subject: str
    role: str
    via: Via
    credential: str
    what: Content
    debate: str | None


class _Count:
    """How often, and when first and last by the process's own clock, which is never set."""

    __slots__ = ("first", "last", "times")

    def __init__(self, now: float) -> None:
        self.times, self.first, self.last = 1, now, now

    def add(self, later: _Count) -> None:
        """Count readings that came later."""
        self.times, self.last = self.times + later.times, later.last


_Counts = dict[_Who, _Count]


class ReadingLog:
    """The readings of one process that no record tells of yet."""

    def __init__(
        self,
        database: Database,
        logs: CurrentLogs,
        writer: Writer,
        *,
        every_s: float = EVERY_S,
        oldest_s: float = OLDEST_S,
        kept: int = KEPT,
    ) -> None:
        self._database, self._logs, self._writer = database, logs, writer
        self._every_s, self._oldest_s, self._kept = every_s, oldest_s, kept
        self._waiting: dict[str, _Counts] = {}
        self._writing: dict[str, _Counts] = {}
        self._noted, self._closing = asyncio.Event(), asyncio.Event()
        self._places = asyncio.Semaphore(AT_ONCE)

    def note(self, caller: Caller, what: Content, debate: str | None = None) -> None:
        """Count that content is about to be handed out to a caller; ``debate`` is a UUID in any spelling, or no case.

        Nothing waits here. Raises `AuditUnavailable`: then the content must not be handed out.
        """
        now = time.monotonic()
        who = _Who(
            caller.subject,
            caller.role,
            caller.via,
            caller.credential,
            what,
            None if debate is None else str(UUID(debate)),
        )
        if self._closing.is_set() or self._is_late(caller.tenant, now) or self._is_full(caller.tenant, who):
            raise AuditUnavailable(
                "the audit log does not confirm who has read, so nothing more is handed out; try again when the "
                "database is back",
                retry_after=1,
            )
        _add(self._waiting.setdefault(caller.tenant, {}), who, _Count(now))
        telemetry.READINGS_WAITING.inc()
        self._noted.set()

    async def run(self) -> None:
        """Record what was noted, at most once a second, until `close`."""
        while not self._closing.is_set():
            await self._noted.wait()
            self._noted.clear()
            begun = time.monotonic()
            await self._record()
            await self._rest(begun + self._every_s - time.monotonic())
        await self._record()
        if lost := sum(map(_times, self._waiting.values())):
            log_lines.READINGS_LOST(readings=lost)

    def close(self) -> None:
        """Let `run` write the last records and return. From now on nothing is noted."""
        self._closing.set()
        self._noted.set()

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._closing.wait()
        except TimeoutError:
            pass

    def _is_late(self, tenant: str, now: float) -> bool:
        """Whether some reading of the tenant has waited too long for its record."""
        for counts in (self._writing.get(tenant), self._waiting.get(tenant)):
            if counts:  # the first of a tenant's readings stands first
                return now - next(iter(counts.values())).first > self._oldest_s
        return False

    def _is_full(self, tenant: str, who: _Who) -> bool:
        waiting = self._waiting.get(tenant, {})
        return who not in waiting and len(waiting) + len(self._writing.get(tenant, ())) >= self._kept

    async def _record(self) -> None:
        """Write all that waits; what cannot be written waits on, and is tried again after the rest of the second."""
        taken, self._waiting = self._waiting, {}
        self._writing = {tenant: counts for tenant, counts in taken.items() if counts}
        await asyncio.gather(*map(self._record_of, self._writing))
        left, self._writing = self._writing, {}
        for tenant, counts in left.items():
            self._waiting[tenant] = _joined(counts, self._waiting.get(tenant, {}))
            if self._waiting[tenant]:
                self._noted.set()
        self._waiting = {tenant: counts for tenant, counts in self._waiting.items() if counts}

    async def _record_of(self, tenant: str) -> None:
        counts = self._writing[tenant]
        async with self._places:
            try:
                while counts:
                    await self._write(tenant, list(counts)[:READINGS_MAX], counts)
            except GainsayError as error:
                telemetry.ACCESS_UNRECORDED.inc()
                log_lines.READINGS_WAIT(tenant=tenant, readings=_times(counts), code=error.code)

    async def _write(self, tenant: str, part: Sequence[_Who], counts: _Counts) -> None:
        """Write one record, and forget what it tells of; raises `GainsayError`."""
        log, database = await self._logs.current(tenant), self._database.of(tenant)
        now = await written_at(database)
        ahead = now - time.monotonic()
        event = valid(ContentRead(tuple(_reading(who, counts[who], ahead) for who in part)))
        await write_event(database, event, log, tenant, self._writer)
        for who in part:
            times = counts.pop(who).times
            telemetry.READINGS.inc(times)
            telemetry.READINGS_WAITING.dec(times)


def _reading(who: _Who, count: _Count, ahead: float) -> Reading:
    """A count as its record has it; ``ahead`` is how far the database's clock is before the process's own."""
    return Reading(
        subject=who.subject,
        role=who.role,
        via=who.via,
        credential=who.credential or None,
        what=who.what,
        debate=who.debate,
        times=count.times,
        first=headline_fields(count.first + ahead),
        last=headline_fields(count.last + ahead),
    )


def _joined(earlier: _Counts, later: Mapping[_Who, _Count]) -> _Counts:
    """Both, the earlier ones first."""
    for who, count in later.items():
        _add(earlier, who, count)
    return earlier


def _add(counts: _Counts, who: _Who, count: _Count) -> None:
    if who in counts:
        counts[who].add(count)
    else:
        counts[who] = count


def _times(counts: Mapping[_Who, _Count]) -> int:
    return sum(count.times for count in counts.values())


@asynccontextmanager
async def recording(readings: ReadingLog) -> AsyncIterator[None]:
    """Record who reads during the block; at its end the last readings are recorded."""
    task = asyncio.create_task(readings.run(), name="readings")
    try:
        yield
    finally:
        readings.close()
        try:
            async with asyncio.timeout(LAST_S):
                await task
        except TimeoutError:
            log_lines.READINGS_UNFINISHED()
