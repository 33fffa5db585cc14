"""Who reads /metrics of a process.

1. The token of GAINSAY_METRICS_TOKEN lets in from any machine, where it is set: Prometheus in a cluster has no identity
   that a sequencer or a witness could know.
2. A process that knows identities asks for the scope ``metrics.read`` otherwise (`service.web.access`).
3. One that knows none gives its metrics to this machine alone: to no web page whose name was made to lead here, and to
   no proxy here that passes on what other machines ask.

The token opens nothing else. It is read again at each use, and compared in constant time.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from service.errors import Forbidden, Unauthenticated
from service.policy.mounted_secrets import TOKEN, reveal_text
from service.policy.settings import METRICS_TOKEN
from service.web.loopback import is_here

PATH = "/metrics"


class MetricsDoor:
    """The door of /metrics. ``token`` is the token, or ``file:PATH`` with it; without one it lets none in by itself."""

    def __init__(self, token: str | None = None) -> None:
        self._token = token

    def opens(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether the headers show the token, as the one credential of the request."""
        shown = _bearer(headers)
        if self._token is None or shown is None:
            return False
        return hmac.compare_digest(shown, reveal_text(self._token, METRICS_TOKEN, TOKEN).encode())

    async def admit(self, connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
        """The guard of a process that knows no identities; raises `Unauthenticated` and `Forbidden`."""
        if connection.scope["path_template"] != PATH or self.opens(connection.scope["headers"]):
            return
        presented = "authorization" in connection.headers
        here = is_here(connection)
        if self._token is not None and (presented or not here):
            raise Unauthenticated(
                f"expected the token of {METRICS_TOKEN} in a header `Authorization: Bearer`, found "
                f"{'another credential' if presented else 'no such header'}",
                presented=presented,
            )
        if not here:
            raise Forbidden(
                "metrics are given to this machine alone, because this process knows no identities; ask it by "
                f"127.0.0.1, or set {METRICS_TOKEN} for this process and let Prometheus send it as a bearer token; "
                "`gainsay serve` and `gainsay work` with GAINSAY_IDENTITY also take a key of the role scrape"
            )


def _bearer(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """The bearer token of the only header Authorization."""
    found = [value for name, value in headers if name == b"authorization"]
    kind, _, token = found[0].partition(b" ") if len(found) == 1 else (b"", b"", b"")
    return token.strip() if kind.lower() == b"bearer" else None
