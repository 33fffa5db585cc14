"""The endpoints of debates: ask the gate, quote, list, read, follow, abort, report."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import cast
from urllib.parse import unquote_to_bytes, urlencode
from uuid import UUID

from litestar import Response, get, post
from litestar.response import Stream

from service import report
from service.audit.log_events import Content
from service.audit.report_forms import PAPERS, Form, Paper
from service.errors import BadRequest, did_you_mean
from service.intake.request import CaseRequest, GateRequest
from service.intake.validation import plain
from service.report import VIEWS, Result, Summary, View
from service.report.sent import encode
from service.reviews.query_parameters import read_query, unknown_parameters
from service.web import body, headers, stream
from service.web.admission import CALLER_PLACES, PLACES
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller
from service.web.cut_short import nothing
from service.web.debate_stream import FollowingDebate
from service.web.list_types import DebateList
from service.web.middleware import HEAD
from service.web.pages import closed_policy, hashed_source, is_known
from service.web.problems import NotAcceptable
from service.web.quote_types import PriceQuote
from service.web.rate_limits import key_of
from service.web.types import Abortion, AbortRequest, address

READ_AS: dict[View, Content] = {"summary": "summary", "full": "result"}
"""What of a case a view of its result is, as the record of the reading names it."""
RETRY_AFTER_S = 1
"""Seconds after which a client may ask again for a running debate."""
SMALL_BODY = 64 << 10
GATE_BODY = 1 << 20

ASK_AGAIN = "private, no-cache"
"""Only the caller's own cache may keep it, and asks each time whether it is still so."""
REPORTS: dict[str, Form] = {"text/html": "html", "text/markdown": "markdown", "application/pdf": "pdf"}
_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)


@post("/v1/gate")
async def decide(request: HttpRequest) -> Response[bytes]:
    """The gate's decision alone."""
    known_query(request, ())
    asked = await body.read(request, GateRequest, GATE_BODY)
    return answered(report.build_gate(app_state(request).reviews.decide(asked, caller(request))))


@post("/v1/quotes")
async def quote(request: HttpRequest) -> Response[bytes]:
    """The cost of a case."""
    site = app_state(request)
    known_query(request, ())
    async with places(request):
        case = await body.read(request, CaseRequest, site.body_max_of(caller(request).tenant))
        found, left = await site.reviews.quote(case, caller(request))
    return answered(PriceQuote.of(found, left))


@get("/v1/debates")
async def find(request: HttpRequest) -> Response[bytes]:
    """The debates that pass the filters, in pages, with counts."""
    asked = texts_of_query(request)
    query = read_query(asked)
    page = await app_state(request).reviews.find(query, caller(request))
    note(request, "list")
    same = [(name, value) for name, values in asked.items() if name != "after" for value in values]
    return answered(DebateList.of(page, query.facets), headers=linked("/v1/debates", same, page.next))


@get("/v1/debates/{debate:str}")
async def read(request: HttpRequest) -> Response[bytes]:
    """One debate in its present state."""
    known_query(request, ("view",))
    site, debate, shown = app_state(request), _debate(request), view(request)
    reviews = site.reviews
    result = await (reviews.summary if shown == "summary" else reviews.result)(debate, caller(request))
    header_fields = {"ETag": _etag(result, site.deployment.build_hash, shown)}
    if _under_way(result):
        header_fields["Retry-After"] = str(RETRY_AFTER_S)
    if is_known(request, header_fields["ETag"]):
        return Response(content=b"", status_code=HTTPStatus.NOT_MODIFIED, headers=header_fields)
    note(request, READ_AS[shown], debate)
    return answered(result, headers=header_fields)


@get("/v1/debates/{debate:str}/events")
async def follow(request: HttpRequest) -> Stream | Response[bytes]:
    """The debate as server-sent events."""
    known_query(request, ("lastEventId", "view"))
    site, debate, shown = app_state(request), _debate(request), view(request)
    if headers.best_media_type(request.headers.get("accept"), (stream.EVENT_STREAM,)) is None:
        raise NotAcceptable(
            f"expected Accept to allow {stream.EVENT_STREAM}, the only form of events; or read {address(debate)}"
        )
    after = headers.last_event(request.headers.get("last-event-id"), request.query_params.get("lastEventId"))
    if await site.reviews.is_past_end(debate, caller(request), -1 if after is None else after):
        return Response(content=b"", status_code=HTTPStatus.NO_CONTENT)  # tells an EventSource to stop
    header_fields = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if request.scope["state"].get(HEAD):
        return Stream(nothing(), media_type=stream.EVENT_STREAM, headers=header_fields)
    site.listeners.admit(key_of(caller(request)), site.rates.rates_of(caller(request)).listeners)
    note(request, "events", debate)
    after = -1 if after is None else after
    return stream.EventStream(FollowingDebate(site, caller(request), debate, after, shown), header_fields)


@post("/v1/debates/{debate:str}/abort")
async def abort(request: HttpRequest) -> Response[bytes]:
    """Abort a debate: it makes no further model calls."""
    known_query(request, ())
    why = (await body.read_optional(request, AbortRequest, SMALL_BODY) or AbortRequest()).reason
    plain(why or "", "/reason")
    found = await app_state(request).reviews.abort(
        _debate(request), caller(request), why or "aborted over HTTP, no reason given"
    )
    return answered(Abortion.of(found))


