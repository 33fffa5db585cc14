"""Where a service without identities may listen: on this machine alone.

This is known before anything large is imported, so that a wrong --host is refused at once.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

from service.errors import SettingsError


def refuse_open_address(host: str) -> None:
    """Raise `SettingsError` unless every address of a name is of this machine alone: no caller is authenticated."""
    if not all(address.is_loopback for address in _addresses(host)):
        raise SettingsError(
            f"expected --host to be a loopback address such as 127.0.0.1, because no identity is configured and so no "
            f"caller is authenticated, found {host}; name the credentials that callers come with in GAINSAY_IDENTITY "
            "(docs/authentication.md, *A key tonight*), or leave --host out"
        )


def _addresses(host: str) -> set[IPv4Address | IPv6Address]:
    """The addresses of a name, or the address that it is."""
    try:
        return {ip_address(host)}
    except ValueError:
        pass
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError as error:
        raise SettingsError(f"expected a host to listen on, found {host!r}: {error.strerror}") from error
    return {ip_address(address.partition("%")[0]) for address in found}
