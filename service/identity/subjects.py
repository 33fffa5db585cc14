"""The port to the register of subjects: whoever is named by an identity provider or a proxy has an opaque id there."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from service.identity.caller import Caller, Kind, Via
from service.identity.claims import Claimed
from service.identity.tokens import refused


class Registered(Struct, frozen=True):
    """A subject in the register: its opaque id, and whether an operator has revoked it."""

    id: str
    revoked: bool = False


class Subjects(Protocol):
    """The register. Answers are at most 2 s old."""

    async def subject(self, tenant: str, source: str, external: str, kind: Kind) -> Registered:
        """The subject that a source names, entered where it is new.

        Raises `Forbidden` for a tenant that does not exist, and `StoreUnavailable`.
        """
        ...

    async def is_good(self, tenant: str, subject: str) -> bool:
        """Whether a subject is there and not revoked; raises `StoreUnavailable`."""
        ...


async def registered_caller(claimed: Claimed, source: str, kind: Kind, via: Via, subjects: Subjects) -> Caller:
    """The caller of a verified statement; raises `Unauthenticated` for a revoked one, and what the register raises."""
    found = await subjects.subject(claimed.tenant, source, claimed.external, kind)
    if found.revoked:
        raise refused("its subject is revoked; an operator of the tenant can say why")
    return Caller(
        tenant=claimed.tenant,
        subject=found.id,
        role=claimed.roles[0],
        kind=kind,
        via=via,
        roles=claimed.roles,
        until=claimed.until,
    )
