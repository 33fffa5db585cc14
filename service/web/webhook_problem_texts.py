"""The errors of webhooks, in words for their pages."""

from __future__ import annotations

from service.delivering.endpoints import InvalidWebhook, WebhookConflict
from service.web.problem_text import ProblemText

WEBHOOK_PROBLEMS = (
    ProblemText(
        InvalidWebhook(
            "the URL cannot be asked: expected https://, found http://, which policy does not allow "
            "(webhooks.allow_http)",
            pointers=("/url",),
        ),
        "No message can be posted to this URL: its form, or an address that its host has, is refused.",
        ("detail says what was expected; docs/webhooks.md has the rules.",),
        "corrected",
        "/v1/webhooks",
    ),
    ProblemText(
        WebhookConflict("the endpoint is disabled, so nothing is sent to it; enable it first"),
        "The request is one that webhooks could admit, and in their present state they do not. Nothing was changed.",
        (
            "detail names the state, such as: disabled, as many endpoints as policy allows, no key for secrets.",
            "GET /v1/webhooks shows the endpoints.",
        ),
        "corrected",
        "/v1/webhooks",
    ),
)
