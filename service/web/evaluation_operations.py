"""The operations of evaluations, as data for OpenAPI."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from service.errors import GainsayError
from service.web.evaluation_problem_texts import EVALUATION_PROBLEMS
from service.web.evaluation_types import (
    EvaluationEvent,
    EvaluationList,
    EvaluationRequest,
    EvaluationState,
    EvaluationStopRequest,
    GoldenSetList,
)
from service.web.evaluations import JSONL, REPORTS, ZIP
from service.web.headers import KEY_MAX
from service.web.operation import (
    AFTER,
    IDEMPOTENCY_KEY,
    IF_NONE_MATCH,
    JSON,
    LAST_EVENT,
    LAST_EVENT_QUERY,
    LIMIT,
    PAPER,
    Answer,
    Operation,
    Parameter,
)
from service.web.stream import EVENT_STREAM

_EVALUATION = Parameter(
    "evaluation", "path", "The evaluation's id.", {"type": "string", "format": "uuid"}, required=True
)
_KEY = replace(
    IDEMPOTENCY_KEY,
    description=f"A string of 1 to {KEY_MAX} ASCII characters in quotes, as at POST /v1/debates. Use a new key for "
    "each plan: a plan sent again under its key is no second evaluation.",
)
_HELD = (
    "Of an evaluation of a split `held` this needs the scope labels.read, or evidence.read over all cases of the "
    "tenant: what single items came to is close to their labels."
)

EVALUATIONS: tuple[Operation, ...] = (
    Operation(
        method="post",
        path="/v1/evaluations",
        id="registerEvaluation",
        scope="evaluation.manage",
        tag="evaluations",
        summary="Register a plan; the service then asks its items and scores them.",
        description=(
            "The plan is the text of a plan file. It asks golden sets that listEvaluationSets shows. Every fault of "
            "the plan is named with its line, and nothing is recorded then. The plan is recorded first, and no model "
            "is called before a checkpoint covers it. A plan that asks a split `held` needs the scope labels.read. Its "
            "debates are the caller's, in a role that may_force of policy names."
        ),
        parameters=(_KEY,),
        body=EvaluationRequest,
        answers={
            202: Answer(
                "Registered: its items are asked once the registration is provable.",
                {JSON: (EvaluationState,)},
                ("Location", "Retry-After", "Idempotency-Replayed"),
            )
        },
        problems=(400, 408, 413, 415, 422, 503),
    ),
    Operation(
        method="get",
        path="/v1/evaluations",
        id="listEvaluations",
        scope="evaluation.read",
        tag="evaluations",
        summary="List the tenant's evaluations, the newest first.",
        parameters=(LIMIT, AFTER),
        answers={200: Answer("One page of evaluations.", {JSON: (EvaluationList,)}, ("Link",))},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path="/v1/evaluation-sets",
        id="listEvaluationSets",
        scope="evaluation.read",
        tag="evaluations",
        summary="List the golden sets that plans may name: hash, counts, provenance, looks at the held split.",
        description=(
            "Those that the process which answers has at hand: shipped ones, and the folders that its setting "
            "GAINSAY_EVALUATION_SETS names. No item and no label is shown. A worker asks the set of a registered plan "
            "once it has it too; until then the evaluation is paused and says so."
        ),
        answers={200: Answer("The sets, by id.", {JSON: (GoldenSetList,)})},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path="/v1/evaluations/{evaluation}",
        id="readEvaluation",
        scope="evaluation.read",
        tag="evaluations",
        summary="Read how an evaluation stands: its plan, how far it is, its money, and its result.",
        description="Ask again after Retry-After; with If-None-Match an answer that says nothing new is empty.",
        parameters=(_EVALUATION, IF_NONE_MATCH),
        answers={
            200: Answer("How the evaluation stands.", {JSON: (EvaluationState,)}, ("ETag", "Retry-After")),
            304: Answer("Nothing has changed since that ETag.", headers=("ETag", "Retry-After")),
        },
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path="/v1/evaluations/{evaluation}/events",
        id="followEvaluation",
        scope="evaluation.read",
        tag="evaluations",
        summary="Follow an evaluation as server-sent events, resumable as long as its records exist.",
        description=(
            "One event for each entry: its name is the entry's kind, its id the entry's number from 0. The stream ends "
            "after `evaluation.concluded`, or after a stop because of a set; that last event is sent once a checkpoint "
            f"covers it. If it ends earlier, connect again with Last-Event-ID. {_HELD}"
        ),
        parameters=(_EVALUATION, LAST_EVENT, LAST_EVENT_QUERY),
        answers={
            200: Answer("The events.", {EVENT_STREAM: (EvaluationEvent,)}),
            204: Answer("The evaluation is over and has no event after the last one seen."),
        },
        problems=(400, 404, 406, 410, 503),
    ),
    Operation(
        method="post",
        path="/v1/evaluations/{evaluation}/stop",
        id="stopEvaluation",
        scope="evaluation.manage",
        tag="evaluations",
        summary="Stop an evaluation: nothing more of it is asked. A stop is idempotent.",
        description=(
            "Debates under way go on to their end. What was asked is scored and concluded, and what was not asked "
            "counts as missing. A second stop, or one of an evaluation that is over, changes nothing."
        ),
        parameters=(_EVALUATION,),
        body=EvaluationStopRequest,
        body_required=False,
        answers={200: Answer("How the evaluation stands.", {JSON: (EvaluationState,)})},
        problems=(400, 404, 409, 413, 415, 422, 503),
    ),
    Operation(
        method="get",
        path="/v1/evaluations/{evaluation}/report",
        id="readEvaluationReport",
        scope="evaluation.read",
        tag="evaluations",
        summary="Read the report of an evaluation: JSON, HTML, Markdown or PDF, chosen by Accept.",
        description=(
            "JSON is the result, from which the others are made: each plot has a table, each statistic its input. "
            "It is there once the evaluation is concluded. What the log proves is the result: a PDF is for reading, "
            "and is not recorded."
        ),
        parameters=(_EVALUATION, PAPER),
        answers={200: Answer("The report.", dict.fromkeys(REPORTS, ()))},
        problems=(400, 404, 406, 409, 410, 503),
    ),
    Operation(
        method="get",
        path="/v1/evaluations/{evaluation}/audit",
        id="exportEvaluation",
        scope="evaluation.read",
        tag="evaluations",
        summary="Export the records of an evaluation, or the bundle of all of its evidence.",
        description=(
            "JSON Lines in the form of exportRecords, from the log in which the plan was registered. `gainsay audit "
            "verify FILE --sets FOLDER` checks it offline: that the plan was provable before the first call, that each "
            "entry may follow, and with the golden sets every score and the result. As application/zip it is the "
            "bundle: the records, the plan, the sets, the bundle of each debate and the result, once the "
            "evaluation's end is proven. `gainsay audit verify FILE` checks it by itself. Labels of a set with a split "
            "`held` are in it for those who may read them, else their hash. The reader is recorded first. "
            f"{_HELD}"
        ),
        parameters=(_EVALUATION,),
        answers={200: Answer("The records, or the bundle.", {JSONL: (), ZIP: ()}, ("Content-Disposition",))},
        problems=(400, 404, 409, 410, 503),
    ),
)

EVALUATION_BODIES: dict[type, dict[str, Any]] = {
    EvaluationRequest: {"critic": {"plan": '[plan]\nname = "critics"\nkind = "critic"\n'}},
    EvaluationStopRequest: {"reason": {"reason": "The wrong model was seated."}},
}
"""Examples of bodies."""
NOT_CONCLUDED: GainsayError = EVALUATION_PROBLEMS[1].example
"""The problem of a report that there is not."""
