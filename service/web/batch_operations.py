"""The operations of batches, as data for OpenAPI."""

from __future__ import annotations

from msgspec.structs import replace

from service.intake.batch_file import BatchLine
from service.reviews.batches import NAME_MAX
from service.web.batch_types import BatchAbortRequest, BatchList, BatchResult, BatchState
from service.web.batches import LINES, RESULTS
from service.web.headers import KEY_MAX
from service.web.operation import AFTER, IDEMPOTENCY_KEY, IF_NONE_MATCH, JSON, LIMIT, Answer, Operation, Parameter

_BATCH = Parameter("batch", "path", "The batch's id.", {"type": "string", "format": "uuid"}, required=True)
_KEY = replace(
    IDEMPOTENCY_KEY,
    description=f"A string of 1 to {KEY_MAX} ASCII characters in quotes, as at POST /v1/debates. Use a new key for "
    "each batch: a file sent again under its key, with the same parameters, is no second batch.",
)

BATCHES: tuple[Operation, ...] = (
    Operation(
        method="post",
        path="/v1/batches",
        id="createBatch",
        scope="case.submit",
        tag="batches",
        summary="Submit many cases as JSON Lines, under one ceiling.",
        description=(
            'Each line is a case as POST /v1/debates takes it, or {"key": ..., "case": {...}} with a key of your '
            "own. Every line is checked before anything is stored; one that is not valid refuses the file, and "
            "the problem names the faults by line, as /17/case/question. The service then opens the cases itself, "
            "a few at a time, as debates of this caller. A case that was recorded under its key in an earlier "
            "batch of this caller is joined: it is not debated or paid for again. Lines without a key belong to "
            "this batch alone. The body must arrive within 60 s."
        ),
        parameters=(
            Parameter(
                "ceilingUSD",
                "query",
                "US dollars that all debates of the batch may cost together, above 0. Needed where policy names no "
                "ceiling for batches.",
                {"type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,6})?$"},
            ),
            Parameter(
                "deadline",
                "query",
                "RFC 3339 with an offset, in the future. No case begins after it, and debates under way end by it.",
                {"type": "string", "format": "date-time"},
            ),
            Parameter(
                "name",
                "query",
                "A name of your own for the batch.",
                {"type": "string", "minLength": 1, "maxLength": NAME_MAX},
            ),
            _KEY,
        ),
        body=BatchLine,
        lines=LINES,
        answers={
            202: Answer(
                "Stored: its cases begin when their turn comes.",
                {JSON: (BatchState,)},
                ("Location", "Retry-After", "Idempotency-Replayed"),
            )
        },
        problems=(400, 408, 413, 415, 422, 503),
    ),
    Operation(
        method="get",
        path="/v1/batches",
        id="listBatches",
        scope="case.read",
        tag="batches",
        summary="List batches, the newest first.",
        description="Those of the whole tenant for a caller that reads all of its cases, else the caller's own.",
        parameters=(LIMIT, AFTER),
        answers={200: Answer("One page of batches.", {JSON: (BatchList,)}, ("Link",))},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path="/v1/batches/{batch}",
        id="readBatch",
        scope="case.read",
        tag="batches",
        summary="Read how a batch stands: its lines by their state, and its money.",
        description="Ask again after Retry-After; with If-None-Match an answer that says nothing new is empty.",
        parameters=(_BATCH, IF_NONE_MATCH),
        answers={
            200: Answer("How the batch stands.", {JSON: (BatchState,)}, ("ETag", "Retry-After")),
            304: Answer("Nothing has changed since that ETag.", headers=("ETag", "Retry-After")),
        },
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path="/v1/batches/{batch}/results",
        id="batchResults",
        scope="case.read",
        tag="batches",
        summary="Read the results of a batch: JSON Lines, one for each line, or CSV, one row a decision.",
        description=(
            "In the order of the file, at any time. JSON Lines have each line with its state; CSV "
            "has the decisions alone. A decision is there when its end is provable, as the list of debates shows "
            "it. The connection is cut where the answer cannot be whole."
        ),
        parameters=(_BATCH,),
        answers={200: Answer("The results.", dict.fromkeys(RESULTS, ()), ("Content-Disposition",), BatchResult)},
        problems=(400, 404, 406, 503),
    ),
    Operation(
        method="post",
        path="/v1/batches/{batch}/abort",
        id="abortBatch",
        scope="case.abort",
        tag="batches",
        summary="Abort a batch: none of its cases begins any more, and its debates are aborted.",
        description=(
            "Debates under way end as aborted within seconds, as by abortDebate. Those that other batches recorded "
            "go on. A second abort, or one of a batch that has ended, changes nothing."
        ),
        parameters=(_BATCH,),
        body=BatchAbortRequest,
        body_required=False,
        answers={200: Answer("How the batch stands.", {JSON: (BatchState,)})},
        problems=(400, 404, 413, 415, 422, 503),
    ),
)
