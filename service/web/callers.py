"""The caller of a request, as the door of HTTP found it before an endpoint ran."""

from __future__ import annotations

from service.identity.caller import Caller
from service.web.app_state import HttpRequest
from service.web.middleware import CALLER


def caller(request: HttpRequest) -> Caller:
    """Who sent a request. A public operation has none, and must not ask."""
    found: Caller = request.scope["state"][CALLER]
    return found
