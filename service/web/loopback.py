"""The door of a service without identities: requests of this machine alone, and none that a web page sends for another.

The service listens on a loopback address only. A page that a browser of this machine shows could still reach it, so:

1. Host must name this machine. A page whose own name was made to lead here (DNS rebinding) has another one: 421.
2. Origin, where one comes, must be of this machine. A page of another site has its own, and a file ``null``: 403.
3. A request that changes something must not come from another site, by the word of the browser (Sec-Fetch-Site): 403.

No answer allows other origins to read it (CORS), and Cross-Origin-Resource-Policy forbids pages to load it.

Metrics, and why it is not ready, a process says to this machine alone (`is_here`), and to no proxy here that passes on
what other machines ask.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from service.errors import Forbidden, GainsayError
from service.web.problems import send_problem
from service.web.refusals import Misdirected

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?", re.ASCII)

_PASSED_ON = ("forwarded", "via", "x-forwarded-", "x-real-ip")
"""How what proxies add to a request begins (RFC 7239, RFC 9110 section 7.6.3, and the names before them)."""
UNIX = "unix"


class LoopbackDoor:
    """An ASGI application behind the door."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        fault = _fault(scope) if scope["type"] == ScopeType.HTTP else None
        if fault is None:
            await self._app(scope, receive, send)
        else:
            await send_problem(fault, scope["path"], send)


@lru_cache(maxsize=256)
def names_this_machine(authority: str) -> bool:
    """Whether a host, with a port or without one, is ``localhost`` or a loopback address."""
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        return False
    host = found[1].strip("[]").lower()
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def peer_of(scope: Scope) -> str:
    """The address at the other end of the connection, or `UNIX` for a socket file, by the server's own end.

    A client that has already left has no address either, and is "". It must not count as one on a socket file for that.
    """
    server, client = scope["server"], scope["client"]
    if server is not None and server[1] is None:
        return UNIX
    return client[0] if client else ""


def is_here(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Whether the request is of this machine, names it, and was passed on by no proxy."""
    if any(name.startswith(_PASSED_ON) for name in connection.headers):
        return False
    peer, host = peer_of(connection.scope), connection.headers.get("host", "")
    return (peer == UNIX or (peer != "" and ip_address(peer).is_loopback)) and names_this_machine(host)


def _fault(scope: HTTPScope) -> GainsayError | None:
    """Why a request is not let in."""
    hosts, origins, sites = list[bytes](), list[bytes](), list[bytes]()
    for name, value in scope["headers"]:
        if name == b"host":
            hosts.append(value)
        elif name == b"origin":
            origins.append(value)
        elif name == b"sec-fetch-site":
            sites.append(value)
    if len(hosts) != 1 or not names_this_machine(hosts[0].decode("latin-1")):
        found = hosts[0].decode("latin-1")[:80] if hosts else "none"
        return Misdirected(
            f"expected the header Host to name this machine, as localhost, 127.0.0.1 or [::1], found {found!r}: no "
            "identity is configured, so the service answers this machine alone"
        )
    for origin in origins:
        if not _is_of_this_machine(origin.decode("latin-1")):
            return Forbidden(
                f"expected a web page of this machine, found the Origin {origin.decode('latin-1')[:80]!r}: no identity "
                "is configured, so the service takes nothing from pages of other sites"
            )
    if scope["method"] not in _READS and b"cross-site" in sites:
        return Forbidden(
            "expected a request of this site, found Sec-Fetch-Site: cross-site: no identity is configured, so the "
            "service takes nothing from pages of other sites"
        )
    return None


def _is_of_this_machine(origin: str) -> bool:
    """Whether an origin, as browsers write it (RFC 6454, 6.1), is of a page of this machine."""
    scheme, _, authority = origin.partition("://")
    return scheme in ("http", "https") and names_this_machine(authority)
