"""The registers of tenants, subjects and API keys, as they are looked up and shown.

A register is working state: what was changed in it, and by whom, is in the tenant's log (`identity_changes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec
from msgspec import Struct

from service.store.array_parameters import TextArray
from service.store.pool import Database

PAGE = 200
"""Rows that one page of a list has."""


class FoundKey(Struct, frozen=True):
    """A valid key: its public id, its tenant (``None``: the whole service), its subject, and what it may do."""

    id: str
    tenant: str | None
    subject: str
    kind: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...] | None


class FoundSubject(Struct, frozen=True):
    """A subject of the register, and whether it is good: it was not revoked."""

    id: str
    good: bool


class KeyRow(Struct, frozen=True):
    """A key as the register shows it. The key itself is nowhere. Times are those of the database."""

    id: str
    tenant: str | None
    subject: str
    kind: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...] | None
    name: str
    created: datetime
    created_by: str
    expires: datetime
    last_used: datetime | None
    revoked: datetime | None
    subject_revoked: datetime | None
    expired: bool

    @property
    def state(self) -> Literal["valid", "expired", "revoked"]:
        """``revoked``, ``expired`` or ``valid``."""
        return "revoked" if self.revoked or self.subject_revoked else "expired" if self.expired else "valid"


class SubjectRow(Struct, frozen=True):
    """A subject: the opaque id of records, and how its source names it. A person's ``name`` stands only here."""

    id: str
    tenant: str
    source: str
    external: str
    name: str | None
    kind: str
    created: datetime
    revoked: datetime | None


class ReviewerRow(Struct, frozen=True):
    """A subject to which a case is assigned, and the opaque id of the subject that assigned it."""

    subject: str
    by_subject: str
    at: datetime


class TenantRow(Struct, frozen=True):
    """A tenant, and the opaque id of the subject that created it."""

    name: str
    created: datetime
    created_by: str


class IdentityRegister:
    """Looks up who belongs to the service. Every function raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_key(self, hash: bytes) -> FoundKey | None:
        """The key of a hash; ``None`` for one that is unknown, revoked or expired, or of a revoked subject."""
        rows = await self._database.query("find_key", {"hash": hash})
        return msgspec.convert(rows[0], FoundKey) if rows else None

    async def still(self, subject: str, key: str) -> bool:
        """Whether a subject, and its key unless it is empty, are still good."""
        (row,) = await self._database.query("still_good", {"key": key, "subject": subject})
        return bool(row["good"])

    async def find_subject(self, tenant: str, source: str, external: str, kind: str) -> FoundSubject | None:
        """The subject that a source knows by a name of its own, made when it is new; ``None``: an unknown tenant."""
        given = {"tenant": tenant, "source": source, "external": external, "kind": kind}
        rows = await self._database.query("find_subject", given)
        return msgspec.convert(rows[0], FoundSubject) if rows else None

    async def tenant_known(self, name: str) -> bool:
        """Whether there is a tenant of this name."""
        (row,) = await self._database.query("tenant_known", {"tenant": name})
        return bool(row["known"])

    async def key_used(self, key: str) -> None:
        """Keep that a key was used just now; at most once a minute."""
        await self._database.query("key_used", {"key": key})


async def list_keys(
    database: Database, tenant: str | None, after: str = "", *, subject: str | None = None, limit: int | None = None
) -> list[KeyRow]:
    """A page of a tenant's keys (``None``: of those without a tenant) in the order of their ids, after one.

    With ``subject`` those of one subject alone.
    """
    rows = await database.query(
        "keys_of", {"tenant": tenant, "subject": subject, "after": after, "limit": limit or PAGE}
    )
    return [msgspec.convert(row, KeyRow) for row in rows]


async def show_key(database: Database, tenant: str | None, key: str) -> KeyRow | None:
    """A key of a tenant by its id (``None``: of those without a tenant)."""
    rows = await database.query("key", {"tenant": tenant, "key": key})
    return msgspec.convert(rows[0], KeyRow) if rows else None


async def list_subjects(
    database: Database, tenant: str, after: str = "", *, only: Sequence[str] = (), limit: int | None = None
) -> list[SubjectRow]:
    """A page of a tenant's subjects in the order of their ids, after one; ``only`` those of these ids, if any."""
    given = {"tenant": tenant, "only": TextArray(only) if only else None, "after": after, "limit": limit or PAGE}
    rows = await database.query("subjects_of", given)
    return [msgspec.convert(row, SubjectRow) for row in rows]


async def show_subject(database: Database, tenant: str, subject: str) -> SubjectRow | None:
    """A subject of a tenant by its id."""
    rows = await database.query("subject", {"tenant": tenant, "subject": subject})
    return msgspec.convert(rows[0], SubjectRow) if rows else None


async def list_tenants(database: Database, after: str = "", limit: int | None = None) -> list[TenantRow]:
    """Every tenant by name, or a page of them after one."""
    rows = await database.query("tenants", {"after": after, "limit": limit})
    return [msgspec.convert(row, TenantRow) for row in rows]


async def list_reviewers(database: Database, tenant: str, case: UUID, after: str, limit: int) -> list[ReviewerRow]:
    """A page of the subjects to which a case of a tenant is assigned, in the order of their ids after one."""
    rows = await database.query("reviewers", {"tenant": tenant, "case": case, "after": after, "limit": limit})
    return [msgspec.convert(row, ReviewerRow) for row in rows]


async def has_case(database: Database, tenant: str, case: UUID) -> bool:
    """Whether a debate is a tenant's."""
    return bool(await database.query("has_case", {"tenant": tenant, "case": case}))


async def operates(database: Database, tenant: str, subject: str) -> bool:
    """Whether a subject has a valid key of the role operator in a tenant."""
    return bool(await database.query("operator_key_of", {"tenant": tenant, "subject": subject}))


async def other_operator(database: Database, tenant: str, key: str, subject: str) -> bool:
    """Whether a tenant has a valid key of the role operator beside one key, or beside those of one subject."""
    return bool(await database.query("other_operator", {"tenant": tenant, "key": key, "subject": subject}))


async def has_operator(database: Database, tenant: str) -> bool:
    """Whether a tenant has a valid key of the role operator."""
    (row,) = await database.query("has_operator", {"tenant": tenant})
    return bool(row["found"])
