"""On whose behalf something is done."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.audit.record import Actor


class Caller(Struct, frozen=True):
    """The caller of an operation. Until identities are configured there is one: ``local`` of ``default``."""

    tenant: str = "default"
    subject: str = "local"
    role: str = "operator"
    kind: Literal["person", "service", "unknown"] = "unknown"
    via: Literal["keyboard", "databaseRole", "none"] = "none"

    @property
    def actor(self) -> Actor:
        """The caller as records name the actor."""
        return Actor(self.subject, self.kind, self.role, self.via)
