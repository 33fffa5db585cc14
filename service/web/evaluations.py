"""The endpoints of evaluations: register a plan, list them and sets, see how one stands, follow, stop, report, export.

What items of a held split came to is close to their labels. So it is shown to those who may read held labels, and to
those who may read all evidence of the tenant: `_expect_scores`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from http import HTTPStatus
from tempfile import TemporaryFile
from typing import IO

from litestar import Response, get, post
from litestar.response import Stream

from service.audit.archive import PIECE
from service.audit.report_forms import Form, Paper
from service.errors import Forbidden, GainsayError, together
from service.evaluation.plan.tables import InvalidPlan, place_of
from service.evaluation.scoring.result import result_of
from service.identity.caller import Caller
from service.intake.validation import plain
from service.policy.file.toml_lines import lines_of, nearest_line
from service.report.evaluation import encode_json, write
from service.reviews import evidence
from service.reviews.evaluations import Standing
from service.reviews.evidence import EvidenceDesk
from service.reviews.query_parameters import page_size
from service.store.evaluations import StoredEvaluation
from service.web import body, debates, headers, stream
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller, database, receiver
from service.web.cut_short import content_of, cut_short, nothing
from service.web.debates import SMALL_BODY, answered, cursor, known_query, linked, report_policy
from service.web.evaluation_stream import FollowingEvaluation
from service.web.evaluation_types import (
    PLAN_MAX,
    EvaluationList,
    EvaluationRequest,
    EvaluationState,
    EvaluationStopRequest,
    GoldenSetList,
    GoldenSetState,
    ListedEvaluation,
    evaluation_address,
    version_of,
)
from service.web.file_names import kept_as
from service.web.identity_types import said
from service.web.middleware import HEAD
from service.web.pages import is_known
from service.web.problems import NotAcceptable
from service.web.rate_limits import key_of
from service.web.submission import REPLAYED

JSON, JSONL, ZIP = "application/json", "application/jsonl", "application/zip"
REPORTS: dict[str, Form | None] = {JSON: None, **debates.REPORTS}
"""The media types of a report, JSON first: the result, from which the others are made."""
AGAIN_S = 1
"""Seconds after which a client may ask again for an evaluation that runs."""


@post("/v1/evaluations")
async def register(request: HttpRequest) -> Response[bytes]:
    """Check a plan, and record it as an evaluation."""
    known_query(request, ())
    desk, who = app_state(request).evaluations, caller(request)
    key = headers.idempotency_key(request.headers.getall("idempotency-key", []))
    text = (await body.read(request, EvaluationRequest, PLAN_MAX)).plan
    try:
        registered = await desk.bring(text, who, key)
    except InvalidPlan as error:
        raise _by_line(text, error) from None
    found = await desk.read(registered.evaluation, who)
    header_fields = {"Location": evaluation_address(registered.evaluation), "Retry-After": str(AGAIN_S)}
    replayed = REPLAYED if registered.replayed else {}
    return answered(EvaluationState.of(found), HTTPStatus.ACCEPTED, header_fields | replayed)


@get("/v1/evaluations")
async def find(request: HttpRequest) -> Response[bytes]:
    """The evaluations of the caller's tenant."""
    known_query(request, ("limit", "after"))
    limit, below = page_size(request.query_params.get("limit")), cursor(request.query_params.get("after"))
    found, following = await app_state(request).evaluations.page(caller(request), below, limit)
    shown = EvaluationList(evaluations=tuple(map(ListedEvaluation.of, found)), next=following)
    return answered(shown, headers=linked("/v1/evaluations", [("limit", str(limit))], following))


@get("/v1/evaluation-sets")
async def sets(request: HttpRequest) -> Response[bytes]:
    """The golden sets that this process has at hand."""
    known_query(request, ())
    found = await app_state(request).evaluations.sets(caller(request))
    return answered(GoldenSetList(sets=tuple(map(GoldenSetState.of, found))))


@get("/v1/evaluations/{evaluation:str}")
async def read(request: HttpRequest) -> Response[bytes]:
    """How an evaluation stands."""
    known_query(request, ())
    found = await _standing(request)
    header_fields = {"ETag": f'"{version_of(found)}"'}
    if found.stored.ended is None:
        header_fields["Retry-After"] = str(AGAIN_S)
    if is_known(request, header_fields["ETag"]):
        return Response(content=b"", status_code=HTTPStatus.NOT_MODIFIED, headers=header_fields)
    return answered(EvaluationState.of(found), headers=header_fields)


@get("/v1/evaluations/{evaluation:str}/events")
async def follow(request: HttpRequest) -> Stream | Response[bytes]:
    """The entries of an evaluation as server-sent events."""
    known_query(request, ("lastEventId",))
    site, who = app_state(request), caller(request)
    if headers.best_media_type(request.headers.get("accept"), (stream.EVENT_STREAM,)) is None:
        raise NotAcceptable(f"expected Accept to allow {stream.EVENT_STREAM}, the only form of events")
    after = headers.last_event(request.headers.get("last-event-id"), request.query_params.get("lastEventId"))
    after = -1 if after is None else after
    found = await _standing(request)
    _expect_scores(who, found)
    evaluation, last = found.stored.evaluation, found.progress.next_n - 1
    if after >= last and found.stored.ended is not None:
        return Response(content=b"", status_code=HTTPStatus.NO_CONTENT)  # tells an EventSource to stop
    if found.stored.lost:
        await site.evaluations.refuse_lost(evaluation, who.tenant)
    header_fields = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if request.scope["state"].get(HEAD):
        return Stream(nothing(), media_type=stream.EVENT_STREAM, headers=header_fields)
    site.listeners.admit(key_of(who), site.rates.rates_of(who).listeners)
    return stream.EventStream(FollowingEvaluation(site, who, evaluation, after), header_fields)


