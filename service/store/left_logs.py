"""Logs that their tenants have left after an incident, and the debates in them whose end can never be proven.

A log that has lost records is never signed again: its signer and its witnesses remember what is missing. Its tenant
goes on in its next log (`service.store.rotation`), and what waits for a checkpoint of the old one waits for good. The
statement `left_logs` of queries.sql says which logs these are.
"""

from __future__ import annotations

from uuid import UUID

from service.errors import GainsayError
from service.store.pool import Database


class RecordsLost(GainsayError):
    """A debate whose end lies in a log that was left after a loss of records: no checkpoint will ever cover it."""

    code = "records_lost"
    status = 410
    title = "The end of the debate can never be proven"

    def __init__(self, debate: str, log: str, following: str) -> None:
        super().__init__(
            f"expected a checkpoint over the end of debate {debate}, and there will never be one: the log {log} has "
            f"lost records, nothing more is signed for it, and {following} has followed it. Its answer is not given, "
            "now or later; submit the case again, under another Idempotency-Key if it had one"
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
