"""The endpoints of webhooks over HTTP; `service.delivering.endpoints` decides and records what they do.

A secret is in the one answer to the request that made it.
"""

from __future__ import annotations

from http import HTTPStatus

from litestar import Response, get, post

from service.delivering.endpoints import Endpoints
from service.errors import BadRequest
from service.web import body
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller
from service.web.debates import SMALL_BODY, answered, known_query, linked
from service.web.identity import UNKEPT, asked_again, named_part, page_of
from service.web.identity_types import next_of
from service.web.webhook_types import (
    GrantedWebhook,
    Webhook,
    WebhookDelivery,
    WebhookDeliveryList,
    WebhookList,
    WebhookRequest,
    WebhookRotationRequest,
)


@post("/v1/webhooks")
async def create(request: HttpRequest) -> Response[bytes]:
    """A new endpoint, and its secret."""
    known_query(request, ())
    asked = await body.read(request, WebhookRequest, SMALL_BODY)
    _refuse_replays(request)
    granted = GrantedWebhook.of(await _endpoints(request).create(caller(request), asked.url, asked.cases))
    return answered(granted, HTTPStatus.CREATED, UNKEPT | {"Location": granted.webhook.href})


@get("/v1/webhooks")
async def webhooks(request: HttpRequest) -> Response[bytes]:
    """The endpoints that the caller reaches."""
    known_query(request, ("after", "limit"))
    after, limit = page_of(request, "whk_")
    rows = await _endpoints(request).list_endpoints(caller(request), after, limit + 1)
    following = next_of([row.id for row in rows], limit)
    shown = WebhookList(webhooks=tuple(Webhook.of(row) for row in rows[:limit]), next=following)
    return answered(shown, headers=UNKEPT | linked("/v1/webhooks", asked_again(request), following))


@get("/v1/webhooks/{webhook:str}")
async def webhook(request: HttpRequest) -> Response[bytes]:
    """One endpoint."""
    known_query(request, ())
    row = await _endpoints(request).show(caller(request), named_part(request, "webhook"))
    return answered(Webhook.of(row), headers=UNKEPT)


@post("/v1/webhooks/{webhook:str}/rotate")
async def rotate(request: HttpRequest) -> Response[bytes]:
    """The next secret of an endpoint."""
    known_query(request, ())
    asked = await body.read_optional(request, WebhookRotationRequest, SMALL_BODY) or WebhookRotationRequest()
    _refuse_replays(request)
    granted = await _endpoints(request).rotate(caller(request), named_part(request, "webhook"), asked.keep_hours)
    return answered(GrantedWebhook.of(granted), HTTPStatus.CREATED, UNKEPT)


@post("/v1/webhooks/{webhook:str}/disable")
async def disable(request: HttpRequest) -> Response[bytes]:
    """Send nothing more to an endpoint."""
    known_query(request, ())
    row = await _endpoints(request).disable(caller(request), named_part(request, "webhook"))
    return answered(Webhook.of(row), headers=UNKEPT)


@post("/v1/webhooks/{webhook:str}/enable")
async def enable(request: HttpRequest) -> Response[bytes]:
    """Send to an endpoint again what ends from now on."""
    known_query(request, ())
    row = await _endpoints(request).enable(caller(request), named_part(request, "webhook"))
    return answered(Webhook.of(row), headers=UNKEPT)


@post("/v1/webhooks/{webhook:str}/test")
async def test(request: HttpRequest) -> Response[bytes]:
    """Send an endpoint a test."""
    known_query(request, ())
    row = await _endpoints(request).test(caller(request), named_part(request, "webhook"))
    return answered(WebhookDelivery.of(row), HTTPStatus.ACCEPTED, UNKEPT)


@get("/v1/webhooks/{webhook:str}/deliveries")
async def deliveries(request: HttpRequest) -> Response[bytes]:
    """The messages of an endpoint with their attempts."""
    known_query(request, ("after", "limit"))
    endpoint, (after, limit) = named_part(request, "webhook"), page_of(request, "msg_")
    rows = await _endpoints(request).deliveries(caller(request), endpoint, after or None, limit + 1)
    following = next_of([row.id for row in rows], limit)
    shown = WebhookDeliveryList(deliveries=tuple(WebhookDelivery.of(row) for row in rows[:limit]), next=following)
    path = f"/v1/webhooks/{endpoint}/deliveries"
    return answered(shown, headers=UNKEPT | linked(path, asked_again(request), following))


@post("/v1/webhooks/{webhook:str}/deliveries/{delivery:str}/redeliver")
async def redeliver(request: HttpRequest) -> Response[bytes]:
    """Send a message again."""
    known_query(request, ())
    endpoint, delivery = named_part(request, "webhook"), named_part(request, "delivery")
    row = await _endpoints(request).redeliver(caller(request), endpoint, delivery)
    return answered(WebhookDelivery.of(row), HTTPStatus.ACCEPTED, UNKEPT)


def _endpoints(request: HttpRequest) -> Endpoints:
    return app_state(request).service.endpoints


def _refuse_replays(request: HttpRequest) -> None:
    """A secret is shown once, so an answer with one cannot be given again."""
    if "idempotency-key" in request.headers:
        raise BadRequest(
            "expected no Idempotency-Key, because a secret is shown once and cannot be answered again; leave it out, "
            "and where an answer was lost, disable the endpoint that it made (GET /v1/webhooks lists it), or rotate "
            "its secret once more"
        )


HANDLERS = (create, webhooks, webhook, rotate, disable, enable, test, deliveries, redeliver)
