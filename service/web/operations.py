"""Every endpoint as data: the source of the OpenAPI document and of the tests of every answer."""

from __future__ import annotations

from service.checks.citations.batch import Batch
from service.intake.request import CaseRequest, GateRequest
from service.report import VIEWS, Result, Summary
from service.report.result.types import Gate
from service.reviews.on_disconnect import LEAVE_S
from service.web.audit_operations import AUDIT
from service.web.batch_operations import BATCHES
from service.web.budget import BUDGET
from service.web.catalogue import PolicyDetail, PromptList
from service.web.citations import CheckedCitations
from service.web.completions.operations import COMPLETIONS
from service.web.debates import REPORTS
from service.web.evaluation_operations import EVALUATIONS
from service.web.headers import WAIT_MAX_S
from service.web.identity_operations import IDENTITY
from service.web.list_operations import LISTS
from service.web.model_types import ModelList
from service.web.operation import (
    DEBATE,
    IDEMPOTENCY_KEY,
    IF_NONE_MATCH,
    JSON,
    LAST_EVENT,
    LAST_EVENT_QUERY,
    PAPER,
    Answer,
    Operation,
    Parameter,
)
from service.web.page_operations import PAGES
from service.web.quote_types import PriceQuote
from service.web.stream import EVENT_STREAM
from service.web.types import Abortion, AbortRequest, Health, Submission
from service.web.webhook_operations import WEBHOOKS