@post("/v1/evaluations/{evaluation:str}/stop")
async def stop(request: HttpRequest) -> Response[bytes]:
    """Ask nothing more of an evaluation."""
    known_query(request, ())
    why = (await body.read_optional(request, EvaluationStopRequest, SMALL_BODY) or EvaluationStopRequest()).reason
    plain(why or "", "/reason")
    with suppress(InvalidPlan):  # it has stopped, or is concluded
        await app_state(request).evaluations.stop(
            _evaluation(request), why or "stopped over HTTP, no reason given", caller(request)
        )
    return answered(EvaluationState.of(await _standing(request)))


@get("/v1/evaluations/{evaluation:str}/report")
async def report(request: HttpRequest) -> Response[bytes]:
    """The report of an evaluation that is concluded: JSON, HTML, Markdown or PDF."""
    known_query(request, ("paper",))
    paper = debates.paper(request)
    wanted = headers.best_media_type(request.headers.get("accept"), tuple(REPORTS))
    if wanted is None:
        raise NotAcceptable(f"a report comes as {', '.join(REPORTS)}; accept one of them")
    stored = await app_state(request).evaluations.concluded(_evaluation(request), caller(request))
    content = await asyncio.to_thread(_written, stored, REPORTS[wanted], paper)
    safe = {"Content-Security-Policy": report_policy(content)} if wanted != JSON else {}
    return Response(content=content, media_type=wanted, headers={"Cache-Control": "no-store", "Vary": "Accept", **safe})


@get("/v1/evaluations/{evaluation:str}/audit")
async def records(request: HttpRequest) -> Stream | Response[bytes]:
    """The records of an evaluation and of its debates, with proofs; as a ZIP, the bundle of all of its evidence."""
    known_query(request, ())
    site, who = app_state(request), caller(request)
    found = await _standing(request)
    _expect_scores(who, found)
    evaluation = found.stored.evaluation
    if headers.best_media_type(request.headers.get("accept"), (JSONL, ZIP)) == ZIP:
        return await _bundle(request, evaluation)
    log, filters = await evidence.evaluation_export(database(request), evaluation, who.tenant)
    header_fields = {
        "Cache-Control": "no-store",
        "Vary": "Accept",
        **kept_as("attachment", f"evaluation-{evaluation}", "jsonl", otherwise="evaluation"),
    }
    chunks = await evidence.export(database(request), site.logs, log, filters, who, receiver(request))
    whole = cut_short(chunks, request, f"the records of evaluation {evaluation}")
    return Stream(content_of(request, whole), media_type=JSONL, headers=header_fields)


async def _bundle(request: HttpRequest, evaluation: str) -> Stream:
    """The bundle, which waits in a file: it is as long as its debates together."""
    site, who = app_state(request), caller(request)
    reading = EvidenceDesk(database(request), site.logs, who, receiver(request))
    file = await asyncio.to_thread(TemporaryFile)
    try:
        await site.evaluations.write_bundle(evaluation, who, reading, file, held=_may_see_held(who))
    except BaseException:
        file.close()
        raise
    header_fields = {
        "Cache-Control": "no-store",
        "Vary": "Accept",
        "Content-Length": str(file.tell()),
        **kept_as("attachment", f"evaluation-{evaluation}", "zip", otherwise="evaluation"),
    }
    chunks = cut_short(_pieces(file), request, f"the bundle of evaluation {evaluation}")
    return Stream(chunks, media_type=ZIP, headers=header_fields)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The bytes of a file, which is gone afterwards."""
    with file:
        file.seek(0)
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


def _written(stored: StoredEvaluation, form: Form | None, paper: Paper) -> bytes:
    """A report in a form, or the result as JSON; typesetting takes some tenths of a second."""
    result = result_of(stored.result or b"")
    return encode_json(result) if form is None else write(result, said(stored.ended or stored.registered), form, paper)


async def _standing(request: HttpRequest) -> Standing:
    """The evaluation of the path; raises `NotFound` also for another tenant's."""
    return await app_state(request).evaluations.read(_evaluation(request), caller(request))


def _evaluation(request: HttpRequest) -> str:
    return str(request.path_params["evaluation"])


def _expect_scores(who: Caller, found: Standing) -> None:
    """Raise `Forbidden` unless a caller may see what single items came to."""
    held = any(asked.split == "held" for asked in found.progress.registered.sets)
    if held and not _may_see_held(who):
        raise Forbidden(
            "scores of items of a split held are close to their labels, so they need the scope labels.read, which the "
            "role validator has; GET the evaluation for its finding and result",
            scope="labels.read",
        )


def _may_see_held(who: Caller) -> bool:
    return who.may("labels.read") or "tenant" in who.reach("evidence.read")


def _by_line(text: str, error: InvalidPlan) -> GainsayError:
    """The faults of a plan, in the order of its lines, which they name; pointers go on from ``plan`` into the file."""
    lines = lines_of(text)
    rows = []
    for part in error.parts:
        pointer = "".join(part.pointers[:1])
        line = nearest_line(lines, place_of(pointer)) or 0
        rows.append((line, f"line {line}: {part.detail}" if line else part.detail, f"/plan{pointer}"))
    return together([InvalidPlan(words, pointers=(pointer,)) for _, words, pointer in sorted(rows)])


HANDLERS = (register, find, sets, read, follow, stop, report, records)
