"""``gainsay keys | tenants | subjects``: who belongs to the service, kept in the database of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.beginning import database_url
from service.cli.terminal_text import line
from service.identity.issuing_rules import KINDS, OVERLAP_DAYS, WantedKey
from service.identity.roles import ROLES, SERVICE_WIDE
from service.policy.own_build import own_build

if TYPE_CHECKING:
    from service.identity.issuing import Issued, Issuing
    from service.store.identity_register import KeyRow, SubjectRow

T = TypeVar("T")
Decorated = Callable[..., int]
DEFAULT = "default"


def _tenant_options(command: Decorated) -> Decorated:
    """Give a command the options that name the tenant of a key."""
    for option in (
        click.option("--whole-service", is_flag=True, help="Keys without a tenant: administrators and scrapers."),
        click.option("--tenant", metavar="NAME", help=f"The tenant of the key.  [default: {DEFAULT}]"),
    ):
        command = option(command)
    return command


@click.group()
def keys() -> None:
    """Issue, list, replace and revoke API keys (docs/authentication.md).

    The keyboard acts as an administrator: it issues the keys of administrators and scrapers, and of the first operator
    of a tenant. From then on that tenant's operators issue its keys. Each change is a record of the tenant's log.
    """


@keys.command()
@_tenant_options
@click.option("--role", "roles", multiple=True, required=True, type=click.Choice(ROLES), help="A role; repeat it.")
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="Only these scopes of the roles; repeat it.")
@click.option("--name", required=True, metavar="TEXT", help="Whose key it is. It stands in the register alone.")
@click.option("--kind", type=click.Choice(KINDS), default="service", show_default=True, help="What the subject is.")
@click.option("--days", required=True, type=int, metavar="N", help="The life of the key.")
def create(tenant: str | None, whole_service: bool, roles: tuple[str, ...], **given: Any) -> int:
    """Issue a key for a new subject, and print it: this once, alone on standard output.

    \b
    gainsay keys create --role operator --role requester --role auditor --name "Ada Lovelace" --kind person --days 90
    gainsay keys create --role scrape --name prometheus --days 366
    """
    wide = whole_service or (tenant is None and set(roles) <= SERVICE_WIDE)
    given["scopes"] = given["scopes"] or None
    wanted = WantedKey(_tenant(tenant, whole=wide), roles, **given)
    return _print_issued(_work(lambda issuing: issuing.issue(startup.LOCAL, wanted)))


@keys.command("list")
@_tenant_options
def list_keys(tenant: str | None, whole_service: bool) -> int:
    """List the keys of a tenant: id, state, last day, last use, roles and name. No key itself is kept."""
    of = _tenant(tenant, whole=whole_service)

    async def every(issuing: Issuing) -> list[KeyRow]:
        rows = page = await issuing.list_keys(startup.LOCAL, of)
        while page:
            page = await issuing.list_keys(startup.LOCAL, of, page[-1].id)
            rows = [*rows, *page]
        return sorted(rows, key=lambda row: row.created)

    for row in _work(every):
        click.echo(_key_line(row))
    return exit_codes.DONE


@keys.command()
@click.argument("key", metavar="KEY")
@_tenant_options
def show(key: str, tenant: str | None, whole_service: bool) -> int:
    """Show one key by its id (key_...)."""
    row = _work(lambda issuing: issuing.show_key(startup.LOCAL, _tenant(tenant, whole=whole_service), key))
    _print_key(row, err=False)
    return exit_codes.DONE


@keys.command()
@click.argument("key", metavar="KEY")
@_tenant_options
@click.option("--days", required=True, type=int, metavar="N", help="The life of the new key.")
@click.option(
    "--keep-days", type=int, default=OVERLAP_DAYS, show_default=True, help="How long the old one stays valid."
)
def rotate(key: str, tenant: str | None, whole_service: bool, days: int, keep_days: int) -> int:
    """Issue a second key with the rights of the first, and print it alone on standard output.

    Both are valid until the old one expires. A subject has two valid keys at most.
    """
    of = _tenant(tenant, whole=whole_service)
    return _print_issued(_work(lambda issuing: issuing.rotate(startup.LOCAL, of, key, days=days, keep_days=keep_days)))


@keys.command()
@click.argument("key", metavar="KEY")
@_tenant_options
def revoke(key: str, tenant: str | None, whole_service: bool) -> int:
    """Revoke a key for ever: every process refuses it within 5 seconds."""
    row = _work(lambda issuing: issuing.revoke_key(startup.LOCAL, _tenant(tenant, whole=whole_service), key))
    click.echo(f"{row.id} is revoked since {_time(row.revoked)}")
    return exit_codes.DONE


@click.group()
def tenants() -> None:
    """Create and list tenants."""


@tenants.command("create")
@click.argument("name", metavar="NAME")
def create_tenant(name: str) -> int:
    """Create a tenant: lower-case letters, digits and '-'. Then issue the key of its first operator.

    \b
    gainsay tenants create bank
    gainsay keys create --tenant bank --role operator --name "Ada Lovelace" --kind person --days 90
    """
    _work(lambda issuing: issuing.create_tenant(startup.LOCAL, name))
    click.echo(
        f"tenant {name} is created; issue the key of its first operator with `gainsay keys create --tenant {name}`"
    )
    return exit_codes.DONE


@tenants.command("list")
def list_tenants() -> int:
    """List every tenant, with when and by whom it was created."""
    for row in _work(lambda issuing: issuing.list_tenants(startup.LOCAL)):
        click.echo(f"{row.name}  created {_time(row.created)} by {row.created_by}")
    return exit_codes.DONE


@click.group()
def subjects() -> None:
    """List and revoke subjects: the persons and services that records name by opaque ids."""


@subjects.command("list")
@click.option("--tenant", metavar="NAME", default=DEFAULT, show_default=True, help="The tenant.")
def list_subjects(tenant: str) -> int:
    """List the subjects of a tenant: id, state, kind, where it comes from and its name."""

    async def every(issuing: Issuing) -> list[SubjectRow]:
        rows = page = await issuing.list_subjects(startup.LOCAL, tenant)
        while page:
            page = await issuing.list_subjects(startup.LOCAL, tenant, page[-1].id)
            rows = [*rows, *page]
        return sorted(rows, key=lambda row: row.created)

    for row in _work(every):
        state = "revoked" if row.revoked else "good"
        own = row.external == row.id
        source = row.source if own else f"{row.source}:{line(row.external)}"
        click.echo(f"{row.id}  {state:<7}  {row.kind:<7}  {source}  {line(row.name or '')}".rstrip())
    return exit_codes.DONE


@subjects.command("revoke")
@click.argument("subject", metavar="SUBJECT")
@click.option("--tenant", metavar="NAME", default=DEFAULT, show_default=True, help="The tenant.")
def revoke_subject(subject: str, tenant: str) -> int:
    """Revoke a subject for ever, with every key and token that it has."""
    row = _work(lambda issuing: issuing.revoke_subject(startup.LOCAL, tenant, subject))
    click.echo(f"{row.id} is revoked since {_time(row.revoked)}")
    return exit_codes.DONE


def _tenant(tenant: str | None, *, whole: bool) -> str | None:
    if whole and tenant is not None:
        raise click.UsageError("--whole-service and --tenant contradict each other; give one")
    return None if whole else tenant or DEFAULT


def _work(work: Callable[[Issuing], Awaitable[T]]) -> T:
    """Do something with the registers of this machine's database, as the keyboard."""
    place.refuse_server("keys")
    settings = startup.start(quiet=True)
    from service.identity.issuing import Issuing
    from service.identity.opening import identities_of
    from service.store.current_log import CurrentLogs
    from service.store.pool import Database

    identities = identities_of(settings.identity)

    async def opened(url: str) -> T:
        async with Database.open(url, size=1) as database:
            logs = CurrentLogs(database, settings.log_host)
            return await work(Issuing(database, logs, own_build(), identities.keys if identities else None))

    with database_url(settings) as url:
        return asyncio.run(opened(url))


