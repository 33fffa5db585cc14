"""Issues, replaces and revokes keys, and creates tenants: a rule decides, and one statement changes and records.

A key is returned once, to who asked for it, and is kept nowhere: the register has its hash alone.

What is done for no tenant is recorded in the log of the tenant `gainsay`, that of the service itself. In the log of
`default` the auditors of one tenant would read which others there are, and who runs the service.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from secrets import token_bytes

from msgspec import Struct

from service.audit.record import Actor, Writer
from service.errors import NotFound
from service.identity import issuing_rules as rules
from service.identity.api_keys import SECRET_BYTES, hash_key, write_key
from service.identity.caller import Caller
from service.identity.ids import RANDOM_BYTES, is_id, write_id
from service.identity.issuing_rules import IdentityConflict, WantedKey
from service.identity.roles import ROLES, SCOPES, Role
from service.identity.settings import KeySettings
from service.identity.tenants import SERVICE_TENANT, check_tenant
from service.store import identity_changes as changes
from service.store import identity_register as register
from service.store.current_log import CurrentLogs
from service.store.identity_changes import NewKey, Place
from service.store.identity_register import KeyRow, SubjectRow, TenantRow
from service.store.pool import Database
from service.store.sealing import headline_fields, written_at

DAY_S = 86_400
_PREVENTED = {
    "hasOperator": "the tenant has an operator, who alone issues its keys; ask it",
    "gone": "the key that is to be replaced is not valid any more; issue a new one",
    "twoKeys": "the subject has two valid keys, and no third; revoke one, or wait until one has expired",
}


class Issued(Struct, frozen=True):
    """A new key: its row, and the key itself, which is shown this once. ``replaced`` is the key that it replaces."""

    row: KeyRow
    secret: str
    replaced: KeyRow | None = None

    def __repr__(self) -> str:
        """Without the key."""
        return f"Issued({self.row.id!r})"


class Issuing:
    """Changes and shows the registers on a caller's behalf. Every function raises what its rule and the store do."""

    def __init__(
        self,
        database: Database,
        logs: CurrentLogs,
        build: str,
        settings: KeySettings | None = None,
        random: Callable[[int], bytes] = token_bytes,
    ) -> None:
        self._database, self._logs, self._build = database, logs, build
        self._most_days = (settings or KeySettings()).most_days
        self._random = random

    async def create_tenant(self, caller: Caller, name: str) -> None:
        """Create a tenant; raises `BadRequest`, `Forbidden` and `IdentityConflict`."""
        rules.expect_administrator(caller, "creates tenants")
        check_tenant(name)
        if not await changes.add_tenant(self._database, name, *await self._recording(caller, name)):
            raise IdentityConflict(
                f"expected a name that no tenant has, found {name!r}, which there is; choose another"
            )

    async def issue(self, caller: Caller, wanted: WantedKey) -> Issued:
        """A key for a new subject; raises `InvalidIdentity`, `Forbidden`, `NotFound` and `IdentityConflict`."""
        if wanted.tenant is not None:
            check_tenant(wanted.tenant)
        roles, scopes = rules.check_wanted(wanted, self._most_days)
        first = rules.expect_issuer(caller, wanted.tenant, roles, scopes)
        secret = self._new_secret()
        new = NewKey(
            id=write_id("key_", self._random(RANDOM_BYTES)),
            hash=hash_key(secret.encode()),
            tenant=wanted.tenant,
            subject=write_id("sub_", self._random(RANDOM_BYTES)),
            roles=roles,
            scopes=scopes,
            name=wanted.name,
            kind=wanted.kind,
            expires=await self._after(wanted.days),
            first=first,
        )
        return await self._add(caller, new, secret)

    async def rotate(
        self, caller: Caller, tenant: str | None, key: str, *, days: int, keep_days: int = rules.OVERLAP_DAYS
    ) -> Issued:
        """A second key of a subject, with the rights of the first, which stays valid for ``keep_days`` at most.

        Raises `InvalidIdentity`, `Forbidden`, `NotFound` and `IdentityConflict`.
        """
        rules.check_days(days, 1, self._most_days, "/days")
        rules.check_days(keep_days, 0, self._most_days, "/keepDays")
        row = await self.show_key(caller, tenant, key)
        roles = tuple(role for role in ROLES if role in row.roles)
        scopes = None if row.scopes is None else tuple(scope for scope in SCOPES if scope in row.scopes)
        first = rules.expect_issuer(caller, tenant, roles, scopes)
        secret = self._new_secret()
        new = NewKey(
            id=write_id("key_", self._random(RANDOM_BYTES)),
            hash=hash_key(secret.encode()),
            tenant=tenant,
            subject=row.subject,
            roles=roles,
            scopes=scopes,
            name=row.name,
            kind=row.kind,
            expires=await self._after(days),
            first=first,
            replaced=row.id,
            old_until=await self._after(keep_days),
        )
        return await self._add(caller, new, secret)

    async def revoke_key(self, caller: Caller, tenant: str | None, key: str, *, last: bool = True) -> KeyRow:
        """Revoke a key: every process refuses it within 5 s. To revoke it again changes and records nothing.

        Without ``last`` the key of a tenant's last operator is kept: `IdentityConflict`.
        """
        rules.expect_manager(caller, tenant)
        row = await self.show_key(caller, tenant, key)
        if not last and row.state == "valid" and "operator" in row.roles:
            await self._expect_other_operator(tenant, key=row.id)
        place, writer = await self._recording(caller, tenant)
        await changes.revoke_key(self._database, tenant, row.id, row.subject, place, writer)
        return await self.show_key(caller, tenant, key)

    async def revoke_subject(self, caller: Caller, tenant: str, subject: str, *, last: bool = True) -> SubjectRow:
        """Revoke a subject, and with it every key and token that it has. To revoke it again changes nothing.

        Without ``last`` the subject of a tenant's last operator is kept: `IdentityConflict`.
        """
        rules.expect_manager(caller, None if _is_own_of_administrators(caller, tenant) else tenant)
        row = await self.show_subject(caller, tenant, subject)
        if not last and row.revoked is None and await register.operates(self._database, tenant, row.id):
            await self._expect_other_operator(tenant, subject=row.id)
        if row.source == "service":
            rules.expect_administrator(caller, "revokes subjects without a tenant")
        place, writer = await self._recording(caller, tenant)
        await changes.revoke_subject(self._database, tenant, row.id, place, writer)
        return await self.show_subject(caller, tenant, subject)

    async def show_key(self, caller: Caller, tenant: str | None, key: str) -> KeyRow:
        """A key of a tenant (``None``: of those without one); raises `NotFound` and `Forbidden`."""
        rules.expect_reader(caller, tenant)
        row = await register.show_key(self._database, tenant, key) if is_id(key, "key_") else None
        if row is None:
            raise _none_such("key", _named(tenant), key, known=is_id(key, "key_"))
        return row

    async def list_keys(
        self,
        caller: Caller,
        tenant: str | None,
        after: str = "",
        *,
        subject: str | None = None,
        limit: int | None = None,
    ) -> list[KeyRow]:
        """A page of the keys of a tenant, or of one subject of it, in the order of their ids after one."""
        rules.expect_reader(caller, tenant)
        return await register.list_keys(self._database, tenant, after, subject=subject, limit=limit)

    async def show_subject(self, caller: Caller, tenant: str, subject: str) -> SubjectRow:
        """A subject of a tenant; raises `NotFound` and `Forbidden`."""
        rules.expect_reader(caller, None if _is_own_of_administrators(caller, tenant) else tenant)
        row = await register.show_subject(self._database, tenant, subject) if is_id(subject, "sub_") else None
        if row is None:
            raise _none_such("subject", tenant, subject, known=is_id(subject, "sub_"))
        return row

    async def list_subjects(
        self, caller: Caller, tenant: str, after: str = "", *, only: Sequence[str] = (), limit: int | None = None
    ) -> list[SubjectRow]:
        """A page of the subjects of a tenant, ``only`` those of some ids, in the order of their ids after one."""
        rules.expect_reader(caller, None if _is_own_of_administrators(caller, tenant) else tenant)
        return await register.list_subjects(self._database, tenant, after, only=only, limit=limit)

    async def end_of_own(self, caller: Caller) -> datetime | None:
        """When the key that a caller came with expires; ``None`` for a caller without one."""
        tenant = None if rules.belongs_to_the_service(caller) else caller.tenant
        row = await register.show_key(self._database, tenant, caller.credential) if caller.credential else None
        return None if row is None else row.expires

    def check(self, wanted: WantedKey, within: str = "") -> None:
        """Raise `InvalidIdentity` for what no key can be, with pointers below that of the part of a body it is from."""
        try:
            rules.check_wanted(wanted, self._most_days)
        except rules.InvalidIdentity as error:
            pointers = tuple(within + pointer for pointer in error.pointers)
            raise rules.InvalidIdentity(error.detail, pointers=pointers) from None

    async def list_tenants(self, caller: Caller, after: str = "", limit: int | None = None) -> list[TenantRow]:
        """Every tenant, or a page of them after one, in the order of their names."""
        rules.expect_administrator(caller, "lists tenants")
        return await register.list_tenants(self._database, after, limit)

    async def _expect_other_operator(self, tenant: str | None, *, key: str = "", subject: str = "") -> None:
        """Raise `IdentityConflict` where a tenant has no valid key of an operator beside this key or subject."""
        if tenant is not None and not await register.other_operator(self._database, tenant, key, subject):
            raise IdentityConflict(
                "nothing was revoked: no other valid key of the tenant is an operator's, so it would have none; issue "
                "one to another operator, or replace this key (rotate, with keepDays 0), or, where the key was stolen, "
                "say lastOperator: true, and have an administrator issue that of a first operator"
            )

    async def _add(self, caller: Caller, new: NewKey, secret: str) -> Issued:
        outcome = await changes.add_key(self._database, new, *await self._recording(caller, new.tenant))
        if outcome == "noTenant":
            raise NotFound(f"expected a tenant of this service, found no {_named(new.tenant)!r}; create it first")
        if outcome != "added":
            raise IdentityConflict(f"no key was issued: {_PREVENTED[outcome]}")
        row = await register.show_key(self._database, new.tenant, new.id)
        old = None if new.replaced is None else await register.show_key(self._database, new.tenant, new.replaced)
        if row is None:
            raise NotFound("expected the key that was issued, found that it is gone")
        return Issued(row, secret, old)

    async def _recording(self, caller: Caller, tenant: str | None) -> tuple[Place, Writer]:
        """Where a change is recorded, and who made it."""
        home = tenant or SERVICE_TENANT
        role: Role = "operator" if rules.operates(caller, tenant) else "administrator"
        actor = Actor(caller.subject, caller.kind, role, caller.via)
        return Place(await self._logs.current(home), home), Writer(actor, self._build)

    async def _after(self, days: int) -> str:
        """A time so many days from now by the database's clock, as records have it."""
        return headline_fields(await written_at(self._database) + days * DAY_S)

    def _new_secret(self) -> str:
        return write_key(self._random(SECRET_BYTES))


def _is_own_of_administrators(caller: Caller, tenant: str) -> bool:
    """Whether these are the subjects among which the administrators are, and the caller is one of them."""
    return tenant == SERVICE_TENANT and (rules.at_the_keyboard(caller) or rules.belongs_to_the_service(caller))


def _none_such(what: str, tenant: str, given: str, *, known: bool) -> NotFound:
    """The error for an id that stands for nothing. A text that is no id is not shown: it may be a key itself."""
    found = given if known else "another text, which is no id"
    return NotFound(f"expected the id of a {what} of {tenant} ({what[:3]}_...), found {found}; list them for their ids")


def _named(tenant: str | None) -> str:
    return "the whole service" if tenant is None else tenant
