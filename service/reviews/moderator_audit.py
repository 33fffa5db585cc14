"""Audits of moderators on a tenant's recorded debates: the reading is recorded first, then each debate is read once.

Every debate is read as evidence is read, so that a damaged one counts for no moderator and is counted as damaged. Only
counts are kept.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from uuid import UUID

from msgspec import MsgspecError, Struct
from msgspec.structs import replace

from service.audit.log_events import AuditRead
from service.audit.record import Writer
from service.errors import EvidenceDamaged, NotFound
from service.evaluation.moderators.audit import ConcludedAudit, ModeratorAudit, Period
from service.evaluation.moderators.conclude import conclude
from service.evaluation.moderators.evaluations import concluded_audits
from service.evaluation.moderators.recorded import Judged, Left, judged
from service.evaluation.moderators.tally import Tally
from service.evaluation.moderators.windows import Every, Windows, began, milliseconds
from service.evaluation.scoring.result import Figure, result_of
from service.reviews.evidence.access_record import record_access
from service.store.current_log import CurrentLogs
from service.store.evaluations import results_within
from service.store.pool import Database
from service.store.recorded_debates import RecordedDebate, debates_within, has_debates
from service.store.stored_debate import read_records

FORMAT = "adversarial"
"""The format in which a moderator decides between a proposer and a critic."""


class AuditRequest(Struct, frozen=True):
    """Debates that began from ``since`` on and before ``until``; without ``task_types``, of all."""

    tenants: tuple[str, ...]
    since: datetime
    until: datetime
    every: Every = "month"
    task_types: tuple[str, ...] = ()

    @property
    def period(self) -> Period:
        """The same as the audit names it."""
        tenants, types = tuple(sorted(set(self.tenants))), tuple(sorted(set(self.task_types)))
        return Period(tenants, types, _written(self.since), _written(self.until), self.every)


class ModeratorAuditor:
    """Reads recorded debates for audits; ``writer`` is who reads, as the log records it."""

    def __init__(self, database: Database, logs: CurrentLogs, writer: Writer) -> None:
        self._database, self._logs, self._writer = database, logs, writer

    async def audit(self, asked: AuditRequest, read: Callable[[int], None] = lambda _: None) -> ModeratorAudit:
        """The audit of a period; ``read`` gets after each debate how many have been read.

        Raises `BadRequest` for an impossible period, `NotFound` for a tenant without a debate, `AuditUnavailable`
        where the reading cannot be recorded, and `StoreUnavailable`.
        """
        asked = replace(asked, since=_whole(asked.since), until=_whole(asked.until))
        period, windows = asked.period, Windows(asked.since, asked.until, asked.every)
        for tenant in period.tenants:
            if not await has_debates(self._database, tenant):
                raise NotFound(f"the tenant {tenant[:100]!r} has no debate here; name one that has with --tenant")
        for tenant in period.tenants:
            await record_access(self._database, self._logs, _reading(period), tenant, self._writer)
        tally = Tally()
        for tenant in period.tenants:
            await self._read(tenant, asked, windows, tally, read)
        found = [each for tenant in period.tenants async for each in self._concluded(tenant, asked, windows)]
        return conclude(period, windows.all, tally, found)

    async def _read(
        self, tenant: str, asked: AuditRequest, windows: Windows, tally: Tally, read: Callable[[int], None]
    ) -> None:
        after, before = (UUID(int=milliseconds(at) << 80) for at in (asked.since, asked.until))
        async with aclosing(debates_within(self._database, tenant, after, before, asked.task_types)) as debates:
            async for debate in debates:
                tally.add(await self._judged(tenant, debate), windows.of(began(debate.debate)))
                read(tally.debates)

    async def _judged(self, tenant: str, debate: RecordedDebate) -> Judged | Left:
        """What a debate counts for. The records of one that can count for no moderator are not read."""
        if not debate.has_ended:
            return "underWay"
        if debate.format and debate.format.partition("/")[0] != FORMAT:
            return "format"
        try:
            records = await read_records(self._database, debate.debate, tenant)
        except EvidenceDamaged:
            return "damaged"
        try:
            return judged(record.entry for record in records)
        except (MsgspecError, ValueError):
            return "otherBuild"

    async def _concluded(
        self, tenant: str, asked: AuditRequest, windows: Windows
    ) -> AsyncIterator[tuple[ConcludedAudit, Figure]]:
        async with aclosing(results_within(self._database, tenant, asked.since, asked.until)) as evaluations:
            async for stored in evaluations:
                if stored.result is None or stored.ended is None:
                    continue
                result, at = result_of(stored.result), stored.ended
                for each in concluded_audits(stored.evaluation, _written(at), windows.of(at), result, asked.task_types):
                    yield each


def _reading(period: Period) -> AuditRead:
    asked = {"since": period.since, "until": period.until}
    asked |= {"taskTypes": ", ".join(period.task_types)} if period.task_types else {}
    return AuditRead("moderators", asked=asked)


def _whole(at: datetime) -> datetime:
    """A time in whole milliseconds, as ids of debates have it, and in UTC."""
    return at.astimezone(UTC).replace(microsecond=at.microsecond // 1_000 * 1_000)


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
