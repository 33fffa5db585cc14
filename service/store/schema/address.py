"""Checks the address of a database without showing it: it may hold a password."""

from __future__ import annotations

from service import log_lines
from service.errors import SettingsError
from service.policy.mounted_secrets import reveal_text
from service.store.conninfo import NAMED, check_mode, is_local, read_address

WRITING = ("read-write", "primary")
"""The values by which libpq looks, among several hosts, for the one that is no standby."""


def check_address(url: str, variable: str) -> None:
    """Refuse an address that libpq cannot read, or reads a part of the password of as the host, before libpq quotes it.

    Refuse one that leads to another machine without TLS that is verified (`service.store.conninfo`).
    Raises `SettingsError`, which names the variable alone.
    """
    parts = read_address(reveal_text(url, variable), variable)
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
            "another one; without it libpq may connect to a standby, where no record can be written"
        )
    if not is_local(parts) and (mode := check_mode(parts, variable)) in NAMED:
        log_lines.DATABASE_TLS(at=variable, sslmode=mode)
