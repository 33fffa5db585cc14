"""The OpenAPI 3.1 document, built from the operations and from the types that the service encodes and decodes."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import Any

import msgspec

from service import samples
from service.checks.citations.batch import Batch
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
from service.report import Result, Summary
from service.report.events.types import EventName
from service.report.sent import as_json
from service.reviews.evidence import NotOver
from service.web.about import INFO, TAGS
from service.web.about_access import SECURITY_SCHEMES, credentials, needed
from service.web.answer_examples import examples_of
from service.web.answer_schemas import describe_absence, reached
from service.web.batches import LINES
from service.web.completions.error_form import ChatError, chat_error
from service.web.completions.request import ChatRequest
from service.web.connection_bounds import NO_HTTP
from service.web.deprecations import NAMES as ENDING
from service.web.evaluation_operations import EVALUATION_BODIES, NOT_CONCLUDED
from service.web.identity_operations import IDENTITY_BODIES
from service.web.limits import LIMITS, problems_of
from service.web.member_texts import described, member_texts
from service.web.openapi_3_0 import in_3_0
from service.web.operation import HEADERS, JSON, Operation, Parameter, Schema
from service.web.operations import OPERATIONS
from service.web.option_schemas import OPTIONS, split_options
from service.web.plain_schemas import defaults_in_words, plain
from service.web.problem_texts import TEXTS
from service.web.problems import PROBLEM_JSON, Internal, NotAcceptable, Problem, UnsupportedMediaType, problem
from service.web.schema_docs import describe_json_names
from service.web.schema_names import REF, SCHEMA_NAMES, named_schemas
from service.web.stream import EVENT_STREAM
from service.web.stream_schemas import EVENTS, chunked, stream, stream_components
from service.web.types import AbortRequest
from service.web.value_bounds import AMOUNT, DECIMAL, CaseBounds, bound_answers, bound_case
from service.web.value_forms import formed, ranged
from service.web.webhook_operations import SENT, WEBHOOK_BODIES
from service.web.webhook_operations import described as webhook

_PROBLEMS: dict[int, GainsayError] = {
    400: TEXTS["bad_request"].example,
    402: BudgetExhausted(
        "the tenant's limit for the day, 5.00 USD, leaves 0.02 USD and the debate needs 0.31 USD to begin",
        limit="tenantDay",
        left=20_000,
        ends="2026-11-22T00:00:00Z",
        retry_after=3_600,
    ),
    401: TEXTS["unauthenticated"].example,
    403: TEXTS["forbidden"].example,
    404: NotFound("there is no debate 01920000-0000-7000-8000-000000000000"),
    406: NotAcceptable(
        "expected Accept to allow text/event-stream, the only form of events; or read "
        "/v1/debates/01920000-0000-7000-8000-000000000000"
    ),
    408: RequestTimeout("the body did not arrive within 60 s; send it without pauses"),
    409: NotOver("debate 01920000-0000-7000-8000-000000000000 is running; come back when it is over", retry_after=5),
    410: TEXTS["records_lost"].example,
    413: TooLarge("question may have 4000 characters, found 5210", pointers=("/question",)),
    414: TEXTS["address_too_long"].example,
    415: UnsupportedMediaType("expected the header Content-Type: application/json, found text/plain"),
    422: together(
        (
            InvalidCase("unknown taskType 'Contract'; did you mean 'contract'?", pointers=("/taskType",)),
            InvalidCase("maxRounds must be from 1 to 3, found 4", pointers=("/options/maxRounds",)),
        )
    ),
    429: TEXTS["rate_limited"].example,
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
    ("readEvaluationReport", 409): NOT_CONCLUDED,
    ("registerEvaluation", 422): TEXTS["invalid_plan"].example,
    ("createChatCompletion", 400): TEXTS["stake_missing"].example,
    ("createChatCompletion", 404): TEXTS["model_not_found"].example,
    ("createChatCompletion", 409): TEXTS["idempotency_in_progress"].example,
    ("createChatCompletion", 502): TEXTS["no_answer"].example,
    ("readChatModel", 404): TEXTS["model_not_found"].example,
}
"""The problems of one operation that differ from the others' problem of that status."""
_BODIES: dict[type, dict[str, Any]] = {
    ChatRequest: {
        "contract": {
            "model": "gainsay/adversarial",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "The Supplier shall not be liable for more than 30 days of fees."},
                        {"type": "text", "text": "Does this agreement leave us with uncapped liability?"},
                    ],
                }
            ],
            "metadata": {"taskType": "contract", "estimatedDownside": "250000", "confidenceScore": "0.55"},
        }
    },
    AbortRequest: {"reason": {"reason": "The contract was withdrawn."}},
    Batch: {
        "altered": {
            "sources": [{"id": "A", "text": "The Supplier shall not be liable for more than 30 days of fees."}],
            "citations": [{"id": "1", "quote": "shall not be liable for more than 60 days", "sourceId": "A"}],
        }
    },
    **IDENTITY_BODIES,
    **WEBHOOK_BODIES,
    **EVALUATION_BODIES,
}
"""Examples of bodies that are no cases."""
_ALWAYS = ("Request-Id", "traceresponse", "Gainsay-Version")
"""The headers of every answer, whatever gives it."""
_EVERY = ("Gainsay-Checkpoint", *_ALWAYS)
"""The headers of an endpoint's every answer, the first of them to callers that may read the log."""
_UNREADABLE: Schema = {
    "description": (
        "The server cannot read the request as HTTP. Every operation may be answered so, and with 408, 414, 431 or 503 "
        "where a head or a connection is beyond its bounds."
    ),
    "content": {
        PROBLEM_JSON: {
            "schema": {"$ref": "#/components/schemas/Problem"},
            "example": as_json(problem(BadRequest(NO_HTTP), "/"))
            | {"requestId": "req_4f2a", "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"},
        }
    },
    "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in _ALWAYS},
}
"""The answer to what is no request: the only error of the caller's in an operation that takes no parameters."""
_BINARY = ("application/octet-stream", "application/pdf", "application/zip")
"""The media types of answers that are bytes and no text. Generators know them by the format that 3.0 gave them."""


