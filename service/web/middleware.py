"""What is around every request: its id, the log's signed head, one line in the access log, and the metrics.

The id comes from the caller's Request-Id where that is a plain token, and else is made here; it is in every answer, in
problem documents and in the log. The signed head that is known just then goes with every answer: callers who keep it
become witnesses of the audit log. Neither log nor metrics hold anything of a body, an address's query or a header.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from uuid import UUID

from litestar.enums import HttpMethod, ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from service import telemetry
from service.web.problems import request_id

LOG = logging.getLogger("gainsay.http")

HEAD = "head"
"""Set in a request's state where nobody will read the body."""
CHECKPOINT = b"gainsay-checkpoint"
OTHER = "other"
PROBES = frozenset({"/livez", "/readyz", "/metrics"})
"""What machines ask many times a minute: a line for each would bury all others."""
_TOKEN = re.compile(rb"[A-Za-z0-9._~:/+=-]{1,128}")
_TYPE = re.compile(r"\{(\w+):\w+\}")


class Around:
    """An ASGI application with the rest around it. ``head`` is asked for the signed head that answers name.

    A ``quiet`` one logs what was answered as asked at DEBUG alone: a program asks it many times a second.
    """

    def __init__(self, app: ASGIApp, head: Callable[[], object | None] = lambda: None, *, quiet: bool = False) -> None:
        self._app = app
        self._head = head
        self._quiet = quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; everything that is not HTTP goes through as it is."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        id_ = _id(scope)
        request_id.set(id_)
        begun = time.perf_counter()
        status, waited = 0, False

        async def answered(message: Message) -> None:
            nonlocal status, waited
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message["headers"])
                waited = any(name in (b"preference-applied", b"x-accel-buffering") for name, _ in headers)
                if (head := self._head()) is not None:
                    headers.append((CHECKPOINT, str(head).encode()))
                message["headers"] = [*headers, (b"request-id", id_.encode())]
            await send(message)

        inner = _readable(scope)
        try:
            await self._app(inner, receive, answered)
        finally:
            _told(inner, id_, status, time.perf_counter() - begun, waited=waited, quiet=self._quiet)


def route_of(template: str) -> str:
    """A path template as it is written in OpenAPI: ``/v1/debates/{debate}``."""
    return _TYPE.sub(r"{\1}", template)


def _readable(scope: HTTPScope) -> HTTPScope:
    """HEAD is GET without its body. The server leaves that out by itself, when it finds its own scope as it was."""
    if scope["method"] != "HEAD":
        return scope
    inner = scope.copy()
    inner["method"] = HttpMethod.GET
    inner["state"] = {**scope["state"], HEAD: True}
    return inner


def _id(scope: HTTPScope) -> str:
    given = next((value for name, value in scope["headers"] if name == b"request-id"), b"")
    return given.decode() if _TOKEN.fullmatch(given) else f"req_{secrets.token_hex(12)}"


def _told(scope: HTTPScope, id_: str, status: int, seconds: float, *, waited: bool, quiet: bool) -> None:
    """Count and log a request that was answered, or that broke off (status 0).

    A caller that asked to be kept waiting, or that listens, says nothing about how fast the service is.
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
    if debate := _debate(scope):
        fields["debate"] = debate
    usual = route in PROBES or (quiet and status < 400)
    LOG.log(logging.DEBUG if usual else logging.INFO, "%s %s %d", method, route, status, extra=fields)


def _debate(scope: HTTPScope) -> str | None:
    """The debate in the path, where it is an id and not anything else."""
    given = str(scope.get("path_params", {}).get("debate", ""))
    try:
        return str(UUID(given))
    except ValueError:
        return None
