"""Records that who may do what has changed: a tenant, a key, a subject, or whose case it is."""

from __future__ import annotations

from service.audit.log_events import AccessChanged, valid
from service.audit.record import Writer
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.sealing import write_event


async def record_change(
    database: Database, logs: CurrentLogs, changed: AccessChanged, tenant: str, writer: Writer
) -> None:
    """Record a change of access in a tenant's current log; call this before the change holds: no record, no change.

    ``writer`` names who changes it. A key or subject without a tenant is recorded in the log of the tenant that the
    caller of this function names. Raises `AuditUnavailable`, `StoreUnavailable`, and `ValueError` for a change that the
    form of the record does not admit, such as a secret in the place of an id.
    """
    await write_event(database, valid(changed), await logs.current(tenant), tenant, writer)
