"""Every error as a problem document (RFC 9457), whatever raised it.

``type`` and ``code`` are stable and say the same; ``detail`` is for people. What went wrong inside is logged with the
request's id and not told.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar

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
from service.web.app_state import HttpRequest
from service.web.types import address

PROBLEM_JSON = "application/problem+json"
TYPE = "urn:gainsay:problem:"

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being answered."""


class FieldError(Struct, frozen=True, rename="camel"):
    """One offending field of the body, as a JSON Pointer (RFC 6901), and what is wrong with it."""

    pointer: str
    detail: str


class Problem(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What went wrong. Switch on ``code``; ``requestId`` is also in the header Request-Id and in the log.

    ``limit`` (``tenantDay``, ``tenantMonth``), ``leftUSD`` and ``ends`` come with ``budget_exhausted``: which limit of
    the tenant is used up, what is left of it, and when its period is over. ``debateId`` comes with
    ``idempotency_in_progress``: the debate that the key stands for.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str
    request_id: str
    errors: tuple[FieldError, ...] = ()
    limit: str | None = None
    left_usd: str | None = msgspec.field(default=None, name="leftUSD")
    ends: str | None = None
    debate_id: str | None = None


class MethodNotAllowed(GainsayError):
    """The path is there, but not with this method."""

    code = "method_not_allowed"
    status = 405
    title = "The path does not take this method"


class NotAcceptable(GainsayError):
    """None of the media types that the request accepts can be given."""

    code = "not_acceptable"
    status = 406
    title = "No acceptable form of the answer"


class UnsupportedMediaType(GainsayError):
    """The body is not JSON, by its own account."""

    code = "unsupported_media_type"
    status = 415
    title = "The body is not of a type that is read here"


class NotReady(GainsayError):
    """The process cannot take work now."""

    code = "not_ready"
    status = 503
    title = "The service is not ready"


class Internal(GainsayError):
    """Something that nobody foresaw."""


_UNTOLD = (QueueFull, Overloaded, NotReady)
"""What is many, and counted, or is told elsewhere when it changes."""


def answer(request: HttpRequest, error: Exception) -> Response[bytes]:
    """The problem document for an error."""
    headers = {}
    known = _known(error)
    if known.status >= 500 and not isinstance(known, _UNTOLD):
        fields = {"request": request_id.get(), "code": known.code}
        if isinstance(inside := known.__cause__, GainsayError):
            fields["cause"] = inside.detail
        unforeseen = error if known is not error else None
        told = "request failed" if unforeseen else f"request failed: {known.detail}"
        level = logging.WARNING if isinstance(known, NotProvable) else logging.ERROR
        telemetry.LOG.log(level, told, extra=fields, exc_info=unforeseen)
    if known.retry_after is not None:
        headers["Retry-After"] = str(known.retry_after)
    if isinstance(known, IdempotencyInProgress):
        headers["Location"] = address(known.debate)
    if isinstance(known, RequestTimeout):  # what is still to come would be taken for the next request
        headers["Connection"] = "close"
    if isinstance(error, MethodNotAllowedException):
        headers["Allow"] = _allowed(error)
    return Response(
        content=msgspec.json.encode(problem(known, request.scope["path"])),
        status_code=known.status,
        media_type=PROBLEM_JSON,
        headers={**headers, "Cache-Control": "no-store"},
    )


def problem(error: GainsayError, instance: str) -> Problem:
    """The document's members; ``instance`` is the path that was asked for."""
    extra = {}
    if isinstance(error, BudgetExhausted):
        extra = {"limit": error.limit, "left_usd": usd(error.left), "ends": error.ends}
    if isinstance(error, IdempotencyInProgress):
        extra = {"debate_id": error.debate}
    return Problem(
        type=TYPE + error.code,
        title=error.title,
        status=error.status,
        detail=error.told,
        code=error.code,
        instance=instance,
        request_id=request_id.get(),
        errors=tuple(FieldError(pointer, error.detail) for pointer in error.pointers),
        **extra,
    )


def _allowed(error: MethodNotAllowedException) -> str:
    """The methods of the path; whatever can be got, its headers can be had alone."""
    methods = {method.strip() for method in (error.headers or {}).get("allow", "").split(",")}
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))


def _known(error: Exception) -> GainsayError:
    """One of our errors for whatever was raised."""
    match error:
        case GainsayError():
            return error
        case NotFoundException():
            return NotFound("there is no such path; /openapi.json lists those that there are")
        case MethodNotAllowedException():
            return MethodNotAllowed(f"expected one of the methods {_allowed(error)}")
        case HTTPException() if 400 <= error.status_code < 500:
            return BadRequest(f"the request cannot be read: {error.detail}")
    return Internal(
        "an error that was not foreseen; nothing is known of it here. Try again, and if it stays, look for the request "
        f"id {request_id.get()} in the service's log"
    )
