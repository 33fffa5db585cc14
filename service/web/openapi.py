"""The OpenAPI 3.1 document, built from the operations and from the types that the service encodes and decodes."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec

from service import __version__, samples
from service.errors import (
    AuditUnavailable,
    BadRequest,
    BudgetExhausted,
    EvidenceDamaged,
    GainsayError,
    IdempotencyInProgress,
    InvalidCase,
    NotFound,
    RequestTimeout,
    TooLarge,
    together,
)
from service.intake.request import CaseRequest, GateRequest
from service.policy import Limits
from service.report import Result, Summary
from service.report.events.convergence import ConvergenceEvent
from service.report.events.panel_types import (
    AdjudicationEvent,
    AnswersEvent,
    ClassificationEvent,
    MeasuredEvent,
    PanelAccuracy,
    PanelAccuracyReview,
    PanelBlind,
    PanelConsensus,
    PanelDeliberation,
    PanelFinal,
    PanelSynthesis,
    WholePanelFinal,
)
from service.report.events.replies import ProjectionEvent, RulingEvent, VerdictEvent
from service.report.events.types import (
    ArguedEvent,
    AskedEvent,
    CitationsEvent,
    DebaterEvent,
    EventName,
    FinalEvent,
    GateEvent,
    ModeratedEvent,
    NoticeEvent,
    PassagesEvent,
    RoundStartedEvent,
    StartedEvent,
    WholeFinalEvent,
)
from service.report.sent import as_json
from service.reviews.evidence import NotOver
from service.web.answer_schemas import describe_absence, reached
from service.web.operation import HEADERS, Answer, Operation, Parameter, Schema
from service.web.operations import OPERATIONS
from service.web.option_schemas import OPTIONS, split_options
from service.web.plain_schemas import defaults_in_words, plain
from service.web.problems import PROBLEM_JSON, Internal, NotAcceptable, Problem, UnsupportedMediaType, problem
from service.web.schema_docs import describe_json_names
from service.web.schema_names import REF, SCHEMA_NAMES, named_schemas
from service.web.value_bounds import AMOUNT, DECIMAL, bound_answers, bound_case

_EVENTS: dict[EventName, tuple[type, ...]] = {
    "gate": (GateEvent,),
    "started": (StartedEvent,),
    "asked": (AskedEvent,),
    "round": (ArguedEvent, DebaterEvent, PanelBlind, PanelDeliberation),
    "swapped": (ModeratedEvent, VerdictEvent, RulingEvent, AdjudicationEvent),
    "verdict": (VerdictEvent,),
    "synthesis": (ModeratedEvent, ProjectionEvent, RulingEvent, PanelSynthesis),
    "citations": (CitationsEvent,),
    "passages": (PassagesEvent,),
    "notice": (NoticeEvent,),
    "classification": (ClassificationEvent,),
    "adjudication": (AdjudicationEvent,),
    "measured": (MeasuredEvent,),
    "consensus": (PanelConsensus,),
    "answers": (AnswersEvent,),
    "accuracy": (PanelAccuracy, PanelAccuracyReview),
    "debate.round_started": (RoundStartedEvent,),
    "debate.response": (DebaterEvent,),
    "debate.converged": (ConvergenceEvent,),
    "convergence": (ConvergenceEvent,),
    "final": (FinalEvent, WholeFinalEvent, PanelFinal, WholePanelFinal),
}
"""The types of an event's data; those that only panels have come last."""
_PROBLEMS: dict[int, GainsayError] = {
    400: BadRequest("the body must be one JSON object in UTF-8: Input data was truncated"),
    402: BudgetExhausted(
        "the tenant's limit for the day, 5.00 USD, leaves 0.02 USD and the debate needs 0.31 USD to begin",
        limit="tenantDay",
        left=20_000,
        ends="2026-11-22T00:00:00Z",
        retry_after=3_600,
    ),
    404: NotFound("there is no debate 01920000-0000-7000-8000-000000000000"),
    406: NotAcceptable(
        "expected Accept to allow text/event-stream, the only form of events; or read "
        "/v1/debates/01920000-0000-7000-8000-000000000000"
    ),
    408: RequestTimeout("the body did not arrive within 60 s; send it without pauses"),
    409: NotOver("debate 01920000-0000-7000-8000-000000000000 is running; come back when it is over", retry_after=5),
    413: TooLarge("question may have 4000 characters, found 5210", pointers=("/question",)),
    415: UnsupportedMediaType("expected the header Content-Type: application/json, found text/plain"),
    422: together(
        (
            InvalidCase("unknown taskType 'Contract'; did you mean 'contract'?", pointers=("/taskType",)),
            InvalidCase("maxRounds must be from 1 to 3, found 4", pointers=("/options/maxRounds",)),
        )
    ),
    500: Internal(
        "an unforeseen error; try again, and if it persists, search the service's log for the request id req_4f2a"
    ),
    503: AuditUnavailable("the audit log does not confirm the record, so nothing further is done", retry_after=5),
}
_DAMAGED = EvidenceDamaged(
    "01920000-0000-7000-8000-000000000000", "record 4", "has a payload that it does not commit to"
)
_COMPARED = (
    *("readDebate", "followDebate", "abortDebate", "readReport", "readBundle"),
    *("listDocuments", "readDocument"),
)
"""The operations that compare one debate with its commitments before they answer."""
_PROBLEMS_OF: dict[tuple[str, int], GainsayError] = {
    **{(id_, 500): _DAMAGED for id_ in _COMPARED},
    ("submitCase", 409): IdempotencyInProgress(
        "this case was already recorded under this key as debate 01920000-0000-7000-8000-000000000000, which has not "
        "ended",
        debate="01920000-0000-7000-8000-000000000000",
        retry_after=1,
    ),
}
"""The problems of one operation that differ from the others' problem of that status."""
_EVERY = ("Gainsay-Checkpoint", "Request-Id")
"""The headers of every answer."""
_BINARY = ("application/octet-stream", "application/pdf", "application/zip")
"""The media types of answers that are bytes and no text. Generators know them by the format that 3.0 gave them."""


