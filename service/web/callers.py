"""The caller of a request, as the service found it before an endpoint ran."""

from __future__ import annotations

from typing import Any

from litestar.connection import ASGIConnection

from service.identity.caller import LOCAL, Caller


def caller(request: ASGIConnection[Any, Any, Any, Any]) -> Caller:
    """Who sent a request."""
    found: Caller = request.scope["state"].get("caller", LOCAL)
    return found
