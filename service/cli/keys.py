"""``gainsay keys | tenants | subjects``: who belongs to the service, by its database or over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from service.cli import exit_codes
from service.cli.access import place, registers
from service.cli.terminal_text import say, unbroken
from service.identity.issuing_rules import KINDS, OVERLAP_DAYS, WantedKey
from service.identity.roles import ROLES, SERVICE_WIDE

if TYPE_CHECKING:
    from service.web.identity_types import ApiKey, IssuedKey

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

    On a database the keyboard acts as an administrator: it issues the keys of administrators and scrapers, and of the
    first operator of a tenant. From then on that tenant's operators issue its keys. Each change is a record of the
    tenant's log. With --server you act as the caller that GAINSAY_TOKEN stands for, in its own tenant.
    """


@keys.command()
@_tenant_options
@click.option("--role", "roles", multiple=True, required=True, type=click.Choice(ROLES), help="A role; repeat it.")
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="Only these scopes of the roles; repeat it.")
@click.option("--name", required=True, metavar="TEXT", help="Whose key it is. It stands in the register alone.")
@click.option("--kind", type=click.Choice(KINDS), default="service", show_default=True, help="What the subject is.")
@click.option("--days", required=True, type=int, metavar="N", help="The life of the key.")
@place.server_option
def create(tenant: str | None, whole_service: bool, roles: tuple[str, ...], server: str | None, **given: Any) -> int:
    """Issue a key for a new subject, and print it: this once, alone on standard output.

    \b
    gainsay keys create --role operator --role requester --role auditor --name "Ada Lovelace" --kind person --days 90
    gainsay keys create --role scrape --name prometheus --days 366
    """
    address = place.server_of(server)
    given["scopes"] = given["scopes"] or None
    of = tenant
    if address is None:
        of = _tenant(None, tenant, whole=whole_service or (tenant is None and set(roles) <= SERVICE_WIDE))
    wanted = WantedKey(of, roles, **given)
    return _print_issued(registers.work(address, lambda here: here.issue(wanted)))


@keys.command("list")
@_tenant_options
@place.server_option
def list_keys(tenant: str | None, whole_service: bool, server: str | None) -> int:
    """List the keys of a tenant: id, state, last day, last use, roles and name. No key itself is kept."""
    address = place.server_of(server)
    of = _tenant(address, tenant, whole=whole_service)
    found = registers.work(address, lambda here: here.keys(of))
    for row in sorted(found, key=lambda row: row.created_at):
        say(_key_line(row))
    return exit_codes.DONE


@keys.command()
@click.argument("key", metavar="KEY")
@_tenant_options
@place.server_option
def show(key: str, tenant: str | None, whole_service: bool, server: str | None) -> int:
    """Show one key by its id (key_...)."""
    address = place.server_of(server)
    of = _tenant(address, tenant, whole=whole_service)
    _print_key(registers.work(address, lambda here: here.key(of, key)), err=False)
    return exit_codes.DONE


@keys.command()
@click.argument("key", metavar="KEY")
@_tenant_options
@click.option("--days", required=True, type=int, metavar="N", help="The life of the new key.")
@click.option(
    "--keep-days", type=int, default=OVERLAP_DAYS, show_default=True, help="How long the old one stays valid."
)
@place.server_option
def rotate(key: str, tenant: str | None, whole_service: bool, days: int, keep_days: int, server: str | None) -> int:
    """Issue a second key with the rights of the first, and print it alone on standard output.

    Both are valid until the old one expires. A subject has two valid keys at most.
    """
    address = place.server_of(server)
    of = _tenant(address, tenant, whole=whole_service)
    return _print_issued(registers.work(address, lambda here: here.rotate(of, key, days, keep_days)))


@keys.command()
@click.argument("key", metavar="KEY")
@_tenant_options
@click.option("--last-operator", is_flag=True, help="With --server: also where the tenant then has no operator's key.")
@place.server_option
def revoke(key: str, tenant: str | None, whole_service: bool, last_operator: bool, server: str | None) -> int:
    """Revoke a key for ever: every process refuses it within 5 seconds."""
    address = place.server_of(server)
    of = _tenant(address, tenant, whole=whole_service)
    row = registers.work(address, lambda here: here.revoke(of, key, last=last_operator))
    say(_row(f"{row.key} is revoked since {_time(row.revoked_at)}"))
    return exit_codes.DONE


@click.group()
def tenants() -> None:
    """Create and list tenants."""


