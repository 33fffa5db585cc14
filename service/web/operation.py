"""What an operation is: its place, what it takes, and its answers; and what several of them take."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from service.web.debates import PAGE, PAGE_MAX

JSON = "application/json"

Schema = dict[str, Any]


class Parameter(Struct, frozen=True):
    """Something that is said outside the body."""

    name: str
    place: Literal["path", "query", "header"]
    description: str
    schema: Schema
    required: bool = False


class Answer(Struct, frozen=True):
    """A good answer: what it means, its types by media type (none: no body), and the headers it may carry."""

    description: str
    content: dict[str, tuple[Any, ...]] = {}
    headers: tuple[str, ...] = ()


class Operation(Struct, frozen=True, kw_only=True):
    """One method of one path.

    ``problems`` are the statuses that come with a problem document, beside 500, and ``problem_headers`` the headers
    that these have beside those of every problem.
    """

    method: Literal["get", "post"]
    path: str
    id: str
    tag: str
    summary: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: type | None = None
    body_required: bool = True
    answers: dict[int, Answer]
    problems: tuple[int, ...] = ()
    problem_headers: dict[int, tuple[str, ...]] = {}


HEADERS: dict[str, tuple[str, Schema]] = {
    "Location": ("Where the debate is.", {"type": "string"}),
    "Content-Location": ("Where this result is to be had again.", {"type": "string"}),
    "Retry-After": ("Seconds after which it is worth asking again.", {"type": "integer", "minimum": 0}),
    "ETag": ("Changes with every entry of the debate; send it back as If-None-Match.", {"type": "string"}),
    "Link": ("The next page, as rel=next.", {"type": "string"}),
    "Idempotency-Replayed": ("true: the case had been recorded before, under the same key.", {"type": "string"}),
    "Preference-Applied": ("The wait that was applied.", {"type": "string"}),
    "Allow": ("The methods that the path takes.", {"type": "string"}),
    "Gainsay-Checkpoint": (
        "The latest signed head of the caller's log: origin, size, base64 root. Keep it, and hold the log to it.",
        {"type": "string"},
    ),
    "Request-Id": ("The id of this request, as in the log.", {"type": "string"}),
}

TEXT_VALUE: Schema = {"type": "string"}
DEBATE = Parameter("debate", "path", "The debate's id.", {"type": "string", "format": "uuid"}, required=True)
LIMIT = Parameter(
    "limit",
    "query",
    "How many at most.",
    {"type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": PAGE},
)
AFTER = Parameter("after", "query", "The value of next on the page before.", {"type": "string", "format": "uuid"})
