"""Impact: debates by the prompt, model, document, price, engine or configuration that they rest on; track records.

Both are read from tables that are derived from the entries and that `service.store.rebuild` can rebuild.
"""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from service.audit.record import open_leaf
from service.debate.model import Status
from service.intake.model_ranking import Standing
from service.store.derived import Asked, check
from service.store.pool import Database

NEWEST = 10_000
"""How many of a tenant's track records are read: one per panel and model, the newest."""


class RecallQuery(Struct, frozen=True):
    """What an impact search looks for, and a page of it: at most ``limit`` debates, below an id (ids sort by time)."""

    asked: Asked
    value: str
    limit: int
    below: UUID | None = None


class AffectedDebate(Struct, frozen=True):
    """A debate that rests on the value, and the place of its last provable record in its log.

    ``index`` is ``None`` while none of its records has a place.
    """

    debate: str
    task_type: str
    status: Status
    created: str
    log: str
    index: int | None


async def affected_by(database: Database, tenant: str, query: RecallQuery) -> list[AffectedDebate]:
    """The debates of a tenant that rest on something, newest first.

    Raises `BadRequest` for a value that can match nothing.
    """
    check(query.asked, query.value)
    page = {"below": query.below, "limit": query.limit}
    params = {"tenant": tenant, "what": query.asked, "value": query.value, **page}
    rows = await database.query("recall_prompt" if query.asked == "prompt" else "recall", params)
    return [
        AffectedDebate(
            debate=str(row["debate"]),
            task_type=row["task_type"],
            status=row["state"],
            created=open_leaf(row["leaf"]).occurred,
            log=row["log"],
            index=row["idx"],
        )
        for row in rows
    ]


async def standings(database: Database, tenant: str) -> tuple[Standing, ...]:
    """The models' track records in the newest panels of one tenant; raises `StoreUnavailable`."""
    rows = await database.query("standings", {"tenant": tenant, "limit": NEWEST})
    return tuple(
        Standing(row["question_type"], row["model"], row["debates"], row["scores"], row["points"]) for row in rows
    )
