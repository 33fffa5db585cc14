"""Tilts of an audit that are above policy's limit, as findings in the tenant's log; and their resolution by a person.

While a finding stands, a person is asked for in each debate that its moderator decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from uuid import UUID

from msgspec.structs import replace

from service.audit.moderator_events import Aspect, ModeratorFound, ModeratorResolved, above
from service.audit.record import Writer
from service.evaluation.moderators.audit import ALL, SIDE, ModeratorAudit, encode
from service.evaluation.scoring.result import Finding
from service.store.clock import database_time
from service.store.current_log import CurrentLogs
from service.store.moderator_tilts import absent, record_tilt, resolve_tilt
from service.store.pool import Database
from service.store.sealing import uuid7


def above_limit(audit: ModeratorAudit, limit: int) -> Iterator[ModeratorFound]:
    """The tilts of an audit with more than ``limit`` per mille for one side or place, without ids of their own.

    Of a moderator with several task types the tilt over all stands for those of the types: it asks for more.
    """
    tilts = [finding for finding in audit.findings if finding.outcome == "tilt"]
    whole = {(f.about[0], f.about[2]) for f in tilts if f.about[1] == ALL and above(*_counts(audit, f), limit)}
    for finding in tilts:
        moderator, task_type, aspect = finding.about
        first, second = _counts(audit, finding)
        if not above(first, second, limit) or (task_type != ALL and (moderator, aspect) in whole):
            continue
        shown = audit.moderator(moderator)
        yield ModeratorFound(
            finding=str(UUID(int=0)),
            alias=shown.alias,
            model=shown.model,
            prompt=shown.prompt,
            pin=f"{shown.version}:{shown.sha256}",
            task_type=None if task_type == ALL else task_type,
            aspect=_aspect(aspect),
            first=first,
            second=second,
            limit=limit,
            since=audit.period.since,
            until=audit.period.until,
            audit=sha256(encode(audit)).hexdigest(),
        )


def _aspect(name: str) -> Aspect:
    return "side" if name == SIDE else "position"


def _counts(audit: ModeratorAudit, finding: Finding) -> tuple[int, int]:
    """Debates for each side; of two orders conclusions for each place, of which an even moderator has half each."""
    figure = audit.figure(finding.figures[0])
    if finding.about[2] == SIDE:
        return figure.input["first"], figure.input["second"]
    pairs = [pair for pair in figure.input["pairs"] if "none" not in pair]
    said = [place for pair in pairs for place in pair]
    return said.count("first"), said.count("second")


class FindingDesk:
    """Records findings and resolutions in the tenants' logs; ``writer`` is who does."""

    def __init__(self, database: Database, logs: CurrentLogs, writer: Writer) -> None:
        self._database, self._logs, self._writer = database, logs, writer

    async def record(self, found: ModeratorFound, tenant: str) -> str | None:
        """Record a finding; its id, or ``None`` where one about the same stands. Raises `AuditUnavailable`."""
        id_ = uuid7((await database_time(self._database)).now())
        log = await self._logs.current(tenant)
        return (
            id_ if await record_tilt(self._database, replace(found, finding=id_), log, tenant, self._writer) else None
        )

    async def resolve(self, finding: str, by: str, why: str, tenant: str) -> None:
        """Resolve a finding; raises `NotFound`, `BadRequest` where it is resolved, and `AuditUnavailable`."""
        try:
            id_ = str(UUID(finding))
        except ValueError:
            raise absent(finding) from None
        log = await self._logs.current(tenant)
        await resolve_tilt(self._database, ModeratorResolved(id_, by, why), log, tenant, self._writer)
