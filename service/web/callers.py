"""The caller of a request, as the service found it before an endpoint ran."""

from __future__ import annotations

from service.identity.caller import LOCAL, Caller
from service.store.pool import Database
from service.web.app_state import HttpRequest, app_state


def caller(request: HttpRequest) -> Caller:
    """Who sent a request."""
    found: Caller = request.scope["state"].get("caller", LOCAL)
    return found


def database(request: HttpRequest) -> Database:
    """The database as the caller's tenant sees it."""
    return app_state(request).database.of(caller(request).tenant)
