"""Whose debates a caller reaches: all of its tenant, those that it submitted, those that are assigned to it.

One that it does not reach is answered as one that does not exist. `require_reach` is called at the door of HTTP, for
each path that names a debate, so no handler has to.
"""

from __future__ import annotations

from service.identity.caller import Caller
from service.identity.roles import Reach
from service.store.pool import Database
from service.store.reach import ReachLimit, is_reached
from service.store.stored_debate import absent


def limit_of(caller: Caller, reach: frozenset[Reach]) -> ReachLimit | None:
    """The limit of a reach; ``None`` where it is the whole tenant."""
    if "tenant" in reach:
        return None
    return ReachLimit(caller.subject, "own" in reach, "assigned" in reach)


async def require_reach(database: Database, debate: str, caller: Caller, reach: frozenset[Reach]) -> None:
    """Raise `NotFound` for a debate that a caller does not reach, in the words for one that does not exist."""
    limit = limit_of(caller, reach)
    if limit is not None and not await is_reached(database, debate, caller.tenant, limit):
        raise absent(debate)
