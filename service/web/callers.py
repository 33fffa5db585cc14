"""The caller of a request, as the door of HTTP found it before an endpoint ran."""

from __future__ import annotations

from service.identity.caller import Caller
from service.store.pool import Database
from service.web.app_state import HttpRequest, app_state
from service.web.middleware import CALLER


def caller(request: HttpRequest) -> Caller:
    """Who sent a request. A public operation has none, and must not ask."""
    found: Caller = request.scope["state"][CALLER]
    return found


def database(request: HttpRequest) -> Database:
    """The database as the caller's tenant sees it."""
    return app_state(request).database.of(caller(request).tenant)