@tenants.command("create")
@click.argument("name", metavar="NAME")
@place.server_option
def create_tenant(name: str, server: str | None) -> int:
    """Create a tenant: lower-case letters, digits and '-'. Then issue the key of its first operator.

    \b
    gainsay tenants create bank
    gainsay keys create --tenant bank --role operator --role requester --role reviewer --role auditor --name A --days 90

    An operator issues only roles that it holds, so give the first one every role that the tenant will need.
    """
    registers.work(place.server_of(server), lambda here: here.create_tenant(name))
    say(
        f"tenant {name} is created; issue the key of its first operator with `gainsay keys create --tenant {name}`, "
        "with the role operator and every other role that its operators are to issue"
    )
    return exit_codes.DONE


@tenants.command("list")
@place.server_option
def list_tenants(server: str | None) -> int:
    """List every tenant, with when and by whom it was created."""
    for row in registers.work(place.server_of(server), lambda here: here.tenants()):
        say(_row(f"{row.name}  created {_time(row.created_at)} by {row.created_by}"))
    return exit_codes.DONE


@click.group()
def subjects() -> None:
    """List and revoke subjects: the persons and services that records name by opaque ids."""


@subjects.command("list")
@click.option("--tenant", metavar="NAME", help=f"The tenant.  [default: {DEFAULT}]")
@place.server_option
def list_subjects(tenant: str | None, server: str | None) -> int:
    """List the subjects of a tenant: id, state, kind, where it comes from and its name."""
    address = place.server_of(server)
    of = _tenant(address, tenant, whole=False) or DEFAULT
    found = registers.work(address, lambda here: here.subjects(of))
    for row in sorted(found, key=lambda row: row.created_at):
        source = row.source if row.external == row.subject else f"{row.source}:{row.external}"
        say(_row(f"{row.subject}  {row.state:<7}  {row.kind:<7}  {source}  {row.name or ''}").rstrip())
    return exit_codes.DONE


@subjects.command("revoke")
@click.argument("subject", metavar="SUBJECT")
@click.option("--tenant", metavar="NAME", help=f"The tenant.  [default: {DEFAULT}]")
@click.option("--last-operator", is_flag=True, help="With --server: also where the tenant then has no operator's key.")
@place.server_option
def revoke_subject(subject: str, tenant: str | None, last_operator: bool, server: str | None) -> int:
    """Revoke a subject for ever, with every key and token that it has."""
    address = place.server_of(server)
    of = _tenant(address, tenant, whole=False) or DEFAULT
    row = registers.work(address, lambda here: here.revoke_subject(of, subject, last=last_operator))
    say(_row(f"{row.subject} is revoked since {_time(row.revoked_at)}"))
    return exit_codes.DONE


def _tenant(server: str | None, tenant: str | None, *, whole: bool) -> str | None:
    """The tenant that is meant on this machine's database."""
    registers.refuse_tenant(server, named=whole or tenant is not None)
    if whole and tenant is not None:
        raise click.UsageError("--whole-service and --tenant contradict each other; give one")
    return None if whole else tenant or DEFAULT


def _print_issued(issued: IssuedKey) -> int:
    _print_key(issued.issued, err=True)
    if issued.replaced is not None:
        say(f"{unbroken(issued.replaced.key)} stays valid until {_time(issued.replaced.expires_at)}", err=True)
    say("the key is shown this once, and kept nowhere:", err=True)
    say(unbroken(issued.secret))
    return exit_codes.DONE


def _print_key(row: ApiKey, *, err: bool) -> None:
    facts: Sequence[tuple[str, str]] = (
        ("key", row.key),
        ("subject", row.subject),
        ("tenant", row.tenant or "none: the whole service"),
        ("roles", ", ".join(row.roles)),
        ("scopes", ", ".join(row.scopes) or "all of the roles"),
        ("name", row.name),
        ("state", row.state),
        ("created", f"{_time(row.created_at)} by {row.created_by}"),
        ("expires", _time(row.expires_at)),
        ("last used", _time(row.last_used_at)),
    )
    for name, text in facts:
        say(_row(f"{name:<9}  {text}"), err=err)


def _key_line(row: ApiKey) -> str:
    used = f"used {_time(row.last_used_at)}" if row.last_used_at else "never used"
    roles = ",".join(row.roles)
    return _row(f"{row.key}  {row.state:<7}  until {_time(row.expires_at)}  {used}  {roles}  {row.name}")


def _row(text: str) -> str:
    """A line for a terminal, whatever a service has answered; its columns stay where they are."""
    return unbroken(text)


def _time(at: str | None) -> str:
    """A time of an answer, to the second."""
    return "never" if at is None else f"{at[:19]}Z"
