"""The operations of webhooks, as data for OpenAPI, and what receivers are sent."""

from __future__ import annotations

from typing import Any

from service.delivering.payload import EndedEvent, ProbeEvent
from service.web.operation import JSON, LIMIT, Answer, Operation, Parameter, Schema
from service.web.webhook_types import (
    GrantedWebhook,
    Webhook,
    WebhookDelivery,
    WebhookDeliveryList,
    WebhookList,
    WebhookRequest,
    WebhookRotationRequest,
)

_WEBHOOK = Parameter("webhook", "path", "The id of the endpoint.", {"type": "string"}, required=True)
_DELIVERY = Parameter("delivery", "path", "The id of the message, its webhook-id.", {"type": "string"}, required=True)
_AFTER = "The value of next on the previous page."
_AFTER_WEBHOOK = Parameter("after", "query", _AFTER, {"type": "string", "pattern": "^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$"})
_AFTER_DELIVERY = Parameter(
    "after", "query", _AFTER, {"type": "string", "pattern": "^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$"}
)
_READS, _CHANGES = (400, 404, 503), (400, 404, 409, 413, 415, 422, 503)
_RECORDED = "Recorded (access.changed) with who did it."

WEBHOOK_BODIES: dict[type, dict[str, Any]] = {
    WebhookRequest: {"endpoint": {"url": "https://hooks.bank.example/gainsay"}},
    WebhookRotationRequest: {"day": {"keepHours": 24}},
}
"""Examples of bodies."""

WEBHOOKS: tuple[Operation, ...] = (
    Operation(
        method="post",
        path="/v1/webhooks",
        id="createWebhook",
        scope="webhook.manage",
        tag="webhooks",
        summary="Create an endpoint, to which the ends of cases are posted, and make its secret.",
        description=(
            "A requester's endpoint is sent the ends of the cases that its subject submitted, an operator's those of "
            "the tenant. The address is checked now and at each attempt: https, and the public internet or a network "
            f"that policy names. {_RECORDED} The secret is in this answer alone, so an Idempotency-Key is refused."
        ),
        body=WebhookRequest,
        answers={
            201: Answer("The endpoint, and its secret, shown this once.", {JSON: (GrantedWebhook,)}, ("Location",))
        },
        problems=(400, 409, 413, 415, 422, 503),
    ),
    Operation(
        method="get",
        path="/v1/webhooks",
        id="listWebhooks",
        scope="webhook.read",
        tag="webhooks",
        summary="List the endpoints: a requester its own, an operator and an auditor those of the tenant.",
        parameters=(LIMIT, _AFTER_WEBHOOK),
        answers={200: Answer("One page of endpoints.", {JSON: (WebhookList,)}, ("Link",))},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path="/v1/webhooks/{webhook}",
        id="readWebhook",
        scope="webhook.read",
        tag="webhooks",
        summary="Read one endpoint. Its secret is kept nowhere.",
        parameters=(_WEBHOOK,),
        answers={200: Answer("The endpoint.", {JSON: (Webhook,)})},
        problems=_READS,
    ),
    Operation(
        method="post",
        path="/v1/webhooks/{webhook}/rotate",
        id="rotateWebhook",
        scope="webhook.manage",
        tag="webhooks",
        summary="Make the next secret of an endpoint; those that signed so far sign beside it for some hours.",
        description=(
            "Until then one header has a signature by each of them, and a receiver with one of the secrets accepts it. "
            f"{_RECORDED} The secret is in this answer alone, so an Idempotency-Key is refused."
        ),
        parameters=(_WEBHOOK,),
        body=WebhookRotationRequest,
        body_required=False,
        answers={201: Answer("The endpoint, and its new secret, shown this once.", {JSON: (GrantedWebhook,)})},
        problems=_CHANGES,
    ),
    Operation(
        method="post",
        path="/v1/webhooks/{webhook}/disable",
        id="disableWebhook",
        scope="webhook.manage",
        tag="webhooks",
        summary="Send nothing more to an endpoint; what it was still to be sent is stopped.",
        description=f"{_RECORDED} To disable it again changes and records nothing.",
        parameters=(_WEBHOOK,),
        answers={200: Answer("The endpoint.", {JSON: (Webhook,)})},
        problems=_READS,
    ),
    Operation(
        method="post",
        path="/v1/webhooks/{webhook}/enable",
        id="enableWebhook",
        scope="webhook.manage",
        tag="webhooks",
        summary="Send to an endpoint again what ends from now on.",
        description=f"{_RECORDED} What was stopped meanwhile is sent by hand.",
        parameters=(_WEBHOOK,),
        answers={200: Answer("The endpoint.", {JSON: (Webhook,)})},
        problems=(*_READS, 409),
    ),
    Operation(
        method="post",
        path="/v1/webhooks/{webhook}/test",
        id="testWebhook",
        scope="webhook.manage",
        tag="webhooks",
        summary="Send an endpoint a message of the type webhook.test.",
        description="It is signed and sent again like any other; its deliveries show how it went.",
        parameters=(_WEBHOOK,),
        answers={202: Answer("The message, which is sent at once.", {JSON: (WebhookDelivery,)})},
        problems=(*_READS, 409),
    ),
    Operation(
        method="get",
        path="/v1/webhooks/{webhook}/deliveries",
        id="listWebhookDeliveries",
        scope="webhook.read",
        tag="webhooks",
        summary="List the messages of an endpoint, the newest first, each with its attempts.",
        description="Messages that ended are kept for 90 days.",
        parameters=(_WEBHOOK, LIMIT, _AFTER_DELIVERY),
        answers={200: Answer("One page of messages.", {JSON: (WebhookDeliveryList,)}, ("Link",))},
        problems=_READS,
    ),
    Operation(
        method="post",
        path="/v1/webhooks/{webhook}/deliveries/{delivery}/redeliver",
        id="redeliverWebhook",
        scope="webhook.manage",
        tag="webhooks",
        summary="Send a message again at once, with the same webhook-id.",
        description="For one that has expired, was stopped, or lost by its receiver. It has its whole time again.",
        parameters=(_WEBHOOK, _DELIVERY),
        answers={202: Answer("The message.", {JSON: (WebhookDelivery,)})},
        problems=(*_READS, 409),
    ),
)

SENT: dict[str, tuple[type, str]] = {
    "debateEnded": (EndedEvent, "A case has ended, and a signed checkpoint covers its end."),
    "webhookTest": (ProbeEvent, "A caller has asked for a test of the endpoint."),
}
"""What is posted to endpoints: the type of the body, and when."""
_HEADERS = {
    "webhook-id": "The id of the message, the same in each attempt: drop what you have had.",
    "webhook-timestamp": "When this attempt was signed, in seconds since 1970: refuse what is minutes old.",
    "webhook-signature": "`v1,` and base64 of HMAC-SHA256 over id.timestamp.body; several with a space between.",
}


def described(name: str, reference: Schema) -> Schema:
    """The object of OpenAPI that describes what is posted to a receiver."""
    _, when = SENT[name]
    parameters = [
        {"name": header, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
        for header, text in _HEADERS.items()
    ]
    return {
        "post": {
            "operationId": name,
            "tags": ["webhooks"],
            "summary": when,
            "description": "Signed after Standard Webhooks, and sent at least once.",
            "parameters": parameters,
            "requestBody": {"required": True, "content": {JSON: {"schema": reference}}},
            "responses": {
                "2XX": {"description": "Taken. Any other status, and none in time, has it sent again."},
                "410": {"description": "The receiver is gone: the endpoint is disabled."},
            },
        }
    }
