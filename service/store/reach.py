"""How far a caller reaches among a tenant's debates, where that is not to all of them."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from service.store.pool import Database


class ReachLimit(NamedTuple):
    """The debates that a subject submitted, those that are assigned to it, or both; with neither, none."""

    subject: str
    own: bool
    assigned: bool


async def is_reached(database: Database, debate: str, tenant: str, limit: ReachLimit) -> bool:
    """Whether a debate is among those of a tenant that a limit passes; no other text than an id is one."""
    try:
        key = UUID(debate)
    except ValueError:
        return False
    return bool(await database.query("reached", {"debate": key, "tenant": tenant, **limit._asdict()}))
