"""What each endpoint takes and answers, as data: the source of the OpenAPI document and of tests of every answer."""

from __future__ import annotations

from service.checks.citations.batch import Batch
from service.intake.request import CaseRequest, GateRequest
from service.report import Result
from service.report.result.types import Gate
from service.reviews.on_disconnect import LEAVE_S
from service.web.audit_operations import AUDIT
from service.web.catalogue import ModelList, PolicyDetail, PromptList
from service.web.citations import CheckedCitations
from service.web.debates import REPORTS
from service.web.headers import KEY_MAX, WAIT_MAX_S
from service.web.operation import AFTER, DEBATE, JSON, LIMIT, Answer, Operation, Parameter
from service.web.quote_types import PriceQuote
from service.web.stream import EVENT_STREAM
from service.web.types import Abortion, AbortRequest, DebateList, Health, Submission

_PREFER = Parameter(
    "Prefer",
    "header",
    f"wait=N holds the answer until the debate is over, for at most N seconds ({WAIT_MAX_S} at most; RFC 7240).",
    {"type": "string"},
)
_IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    f"A string of 1 to {KEY_MAX} characters of ASCII in quotes, or without them where it has no space or quote, a new "
    "one for each case: sent again under its key, a case is not a second debate, and not a second bill. Keys are "
    "remembered for as long as the record.",
    {"type": "string"},
)
_LAST_EVENT = Parameter("Last-Event-ID", "header", "The id of the last event seen.", {"type": "string"})
_LAST_EVENT_QUERY = Parameter("lastEventId", "query", "The same, for clients that set no headers.", {"type": "string"})
_IF_NONE_MATCH = Parameter("If-None-Match", "header", "The ETag of the result at hand.", {"type": "string"})


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="post",
        path="/v1/debates",
        id="submitCase",
        tag="debates",
        summary="Submit a case; the gate decides whether it is debated.",
        description=(
            "The case is checked whole and recorded before the answer: after an error that says so nothing has been "
            "written. The debate runs until it is over, whether or not anybody listens, unless onDisconnect is abort: "
            "then it ends when the last who followed its events, or waited for it, has gone and nobody is back within "
            f"{LEAVE_S:g} seconds; where a failing database cut him off, {LEAVE_S:g} to {2 * LEAVE_S:g} seconds after "
            "it is well. A case whose answer was lost is sent again under its Idempotency-Key: one that is under way "
            "is answered 409 with the debate's Location, one that is over 200 with its result and "
            "Idempotency-Replayed. Another case under a key is refused (idempotency_key_reused). Refused cases leave "
            "no key behind. When too many debates wait (queue_full), or too many cases come at once (overloaded), come "
            "back after Retry-After."
        ),
        parameters=(_PREFER, _IDEMPOTENCY_KEY),
        body=CaseRequest,
        answers={
            202: Answer("Queued for debate.", {JSON: (Submission,)}, ("Location", "Retry-After", "Preference-Applied")),
            200: Answer(
                "Declined by the gate, with every rule that was looked at; or, with Prefer, the result.",
                {JSON: (Submission, Result)},
                ("Location", "Content-Location", "Preference-Applied", "Idempotency-Replayed"),
            ),
        },
        problems=(400, 402, 408, 409, 413, 415, 422, 503),
        problem_headers={409: ("Location", "Preference-Applied")},
    ),
    Operation(
        method="get",
        path="/v1/debates",
        id="listDebates",
        tag="debates",
        summary="The newest debates and declined cases, newest first.",
        parameters=(LIMIT, AFTER),
        answers={200: Answer("A page.", {JSON: (DebateList,)}, ("Link",))},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path="/v1/debates/{debate}",
        id="readDebate",
        tag="debates",
        summary="One debate, as far as it has come.",
        parameters=(DEBATE, _IF_NONE_MATCH),
        answers={
            200: Answer("The result so far.", {JSON: (Result,)}, ("ETag", "Retry-After")),
            304: Answer("Nothing has happened since.", headers=("ETag",)),
        },
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path="/v1/debates/{debate}/events",
        id="followDebate",
        tag="debates",
        summary="The debate as server-sent events, resumable for the life of its record.",
        description=(
            "The id of an event is the number of its entry; the types of the data are under x-event-data. The stream "
            "ends after `final`, or after `gate` of a declined case; when it ends earlier, connect again with "
            "Last-Event-ID."
        ),
        parameters=(DEBATE, _LAST_EVENT, _LAST_EVENT_QUERY),
        answers={
            200: Answer("The events.", {EVENT_STREAM: ()}),
            204: Answer("The debate is over and has no event after the last one seen."),
        },
        problems=(400, 404, 406, 503),
    ),
    Operation(
        method="post",
        path="/v1/debates/{debate}/abort",
        id="abortDebate",
        tag="debates",
        summary="End a debate without asking anyone else; doing it again changes nothing.",
        parameters=(DEBATE,),
        body=AbortRequest,
        body_required=False,
        answers={200: Answer("What was spent, and what is still held for calls in flight.", {JSON: (Abortion,)})},
        problems=(400, 404, 413, 415, 503),
    ),
    Operation(
        method="get",
        path="/v1/debates/{debate}/report",
        id="readReport",
        tag="debates",
        summary="The debate as a report to read or print: HTML, Markdown or PDF, by Accept.",
        parameters=(DEBATE,),
        answers={200: Answer("The report.", dict.fromkeys(REPORTS, ()))},
        problems=(400, 404, 406, 503),
    ),
    *AUDIT,
    Operation(
        method="post",
        path="/v1/gate",
        id="decide",
        tag="gate",
        summary="The gate's decision alone: nothing is stored but a metric.",
        body=GateRequest,
        answers={200: Answer("The decision, either way, with every rule.", {JSON: (Gate,)})},
        problems=(400, 413, 415, 422),
    ),
    Operation(
        method="post",
        path="/v1/quotes",
        id="quoteCase",
        tag="gate",
        summary="What a case would cost: nothing is stored, and no model is asked.",
        description=(
            "Takes the body of POST /v1/debates and refuses what that refuses, but for too little money: the quote "
            "then says startable: false, and how much is needed. Quotes are not binding."
        ),
        body=CaseRequest,
        answers={200: Answer("The gate's decision, and the prices.", {JSON: (PriceQuote,)})},
        problems=(400, 408, 413, 415, 422, 503),
    ),
    Operation(
        method="post",
        path="/v1/citations/check",
        id="checkCitations",
        tag="citations",
        summary="Verdicts on citations against sources that come with them: nothing is stored, and no model is asked.",
        description=(
            "A quotation without a sourceId may stand in any source. Every difference is judged by rule; no similarity "
            "verifies anything."
        ),
        body=Batch,
        answers={200: Answer("A verdict for each citation, in their order.", {JSON: (CheckedCitations,)})},
        problems=(400, 413, 415, 422),
    ),
    Operation(
        method="get",
        path="/v1/prompts",
        id="listPrompts",
        tag="what runs",
        summary="Every pinned prompt, template and reply schema with its hash.",
        answers={200: Answer("The pinned files.", {JSON: (PromptList,)})},
        problems=(400,),
    ),
    Operation(
        method="get",
        path="/v1/models",
        id="listModels",
        tag="what runs",
        summary="The catalogue of models with families and dated prices.",
        answers={200: Answer("The catalogue.", {JSON: (ModelList,)})},
        problems=(400,),
    ),
    Operation(
        method="get",
        path="/v1/policy",
        id="readPolicy",
        tag="what runs",
        summary="The policy that decisions name, with its hash.",
        answers={200: Answer("The policy.", {JSON: (PolicyDetail,)})},
        problems=(400,),
    ),
    Operation(
        method="get",
        path="/livez",
        id="alive",
        tag="probes",
        summary="Whether this process still turns.",
        answers={200: Answer("It does.", {JSON: (Health,)})},
    ),
    Operation(
        method="get",
        path="/readyz",
        id="ready",
        tag="probes",
        summary="Whether this process can take work: prompts as pinned, database there, not stopping.",
        answers={200: Answer("It can.", {JSON: (Health,)})},
        problems=(503,),
    ),
    Operation(
        method="get",
        path="/metrics",
        id="metrics",
        tag="probes",
        summary="Metrics for Prometheus.",
        answers={200: Answer("The metrics, also as OpenMetrics where that is accepted.", {"text/plain": ()})},
    ),
    Operation(
        method="get",
        path="/openapi.json",
        id="openapi",
        tag="probes",
        summary="This document.",
        answers={200: Answer("The document.", {JSON: ()})},
    ),
)