_PREFER = Parameter(
    "Prefer",
    "header",
    f"wait=N delays the answer until the debate ends, for at most N seconds. N may be {WAIT_MAX_S} at most (RFC 7240).",
    {"type": "string"},
)
_VIEW = Parameter(
    "view",
    "query",
    "How much of a result: summary (about 2 kB: the decision and what a caller decides by) or full (everything). The "
    "member view of the answer says which one it is.",
    {"type": "string", "enum": list(VIEWS), "default": VIEWS[0]},
)
_FINAL_VIEW = Parameter(
    "view",
    "query",
    "Which view of the result final has, in whatever request it is sent: summary or full, as readDebate answers it.",
    _VIEW.schema,
)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="post",
        path="/v1/debates",
        id="submitCase",
        scope="case.submit",
        tag="debates",
        summary="Submit a case; the gate decides whether it is debated.",
        description=(
            "The service checks the whole case and records it before it answers. Where an error says that nothing was "
            "written, nothing was. The debate runs to its end without listeners, unless onDisconnect is abort: then "
            "the service aborts it when its last listener has disconnected and none reconnects within "
            f"{LEAVE_S:g} seconds. Where a database failure cut the listener off, it has {LEAVE_S:g} to "
            f"{2 * LEAVE_S:g} seconds after the database has recovered. A listener is a connection that follows the "
            "events or waits for the result. "
            "If the answer to a case was lost, send the case again under its Idempotency-Key. A running debate is "
            "answered with 409 and its Location; a finished one with 200, its result and Idempotency-Replayed. "
            "A different case under the same key is refused (idempotency_key_reused). A refused case stores no key. "
            "When too many debates are queued (queue_full) or too many cases arrive together (overloaded), retry "
            "after Retry-After."
        ),
        parameters=(_VIEW, _PREFER, IDEMPOTENCY_KEY),
        body=CaseRequest,
        answers={
            202: Answer("Queued for debate.", {JSON: (Submission,)}, ("Location", "Retry-After", "Preference-Applied")),
            200: Answer(
                "Declined by the gate, with every rule that it checked; or, with Prefer, the result.",
                {JSON: (Submission, Summary, Result)},
                ("Location", "Content-Location", "Preference-Applied", "Idempotency-Replayed"),
            ),
        },
        problems=(400, 402, 408, 409, 410, 413, 415, 422, 503),
        problem_headers={402: ("Retry-After", "Link"), 409: ("Location", "Preference-Applied")},
    ),
    LISTS["listDebates"],
    Operation(
        method="get",
        path="/v1/debates/{debate}",
        id="readDebate",
        scope="case.read",
        tag="debates",
        summary="Read one debate in its present state.",
        description=(
            "Records, context and documents are compared with what commits to them first; a difference is 500 "
            "`evidence_damaged`, which names the record."
        ),
        parameters=(DEBATE, _VIEW, IF_NONE_MATCH),
        answers={
            200: Answer(
                "The result so far, in the view that was asked for.", {JSON: (Summary, Result)}, ("ETag", "Retry-After")
            ),
            304: Answer("The debate has no new entry since that ETag.", headers=("ETag",)),
        },
        problems=(400, 404, 410, 503),
    ),
    Operation(
        method="get",
        path="/v1/debates/{debate}/events",
        id="followDebate",
        scope="case.read",
        tag="debates",
        summary="Follow the debate as server-sent events, resumable as long as its record exists.",
        description=(
            "The id of an event is the number of its entry. x-event-data lists the events and the type of each one's "
            "data. Names are in camelCase, shares from 0 to 1, and a member that has nothing to say is left out. An "
            "event in the shape of a format's reference has our own members in `gainsay`. The stream ends after "
            "`final`, also that of a declined case. If it ends earlier, connect again with Last-Event-ID and the same "
            "`view`: `final` has the view of the request in which it is sent."
        ),
        parameters=(DEBATE, _FINAL_VIEW, LAST_EVENT, LAST_EVENT_QUERY),
        answers={
            200: Answer("The events.", {EVENT_STREAM: ()}),
            204: Answer("The debate is over and has no event after the last one seen."),
        },
        problems=(400, 404, 406, 410, 503),
    ),
    Operation(
        method="post",
        path="/v1/debates/{debate}/abort",
        id="abortDebate",
        scope="case.abort",
        tag="debates",
        summary="Abort a debate: it makes no further model calls. An abort is idempotent.",
        description=(
            "A call in flight is not cut: its cost is charged when it returns, so stillHeldUSD may become spent. The "
            "debate ends as aborted once no call is in flight. An abort of a debate that is over changes nothing and "
            "answers with the status that it has."
        ),
        parameters=(DEBATE,),
        body=AbortRequest,
        body_required=False,
        answers={
            200: Answer("The amount spent, and the amount still reserved for calls in flight.", {JSON: (Abortion,)})
        },
        problems=(400, 404, 410, 413, 415, 422, 503),
    ),
    Operation(
        method="get",
        path="/v1/debates/{debate}/report",
        id="readReport",
        scope="case.read",
        tag="debates",
        summary="Read the report of a debate: HTML, Markdown or PDF, chosen by Accept.",
        description=(
            "The log records the SHA-256 of each PDF before the PDF is handed out. So a PDF is given of a debate that "
            "has ended, and when the log proves that record, which the bundle carries."
        ),
        parameters=(DEBATE, PAPER),
        answers={200: Answer("The report.", dict.fromkeys(REPORTS, ()))},
        problems=(400, 404, 406, 409, 410, 503),
    ),
    LISTS["listDocuments"],
    LISTS["readDocument"],
    *BATCHES,
    *EVALUATIONS,
    *AUDIT,
    Operation(
        method="post",
        path="/v1/gate",
        id="decide",
        scope="check",
        tag="gate",
        summary="Decide by the gate alone; the service stores nothing and counts one metric.",
        description=(
            "Takes the members of a case that the decision needs, without question and documents. The decision is the "
            "one that POST /v1/debates would make. No model is called, so it costs nothing."
        ),
        body=GateRequest,
        answers={200: Answer("The decision, to debate or to decline, with every rule.", {JSON: (Gate,)})},
        problems=(400, 413, 415, 422),
    ),
    Operation(
        method="post",
        path="/v1/quotes",
        id="quoteCase",
        scope="check",
        tag="gate",
        summary="Quote the cost of a case; the service stores nothing and calls no model.",
        description=(
            "Takes the body of POST /v1/debates and refuses the same cases, with one exception: where the money does "
            "not suffice, the quote says startable: false and the amount needed. Quotes are not binding."
        ),
        body=CaseRequest,
        answers={200: Answer("The gate's decision and the prices.", {JSON: (PriceQuote,)})},
        problems=(400, 408, 413, 415, 422, 503),
    ),
    Operation(
        method="post",
        path="/v1/citations/check",
        id="checkCitations",
        scope="check",
        tag="citations",
        summary="Check citations against sources in the request; the service stores nothing and calls no model.",
        description=(
            "A quotation without a sourceId may come from any source. A rule judges every difference between quotation "
            "and source. A similarity score never verifies a citation."
        ),
        body=Batch,
        answers={
            200: Answer("One verdict for each citation, in the order of the request.", {JSON: (CheckedCitations,)})
        },
        problems=(400, 413, 415, 422),
    ),
    Operation(
        method="get",
        path="/v1/prompts",
        id="listPrompts",
        scope="catalogue.read",
        tag="what runs",
        summary="List every pinned prompt, template and reply schema with its hash.",
        description=(
            "Every debate records these hashes, and each request is compared with them before it is sent. The texts "
            "themselves are in the bundle of each debate."
        ),
        answers={200: Answer("The pinned files.", {JSON: (PromptList,)})},
        problems=(400,),
    ),
    Operation(
        method="get",
        path="/v1/models",
        id="listModels",
        scope="catalogue.read",
        tag="what runs",
        summary="List the models of the catalogue with families, dated prices and track records.",
        description=(
            "Track records are of the tenant's own newest panels, read from a projection of the records. They measure "
            "conduct in debates and not truth. "
            "debaterOrder is how a panel of mode auto ranks the pool of debaters by them now. No address and no key "
            "is shown. data lists the formats as models, as clients of OpenAI's API read it."
        ),
        answers={200: Answer("The catalogue.", {JSON: (ModelList,)})},
        problems=(400, 503),
    ),
    *COMPLETIONS,
    Operation(
        method="get",
        path="/v1/policy",
        id="readPolicy",
        scope="catalogue.read",
        tag="what runs",
        summary="Read the policy that decisions name, with its hash.",
        description=(
            "What cases are decided by: task types, thresholds of the gate, limits of a case, seats with their models, "
            "and the rules of each format. The limits of other tenants, and addresses and keys of vendors, are not "
            "shown."
        ),
        answers={200: Answer("The policy.", {JSON: (PolicyDetail,)})},
        problems=(400,),
    ),
    BUDGET,
    Operation(
        method="get",
        path="/",
        id="landing",
        scope="public",
        tag="probes",
        summary="What this service is, and where its description is.",
        description=("One line of text, for a person who opens the address in a browser. Programs read /openapi.json."),
        answers={200: Answer("A line for people.", {"text/plain": ()})},
    ),
    *IDENTITY,
    *WEBHOOKS,
    *PAGES,
    Operation(
        method="get",
        path="/livez",
        id="alive",
        scope="public",
        tag="probes",
        summary="Check that this process is alive.",
        description=(
            "Checks nothing outside the process, because a restart would not repair that. Restart the process where it "
            "does not answer."
        ),
        answers={200: Answer("The process is alive.", {JSON: (Health,)})},
    ),
    Operation(
        method="get",
        path="/readyz",
        id="ready",
        scope="public",
        tag="probes",
        summary="Check that this process can take work: prompts match the pin, database reachable, not stopping.",
        description=(
            "Send no requests to a process that answers 503. It answers within a second, also where the database does "
            "not. A process that stops answers 503 first and goes on with the requests that it has. A cause may name a "
            "log, and so a tenant: where callers need a credential, the process's log alone says it."
        ),
        answers={200: Answer("The process is ready.", {JSON: (Health,)})},
        problems=(503,),
    ),
    Operation(
        method="get",
        path="/metrics",
        id="metrics",
        scope="metrics.read",
        tag="probes",
        summary="Metrics for Prometheus.",
        description=(
            "Counters, gauges and histograms of this process alone. docs/metrics.md lists each with its labels."
        ),
        answers={200: Answer("The metrics, as OpenMetrics if Accept asks for it.", {"text/plain": ()})},
    ),
    Operation(
        method="get",
        path="/openapi.json",
        id="openapi",
        scope="public",
        tag="probes",
        summary="This document.",
        description="OpenAPI 3.1, with the bounds that the policy that runs gives to a case.",
        parameters=(IF_NONE_MATCH,),
        answers={
            200: Answer("The document.", {JSON: ()}, ("ETag",)),
            304: Answer("The document has not changed since that ETag.", headers=("ETag",)),
        },
    ),
    Operation(
        method="get",
        path="/openapi-3.0.json",
        id="openapi30",
        scope="public",
        tag="probes",
        summary="This document in OpenAPI 3.0.3, for tools that know no later version.",
        description=(
            "Made from /openapi.json: the same operations, parameters and members. What 3.0 has no words for is left "
            "out, such as names of members of an object with any members."
        ),
        parameters=(IF_NONE_MATCH,),
        answers={
            200: Answer("The document.", {JSON: ()}, ("ETag",)),
            304: Answer("The document has not changed since that ETag.", headers=("ETag",)),
        },
    ),
)