KEPT = 4
"""Documents that are kept: a policy that changes while the process runs may bring other bounds."""


@lru_cache(maxsize=KEPT)
def encoded(rules: CaseBounds | None = None, *, known: bool = True) -> bytes:
    """The document as JSON, of a service whose policy gives these bounds to a case; ``known`` as in `document`."""
    return msgspec.json.encode(document(rules, known=known))


@lru_cache(maxsize=KEPT)
def encoded_3_0(rules: CaseBounds | None = None, *, known: bool = True) -> bytes:
    """The same in the words of OpenAPI 3.0.3."""
    return msgspec.json.encode(in_3_0(msgspec.json.decode(encoded(rules, known=known))))


def document(rules: CaseBounds | None = None, *, known: bool = True) -> Schema:
    """The whole document, of a service whose policy gives these bounds to a case.

    ``known`` says that the service knows identities: where it knows none, no operation demands a credential.
    """
    schemas = _Schemas(rules)
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation, schemas, known=known)
    components = {"schemas": schemas.components, "headers": _headers()}
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": INFO,
        "servers": [{"url": "/", "description": "The service that sent this document."}],
        "security": credentials() if known else [],
        "tags": [{"name": tag, "description": words} for tag, words in TAGS.items()],
        "paths": paths,
        "webhooks": {name: webhook(name, schemas.of(kind)) for name, (kind, _) in SENT.items()},
        "components": components | ({"securitySchemes": SECURITY_SCHEMES} if known else {}),
    }


class _Schemas:
    """The JSON Schemas of all types of the document, each once under its own name."""

    def __init__(self, rules: CaseBounds | None) -> None:
        mentioned: list[Any] = [
            Problem,
            ChatError,
            *(kind for sent in EVENTS.values() for kind in sent.data),
        ]
        mentioned += [kind for kind, _ in SENT.values()]
        for operation in OPERATIONS:
            mentioned += [operation.body] if operation.body else []
            mentioned += [t for a in operation.answers.values() for types in a.content.values() for t in types]
        self._refs, named = named_schemas(mentioned)
        self.components: dict[str, Any] = plain(named)
        requests = [SCHEMA_NAMES[request] for request in (CaseRequest, GateRequest)]
        for name in (*requests, OPTIONS):
            self.components[name] = _with_amounts(self.components[name])
        self._describe_members()
        split_options(self.components, REF, rules)
        for name in {name for body in _bodies() for name in reached(self.components, body)}:
            self.components[name] = defaults_in_words(self.components[name])
        bound_case(self.components, rules)
        bound_answers(self.components, _bodies())
        describe_absence(self.components, SCHEMA_NAMES, _bodies())
        self._write_ranges()
        describe_json_names(self.components)
        self.components.update(stream_components(self.events(), REF))

    def _describe_members(self) -> None:
        """Write the text of each member, and the form of its value."""
        for kind, name in SCHEMA_NAMES.items():
            if "properties" in (schema := self.components[name]):
                self.components[name] = formed(name, described(schema, member_texts(kind)))

    def _write_ranges(self) -> None:
        """Write the range of each number of an answer, as its text names it."""
        asked = {name for body in _bodies() for name in reached(self.components, body)}
        for name, schema in self.components.items():
            if name not in asked and "properties" in schema:
                self.components[name] = ranged(schema)

    def events(self) -> dict[EventName, Schema]:
        """The schema of each event's data."""
        return {name: self.of(*sent.data) for name, sent in EVENTS.items()}

    def content(self, media: str, types: tuple[type, ...]) -> Schema:
        """What an answer of a media type is: JSON of one of these types, or without any a text or bytes."""
        if types and media == EVENT_STREAM:
            return chunked(self.of(*types))
        if types or media.endswith("json"):
            return self.of(*types)
        if media == EVENT_STREAM:
            return stream(REF)
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


