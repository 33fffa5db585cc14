"""The middleware of every request: its id and trace, the log's checkpoint, one line in the access log, and metrics.

The id is the caller's Request-Id if that is a plain token, otherwise a new one. It is in every answer, in problem
documents and in the log. So is the trace: the caller's (`service.observing.trace_context`), otherwise a new one. An
answer to a caller that may read the log names the latest checkpoint of its log that the process knows: callers who keep
it become witnesses of the audit log. Neither log nor metrics hold any other part of a header, of a body or of a query,
and no metric has a label of a request's id or trace.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from uuid import UUID

from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from service import log_lines, telemetry
from service.identity.caller import Caller
from service.observing import attributes as names
from service.observing import labelled, tracing
from service.observing.span import Span, Value
from service.observing.trace_context import Trace, trace_of_headers
from service.web.every_answer import headers_of_every_answer, id_of_headers
from service.web.problems import request_id, trace_id
from service.web.safe_headers import Headers, add_safe_headers
from service.web.versions import RELEASED

CALLER = "caller"
"""Under this name the state of a request has the caller that the door (`service.web.access`) let in."""
HEAD = "head"
"""Set in the state of a HEAD request, whose body is not sent."""
CHECKPOINT = b"gainsay-checkpoint"
RATE = "rate"
"""In the state of a request: the rate that it counts in, and what is left of it."""
TRACE = "trace"
"""In the state of a request: its `Trace`."""
DEBATE = "debate"
"""In the state of a request: the debate that it began."""
OPERATION_HEADERS = "headers"
"""In the state of a request: the headers that every answer of its operation has."""
OTHER = "other"
SERVER_FAULT = 500
"""The first status of an answer that the service could not give."""
PROBES = frozenset({"/livez", "/readyz", "/metrics"})
"""Paths that machines call many times a minute: one log line for each call would bury all others."""
_TYPE = re.compile(r"\{(\w+):\w+\}")


class Middleware:
    """An ASGI application inside the middleware. ``head`` returns the checkpoint that answers to a caller name, and
    ``one`` what surrounds each request, so that it sees one configuration.

    A ``quiet`` one logs successful requests at DEBUG: a program calls it many times a second.
    """

    def __init__(
        self,
        app: ASGIApp,
        head: Callable[[Caller | None], object | None] = lambda _caller: None,
        one: Callable[[], AbstractContextManager[None]] = nullcontext,
        *,
        quiet: bool = False,
    ) -> None:
        self._app = app
        self._head, self._one = head, one
        self._quiet = quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; other kinds of ASGI scopes pass through unchanged."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        id_, trace = id_of_headers(scope["headers"]), trace_of_headers(scope["headers"])
        request_id.set(id_)
        trace_id.set(trace.id)
        begun, at_ns = time.perf_counter(), time.time_ns()
        status, waited, inner = 0, False, _readable(scope)
        inner["state"][TRACE] = trace

        async def answered(message: Message) -> None:
            nonlocal status, waited
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message["headers"])
                waited = any(name in (b"preference-applied", b"x-accel-buffering") for name, _ in headers)
                headers += self._of_state(inner["state"], headers)
                add_safe_headers(headers)
                message["headers"] = [*headers, *headers_of_every_answer(id_, trace)]
            await send(message)

        with log_lines.bound(request=id_, trace_id=trace.id, span_id=trace.span), self._one():
            try:
                await self._app(inner, receive, answered)
            finally:
                seconds = time.perf_counter() - begun
                _log_request(inner, id_, status, seconds, waited=waited, quiet=self._quiet)
                _trace_request(inner, id_, status, at_ns, seconds)

    def _of_state(self, state: dict[str, Any], said: Headers) -> Headers:
        """The headers that follow from what was found out about a request."""
        found = list(state.get(OPERATION_HEADERS, ()))
        if (head := self._head(state.get(CALLER))) is not None:
            found.append((CHECKPOINT, str(head).encode()))
        if (rate := state.get(RATE)) is not None:
            found += rate.headers(said)
        return [*found, RELEASED] if CALLER in state else found


def trace_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Trace:
    """The trace that a request takes part in: its caller's, or the one that began with it."""
    found: Trace = connection.scope["state"][TRACE]
    return found


