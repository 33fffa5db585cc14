"""The subject that a proxy names in a header.

    the request                                                       gets
    has one of the proxy's headers, and comes from elsewhere          400: only listed proxies may send it
    has one of them twice, or one without the subject's               400
    has a subject, tenant or roles that cannot be read                400
    has the subject's header, and no tenant or role                   403
    has none of them                                                  is looked at for other credentials

Where a request comes from is the other end of its connection. `X-Forwarded-For` and the like are never read: a client
writes them as it likes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address

from service.errors import BadRequest
from service.identity.authentication import Presented
from service.identity.claims import NAME_MAX, Claimed, admitted, is_name, tenant_of
from service.identity.proxy_settings import UNIX, Network, ProxySetting
from service.identity.roles import ROLES, Role


def read_proxy(presented: Presented, setting: ProxySetting) -> Claimed | None:
    """Whom a listed proxy names, or ``None`` where a request has none of its headers.

    Raises `BadRequest` or `Forbidden`, by the table above.
    """
    values = {name: _values(presented.headers, name) for name in setting.headers}
    sent = [name for name, found in values.items() if found]
    if not sent:
        return None
    if not is_listed(presented.peer, setting):
        raise BadRequest(
            f"expected the header {sent[0]} from a listed proxy alone, found it in a request from elsewhere; leave it "
            "out, or list the proxy under [proxy] from"
        )
    read = {name: _one(name, found) for name, found in values.items()}
    external = read[setting.header]
    if external is None:
        raise BadRequest(f"expected the header {setting.header} beside {sent[0]}, found none")
    named = setting.roles if setting.roles_header is None else _roles(read[setting.roles_header])
    roles = admitted(named or (), service_roles=setting.service_roles)
    tenant = setting.tenant if setting.tenant_header is None else read[setting.tenant_header]
    return Claimed(tenant_of(roles, tenant, f"the header {setting.tenant_header}"), external, roles)


def is_listed(peer: str, setting: ProxySetting) -> bool:
    """Whether the other end of a connection is a listed proxy."""
    if peer == UNIX:
        return UNIX in setting.peers
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)  # of a socket for both families
    return any(_contains(network, mapped or address) for network in setting.networks)


def _contains(network: Network, address: object) -> bool:
    return address in network


def _values(headers: Sequence[tuple[bytes, bytes]], name: str) -> list[bytes]:
    wanted = name.encode()
    return [value for found, value in headers if found.lower() == wanted]


def _one(name: str, values: Sequence[bytes]) -> str | None:
    """The value of a header, or ``None`` where it is missing; raises `BadRequest`."""
    if not values:
        return None
    if len(values) > 1:
        raise BadRequest(f"expected the header {name} once, found it {len(values)} times")
    try:
        value = values[0].decode()
    except UnicodeDecodeError:
        value = ""
    if not is_name(value):
        raise BadRequest(f"expected 1 to {NAME_MAX} characters of UTF-8 that can be shown in {name}, found others")
    return value


def _roles(value: str | None) -> list[Role]:
    """The roles of a header, separated by spaces or commas; what is no role is passed over."""
    words = set(re.split(r"[ ,]+", value or ""))
    return [role for role in ROLES if role in words]