def _operation(operation: Operation, schemas: _Schemas, *, known: bool) -> Schema:
    answers = {str(status): _answer(operation, status, schemas) for status in operation.answers}
    for status in (*problems_of(operation), 500):
        answers[str(status)] = _problem(operation, status, schemas)
    if not any(400 <= int(status) < 500 for status in answers):
        answers["400"] = _UNREADABLE
    ended = operation.deprecated.words if operation.deprecated else ""
    described: Schema = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": " ".join(filter(None, (operation.description, needed(operation), ended))),
        **({"deprecated": True} if ended else {}),
        "security": credentials() if known and operation.scope != "public" else [],
        **({} if operation.scope == "public" else {"x-scope": operation.scope}),
        "parameters": [_parameter(p) for p in operation.parameters],
        "responses": answers,
    }
    if operation.body:
        described["requestBody"] = _body(operation, operation.body, schemas)
    if operation.id == "followDebate":
        described["x-event-data"] = schemas.events()
    return described


def _parameter(parameter: Parameter) -> Schema:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema,
    }


def _answer(operation: Operation, status: int, schemas: _Schemas) -> Schema:
    answer = operation.answers[status]
    headers = _header_refs(*answer.headers, *_of_operation(operation), *_EVERY)
    described: Schema = {"description": answer.description, "headers": headers}
    if answer.content:
        described["content"] = {
            media: {"schema": schemas.content(media, types), **_recorded(operation.id, status, media)}
            for media, types in answer.content.items()
        }
    if answer.line is not None:
        for media in (media for media in LINES if media in answer.content):
            described["content"][media]["schema"] = _of_lines(schemas.of(answer.line))
    return described


def _of_operation(operation: Operation) -> tuple[str, ...]:
    """The headers of the answers of an operation: that counts in a rate, that knows its caller, that has an end."""
    rate = ("RateLimit-Policy", "RateLimit") if LIMITS[operation.id].rate else ()
    known = () if operation.scope == "public" else ("Gainsay-Release",)
    return (*rate, *known, *(ENDING if operation.deprecated else ()))


def _recorded(operation: str, status: int, media: str) -> Schema:
    found = examples_of(operation, status, media)
    return {"examples": found} if found else {}


def _problem(operation: Operation, status: int, schemas: _Schemas) -> Schema:
    error = _PROBLEMS_OF.get((operation.id, status)) or _PROBLEMS[status]
    if operation.errors == "openai":
        content = {JSON: {"schema": schemas.of(ChatError), "example": as_json(chat_error(error))}}
    else:
        example = as_json(problem(error, "/v1/debates")) | {
            "requestId": "req_4f2a",
            "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        }
        content = {PROBLEM_JSON: {"schema": schemas.of(Problem), "example": example}}
    later = ["Retry-After"] if status in (409, 429, 503) else []
    challenge = ["WWW-Authenticate"] if status in (401, 403) else []
    own = operation.problem_headers.get(status, ())
    headers = _header_refs(*later, *challenge, *own, *_of_operation(operation), *_EVERY)
    return {"description": HTTPStatus(status).phrase, "headers": headers, "content": content}


def _body(operation: Operation, type_: type, schemas: _Schemas) -> Schema:
    if operation.lines:
        lines = {"schema": _of_lines(schemas.of(CaseRequest), schemas.of(type_))}
        return {"required": True, "content": dict.fromkeys(operation.lines, lines)}
    content: Schema = {"schema": schemas.of(type_)}
    if examples := _examples(type_):
        content["examples"] = examples
    return {"required": operation.body_required, "content": {"application/json": content}}


def _of_lines(*lines: Schema) -> Schema:
    """JSON Lines: a text, each line of which is one of these."""
    whole = {"type": "string", "description": "The whole file. Each of its lines is JSON of one of the other types."}
    return {"anyOf": [whole, *lines]}


def _examples(type_: type) -> Schema:
    """The shipped samples, with the members that the type has; or those of `_BODIES`."""
    if type_ not in (CaseRequest, GateRequest):
        return {name: {"value": value} for name, value in _BODIES.get(type_, {}).items()}
    known = {field.encode_name for field in msgspec.structs.fields(type_)}
    cases = {name: samples.load(name).case for name in samples.names()}
    return {name: {"value": {k: v for k, v in case.items() if k in known}} for name, case in cases.items()}


def _headers() -> Schema:
    """Every header that an answer may have; of an end where there is one."""
    unused = () if any(operation.deprecated for operation in OPERATIONS) else {*ENDING} - {"Link"}
    return {
        name: {"description": text, "schema": schema} for name, (text, schema) in HEADERS.items() if name not in unused
    }


def _header_refs(*names: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
