"""The endpoints of batches: bring one, list them, see how one stands, read its results, abort it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from http import HTTPStatus

from litestar import Response, get, post
from litestar.response import Stream

from service.audit.csv_line import csv_line
from service.intake.validation import plain
from service.report.sent import encode
from service.reviews.batches import AskedBatch, LineResult
from service.reviews.query_parameters import page_size
from service.web import body, headers
from service.web.admission import FILES
from service.web.app_state import HttpRequest, app_state
from service.web.batch_types import (
    COLUMNS,
    BatchAbortRequest,
    BatchList,
    BatchResult,
    BatchState,
    batch_address,
    cells,
)
from service.web.callers import caller
from service.web.cut_short import content_of, cut_short
from service.web.debates import SMALL_BODY, answered, cursor, known_query, linked, note
from service.web.file_names import kept_as
from service.web.middleware import trace_of
from service.web.pages import is_known
from service.web.problems import NotAcceptable
from service.web.submission import REPLAYED

LINES = ("application/jsonl", "application/x-ndjson")
"""The media types of a file of cases."""
RESULTS = {"application/jsonl": "jsonl", "application/x-ndjson": "jsonl", "text/csv": "csv"}
"""The media types of results, and the ending of a file of each."""
AGAIN_S = 1
"""Seconds after which a client may ask again for a batch that runs."""


@post("/v1/batches")
async def bring(request: HttpRequest) -> Response[bytes]:
    """Check every line of a file, and store it as a batch."""
    known_query(request, ("ceilingUSD", "deadline", "name"))
    given = request.query_params
    asked = AskedBatch(given.get("ceilingUSD"), given.get("deadline"), given.get("name"))
    site, who = app_state(request), caller(request)
    key = headers.idempotency_key(request.headers.getall("idempotency-key", []))
    async with site.files.taken(who.tenant, FILES if who.via == "none" else 1):
        raw = await body.read_lines(request, site.reviews.batches.bounds_of(who.tenant).max_bytes, LINES)
        brought = await site.reviews.batches.bring(raw, asked, who, key, trace_of(request).given)
    found = await site.reviews.batches.read(brought.batch, who, "case.submit")
    header_fields = {"Location": batch_address(brought.batch), "Retry-After": str(AGAIN_S)}
    return answered(BatchState.of(found), HTTPStatus.ACCEPTED, header_fields | (REPLAYED if brought.replayed else {}))


@get("/v1/batches")
async def find(request: HttpRequest) -> Response[bytes]:
    """The batches that the caller reaches."""
    known_query(request, ("limit", "after"))
    limit, below = page_size(request.query_params.get("limit")), cursor(request.query_params.get("after"))
    found, following = await app_state(request).reviews.batches.find(caller(request), below, limit)
    shown = BatchList(batches=tuple(map(BatchState.of, found)), next=following)
    return answered(shown, headers=linked("/v1/batches", [("limit", str(limit))], following))


@get("/v1/batches/{batch:str}")
async def read(request: HttpRequest) -> Response[bytes]:
    """How a batch stands."""
    known_query(request, ())
    found = await app_state(request).reviews.batches.read(_batch(request), caller(request))
    header_fields = {"ETag": f'"{found.version}"'}
    if found.stored.ended is None:
        header_fields["Retry-After"] = str(AGAIN_S)
    if is_known(request, header_fields["ETag"]):
        return Response(content=b"", status_code=HTTPStatus.NOT_MODIFIED, headers=header_fields)
    return answered(BatchState.of(found), headers=header_fields)


@get("/v1/batches/{batch:str}/results")
async def results(request: HttpRequest) -> Stream:
    """The lines of a batch with their decisions, in the order of its file."""
    known_query(request, ())
    desk, who = app_state(request).reviews.batches, caller(request)
    wanted = headers.best_media_type(request.headers.get("accept"), tuple(RESULTS))
    if wanted is None:
        raise NotAcceptable(f"results come as {', '.join(RESULTS)}; accept one of them")
    found = await desk.read(_batch(request), who)
    batch = found.stored.batch
    header_fields = {
        "Cache-Control": "no-store",
        "Vary": "Accept",
        **kept_as("attachment", f"batch-{batch}", RESULTS[wanted], otherwise="batch"),
    }
    note(request, "list")
    written = write_table if RESULTS[wanted] == "csv" else write_lines
    chunks = cut_short(written(desk.results(batch, who)), request, f"the results of batch {batch}")
    return Stream(content_of(request, chunks), media_type=wanted, headers=header_fields)


@post("/v1/batches/{batch:str}/abort")
async def abort(request: HttpRequest) -> Response[bytes]:
    """Begin nothing more of a batch, and abort its debates."""
    known_query(request, ())
    why = (await body.read_optional(request, BatchAbortRequest, SMALL_BODY) or BatchAbortRequest()).reason
    plain(why or "", "/reason")
    found = await app_state(request).reviews.batches.abort(
        _batch(request), caller(request), why or "the batch was aborted over HTTP, no reason given"
    )
    return answered(BatchState.of(found))


async def write_lines(pages: AsyncGenerator[list[LineResult], None]) -> AsyncIterator[bytes]:
    """Every line as JSON Lines."""
    async with aclosing(pages) as found:
        async for page in found:
            yield await asyncio.to_thread(
                lambda page=page: b"".join(encode(BatchResult.of(line)) + b"\n" for line in page)  # type: ignore[misc]
            )


async def write_table(pages: AsyncGenerator[list[LineResult], None]) -> AsyncIterator[bytes]:
    """Every decision as a row of CSV."""
    yield csv_line(COLUMNS)
    async with aclosing(pages) as found:
        async for page in found:
            rows = [row for line in page if (row := cells(line)) is not None]
            if rows:
                yield b"".join(map(csv_line, rows))


def _batch(request: HttpRequest) -> str:
    return str(request.path_params["batch"])


HANDLERS = (bring, find, read, results, abort)
