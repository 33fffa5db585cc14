"""Keys, subjects, tenants and reviewers as HTTP shows them, and the bodies that ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from service.audit.record import Via
from service.identity.caller import Caller, Kind
from service.identity.issuing import Issued
from service.identity.issuing_rules import NAME_MAX, OVERLAP_DAYS
from service.identity.roles import ROLES, SCOPES, Role, Scope
from service.store.identity_register import KeyRow, ReviewerRow, SubjectRow, TenantRow

DAYS_MAX = 3_660
"""The most days that a file of identities may allow."""
Days = Annotated[int, Meta(ge=0, le=DAYS_MAX)]
Life = Annotated[int, Meta(ge=1, le=DAYS_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=NAME_MAX)]
TenantName = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,62}$")]
SubjectId = Annotated[str, Meta(pattern="^sub_[0-7][0-9a-hjkmnp-tv-z]{25}$")]


class KeyRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A key that is asked for, for a new subject."""

    roles: Annotated[tuple[Role, ...], Meta(min_length=1, max_length=len(ROLES))]
    """The roles of the key. A caller issues none that it does not hold."""
    name: Name
    """Whose key it is. The name stands in the register alone, and in no record."""
    days: Life
    """The days after which the key expires, from 1 to 3660 and no more than the service allows."""
    kind: Literal["person", "service"] = "service"
    """What the subject is."""
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=len(SCOPES))] | None = None
    """Only these of the scopes that the roles grant. Absent: all of them."""
    tenant: TenantName | None = None
    """The tenant of the key. Absent: the caller's own, and for an administrator none: a key of the whole service."""


class RotationRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """How long the new key lives, and how long the old one stays valid beside it."""

    days: Life
    """The days after which the new key expires, from 1 to 3660 and no more than the service allows."""
    keep_days: Days = OVERLAP_DAYS
    """The days for which the old key stays valid, from 0 to 3660; 0 ends it at once. Its life never grows."""


class RevocationRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What is confirmed with a revocation."""

    last_operator: bool = False
    """Whether it may leave the tenant without a valid key of an operator."""


class FirstOperatorRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The key of the first operator of a new tenant."""

    name: Name
    """Whose key it is. The name stands in the register alone, and in no record."""
    days: Life
    """The days after which the key expires, from 1 to 3660 and no more than the service allows."""
    roles: Annotated[tuple[Role, ...], Meta(min_length=1, max_length=len(ROLES))] = ("operator",)
    """The roles of the key, operator among them. The operator can issue no other roles afterwards."""
    kind: Literal["person", "service"] = "person"
    """What the subject is."""


class TenantRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A tenant that is asked for."""

    name: TenantName
    """The name: lower-case letters, digits and '-', at most 63."""
    first_operator: FirstOperatorRequest | None = None
    """The first operator, whose key is issued with the tenant. Absent: none is issued now."""


class ReviewerRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The subject that is to review a case."""

    subject: SubjectId
    """The id of a subject of the tenant. With the role reviewer it reads this case."""


