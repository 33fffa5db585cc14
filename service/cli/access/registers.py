"""The registers of who belongs to a service, for commands: on this machine's database, or through a running service.

At the keyboard of the database's machine a command names the tenant that it means. A running service shows and changes
those of the caller that its credential stands for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import quote

import click

from service.cli import startup
from service.cli.access import place
from service.cli.access.port import JSON, Query
from service.identity.issuing_rules import WantedKey
from service.policy.own_build import own_build

if TYPE_CHECKING:
    from service.cli.access.over_http import OverHTTP
    from service.identity.issuing import Issuing
    from service.web.identity_types import ApiKey, IssuedKey, Subject, Tenant

T = TypeVar("T")
Of = str | None
"""The tenant whose keys are meant; ``None`` for those of the whole service."""


class Registers(Protocol):
    """What commands do with the registers."""

    async def issue(self, wanted: WantedKey) -> IssuedKey:
        """A key for a new subject."""
        ...

    async def keys(self, of: Of) -> list[ApiKey]:
        """Every key of a tenant."""
        ...

    async def key(self, of: Of, key: str) -> ApiKey:
        """One key."""
        ...

    async def rotate(self, of: Of, key: str, days: int, keep_days: int) -> IssuedKey:
        """A second key of a subject."""
        ...

    async def revoke(self, of: Of, key: str, *, last: bool) -> ApiKey:
        """A key, revoked."""
        ...

    async def create_tenant(self, name: str) -> None:
        """Create a tenant."""
        ...

    async def tenants(self) -> list[Tenant]:
        """Every tenant."""
        ...

    async def subjects(self, tenant: str) -> list[Subject]:
        """Every subject of a tenant."""
        ...

    async def revoke_subject(self, tenant: str, subject: str, *, last: bool) -> Subject:
        """A subject, revoked."""
        ...


class RegistersHere:
    """Those of a database, as the keyboard of its machine."""

    def __init__(self, issuing: Issuing) -> None:
        self._issuing = issuing

    async def issue(self, wanted: WantedKey) -> IssuedKey:
        """A key for a new subject."""
        from service.web.identity_types import IssuedKey

        return IssuedKey.of(await self._issuing.issue(startup.LOCAL, wanted))

    async def keys(self, of: Of) -> list[ApiKey]:
        """Every key of a tenant."""
        from service.web.identity_types import ApiKey

        rows = page = await self._issuing.list_keys(startup.LOCAL, of)
        while page:
            page = await self._issuing.list_keys(startup.LOCAL, of, page[-1].id)
            rows = [*rows, *page]
        return [ApiKey.of(row) for row in rows]

    async def key(self, of: Of, key: str) -> ApiKey:
        """One key."""
        from service.web.identity_types import ApiKey

        return ApiKey.of(await self._issuing.show_key(startup.LOCAL, of, key))

    async def rotate(self, of: Of, key: str, days: int, keep_days: int) -> IssuedKey:
        """A second key of a subject."""
        from service.web.identity_types import IssuedKey

        issued = await self._issuing.rotate(startup.LOCAL, of, key, days=days, keep_days=keep_days)
        return IssuedKey.of(issued)

    async def revoke(self, of: Of, key: str, *, last: bool) -> ApiKey:
        """A key, revoked, also that of a last operator: a stolen key is stopped while its operators are away."""
        from service.web.identity_types import ApiKey

        return ApiKey.of(await self._issuing.revoke_key(startup.LOCAL, of, key))

    async def create_tenant(self, name: str) -> None:
        """Create a tenant."""
        await self._issuing.create_tenant(startup.LOCAL, name)

    async def tenants(self) -> list[Tenant]:
        """Every tenant."""
        from service.web.identity_types import Tenant

        return [Tenant.of(row) for row in await self._issuing.list_tenants(startup.LOCAL)]

    async def subjects(self, tenant: str) -> list[Subject]:
        """Every subject of a tenant."""
        from service.web.identity_types import Subject

        rows = page = await self._issuing.list_subjects(startup.LOCAL, tenant)
        while page:
            page = await self._issuing.list_subjects(startup.LOCAL, tenant, page[-1].id)
            rows = [*rows, *page]
        return [Subject.of(row) for row in rows]

    async def revoke_subject(self, tenant: str, subject: str, *, last: bool) -> Subject:
        """A subject, revoked."""
        from service.web.identity_types import Subject

        return Subject.of(await self._issuing.revoke_subject(startup.LOCAL, tenant, subject))


class RegistersThere:
    """Those of a running service, as far as the caller's credential reaches."""

    def __init__(self, service: OverHTTP) -> None:
        self._service = service

    async def issue(self, wanted: WantedKey) -> IssuedKey:
        """A key for a new subject."""
        from service.web.identity_types import IssuedKey

        body = {"roles": wanted.roles, "name": wanted.name, "days": wanted.days, "kind": wanted.kind}
        more = {"tenant": wanted.tenant, "scopes": wanted.scopes}
        said = {name: value for name, value in more.items() if value is not None}
        return await self._service.post("/v1/keys", body | said, IssuedKey)

    async def keys(self, of: Of) -> list[ApiKey]:
        """Every key of the caller's tenant."""
        from service.web.identity_types import ApiKeyList

        found: list[ApiKey] = []
        async for page in self._pages("/v1/keys", ApiKeyList):
            found += page.keys
        return found

    async def key(self, of: Of, key: str) -> ApiKey:
        """One key."""
        from service.web.identity_types import ApiKey

        return await self._service.get(f"/v1/keys/{_part(key)}", (), ApiKey)

    async def rotate(self, of: Of, key: str, days: int, keep_days: int) -> IssuedKey:
        """A second key of a subject."""
        from service.web.identity_types import IssuedKey

        body = {"days": days, "keepDays": keep_days}
        return await self._service.post(f"/v1/keys/{_part(key)}/rotate", body, IssuedKey)

    async def revoke(self, of: Of, key: str, *, last: bool) -> ApiKey:
        """A key, revoked."""
        from service.web.identity_types import ApiKey

        return await self._service.post(f"/v1/keys/{_part(key)}/revoke", {"lastOperator": last}, ApiKey)

    async def create_tenant(self, name: str) -> None:
        """Create a tenant."""
        from service.web.identity_types import CreatedTenant

        await self._service.post("/v1/tenants", {"name": name}, CreatedTenant)

    async def tenants(self) -> list[Tenant]:
        """Every tenant."""
        from service.web.identity_types import TenantList

        found: list[Tenant] = []
        async for page in self._pages("/v1/tenants", TenantList):
            found += page.tenants
        return found

    async def subjects(self, tenant: str) -> list[Subject]:
        """Every subject of the caller's tenant."""
        from service.web.identity_types import SubjectList

        found: list[Subject] = []
        async for page in self._pages("/v1/subjects", SubjectList):
            found += page.subjects
        return found

    async def revoke_subject(self, tenant: str, subject: str, *, last: bool) -> Subject:
        """A subject, revoked."""
        from service.web.identity_types import Subject

        body: JSON = {"lastOperator": last}
        return await self._service.post(f"/v1/subjects/{_part(subject)}/revoke", body, Subject)

    async def _pages(self, path: str, kind: type[_Page]) -> AsyncGenerator[_Page, None]:
        """Every page of a list; a service that leads back to where it was is not followed."""
        query: Query = (("limit", "100"),)
        seen: set[str] = set()
        while True:
            page = await self._service.get(path, query, kind)
            yield page
            if page.next is None or page.next in seen:
                return
            seen.add(page.next)
            query = (("limit", "100"), ("after", page.next))


