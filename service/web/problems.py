"""Every error as a problem document (RFC 9457).

``type`` and ``code`` are stable and equivalent; ``detail`` is for people. The cause of an internal error goes into the
log with the request's id, never into the answer.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextvars import ContextVar
from urllib.parse import quote

import msgspec
from litestar import Response
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from msgspec import Struct

from service import telemetry
from service.debate.amounts import usd
from service.errors import (
    BadRequest,
    BudgetExhausted,
    GainsayError,
    IdempotencyInProgress,
    NotFound,
    NotProvable,
    Overloaded,
    QueueFull,
    RequestTimeout,
)
from service.report.sent import encode
from service.web.allowed_methods import allowed
from service.web.app_state import HttpRequest
from service.web.types import address

PROBLEM_JSON = "application/problem+json"
TYPE = "urn:gainsay:problem:"

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the present request."""


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


class MethodNotAllowed(GainsayError):
    """The path exists but does not accept this method."""

    code = "method_not_allowed"
    status = 405
    title = "The path does not accept this method"


class NotAcceptable(GainsayError):
    """The service has none of the media types that the request accepts."""

    code = "not_acceptable"
    status = 406
    title = "The answer has no acceptable media type"


class UnsupportedMediaType(GainsayError):
    """The Content-Type of the body is not JSON."""

    code = "unsupported_media_type"
    status = 415
    title = "The media type of the body is not supported"


class NotReady(GainsayError):
    """The process cannot take work now."""

    code = "not_ready"
    status = 503
    title = "The service is not ready"


class Internal(GainsayError):
    """An unforeseen error."""


_IN_A_PATH = "/:@!$&'()*+,;="
"""What a path may have beside letters, digits and ``-._~`` (RFC 3986)."""
_UNTOLD = (QueueFull, Overloaded, NotReady)
"""Errors without a log line each: metrics count the first two, and each change of readiness is logged once."""


def answer(request: HttpRequest, error: Exception) -> Response[bytes]:
    """The problem document for an error."""
    headers = {}
    known = _service_error(error, {route.path for route in request.app.routes})
    if known.status >= 500 and not isinstance(known, _UNTOLD):
        fields = {"request": request_id.get(), "code": known.code}
        if isinstance(inside := known.__cause__, GainsayError):
            fields["cause"] = inside.detail
        unforeseen = error if known is not error else None
        message = "request failed" if unforeseen else f"request failed: {known.detail}"
        level = logging.WARNING if isinstance(known, NotProvable) else logging.ERROR
        telemetry.LOG.log(level, message, extra=fields, exc_info=unforeseen)
    if known.retry_after is not None:
        headers["Retry-After"] = str(known.retry_after)
    if isinstance(known, IdempotencyInProgress):
        headers["Location"] = address(known.debate)
    if isinstance(known, RequestTimeout):  # the server would read the rest of the body as the next request
        headers["Connection"] = "close"
    if isinstance(error, MethodNotAllowedException):
        headers["Allow"] = _allowed_methods(error)
    return Response(
        content=encode(problem(known, request.scope["path"])),
        status_code=known.status,
        media_type=PROBLEM_JSON,
        headers={**headers, "Cache-Control": "no-store"},
    )


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
        errors=tuple(FieldError(pointer, part.public_detail) for part in error.parts for pointer in part.pointers),
        **extra,
    )


def _allowed_methods(error: MethodNotAllowedException) -> str:
    """The methods of the path; a path that accepts GET accepts HEAD too."""
    return allowed(method.strip() for method in (error.headers or {}).get("allow", "").split(","))


def _where_paths_are(paths: Collection[str]) -> str:
    """Where a caller finds the paths of an application, such as a signer, that may have no description."""
    return "/openapi.json lists all paths" if "/openapi.json" in paths else f"those here are {', '.join(sorted(paths))}"


def _service_error(error: Exception, paths: Collection[str]) -> GainsayError:
    """The error as one of the service's own; ``paths`` are those of the application."""
    match error:
        case GainsayError():
            return error
        case NotFoundException():
            return NotFound(f"there is no such path; {_where_paths_are(paths)}")
        case MethodNotAllowedException():
            return MethodNotAllowed(f"expected one of the methods {_allowed_methods(error)}")
        case HTTPException() if 400 <= error.status_code < 500:
            return BadRequest(f"the request cannot be read: {error.detail}")
    return Internal(
        "an unforeseen error; try again, and if it persists, search the service's log for the request id "
        f"{request_id.get()}"
    )