def route_of(template: str) -> str:
    """A path template as it is written in OpenAPI: ``/v1/debates/{debate}``."""
    return _TYPE.sub(r"{\1}", template)


def _readable(scope: HTTPScope) -> HTTPScope:
    """HEAD as GET: the server itself leaves out the body, provided that its own scope is unchanged."""
    if scope["method"] != "HEAD":
        return scope
    inner = scope.copy()
    inner["method"] = "GET"  # a plain text, which limits, logs and metrics know; litestar types it as its own
    inner["state"] = {**scope["state"], HEAD: True}
    return inner


def _log_request(scope: HTTPScope, id_: str, status: int, seconds: float, *, waited: bool, quiet: bool) -> None:
    """Count and log a request that was answered, or that was cut off (status 0).

    Requests with a wait and event streams are left out of the latency, for they do not show the service's speed.
    """
    route = route_of(scope.get("path_template") or OTHER)
    method = scope["method"] if scope["method"] in telemetry.HTTP_METHODS else OTHER
    telemetry.HTTP_REQUESTS.labels(method=method, route=route, status=str(status)).inc()
    trace: Trace = scope["state"][TRACE]
    if not waited:
        seen = trace.sampled or not tracing.current().on  # an example that no collector has leads nowhere
        example = labelled.exemplar(trace.id) if seen else None
        telemetry.HTTP_SECONDS.labels(method=method, route=route).observe(seconds, example)
    fields = {
        "request": id_,
        "trace_id": trace.id,
        "span_id": trace.span,
        "method": method,
        "route": route,
        "status": status,
        "ms": round(seconds * 1_000, 1),
    }
    if debate := _debate_of(scope):
        fields["debate"] = debate
    if isinstance(caller := scope["state"].get(CALLER), Caller):
        fields["tenant"] = caller.tenant
    usual = route in PROBES or (quiet and status < 400)
    log_lines.REQUEST.at(logging.DEBUG if usual else logging.INFO, **fields)


def _trace_request(scope: HTTPScope, id_: str, status: int, at_ns: int, seconds: float) -> None:
    """Send the span of a request, if its trace is kept or the service failed it; probes have none.

    Only a caller that the door let in may have a trace kept: the spans of others would push out those of debates.
    """
    trace: Trace = scope["state"][TRACE]
    to = tracing.current()
    route = route_of(scope.get("path_template") or OTHER)
    kept = trace.sampled and (trace.given is None or CALLER in scope["state"])
    if not to.on or route in PROBES or not (kept or status >= SERVER_FAULT):
        return
    method = scope["method"] if scope["method"] in telemetry.HTTP_METHODS else "_OTHER"
    about: dict[str, Value] = {names.HTTP_METHOD: method, names.HTTP_STATUS: status, names.REQUEST: id_}
    if route != OTHER:
        about[names.HTTP_ROUTE] = route
    if debate := _debate_of(scope):
        about[names.DEBATE] = debate
    if isinstance(caller := scope["state"].get(CALLER), Caller):
        about[names.TENANT] = caller.tenant
    failed = str(status) if status >= SERVER_FAULT else None
    if failed:
        about[names.ERROR_TYPE] = failed
    begun_us = at_ns // 1_000
    to.send(
        Span(
            name=method if route == OTHER else f"{method} {route}",
            trace=trace.id,
            id=trace.span,
            kind="server",
            start_us=begun_us,
            end_us=begun_us + round(seconds * 1e6),
            parent=trace.parent,
            attributes=about,
            error=failed,
        )
    )


def _debate_of(scope: HTTPScope) -> str | None:
    """The debate that the request began, or the one in its path, if that is a valid id."""
    given = str(scope["state"].get(DEBATE) or scope.get("path_params", {}).get("debate", ""))
    try:
        return str(UUID(given))
    except ValueError:
        return None
