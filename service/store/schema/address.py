"""Whether an address of a database can be read at all, told without showing it: it may hold a password."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

from service.errors import SettingsError

WRITING = ("read-write", "primary")
"""What libpq is told to look for among several hosts: the one that is no standby."""


def check_address(url: str, variable: str) -> None:
    """Refuse what libpq cannot read, or takes a part of the password for the host, before it quotes that.

    Raises `SettingsError`, which names the variable alone.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise SettingsError(
            f"expected {variable} as postgresql://ROLE:PASSWORD@HOST:PORT/DATABASE, found something that cannot be "
            "read as that; mend it"
        ) from None  # libpq's words quote the address
    ports = str(parts.get("port") or "").split(",")
    if any(port and not port.isdecimal() for port in ports) or "@" in str(parts.get("host") or ""):
        raise SettingsError(
            f"expected a host and a port in {variable}, found something else in their place; write special characters "
            "of the password in percent-encoding, such as %40 for @ and %2F for /"
        )
    hosts = str(parts.get("host") or parts.get("hostaddr") or "").split(",")
    if len(hosts) > 1 and parts.get("target_session_attrs") not in WRITING:
        raise SettingsError(
            f"expected target_session_attrs=read-write in {variable}, which names {len(hosts)} hosts, found none or "
            "another one; without it a standby may be taken for the server that records are written to"
        )
