"""The endpoints for machines: liveness, readiness, metrics and the OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

from litestar import Response, get

from service import log_lines
from service.observing import exposition
from service.web import headers, openapi
from service.web.app_state import HttpRequest, app_state
from service.web.debates import answered
from service.web.loopback import is_here
from service.web.pages import own_description
from service.web.problems import NotReady
from service.web.types import Health
from service.web.value_bounds import CaseBounds

READY_WITHIN_S = 0.8
"""Probes often time out after one second, and a database that takes longer to answer is not usable."""


LANDING = (
    "Gainsay, a service for model-risk governance: high-stakes questions are debated under a cost ceiling, and the "
    "evidence is kept. /docs describes every path for people and /openapi.json for programs; /problems explains every "
    "error; /readyz says whether this process takes work.\n"
)


@get("/", media_type="text/plain")
async def landing() -> str:
    """One line for a person who opens the address in a browser."""
    return LANDING


@get("/livez")
async def alive() -> Response[bytes]:
    """Whether this process is alive. It checks nothing outside the process, for a restart would not repair that."""
    return answered(Health(status="alive"))


@get("/readyz")
async def ready(request: HttpRequest) -> Response[bytes]:
    """Whether this process can take work: prompts match the pin, database reachable, not stopping."""
    site = app_state(request)
    if site.closing.is_set():
        raise NotReady("the service is stopping", retry_after=5)
    shown = not site.authenticator.configured and is_here(request)
    return await readiness(request, site.service.troubles(), shown=shown)


async def readiness(request: HttpRequest, asked: Awaitable[Sequence[str]], *, shown: bool = True) -> Response[bytes]:
    """The readiness of a process: it is ready while it has no troubles. Only changes are logged.

    A trouble may name a log, and so a tenant. Where none is ``shown``, the process's log alone says it.
    """
    try:
        async with asyncio.timeout(READY_WITHIN_S):
            troubles = await asked
    except TimeoutError:
        troubles = [f"the database did not answer within {READY_WITHIN_S:g} seconds"]
    was_ready, request.app.state.ready = request.app.state.get("ready", True), not troubles
    if troubles:
        if was_ready:
            log_lines.NOT_READY(why="; ".join(troubles))
        why = "; ".join(troubles) if shown else "this process takes no work now; its log says why"
        raise NotReady(why, retry_after=5)
    if not was_ready:
        log_lines.READY_AGAIN()
    return answered(Health(status="ready"))


@get("/metrics")
async def metrics(request: HttpRequest) -> Response[bytes]:
    """The metrics in the format of Prometheus, or of OpenMetrics where it is accepted."""
    wanted = headers.best_media_type(request.headers.get("accept"), tuple(exposition.FORMS)) or exposition.PLAIN
    content, content_type = exposition.exposed(wanted)
    return Response(content=content, headers={"content-type": content_type})


@get("/openapi.json")
async def description(request: HttpRequest) -> Response[bytes]:
    """The OpenAPI document, made in a thread: that takes a second, and only the first request waits for it."""
    return own_description(request, await asyncio.to_thread(openapi.encoded, _rules(request), known=_known(request)))


@get("/openapi-3.0.json")
async def description_3_0(request: HttpRequest) -> Response[bytes]:
    """The same in OpenAPI 3.0.3."""
    return own_description(
        request, await asyncio.to_thread(openapi.encoded_3_0, _rules(request), known=_known(request))
    )


def _rules(request: HttpRequest) -> CaseBounds:
    return CaseBounds.of(app_state(request).deployment.policy)


def _known(request: HttpRequest) -> bool:
    """Whether the service knows identities."""
    return app_state(request).authenticator.configured
