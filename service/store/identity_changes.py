"""Changes of the registers of tenants, subjects and keys, each with its record in one statement.

So there is no key, tenant or revocation without a record that says who made it, and no record without its change. Every
function raises `AuditUnavailable` where the database does not confirm the statement: then both were made, or neither.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from msgspec import Struct

from service.audit.log_events import AccessChanged, valid
from service.audit.record import Writer
from service.store.array_parameters import TextArray
from service.store.pool import Database
from service.store.sealing import seal_event, write, written_at


class Place(Struct, frozen=True):
    """Where a change is recorded: the log, and its tenant."""

    log: str
    tenant: str


class NewKey(Struct, frozen=True):
    """A key as it is added: its ids and hash, what it may do, and the key that it replaces, if it does.

    ``tenant`` is ``None`` for one of the whole service. ``expires`` and ``old_until`` are RFC 3339: from ``old_until``
    on the replaced key is not valid. ``first`` demands that the tenant has no operator.
    """

    id: str
    hash: bytes
    tenant: str | None
    subject: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...] | None
    name: str
    kind: str
    expires: str
    first: bool = False
    replaced: str | None = None
    old_until: str | None = None


async def add_tenant(database: Database, name: str, place: Place, writer: Writer) -> bool:
    """Add a tenant; false if there is one of this name."""
    changed = AccessChanged("tenantCreated", tenant=name)
    given = {"tenant": name, "by": writer.actor.id, **await recorded(database, changed, place, writer)}
    return bool(await write(database, "add_tenant", given))


async def add_key(database: Database, new: NewKey, place: Place, writer: Writer) -> str:
    """Add a key; ``added``, or what prevented it (`add_key` in migrations/0017_identity.sql)."""
    changed = AccessChanged(
        "keyRotated" if new.replaced else "keyIssued",
        tenant=new.tenant,
        subject=new.subject,
        key=new.id,
        replaced=new.replaced,
        roles=new.roles,
        scopes=new.scopes,
        expires=new.expires,
    )
    (row,) = await write(
        database,
        "add_key",
        {
            "key": new.id,
            "hash": new.hash,
            "tenant": new.tenant,
            "subject": new.subject,
            "roles": TextArray(new.roles),
            "scopes": None if new.scopes is None else TextArray(new.scopes),
            "name": new.name,
            "kind": new.kind,
            "by": writer.actor.id,
            "expires": new.expires,
            "first": new.first,
            "replaced": new.replaced,
            "old_until": new.old_until,
            **await recorded(database, changed, place, writer),
        },
    )
    return str(row["outcome"])


async def revoke_key(
    database: Database, tenant: str | None, key: str, subject: str, place: Place, writer: Writer
) -> bool:
    """Revoke a key of a tenant (``None``: of those without one); false if none of this id could be revoked."""
    changed = AccessChanged("keyRevoked", tenant=tenant, key=key, subject=subject)
    given = {"tenant": tenant, "key": key, **await recorded(database, changed, place, writer)}
    return bool(await write(database, "revoke_key", given))


async def revoke_subject(database: Database, tenant: str, subject: str, place: Place, writer: Writer) -> bool:
    """Revoke a subject of a tenant, and all that it presents; false if none of this id could be revoked."""
    changed = AccessChanged("subjectRevoked", tenant=tenant, subject=subject)
    given = {"tenant": tenant, "subject": subject, **await recorded(database, changed, place, writer)}
    return bool(await write(database, "revoke_subject", given))


async def assign_case(database: Database, tenant: str, case: UUID, subject: str, place: Place, writer: Writer) -> bool:
    """Assign a case of a tenant to a good subject of it; false if it is assigned already, or one of the two is not."""
    changed = AccessChanged("caseAssigned", tenant=tenant, subject=subject, debate=str(case))
    given = {"tenant": tenant, "case": case, "subject": subject, "by": writer.actor.id}
    return bool(await write(database, "assign_case", given | await recorded(database, changed, place, writer)))


async def unassign_case(
    database: Database, tenant: str, case: UUID, subject: str, place: Place, writer: Writer
) -> bool:
    """Take a case back from a subject; false if it is not assigned to it."""
    changed = AccessChanged("caseUnassigned", tenant=tenant, subject=subject, debate=str(case))
    given = {"tenant": tenant, "case": case, "subject": subject}
    return bool(await write(database, "unassign_case", given | await recorded(database, changed, place, writer)))


async def recorded(database: Database, changed: AccessChanged, place: Place, writer: Writer) -> dict[str, Any]:
    """The record of a change as parameters of the statement that makes it."""
    now = await written_at(database)
    chain, record = seal_event(valid(changed), log=place.log, tenant=place.tenant, writer=writer, now=now)
    return {
        "debate": UUID(chain),
        "log": place.log,
        "home": place.tenant,
        "leaf": record.leaf,
        "salt": record.salt,
        "body": record.payload,
    }