@get("/v1/debates/{debate:str}/report")
async def readable(request: HttpRequest) -> Response[bytes]:
    """The debate as a report to read or print."""
    known_query(request, ("paper",))
    on = paper(request)
    wanted = headers.best_media_type(request.headers.get("accept"), tuple(REPORTS))
    if wanted is None:
        raise NotAcceptable(f"a report comes as {', '.join(REPORTS)}; accept one of them")
    content = await app_state(request).reviews.report(
        _debate(request), caller(request), REPORTS[wanted], on, handed_out=not request.scope["state"].get(HEAD)
    )
    note(request, "report", _debate(request))
    return Response(
        content=content,
        media_type=wanted,  # the framework adds the charset of text/*
        headers={"Cache-Control": "no-store", "Vary": "Accept", "Content-Security-Policy": report_policy(content)},
    )


def places(request: HttpRequest) -> AbstractAsyncContextManager[None]:
    """A place of the request's caller among the cases that are read; raises `Overloaded`."""
    who = caller(request)
    most = PLACES if who.via == "none" else CALLER_PLACES
    return app_state(request).places.taken(key_of(who), most)


def report_policy(content: bytes) -> str:
    """The policy of a report: its own style, by its hash, and nothing else.

    A report shows text of documents and models; none of it may run code, load a resource or bring a style of its own.
    The first style is the report's: it stands in the head, where the text of others is escaped.
    """
    own = _STYLE.search(content)
    return closed_policy(*([f"style-src {hashed_source(own[1].decode())}"] if own else []))


def answered(value: object, status: int = HTTPStatus.OK, headers: dict[str, str] | None = None) -> Response[bytes]:
    """A value as JSON. Only the caller's own cache may keep it, and has to ask again."""
    return Response(
        content=encode(value),
        status_code=status,
        media_type="application/json",
        headers={"Cache-Control": ASK_AGAIN, **(headers or {})},
    )


def known_query(request: HttpRequest, known: tuple[str, ...], several: Collection[str] = ()) -> None:
    """Refuse unknown parameters, and a second value of one that is not among ``several``.

    An answer that ignores a filter answers another question.
    """
    asked = texts_of_query(request)
    if fault := unknown_parameters(asked, known):
        raise BadRequest(fault)
    for name, values in asked.items():
        if len(values) > 1 and name not in several:
            raise BadRequest(f"expected {name} once, found it {len(values)} times")


def texts_of_query(request: HttpRequest) -> dict[str, list[str]]:
    """The values of each parameter; raises `BadRequest` for bytes that are no text: they would be replaced unseen."""
    try:
        unquote_to_bytes(request.scope["query_string"]).decode()
    except UnicodeDecodeError as error:
        raise BadRequest(
            f"expected the query of the address in UTF-8, found the byte 0x{error.object[error.start]:02x}, which is "
            "none there; percent-encode texts in UTF-8, such as %C3%A9 for \u00e9"
        ) from None
    return {name: request.query_params.getall(name) for name in request.query_params}


def note(request: HttpRequest, what: Content, debate: str | None = None) -> None:
    """Note that content of cases is about to be handed out; raises `AuditUnavailable`: then it must not be.

    An answer without content, to HEAD or with status 304, is no reading.
    """
    if not request.scope["state"].get(HEAD):
        app_state(request).readings.note(caller(request), what, debate)


def _debate(request: HttpRequest) -> str:
    return str(request.path_params["debate"])


def _under_way(result: Result | Summary) -> bool:
    return result.status in ("queued", "running")


def view(request: HttpRequest) -> View:
    """How much of a result the caller wants: a summary unless it asks for the whole; raises `BadRequest`."""
    return cast(View, one_of("view", request.query_params.get("view", VIEWS[0]), VIEWS))


def paper(request: HttpRequest) -> Paper:
    """The size of the paper on which a report is printed; raises `BadRequest`."""
    return cast(Paper, one_of("paper", request.query_params.get("paper", PAPERS[0]), PAPERS))


def one_of(name: str, given: str, known: Sequence[str]) -> str:
    """The value of a query parameter that takes a closed list of values; raises `BadRequest`."""
    if given not in known:
        meant = did_you_mean(given, known)
        raise BadRequest(f"{name} must be one of {', '.join(known)}, found {given[:80]!r}{meant}")
    return given


def _etag(result: Result | Summary, build: str, shown: View) -> str:
    """The number of entries, the build and the view: entries never change, but another build may render them
    differently."""
    return f'"{result.entries}-{build[:8]}-{shown}"'


def cursor(given: str | None) -> UUID | None:
    """Where a page begins; raises `BadRequest`."""
    if given is None:
        return None
    try:
        return UUID(given)
    except ValueError:
        raise BadRequest(f"after must be the value of next on the page before, found {given[:80]!r}") from None


def linked(path: str, asked: Iterable[tuple[str, str]], following: str | None) -> dict[str, str]:
    """The header that leads to the next page, if there is one; ``asked`` are the parameters that stay the same."""
    if following is None:
        return {}
    return {"Link": f'<{path}?{urlencode([*asked, ("after", following)])}>; rel="next"'}
