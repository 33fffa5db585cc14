"""[proxy] of GAINSAY_IDENTITY: the proxies that have authenticated a caller, and the headers in which they name it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Literal

from msgspec import Struct

from service.identity.provider_settings import role_names, tenant_name
from service.identity.roles import SERVICE_WIDE, Role
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import Key, read, word

UNIX = "unix"
"""The word for a socket file, in place of a network."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_TAKEN = frozenset(
    "authorization connection content-encoding content-length content-type cookie expect host origin te trailer "
    "transfer-encoding upgrade".split()
)
"""Headers with a meaning of their own."""

Network = IPv4Network | IPv6Network


def header_name() -> Key:
    """The name of a header, kept in lower case."""

    def taken(path: Path, value: str) -> str:
        if not _TOKEN.fullmatch(value):
            raise WrongSetting(path, "expected the name of a header, such as Gainsay-Subject")
        if value.lower() in _TAKEN:
            raise WrongSetting(path, f"{value} has a meaning of its own in HTTP; expected a header that names a caller")
        return value.lower()

    return Key("", str, taken, form="the name of a header")


def _peers() -> Key:
    def taken(path: Path, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise WrongSetting(path, f'expected the networks of the proxies, or "{UNIX}"; found none')
        faults = Faults()
        for i, text in enumerate(value):
            with faults.noted():
                _expect_network((*path, i), text)
        faults.refuse()
        return value

    return Key("from", tuple[str, ...], taken, form=f'a list of networks and "{UNIX}"')


def _expect_network(path: Path, text: str) -> None:
    if text == UNIX:
        return
    try:
        network = ip_network(text)
    except ValueError:
        raise WrongSetting(path, f'expected a network such as 10.0.0.0/8, or "{UNIX}"') from None
    if network.prefixlen == 0:
        raise WrongSetting(path, "this network has every address, so every client could name any subject; list proxies")


class ProxySetting(Struct, frozen=True):
    """[proxy]: proxies that name the caller in a header.

    from           the networks of the proxies, and ``unix`` for a socket file
    header         the header with the subject
    tenant         the tenant of all subjects, or ``tenant_header``: the header that says it
    roles          the roles of all subjects, or ``roles_header``: the header with them, separated by spaces or commas
    service_roles  whether a proxy may give the roles ``administrator`` and ``scrape``
    kind           what its subjects are
    """

    peers: Annotated[tuple[str, ...], _peers()]
    header: Annotated[str, header_name()]
    tenant: Annotated[str | None, tenant_name()] = None
    tenant_header: Annotated[str | None, header_name()] = None
    roles: Annotated[tuple[Role, ...] | None, role_names()] = None
    roles_header: Annotated[str | None, header_name()] = None
    service_roles: bool = False
    kind: Annotated[Literal["person", "service"], word("person", "service")] = "person"

    @property
    def headers(self) -> tuple[str, ...]:
        """Every header that a listed proxy alone may send."""
        return tuple(name for name in (self.header, self.tenant_header, self.roles_header) if name)

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks that are listed."""
        return tuple(ip_network(text) for text in self.peers if text != UNIX)


def proxy_table() -> Key:
    """The table of the proxies, with what it says of itself checked."""

    def taken(path: Path, value: Any) -> ProxySetting:
        faults = Faults()
        setting = read(value, ProxySetting, path)
        faults.found += _faults_of(setting, path)
        faults.refuse()
        return setting

    return Key("", Any, taken, form="a table")


def _faults_of(setting: ProxySetting, path: Path) -> Iterable[WrongSetting]:
    if (setting.tenant is None) == (setting.tenant_header is None):
        yield WrongSetting((*path, "tenant"), "expected either tenant or tenant_header")
    if (setting.roles is None) == (setting.roles_header is None):
        yield WrongSetting((*path, "roles"), "expected either roles or roles_header")
    if setting.roles is not None and not setting.roles:
        yield WrongSetting((*path, "roles"), "expected at least one role")
    if len(set(setting.headers)) < len(setting.headers):
        yield WrongSetting((*path, "header"), "expected a header of its own for subject, tenant and roles")
    if not setting.service_roles and (wide := sorted(SERVICE_WIDE & set(setting.roles or ()))):
        yield WrongSetting((*path, "roles"), f"{wide[0]} is a role of the whole service; it needs service_roles = true")
    if len({role in SERVICE_WIDE for role in setting.roles or ()}) > 1:
        yield WrongSetting((*path, "roles"), "expected roles of a tenant or of the whole service, found both")