def _print_issued(issued: Issued) -> int:
    _print_key(issued.row, err=True)
    if issued.replaced is not None:
        click.echo(f"{issued.replaced.id} stays valid until {_time(issued.replaced.expires)}", err=True)
    click.echo("the key is shown this once, and kept nowhere:", err=True)
    click.echo(issued.secret)
    return exit_codes.DONE


def _print_key(row: KeyRow, *, err: bool) -> None:
    facts: Sequence[tuple[str, str]] = (
        ("key", row.id),
        ("subject", row.subject),
        ("tenant", row.tenant or "none: the whole service"),
        ("roles", ", ".join(row.roles)),
        ("scopes", "all of the roles" if row.scopes is None else ", ".join(row.scopes)),
        ("name", line(row.name)),
        ("state", row.state),
        ("created", f"{_time(row.created)} by {row.created_by}"),
        ("expires", _time(row.expires)),
        ("last used", _time(row.last_used)),
    )
    for name, text in facts:
        click.echo(f"{name:<9}  {text}", err=err)


def _key_line(row: KeyRow) -> str:
    used = f"used {_time(row.last_used)}" if row.last_used else "never used"
    return f"{row.id}  {row.state:<7}  until {_time(row.expires)}  {used}  {','.join(row.roles)}  {line(row.name)}"


def _time(at: datetime | None) -> str:
    return "never" if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
