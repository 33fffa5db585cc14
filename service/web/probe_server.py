"""Liveness, readiness and metrics of a process that serves no API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from litestar import Litestar, Response, get
from litestar.datastructures import State

from service.web import probes, problem_pages, problems
from service.web.allowed_methods import with_options
from service.web.app_state import HttpRequest
from service.web.middleware import Middleware

Troubles = Callable[[], Awaitable[Sequence[str]]]


def make_probe_app(troubles: Troubles) -> Middleware:
    """The application; it is ready while there are no ``troubles``."""
    app = Litestar(
        route_handlers=with_options([probes.alive, ready, probes.metrics, *problem_pages.HANDLERS]),
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
    return await probes.readiness(request, troubles())
