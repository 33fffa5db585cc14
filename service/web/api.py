"""The endpoints as one ASGI application."""

from __future__ import annotations

from typing import Any

from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.handlers import BaseRouteHandler

from service import telemetry
from service.web import (
    audit,
    batches,
    budget,
    catalogue,
    citations,
    debates,
    docs,
    documents,
    evaluations,
    identity,
    probes,
    problem_pages,
    problems,
    submission,
    webhooks,
)
from service.web.access import Door, ways
from service.web.allowed_methods import with_options
from service.web.app_state import AppState
from service.web.application import Application
from service.web.completions import endpoint as completions
from service.web.compression import Compression
from service.web.deprecations import announce, ends_of
from service.web.limits import keep_limits, problems_of
from service.web.loopback import LoopbackDoor
from service.web.metrics_door import MetricsDoor
from service.web.middleware import SERVER_FAULT, Middleware
from service.web.operations import OPERATIONS
from service.web.versions import expect_version

HANDLERS = (
    submission.submit,
    debates.find,
    debates.read,
    debates.follow,
    debates.abort,
    debates.readable,
    documents.documents,
    documents.document,
    *batches.HANDLERS,
    *evaluations.HANDLERS,
    audit.bundle,
    audit.verifier_keys,
    audit.logs,
    audit.checkpoint,
    audit.proof,
    audit.consistency,
    audit.tile,
    audit.records,
    audit.recalled,
    debates.decide,
    debates.quote,
    citations.check,
    catalogue.prompts,
    catalogue.models,
    catalogue.policy,
    budget.budget,
    *completions.HANDLERS,
    *identity.HANDLERS,
    *webhooks.HANDLERS,
    *problem_pages.HANDLERS,
    *docs.HANDLERS,
    probes.landing,
    probes.alive,
    probes.ready,
    probes.metrics,
    probes.description,
    probes.description_3_0,
)


def make_api(site: AppState) -> Middleware:
    """The HTTP API; raises `IncompleteTable` where a route has no operation.

    The service's own code decodes bodies and writes OpenAPI, so that errors name fields and no page loads other hosts.
    """
    for operation in OPERATIONS:  # a refusal of a caller begins its series itself: most never come
        for status in (*operation.answers, *(fault for fault in problems_of(operation) if fault >= SERVER_FAULT)):
            telemetry.HTTP_REQUESTS.labels(method=operation.method.upper(), route=operation.path, status=str(status))
    ends = ends_of(OPERATIONS)
    metrics = MetricsDoor(site.service.settings.metrics_token)
    door = Door(site.authenticator, ways(HANDLERS, OPERATIONS), site.reviews.require_reach, metrics=metrics)

    async def admit(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
        """All guards as one: Litestar copies the handler for each guard of each request."""
        announce(connection, ends)
        await door.admit(connection, handler)
        if not site.authenticator.configured:
            await metrics.admit(connection, handler)
        expect_version(connection.scope["headers"])
        await keep_limits(connection, handler)
        await door.expect_reach(connection, handler)

    app = Application(
        route_handlers=with_options(HANDLERS),
        exception_handlers={Exception: problems.answer},
        guards=[admit],
        state=State({"site": site}),
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,
    )
    packed = Compression(app)
    doored = packed if site.authenticator.configured else LoopbackDoor(packed)
    return Middleware(doored, site.head, site.service.current.seen_as_one)
