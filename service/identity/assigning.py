"""Assigns cases to reviewers, and takes them back: a reviewer reads the cases assigned to it, and no others."""

from __future__ import annotations

from uuid import UUID

from service.audit.record import Writer
from service.identity.caller import Caller
from service.identity.ids import is_id
from service.identity.issuing_rules import IdentityConflict, InvalidIdentity
from service.store import identity_changes as changes
from service.store import identity_register as register
from service.store.current_log import CurrentLogs
from service.store.identity_changes import Place
from service.store.identity_register import ReviewerRow
from service.store.pool import Database
from service.store.stored_debate import absent


class Assigning:
    """Changes and shows which subjects review a case of the caller's tenant.

    Every function raises `NotFound` for a debate that is none of the tenant's, and what the store raises.
    """

    def __init__(self, database: Database, logs: CurrentLogs, build: str) -> None:
        self._database, self._logs, self._build = database, logs, build

    async def assign(self, caller: Caller, debate: str, subject: str) -> None:
        """Assign a case to a subject of the caller's tenant; to assign it again changes and records nothing.

        Raises `InvalidIdentity` for a subject that the tenant has not, and `IdentityConflict` for a revoked one.
        """
        case = await self._case(caller, debate)
        found = await register.show_subject(self._database, caller.tenant, subject) if is_id(subject, "sub_") else None
        if found is None:
            raise InvalidIdentity(
                "expected the id of a subject of the tenant (sub_...), found another text; GET /v1/subjects lists them",
                pointers=("/subject",),
            )
        if found.revoked is not None:
            raise IdentityConflict(f"the case was not assigned: {found.id} is revoked, and for ever; choose another")
        await changes.assign_case(self._database, caller.tenant, case, found.id, *await self._recording(caller))

    async def remove(self, caller: Caller, debate: str, subject: str) -> None:
        """Take a case back from a subject, which does not reach it any more; to take it back again changes nothing."""
        case = await self._case(caller, debate)
        if is_id(subject, "sub_"):
            await changes.unassign_case(self._database, caller.tenant, case, subject, *await self._recording(caller))

    async def reviewers(self, caller: Caller, debate: str, after: str, limit: int) -> list[ReviewerRow]:
        """A page of the subjects to which a case is assigned, in the order of their ids after one."""
        case = await self._case(caller, debate)
        return await register.list_reviewers(self._database, caller.tenant, case, after, limit)

    async def _case(self, caller: Caller, debate: str) -> UUID:
        try:
            case = UUID(debate)
        except ValueError:
            raise absent(debate) from None
        if not await register.has_case(self._database, caller.tenant, case):
            raise absent(debate)
        return case

    async def _recording(self, caller: Caller) -> tuple[Place, Writer]:
        return Place(await self._logs.current(caller.tenant), caller.tenant), Writer(caller.actor, self._build)
