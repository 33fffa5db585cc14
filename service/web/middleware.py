"""The middleware of every request: its id, the log's checkpoint, one line in the access log, and the metrics.

The id is the caller's Request-Id if that is a plain token, otherwise a new one. It is in every answer, in problem
documents and in the log. An answer to a caller that may read the log names the latest checkpoint of its log that the
process knows: callers who keep it become witnesses of the audit log. Neither log nor metrics hold any part of a body,
of a query or of a header.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from uuid import UUID

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from service import telemetry
from service.identity.caller import Caller
from service.web.problems import request_id
from service.web.safe_headers import add_safe_headers

LOG = logging.getLogger("gainsay.http")

CALLER = "caller"
"""Under this name the state of a request has the caller that the door (`service.web.access`) let in."""
HEAD = "head"
"""Set in the state of a HEAD request, whose body is not sent."""
CHECKPOINT = b"gainsay-checkpoint"
RATE = "rate"
"""In the state of a request: the rate that it counts in, and what is left of it."""
OTHER = "other"
PROBES = frozenset({"/livez", "/readyz", "/metrics"})
"""Paths that machines call many times a minute: one log line for each call would bury all others."""
_TOKEN = re.compile(rb"[A-Za-z0-9._~:/+=-]{1,128}")
_TYPE = re.compile(r"\{(\w+):\w+\}")


class Middleware:
    """An ASGI application inside the middleware. ``head`` returns the checkpoint that answers to a caller name.

    A ``quiet`` one logs successful requests at DEBUG: a program calls it many times a second.
    """

    def __init__(
        self,
        app: ASGIApp,
        head: Callable[[Caller | None], object | None] = lambda _caller: None,
        *,
        quiet: bool = False,
    ) -> None:
        self._app = app
        self._head = head
        self._quiet = quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; other kinds of ASGI scopes pass through unchanged."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        id_ = _request_id(scope)
        request_id.set(id_)
        begun = time.perf_counter()
        status, waited, inner = 0, False, _readable(scope)

        async def answered(message: Message) -> None:
            nonlocal status, waited
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message["headers"])
                waited = any(name in (b"preference-applied", b"x-accel-buffering") for name, _ in headers)
                if (head := self._head(inner["state"].get(CALLER))) is not None:
                    headers.append((CHECKPOINT, str(head).encode()))
                if (rate := inner["state"].get(RATE)) is not None:
                    headers += [(b"ratelimit-policy", rate.policy), (b"ratelimit", rate.state)]
                add_safe_headers(headers)
                message["headers"] = [*headers, (b"request-id", id_.encode())]
            await send(message)

        try:
            await self._app(inner, receive, answered)
        finally:
            _log_request(inner, id_, status, time.perf_counter() - begun, waited=waited, quiet=self._quiet)


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


def _request_id(scope: HTTPScope) -> str:
    given = next((value for name, value in scope["headers"] if name == b"request-id"), b"")
    return given.decode() if _TOKEN.fullmatch(given) else f"req_{secrets.token_hex(12)}"


def _log_request(scope: HTTPScope, id_: str, status: int, seconds: float, *, waited: bool, quiet: bool) -> None:
    """Count and log a request that was answered, or that was cut off (status 0).

    Requests with a wait and event streams are left out of the latency, for they do not show the service's speed.
    """
    route = route_of(scope.get("path_template") or OTHER)
    method = scope["method"] if scope["method"] in telemetry.HTTP_METHODS else OTHER
    telemetry.HTTP_REQUESTS.labels(method=method, route=route, status=str(status)).inc()
    if not waited:
        telemetry.HTTP_SECONDS.labels(method=method, route=route).observe(seconds)
    fields = {
        "request": id_,
        "method": method,
        "route": route,
        "status": status,
        "ms": round(seconds * 1_000, 1),
    }
    if debate := _debate_of_path(scope):
        fields["debate"] = debate
    usual = route in PROBES or (quiet and status < 400)
    LOG.log(logging.DEBUG if usual else logging.INFO, "%s %s %d", method, route, status, extra=fields)


def _debate_of_path(scope: HTTPScope) -> str | None:
    """The debate in the path, if it is a valid id."""
    given = str(scope.get("path_params", {}).get("debate", ""))
    try:
        return str(UUID(given))
    except ValueError:
        return None