class _Paged(Protocol):
    @property
    def next(self) -> str | None: ...


_Page = TypeVar("_Page", bound=_Paged)


def work(server: str | None, do: Callable[[Registers], Awaitable[T]]) -> T:
    """Do something with the registers of a running service, or of this machine's database."""
    from service.cli import beginning

    if server is not None:
        beginning.log()
        return place.by_service(server, lambda service: do(RegistersThere(service)))
    settings = startup.start(quiet=True)

    async def done(url: str) -> T:
        async with _opened(url) as registers:
            return await do(registers)

    @asynccontextmanager
    async def _opened(url: str) -> AsyncGenerator[Registers, None]:
        from service.identity.issuing import Issuing
        from service.identity.opening import identities_of
        from service.store.current_log import CurrentLogs
        from service.store.pool import Database

        identities = identities_of(settings.identity)
        async with Database.open(url, size=1) as database:
            logs = CurrentLogs(database, settings.log_host)
            yield RegistersHere(Issuing(database, logs, own_build(), identities.keys if identities else None))

    with beginning.database_url(settings) as url:
        return asyncio.run(done(url))


def refuse_tenant(server: str | None, *, named: bool) -> None:
    """Raise `UsageError` where a tenant is named to a running service, which knows that of the caller."""
    if server is not None and named:
        raise click.UsageError(
            "a running service shows and changes the registers of its caller's own tenant; leave --tenant and "
            "--whole-service out, or ask with another credential"
        )


def _part(text: str) -> str:
    return quote(text, safe="") or "%20"
