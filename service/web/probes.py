"""What machines ask: alive, ready, metrics, and the description of everything else."""

from __future__ import annotations

import asyncio

from litestar import Response, get
from prometheus_client.exposition import choose_encoder

from service import telemetry
from service.web import openapi
from service.web.debates import answered
from service.web.problems import NotReady
from service.web.schema import Health
from service.web.site import HttpRequest, site_of

READY_WITHIN_S = 2.0
"""A probe gives up soon; a database that takes longer is one that nobody can work with."""


@get("/livez")
async def alive() -> Response[bytes]:
    """Whether this process still turns: nothing outside it is looked at, for a restart would not mend that."""
    return answered(Health(status="alive"))


@get("/readyz")
async def ready(request: HttpRequest) -> Response[bytes]:
    """Whether this process can take work: prompts as pinned, database there, not stopping."""
    site = site_of(request)
    if site.closing.is_set():
        raise NotReady("the service is stopping", retry_after=5)
    try:
        troubles = await asyncio.wait_for(site.service.troubles(), READY_WITHIN_S)
    except TimeoutError:
        troubles = [f"the database did not answer within {READY_WITHIN_S:g} seconds"]
    if troubles:
        raise NotReady("; ".join(troubles), retry_after=5)
    return answered(Health(status="ready"))


@get("/metrics")
async def metrics(request: HttpRequest) -> Response[bytes]:
    """The metrics in the format of Prometheus, or of OpenMetrics where it is accepted."""
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    return Response(content=encode(telemetry.REGISTRY), media_type=media_type)


@get("/openapi.json")
async def description() -> Response[bytes]:
    """The OpenAPI document."""
    return Response(content=openapi.encoded(), media_type="application/json")
