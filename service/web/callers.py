"""The caller of a request, as the service found it before an endpoint ran."""

from __future__ import annotations

from service.identity.caller import LOCAL, Caller
from service.web.app_state import HttpRequest


def caller(request: HttpRequest) -> Caller:
    """Who sent a request."""
    found: Caller = request.scope["state"].get("caller", LOCAL)
    return found