class ApiKey(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A key as the register shows it. The key itself is kept nowhere."""

    key: str
    """The id of the key. It is no secret."""
    subject: str
    """The id of the subject whose key it is."""
    tenant: str | None = None
    """The tenant of the key. Absent for a key of the whole service."""
    kind: Kind
    """What the subject is."""
    roles: tuple[str, ...]
    """The roles of the key."""
    scopes: tuple[str, ...] = ()
    """Only these of the scopes that the roles grant. Absent: all of them."""
    name: str
    """Whose key it is, as it was said when the key was issued."""
    state: Literal["valid", "expired", "revoked"]
    """Whether the key is let in now."""
    created_at: str
    """The time at which it was issued."""
    created_by: str
    """The id of the subject that issued it."""
    expires_at: str
    """The time at which it expires."""
    last_used_at: str | None = None
    """The time of its last use, to the minute. Absent for one that was never used."""
    revoked_at: str | None = None
    """The time at which it was revoked. Absent unless it was."""
    href: str
    """The path of the key."""

    @classmethod
    def of(cls, row: KeyRow) -> ApiKey:
        """A row of the register."""
        return cls(
            key=row.id,
            subject=row.subject,
            tenant=row.tenant,
            kind=row.kind,  # type: ignore[arg-type] # the table has a check
            roles=row.roles,
            scopes=row.scopes or (),
            name=row.name,
            state=row.state,
            created_at=said(row.created),
            created_by=row.created_by,
            expires_at=said(row.expires),
            last_used_at=None if row.last_used is None else said(row.last_used),
            revoked_at=None if row.revoked is None else said(row.revoked),
            href=f"/v1/keys/{row.id}",
        )


class IssuedKey(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A new key, with the key itself, which is in this answer and in no other."""

    secret: str
    """The key itself. It is shown this once; send it as `Authorization: Bearer`."""
    issued: ApiKey
    """What the register has of it."""
    replaced: ApiKey | None = None
    """The key that it replaces, with its new end. Absent for a key of a new subject."""

    @classmethod
    def of(cls, issued: Issued) -> IssuedKey:
        """A key that was issued just now."""
        old = None if issued.replaced is None else ApiKey.of(issued.replaced)
        return cls(secret=issued.secret, issued=ApiKey.of(issued.row), replaced=old)


class ApiKeyList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One page of keys."""

    always_sent: ClassVar = ("keys",)

    keys: tuple[ApiKey, ...]
    """The keys, in the order of their ids, which is no order of time."""
    next: str | None = None
    """The value of `after` for the next page. Absent on the last page."""


class Subject(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the register knows of an opaque id of records."""

    subject: str
    """The opaque id, as records have it."""
    tenant: str
    """The tenant of the subject."""
    source: str
    """Who names it: `key` or `service` for one with keys of this service, otherwise a provider or a proxy."""
    external: str
    """How its source names it; of a subject with keys of this service the id itself."""
    name: str | None = None
    """The name that was said with its first key. Absent for one of another source."""
    kind: Kind
    """What the subject is."""
    state: Literal["good", "revoked"]
    """Whether it is let in."""
    created_at: str
    """The time at which it was first known."""
    revoked_at: str | None = None
    """The time at which it was revoked. Absent unless it was."""
    href: str
    """The path of the subject."""

    @classmethod
    def of(cls, row: SubjectRow) -> Subject:
        """A row of the register."""
        return cls(
            subject=row.id,
            tenant=row.tenant,
            source=row.source,
            external=row.external,
            name=row.name,
            kind=row.kind,  # type: ignore[arg-type] # the table has a check
            state="good" if row.revoked is None else "revoked",
            created_at=said(row.created),
            revoked_at=None if row.revoked is None else said(row.revoked),
            href=f"/v1/subjects/{row.id}",
        )


class SubjectList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One page of subjects."""

    always_sent: ClassVar = ("subjects",)

    subjects: tuple[Subject, ...]
    """The subjects, in the order of their ids, which is no order of time."""
    next: str | None = None
    """The value of `after` for the next page. Absent on the last page."""


class Tenant(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tenant."""

    name: str
    """The name of the tenant."""
    created_at: str
    """The time at which it was created."""
    created_by: str
    """The id of the subject that created it."""

    @classmethod
    def of(cls, row: TenantRow) -> Tenant:
        """A row of the register."""
        return cls(name=row.name, created_at=said(row.created), created_by=row.created_by)


class TenantList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One page of tenants."""

    always_sent: ClassVar = ("tenants",)

    tenants: tuple[Tenant, ...]
    """The tenants, in the order of their names."""
    next: str | None = None
    """The value of `after` for the next page. Absent on the last page."""


class CreatedTenant(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A new tenant, and the key of its first operator where one was asked for."""

    name: str
    """The name of the tenant."""
    first_operator: IssuedKey | None = None
    """The key of the first operator, which is in this answer and in no other. Absent unless it was asked for."""


class Reviewer(Struct, frozen=True, kw_only=True, rename="camel"):
    """A subject to which a case is assigned."""

    subject: str
    """The id of the subject."""
    assigned_by: str
    """The id of the subject that assigned the case."""
    assigned_at: str
    """The time at which the case was assigned."""

    @classmethod
    def of(cls, row: ReviewerRow) -> Reviewer:
        """A row of the register."""
        return cls(subject=row.subject, assigned_by=row.by_subject, assigned_at=said(row.at))


class ReviewerList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One page of the subjects to which a case is assigned."""

    always_sent: ClassVar = ("reviewers",)

    reviewers: tuple[Reviewer, ...]
    """The subjects, in the order of their ids."""
    next: str | None = None
    """The value of `after` for the next page. Absent on the last page."""


class KnownCaller(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Who the caller is, as the service knows it, and what it may do."""

    always_sent: ClassVar = ("roles", "scopes")

    tenant: str
    """The tenant of the caller; `gainsay` for one of the whole service."""
    subject: str
    """The opaque id by which records name the caller."""
    kind: Kind
    """What the caller is."""
    via: Via
    """How the caller was authenticated; `none` in a service without identities."""
    roles: tuple[Role, ...]
    """The roles that the caller holds."""
    scopes: tuple[Scope, ...]
    """What the caller may do: what its roles grant, without what its credential leaves out."""
    credential: str | None = None
    """The id of the API key that the caller came with. Absent for another credential."""
    expires_at: str | None = None
    """The time at which the credential ends. Absent where the service does not know of an end."""

    @classmethod
    def of(cls, caller: Caller, expires: datetime | None) -> KnownCaller:
        """A caller, and when its credential ends."""
        return cls(
            tenant=caller.tenant,
            subject=caller.subject,
            kind=caller.kind,
            via=caller.via,
            roles=tuple(role for role in ROLES if role in caller.roles),
            scopes=tuple(scope for scope in SCOPES if caller.may(scope)),
            credential=caller.credential or None,
            expires_at=None if expires is None else said(expires),
        )


def said(at: datetime) -> str:
    """A time of the database as answers say it: RFC 3339 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def next_of(ids: Sequence[str], limit: int) -> str | None:
    """The last id of a page, where ``ids`` has one more than the page."""
    return ids[limit - 1] if len(ids) > limit else None
