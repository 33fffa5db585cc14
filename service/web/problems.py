"""Every error as a problem document (RFC 9457), and in OpenAI's form on the routes of its clients.

``type`` and ``code`` are stable and equivalent; ``type`` is the address of a page on this service, and ``detail`` is
for people. The cause of an internal error goes into the log with the request's id, never into the answer. So does an
error of another part of the program, which has no page here.
"""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar
from typing import NamedTuple
from urllib.parse import quote

import msgspec
from litestar import Response
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from litestar.types import Send
from msgspec import Struct

from service import log_lines
from service.debate.amounts import usd
from service.errors import (
    BadRequest,
    BudgetExhausted,
    Forbidden,
    GainsayError,
    IdempotencyInProgress,
    NotFound,
    NotProvable,
    Overloaded,
    QueueFull,
    RequestTimeout,
    Unauthenticated,
)
from service.report.sent import encode
from service.web.allowed_methods import allowed
from service.web.app_state import HttpRequest
from service.web.completions.error_form import chat_error, chat_headers, is_chat
from service.web.paths import probable_path
from service.web.problem_texts import TEXTS
from service.web.refusals import Internal, MethodNotAllowed, NotAcceptable, NotReady, UnsupportedMediaType
from service.web.types import address

__all__ = [
    "PROBLEM_JSON",
    "TYPE",
    "FieldError",
    "Internal",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotReady",
    "Problem",
    "UnsupportedMediaType",
    "answer",
    "problem",
    "request_id",
    "send_problem",
    "trace_id",
]

PROBLEM_JSON = "application/problem+json"
CHALLENGE = 'Bearer realm="gainsay"'
"""How a caller says who it is (RFC 6750, 3)."""
TYPE = "/problems/"
"""Before its code, the address of a problem's page on the service that answers (RFC 9457, 3.1.1)."""

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the present request."""
trace_id: ContextVar[str] = ContextVar("trace_id", default="")
"""The id of the trace that it takes part in."""


class FieldError(Struct, frozen=True, rename="camel"):
    """An invalid field of the body, as a JSON Pointer (RFC 6901), and what is wrong with it."""

    pointer: str
    """The place in the body, as a JSON Pointer (RFC 6901)."""
    detail: str
    """What was expected there, what was found, and what to do."""


class Problem(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An error. Clients branch on ``code``.

    Where there are several faults, ``detail`` joins them. ``limit``, ``leftUSD`` and ``ends`` are those of
    ``budget_exhausted``, ``debateId`` is that of ``idempotency_in_progress``.
    """

    type: str
    """The kind of the problem as a URI reference, one for each code."""
    title: str
    """The kind of the problem in words, the same for each code."""
    status: int
    """The status of the answer, from 400 to 599."""
    detail: str
    """What was expected, what was found, and what to do, for people."""
    code: str
    """The code of the problem, by which clients branch."""
    instance: str
    """The path of the request."""
    request_id: str
    """The id of the request, as in the service's log."""
    trace_id: str | None = None
    """The id of the trace that the request took part in, as in `traceresponse` (W3C Trace Context)."""
    errors: tuple[FieldError, ...] = ()
    """Every fault of the body with its place."""
    limit: str | None = None
    """The tenant's limit that is exhausted."""
    left_usd: str | None = msgspec.field(default=None, name="leftUSD")
    """US dollars that remain of it."""
    ends: str | None = None
    """The end of its period."""
    debate_id: str | None = None
    """The debate that the key belongs to."""


_IN_A_PATH = "/:@!$&'()*+,;="
"""What a path may have beside letters, digits and ``-._~`` (RFC 3986)."""
_UNTOLD = (QueueFull, Overloaded, NotReady)
"""Errors without a log line each: metrics count the first two, and each change of readiness is logged once."""


