"""The caller of a request, as the door of HTTP found it before an endpoint ran, and how a case came with it."""

from __future__ import annotations

from typing import Any, Literal

from litestar.connection import ASGIConnection

from service.audit.record import Writer
from service.debate.entries import Arrival
from service.identity.caller import Caller
from service.observing import tracing
from service.store.pool import Database
from service.web.app_state import HttpRequest, app_state
from service.web.middleware import CALLER, HEAD, trace_of


def caller(request: ASGIConnection[Any, Any, Any, Any]) -> Caller:
    """Who sent a request. A public operation has none, and must not ask."""
    found: Caller = request.scope["state"][CALLER]
    return found


def database(request: HttpRequest) -> Database:
    """The database as the caller's tenant sees it."""
    return app_state(request).database.of(caller(request).tenant)


def reader(request: HttpRequest) -> Writer:
    """The reader of evidence as the record of the reading names it."""
    return Writer(caller(request).actor, app_state(request).deployment.build_hash)


def receiver(request: HttpRequest) -> Writer | None:
    """The reader of a file; ``None`` for HEAD, which is given none of it."""
    return None if request.scope["state"].get(HEAD) else reader(request)


def arrival(
    request: ASGIConnection[Any, Any, Any, Any],
    door: Literal["completions", "batch"] | None = None,
    batch: str | None = None,
) -> Arrival | None:
    """How a case came with a request, for its first record; ``None`` where there is nothing to say.

    A trace that began here is in a record if this process sends its spans somewhere; otherwise in no system at all.
    """
    trace = trace_of(request)
    if tracing.current().on:
        return Arrival(door, trace.id, batch, trace.span, trace.sampled)
    found = Arrival(door, trace.given, batch)
    return found if found != Arrival() else None
