"""Liveness, readiness and metrics of a process that serves no API.

Liveness and readiness are open: they say one word. Metrics need a caller with the scope ``metrics.read`` where the
process knows identities. Where it knows none, it gives them to this machine alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import Any

from litestar import Response, get
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.handlers import BaseRouteHandler

from service.errors import Forbidden
from service.identity.authentication import Authenticator, LocalAuthenticator
from service.web import probes, problem_pages, problems
from service.web.access import Door, ways
from service.web.allowed_methods import with_options
from service.web.app_state import HttpRequest
from service.web.application import Application
from service.web.loopback import names_this_machine
from service.web.middleware import Middleware
from service.web.operations import OPERATIONS

Troubles = Callable[[], Awaitable[Sequence[str]]]


def make_probe_app(troubles: Troubles, authenticator: Authenticator | None = None) -> Middleware:
    """The application; it is ready while there are no ``troubles``.

    Without an ``authenticator``, as in a sequencer, whose login reads no register, the process knows no identities.
    """
    asked = authenticator or LocalAuthenticator()
    handlers = [probes.alive, ready, probes.metrics, *problem_pages.HANDLERS]
    app = Application(
        route_handlers=with_options(handlers),
        guards=[Door(asked, ways(handlers, OPERATIONS)).admit, *([] if asked.configured else [_of_this_machine])],
        exception_handlers={Exception: problems.answer},
        state=State({"troubles": troubles}),
        openapi_config=None,
        logging_config=None,
    )
    return Middleware(app, quiet=True)


def _of_this_machine(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
    """Refuse the metrics to other machines, and to a web page whose name was made to lead here."""
    if connection.scope["path_template"] != "/metrics":
        return
    client, host = connection.scope["client"], connection.headers.get("host", "")
    if client is None or not ip_address(client[0]).is_loopback or not names_this_machine(host):
        raise Forbidden(
            "metrics are given to this machine alone, because this process knows no identities; ask it by 127.0.0.1, "
            "or, for `gainsay serve` and `gainsay work`, configure GAINSAY_IDENTITY and send a key of the role scrape"
        )


@get("/readyz")
async def ready(request: HttpRequest) -> Response[bytes]:
    """Whether this process can do its work."""
    troubles: Troubles = request.app.state.troubles
    return await probes.readiness(request, troubles())