def answer(request: HttpRequest, error: Exception) -> Response[bytes]:
    """The problem document for an error."""
    known = _service_error(error, request.scope["path"], {route.path for route in request.app.routes})
    if known.status >= 500 and not isinstance(known, _UNTOLD):
        fields = {"request": request_id.get(), "code": known.code}
        if isinstance(inside := known.__cause__, GainsayError):
            fields["cause"] = inside.detail
        unforeseen = error if known is not error else None
        if unforeseen:
            log_lines.REQUEST_FAULT.of(unforeseen, **fields)
        else:
            line = log_lines.ANSWER_HELD if isinstance(known, NotProvable) else log_lines.REQUEST_FAILED
            line(detail=known.detail, **fields)
    headers = _headers(known)
    if isinstance(error, MethodNotAllowedException):
        headers["Allow"] = _allowed_methods(error)
    written = _written(known, request.scope["path"])
    return Response(
        content=written.content,
        status_code=known.status,
        media_type=written.media_type,
        headers={**headers, **written.headers},
    )


class _Written(NamedTuple):
    """An error in the form of its path: the body, its type, and the headers that the form has."""

    content: bytes
    media_type: str
    headers: dict[str, str]


def _written(error: GainsayError, path: str) -> _Written:
    if is_chat(path):
        named = {"X-Request-Id": request_id.get()} if request_id.get() else {}
        return _Written(encode(chat_error(error)), "application/json", {**chat_headers(error), **named})
    return _Written(encode(problem(error, path)), PROBLEM_JSON, {})


async def send_problem(error: GainsayError, path: str, send: Send) -> None:
    """Answer a request with an error before an application has it."""
    content, media_type, own = _written(error, path)
    fields = {**_headers(error), **own, "Content-Type": media_type, "Content-Length": str(len(content))}
    headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": content, "more_body": False})


def _headers(error: GainsayError) -> dict[str, str]:
    """The headers of the answer to an error."""
    headers = {"Cache-Control": "no-store"}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, IdempotencyInProgress):
        headers["Location"] = address(error.debate)
    if isinstance(error, BudgetExhausted):
        headers["Link"] = '</v1/budget>; rel="related"'
    if isinstance(error, UnsupportedMediaType):
        headers.update(error.wanted)
    if isinstance(error, RequestTimeout):  # the server would read the rest of the body as the next request
        headers["Connection"] = "close"
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = CHALLENGE + (', error="invalid_token"' if error.presented else "")
    if isinstance(error, Forbidden) and error.scope:
        headers["WWW-Authenticate"] = f'{CHALLENGE}, error="insufficient_scope", scope="{error.scope}"'
    return headers


def problem(error: GainsayError, instance: str) -> Problem:
    """The document's members; ``instance`` is the path of the request, as the server has decoded it."""
    extra = {}
    if isinstance(error, BudgetExhausted):
        extra = {"limit": error.limit, "left_usd": usd(error.left), "ends": error.ends}
    if isinstance(error, IdempotencyInProgress):
        extra = {"debate_id": error.debate}
    return Problem(
        type=TYPE + error.code,
        title=error.title,
        status=error.status,
        detail=error.public_detail,
        code=error.code,
        instance=quote(instance, safe=_IN_A_PATH),
        request_id=request_id.get(),
        trace_id=trace_id.get() or None,
        errors=tuple(FieldError(pointer, part.public_detail) for part in error.parts for pointer in part.pointers),
        **extra,
    )


def _allowed_methods(error: MethodNotAllowedException) -> str:
    """The methods of the path; a path that accepts GET accepts HEAD too."""
    return allowed(method.strip() for method in (error.headers or {}).get("allow", "").split(","))


def _where_paths_are(paths: Collection[str]) -> str:
    """Where a caller finds the paths of an application, such as a signer, that may have no description."""
    return "/openapi.json lists all paths" if "/openapi.json" in paths else f"those here are {', '.join(sorted(paths))}"


def _service_error(error: Exception, path: str, paths: Collection[str]) -> GainsayError:
    """The error as one of the service's own; ``path`` is the request's, ``paths`` are those of the application."""
    match error:
        case GainsayError() if error.code in TEXTS:
            return error
        case NotFoundException():
            meant = f"; did you mean {near}?" if (near := probable_path(path, paths)) else ""
            return NotFound(f"there is no such path; {_where_paths_are(paths)}{meant}")
        case MethodNotAllowedException():
            return MethodNotAllowed(f"expected one of the methods {_allowed_methods(error)}")
        case HTTPException() if 400 <= error.status_code < 500:
            return BadRequest(f"the request cannot be read: {error.detail}")
    return Internal(
        "an unforeseen error; try again, and if it persists, search the service's log for the request id "
        f"{request_id.get()}"
    )
