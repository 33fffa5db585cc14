"""Logs that their tenants have left after an incident, and what has an end in them that can never be proven.

A log that has lost records is never signed again: its signer and its witnesses remember what is missing. Its tenant
goes on in its next log (`service.store.rotation`), and what waits for a checkpoint of the old one waits for good. The
statement `left_logs` of queries.sql says which logs these are, and `end_is_lost` of a migration which evaluations are
lost.
"""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from service.errors import GainsayError
from service.store.pool import Database

Kind = Literal["debate", "evaluation"]
_NOT_GIVEN: dict[Kind, str] = {
    "debate": "Its answer is not given, now or later; submit the case again",
    "evaluation": "Its result is not given, now or later; register the plan again",
}


class RecordsLost(GainsayError):
    """A debate or an evaluation that ended in a log that was left after a loss: no checkpoint will cover its end."""

    code = "records_lost"
    status = 410
    title = "The end can never be proven"

    def __init__(self, what: str, log: str, following: str, *, kind: Kind = "debate") -> None:
        super().__init__(
            f"expected a checkpoint over the end of {kind} {what}, and there will never be one: the log {log} has "
            f"lost records, nothing more is signed for it, and {following} has followed it. {_NOT_GIVEN[kind]}, under "
            "another Idempotency-Key if it had one"
        )


async def refuse_lost(database: Database, debate: str, tenant: str) -> None:
    """Raise `RecordsLost` for a tenant's debate in a log that was left after a loss, unless its end was proven before.

    ``database`` has the service's own login, because the one that serves callers does not read incidents. Raises
    `StoreUnavailable`.
    """
    for row in await database.query("lost_debate", {"debate": UUID(debate), "tenant": tenant}):
        if not row["proven"]:
            raise RecordsLost(debate, row["log"], row["following"])


async def is_left(database: Database, debate: str, tenant: str) -> bool:
    """Whether a tenant's debate lies in a log that was left after a loss; asked with the service's own login."""
    return bool(await database.query("lost_debate", {"debate": UUID(debate), "tenant": tenant}))


async def refuse_lost_evaluation(database: Database, evaluation: str, tenant: str) -> None:
    """Raise `RecordsLost` for a tenant's evaluation that has ended, and whose end can never be proven.

    The login that serves callers may ask this. Raises `StoreUnavailable`.
    """
    params = {"evaluation": UUID(evaluation), "tenant": tenant}
    for row in await database.of(tenant).query("lost_evaluation", params):
        raise RecordsLost(evaluation, row["log"], row["following"], kind="evaluation")
