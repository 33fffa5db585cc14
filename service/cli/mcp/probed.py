"""What the gateway answers for machines beside the protocol: /livez, /readyz and /metrics, as every process does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from service.cli.mcp.callers import Callers
from service.cli.mcp.server import Desk
from service.web.probe_server import make_probe_app

if TYPE_CHECKING:
    from litestar.types import ASGIApp as ServedApp

PATHS = frozenset({"/livez", "/readyz", "/metrics"})


class Probed:
    """The gateway, and beside it what is answered for machines."""

    def __init__(self, gateway: ASGIApp, probes: ServedApp) -> None:
        self._gateway, self._probes = gateway, cast("Any", probes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, by its path."""
        answering = self._probes if scope.get("path") in PATHS else self._gateway
        await answering(scope, receive, send)


def probes_of(desk: Desk, callers: Callers, metrics_token: str | None) -> ServedApp:
    """The application of these paths. What the service behind a gateway cannot do, it says in each answer itself."""

    async def troubles() -> list[str]:
        if desk.closing.is_set():
            return ["the gateway is stopping"]
        return [callers.trouble.result().public_detail] if callers.trouble.done() else []

    return make_probe_app(troubles, metrics_token=metrics_token)