@cache
def encoded(limits: Limits | None = None) -> bytes:
    """The document as JSON, of a service with these limits of a case."""
    return msgspec.json.encode(document(limits))


def document(limits: Limits | None = None) -> Schema:
    """The whole document, of a service with these limits of a case."""
    schemas = _Schemas(limits)
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Gainsay",
            "version": __version__,
            "summary": "Effective challenge for high-stakes answers, with a record of it.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": schemas.components, "headers": _headers()},
    }


class _Schemas:
    """The JSON Schemas of all types of the document, each once under its own name."""

    def __init__(self, limits: Limits | None) -> None:
        mentioned: list[Any] = [Problem, *(t for types in _EVENTS.values() for t in types)]
        for operation in OPERATIONS:
            mentioned += [operation.body] if operation.body else []
            mentioned += [t for a in operation.answers.values() for types in a.content.values() for t in types]
        self._refs, named = named_schemas(mentioned)
        self.components: dict[str, Any] = plain(named)
        requests = [SCHEMA_NAMES[request] for request in (CaseRequest, GateRequest)]
        for name in (*requests, OPTIONS):
            self.components[name] = _with_amounts(self.components[name])
        split_options(self.components, REF)
        for name in {name for body in _bodies() for name in reached(self.components, body)}:
            self.components[name] = defaults_in_words(self.components[name])
        bound_case(self.components, limits)
        bound_answers(self.components, _bodies())
        describe_absence(self.components, SCHEMA_NAMES, _bodies())
        describe_json_names(self.components)

    def content(self, media: str, types: tuple[type, ...]) -> Schema:
        """What an answer of a media type is: JSON of one of these types, or without any a text or bytes."""
        if types or media.endswith("json"):
            return self.of(*types)
        return {"type": "string", "format": "binary"} if media in _BINARY else {"type": "string"}

    def of(self, *types: type) -> Schema:
        """A reference to a type, or to any of several; no type leaves the content open."""
        if not types:
            return {}
        refs = [self._refs[t] for t in types]
        if types == (Summary, Result):
            mapping = {"summary": refs[0]["$ref"], "full": refs[1]["$ref"]}
            return {"oneOf": refs, "discriminator": {"propertyName": "view", "mapping": mapping}}
        return refs[0] if len(refs) == 1 else {"anyOf": refs}


def _bodies() -> set[str]:
    """The schemas of the bodies of requests."""
    return {SCHEMA_NAMES[operation.body] for operation in OPERATIONS if operation.body}


def _with_amounts(schema: Any) -> Any:
    """The schema of a request, where an amount may also be a number; answers always have a string."""
    if schema == DECIMAL:
        return AMOUNT
    if isinstance(schema, dict):
        return {name: _with_amounts(part) for name, part in schema.items()}
    return [_with_amounts(part) for part in schema] if isinstance(schema, list) else schema


def _operation(operation: Operation, schemas: _Schemas) -> Schema:
    answers = {str(status): _answer(answer, schemas) for status, answer in operation.answers.items()}
    for status in (*operation.problems, 500):
        answers[str(status)] = _problem(operation, status, schemas)
    described: Schema = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
        "parameters": [_parameter(p) for p in operation.parameters],
        "responses": answers,
    }
    if operation.body:
        described["requestBody"] = _body(operation, operation.body, schemas)
    if operation.id == "followDebate":
        described["x-event-data"] = {name: schemas.of(*types) for name, types in _EVENTS.items()}
    return described


def _parameter(parameter: Parameter) -> Schema:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema,
    }


def _answer(answer: Answer, schemas: _Schemas) -> Schema:
    described: Schema = {"description": answer.description, "headers": _header_refs(*answer.headers, *_EVERY)}
    if answer.content:
        described["content"] = {
            media: {"schema": schemas.content(media, types)} for media, types in answer.content.items()
        }
    return described


def _problem(operation: Operation, status: int, schemas: _Schemas) -> Schema:
    error = _PROBLEMS_OF.get((operation.id, status), _PROBLEMS[status])
    example = as_json(problem(error, "/v1/debates")) | {"requestId": "req_4f2a"}
    content = {PROBLEM_JSON: {"schema": schemas.of(Problem), "example": example}}
    later = ["Retry-After"] if status in (409, 503) else []
    headers = _header_refs(*later, *operation.problem_headers.get(status, ()), *_EVERY)
    return {"description": HTTPStatus(status).phrase, "headers": headers, "content": content}


def _body(operation: Operation, type_: type, schemas: _Schemas) -> Schema:
    content: Schema = {"schema": schemas.of(type_)}
    if examples := _examples(type_):
        content["examples"] = examples
    return {"required": operation.body_required, "content": {"application/json": content}}


def _examples(type_: type) -> Schema:
    """The shipped samples, with the members that the type has."""
    if type_ not in (CaseRequest, GateRequest):
        return {}
    known = {field.encode_name for field in msgspec.structs.fields(type_)}
    cases = {name: samples.load(name).case for name in samples.names()}
    return {name: {"value": {k: v for k, v in case.items() if k in known}} for name, case in cases.items()}


def _headers() -> Schema:
    return {name: {"description": text, "schema": schema} for name, (text, schema) in HEADERS.items()}


def _header_refs(*names: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
