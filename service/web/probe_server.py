"""Liveness, readiness and metrics of a process that serves no API.

Liveness and readiness are open: they say one word, and why a process is not ready to this machine alone. Who reads the
metrics, `service.web.metrics_door` says.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from litestar import Response, get
from litestar.datastructures import State

from service.identity.authentication import Authenticator, LocalAuthenticator
from service.web import probes, problem_pages, problems
from service.web.access import Door, ways
from service.web.allowed_methods import with_options
from service.web.app_state import HttpRequest
from service.web.application import Application
from service.web.loopback import is_here
from service.web.metrics_door import MetricsDoor
from service.web.middleware import Middleware
from service.web.operations import OPERATIONS

Troubles = Callable[[], Awaitable[Sequence[str]]]


def make_probe_app(
    troubles: Troubles, authenticator: Authenticator | None = None, *, metrics_token: str | None = None
) -> Middleware:
    """The application; it is ready while there are no ``troubles``.

    Without an ``authenticator``, as in a sequencer, whose login reads no register, the process knows no identities.
    """
    asked, metrics = authenticator or LocalAuthenticator(), MetricsDoor(metrics_token)
    handlers = [*PROBES, *problem_pages.HANDLERS]
    door = Door(asked, ways(handlers, OPERATIONS), metrics=metrics)
    app = Application(
        route_handlers=with_options(handlers),
        guards=[door.admit, *([] if asked.configured else [metrics.admit])],
        exception_handlers={Exception: problems.answer},
        state=State({"troubles": troubles}),
        openapi_config=None,
        logging_config=None,
    )
    return Middleware(app, quiet=True)


@get("/readyz")
async def ready(request: HttpRequest) -> Response[bytes]:
    """Whether this process can do its work."""
    troubles: Troubles = request.app.state.troubles
    return await probes.readiness(request, troubles(), shown=is_here(request))


PROBES = (probes.alive, ready, probes.metrics)
"""What every process that stays answers, whatever it does beside."""
