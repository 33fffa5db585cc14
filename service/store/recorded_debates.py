"""A tenant's recorded debates of a period, one after the other: what is kept in memory does not grow with them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple
from uuid import UUID

from service.store.array_parameters import TextArray
from service.store.pool import Database

STEP = 200
"""Debates whose heads are read at a time."""


class RecordedDebate(NamedTuple):
    """A debate that began in the period; ``format`` has its version, and is empty before the start."""

    debate: str
    format: str
    has_ended: bool


async def has_debates(database: Database, tenant: str) -> bool:
    """Whether a tenant has a debate at all; raises `StoreUnavailable`."""
    (row,) = await database.of(tenant).query("has_debates", {"tenant": tenant})
    return bool(row["found"])


async def debates_within(
    database: Database, tenant: str, after: UUID, before: UUID, task_types: Sequence[str] = ()
) -> AsyncGenerator[RecordedDebate, None]:
    """A tenant's debates between two ids, in the order in which they began; no task type stands for all.

    Raises `StoreUnavailable`.
    """
    some = TextArray(task_types) if task_types else None
    given = {"tenant": tenant, "after": after, "before": before, "task_types": some, "limit": STEP}
    while rows := await database.of(tenant).query("debates_within", given):
        for row in rows:
            has_ended = row["state"] not in ("queued", "running")
            yield RecordedDebate(str(row["debate"]), row["format"] or "", has_ended)
        given["after"] = rows[-1]["debate"]
