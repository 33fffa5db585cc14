"""How PostgreSQL is reached: by the address as it is now, and over verified TLS where that is another machine.

    a socket's folder, loopback     as the address says
    any other host                  ``sslmode=verify-full``, also where the address says nothing of TLS
    a private host, whose address   as it says, with a warning: the operator names the exception and trusts the network
      has ``sslmode=disable``,
      ``require`` or ``verify-ca``
    any other host with these       refused
    ``prefer`` or ``allow``         refused: what stands between the two would decide whether there is TLS

A private host is what `is_private` says of an address of HTTP: a private network's address, a name without a dot, a
name under localhost, local, internal or svc.

Certificates are those of the issuers in ``sslrootcert`` of the address, or else GAINSAY_CA_FILE, ~/.postgresql/root.crt
(libpq's place), SSL_CERT_FILE, or the usual issuers. The variables PGSSLMODE and PGSSLROOTCERT loosen nothing.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from service.errors import SettingsError
from service.policy.file.providers import is_private
from service.policy.mounted_secrets import reveal_text
from service.policy.trust import own_issuers

VERIFIED = "verify-full"
NAMED = ("disable", "require", "verify-ca")
"""What an address may name in the place of `VERIFIED`, to a private host."""


def resolve(url: str, variable: str = "") -> str:
    """What libpq connects with; raises `SettingsError` where the address cannot be read or asks for less than it must.

    ``url`` is an address or ``file:PATH`` with one. The file is read anew, so a new connection has the new password.
    """
    text = reveal_text(url, variable)
    parts = read_address(text, variable)
    if is_local(parts):
        return text
    mode = check_mode(parts, variable)
    roots = {} if mode == "disable" or parts.get("sslrootcert") else _roots()
    return make_conninfo(text, sslmode=mode, **roots)


def read_address(text: str, variable: str) -> dict[str, Any]:
    """The parts of an address; raises `SettingsError`, which names the variable alone."""
    try:
        return dict(conninfo_to_dict(text))
    except psycopg.ProgrammingError:
        raise SettingsError(
            f"expected {variable or 'the address of a database'} as postgresql://ROLE:PASSWORD@HOST:PORT/DATABASE, "
            "found something that cannot be read as that; correct it"
        ) from None  # libpq's message quotes the address


def is_local(parts: dict[str, Any]) -> bool:
    """Whether every host of an address is this machine: loopback, or the folder of a socket."""
    hosts = _hosts(parts)
    if not hosts:  # libpq's own default is a socket, unless a service file or a variable names a host
        return not parts.get("service") and "PGSERVICE" not in os.environ
    return all(host.startswith(("/", "@")) or _is_loopback(host) for host in hosts)


def check_mode(parts: dict[str, Any], variable: str) -> str:
    """The sslmode with which another machine is reached; raises `SettingsError` for one that is not enough."""
    mode = str(parts.get("sslmode") or VERIFIED)
    if mode == VERIFIED:
        return mode
    hosts = _hosts(parts)
    if mode in NAMED and hosts and all(is_private(host) for host in hosts):
        return mode
    where = "a host outside the private network" if mode in NAMED else "another machine"
    raise SettingsError(
        f"expected sslmode={VERIFIED} in {variable or 'the address of a database'}, which leads to {where}, found "
        f"sslmode={mode}: evidence and the password would go to a server that nothing has verified. Leave sslmode out, "
        "and name the issuer of the server's certificate in GAINSAY_CA_FILE or sslrootcert; "
        f"sslmode={', '.join(NAMED)} are for private hosts alone"
    )


def _hosts(parts: dict[str, Any]) -> list[str]:
    """Every host that an address names or that libpq takes from its variables, by name and by address."""
    named = [parts.get("host"), parts.get("hostaddr")]
    if not any(named):
        named = [os.environ.get("PGHOST"), os.environ.get("PGHOSTADDR")]
    return [host.strip() for text in named if text for host in str(text).split(",") if host.strip()]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # neither HOME nor an entry in the list of users
        return Path("/")


def _roots() -> dict[str, str]:
    own = own_issuers()
    if own is not None:
        return {"sslrootcert": own}
    libpq = _home() / ".postgresql" / "root.crt"
    if libpq.exists():
        return {"sslrootcert": str(libpq)}
    if usual := os.environ.get("SSL_CERT_FILE"):
        return {"sslrootcert": usual}
    import certifi  # the usual issuers, as for HTTP

    return {"sslrootcert": certifi.where()}
