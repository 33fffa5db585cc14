"""On whose behalf something is done."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.audit.record import Actor, Via
from service.identity.roles import EVERY_CALLER, Reach, Role, Scope, reach

__all__ = ["LOCAL", "LOCAL_ROLES", "Caller", "Kind", "Via"]

Kind = Literal["person", "service", "unknown"]
LOCAL_ROLES: tuple[Role, ...] = ("requester", "auditor", "operator")


class Caller(Struct, frozen=True):
    """The caller of an operation. Where no identity is configured there is one: ``local`` of ``default``.

    ``subject`` is an opaque id, which the register of subjects resolves. ``role`` is the one that it acts in, of the
    ``roles`` that it holds. ``scopes`` narrows what these grant, as an API key may; ``None`` narrows nothing.
    ``credential`` is the opaque id of the key that it came with, or empty. ``until`` is when its token ends, in seconds
    since 1970, or ``None`` where a register says so.
    """

    tenant: str = "default"
    subject: str = "local"
    role: Role = "operator"
    kind: Kind = "unknown"
    via: Via = "none"
    roles: tuple[Role, ...] = LOCAL_ROLES
    scopes: frozenset[Scope] | None = None
    credential: str = ""
    until: float | None = None

    @property
    def actor(self) -> Actor:
        """The caller as records name the actor."""
        return Actor(self.subject, self.kind, self.role, self.via)

    def reach(self, scope: Scope) -> frozenset[Reach]:
        """Whose cases the caller reaches with a scope; empty where its roles do not grant it, or its credential leaves
        it out."""
        left_out = self.scopes is not None and scope not in self.scopes and scope not in EVERY_CALLER
        return frozenset() if left_out else reach(self.roles, scope)

    def may(self, scope: Scope) -> bool:
        """Whether the caller's roles grant a scope that its credential does not leave out."""
        return bool(self.reach(scope))


LOCAL = Caller()
"""Every caller of a service without identities."""
