"""An operation of the API: its path, parameters and answers; and the parameters that several operations share."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from service.audit.report_forms import PAPERS
from service.identity.roles import Scope
from service.reviews.query_parameters import PAGE, PAGE_MAX
from service.web.deprecations import Deprecation
from service.web.headers import KEY_MAX
from service.web.versions import API_VERSION

JSON = "application/json"
AT_THE_DOOR = (400, 401, 403, 503)
"""The statuses of a request whose caller is not known, may not come so, or cannot be looked up."""

Schema = dict[str, Any]


class Parameter(Struct, frozen=True):
    """A parameter outside the body: in the path, the query or a header."""

    name: str
    place: Literal["path", "query", "header"]
    description: str
    schema: Schema
    required: bool = False


class Answer(Struct, frozen=True):
    """A successful answer: its meaning, its types by media type (none: no body), and the headers it may carry.

    ``line`` is the type of each line of JSON Lines.
    """

    description: str
    content: dict[str, tuple[Any, ...]] = {}
    headers: tuple[str, ...] = ()
    line: Any = None


class Operation(Struct, frozen=True, kw_only=True):
    """One method of one path.

    ``scope`` is what a caller must be granted, or ``public`` for what each caller may have, known or not. Where
    ``whole`` is set, the scope must reach all cases of the tenant, because the answer may be of any of them.
    ``deprecated`` says from when to when an operation is on its way out: none is today.
    ``problems`` are the statuses, besides 500, that come with a problem document, or with an error in OpenAI's form
    where ``errors`` says so. ``problem_headers`` are the headers of such an answer, besides those of every problem.
    ``lines`` are the media types of a body of lines, each of which is the ``body`` or the case in it.
    """

    method: Literal["get", "post"]
    path: str
    id: str
    scope: Scope | Literal["public"]
    whole: bool = False
    tag: str
    summary: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: type | None = None
    body_required: bool = True
    lines: tuple[str, ...] = ()
    answers: dict[int, Answer]
    errors: Literal["problem", "openai"] = "problem"
    problems: tuple[int, ...] = ()
    problem_headers: dict[int, tuple[str, ...]] = {}
    deprecated: Deprecation | None = None

    @property
    def refusals(self) -> tuple[int, ...]:
        """The statuses of ``problems``, and those with which the door of HTTP refuses a caller."""
        at_the_door = () if self.scope == "public" else AT_THE_DOOR
        return tuple(sorted({*self.problems, *at_the_door}))


HEADERS: dict[str, tuple[str, Schema]] = {
    "Location": (
        "The address of the debate, batch or evaluation, of the key, or of the endpoint of webhooks.",
        {"type": "string"},
    ),
    "Content-Location": ("The address of this result.", {"type": "string"}),
    "Retry-After": ("Seconds to wait before the next request.", {"type": "integer", "minimum": 0}),
    "ETag": (
        "A tag that changes with what is answered: a debate's with its every entry. Send it back as If-None-Match.",
        {"type": "string"},
    ),
    "Content-Disposition": ("A name for the file.", {"type": "string"}),
    "Link": (
        (
            "The next page, as rel=next. Of a refusal for lack of money the tenant's budget, as rel=related. Of a "
            "deprecated operation its description, as rel=deprecation, and what to use in its place, as "
            "rel=successor-version."
        ),
        {"type": "string"},
    ),
    "Deprecation": (
        "Since when the operation is deprecated (RFC 9745): a structured date, in seconds since 1970.",
        {"type": "string", "pattern": "^@[0-9]+$"},
    ),
    "Sunset": ("The first day on which the operation may not be answered any more (RFC 8594).", {"type": "string"}),
    "Idempotency-Replayed": (
        "true: this case, batch or plan was already recorded under the same key.",
        {"type": "string"},
    ),
    "Preference-Applied": ("The wait that the service applied.", {"type": "string"}),
    "Gainsay-Checkpoint": (
        "The latest checkpoint of the caller's log: origin, size, base64 root. Keep it to check the log later.",
        {"type": "string"},
    ),
    "RateLimit-Policy": (
        'The rate that this request counts in: its class, `q` requests in `w` seconds, as `"read";q=6000;w=60`.',
        {"type": "string"},
    ),
    "RateLimit": (
        (
            'What is left of that rate: `r` requests for `t` seconds, as `"read";r=5999;t=42`. `t` is left out where '
            "Retry-After asks for a sooner request."
        ),
        {"type": "string"},
    ),
    "WWW-Authenticate": (
        "How to send a credential (RFC 6750): error says whether one came that is not good, scope what it would need.",
        {"type": "string"},
    ),
    "Request-Id": ("The id of this request, as in the service's log.", {"type": "string"}),
    "traceresponse": (
        (
            "The trace that this request takes part in, and the id of the request within it (W3C Trace Context): the "
            "caller's trace where it sent a good `traceparent`, otherwise a new one."
        ),
        {"type": "string", "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"},
    ),
    "Gainsay-Version": (
        (
            f"The version of the API that answers, {API_VERSION}. A request may name the one that it needs, and is "
            "refused (400) by a service that does not have it."
        ),
        {"type": "string", "pattern": r"^[0-9]+\.[0-9]+$"},
    ),
    "Gainsay-Release": ("The release of the service that answers, for a known caller.", {"type": "string"}),
}

EVENT_ID: Schema = {"type": "string", "pattern": "^[0-9]{1,9}$"}
"""The id of an event of a stream: the number of its entry."""
INSTANT: Schema = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}
"""A time with its zone, or a day in UTC."""
TEXT_VALUE: Schema = {"type": "string"}
DEBATE = Parameter("debate", "path", "The debate's id.", {"type": "string", "format": "uuid"}, required=True)
LIMIT = Parameter(
    "limit",
    "query",
    "The most items of a page.",
    {"type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": PAGE},
)
PAPER = Parameter(
    "paper",
    "query",
    "The paper of a PDF, and of HTML when it is printed.",
    {"type": "string", "enum": list(PAPERS), "default": PAPERS[0]},
)
IF_NONE_MATCH = Parameter("If-None-Match", "header", "The ETag of what the client has already.", {"type": "string"})
AFTER = Parameter("after", "query", "The value of next on the previous page.", {"type": "string", "format": "uuid"})
IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    f"A string of 1 to {KEY_MAX} ASCII characters in quotes. The quotes may be left out if it has no space or quote. "
    "Use a new key for each case. A case sent again under its key starts no second debate and causes no second charge. "
    "A key is stored as long as the record.",
    {"type": "string", "pattern": r'^("[ !#-\[\]-~]{1,255}"|[!#-~][!-~]{0,254})$'},
)
_SEEN: Schema = {"type": "string", "pattern": "^[0-9]{0,9}$"}
LAST_EVENT = Parameter("Last-Event-ID", "header", "The id of the last event seen. Empty if none was.", _SEEN)
LAST_EVENT_QUERY = Parameter(
    "lastEventId",
    "query",
    "The id of the last event seen, for clients that cannot set headers. The header overrides it.",
    _SEEN,
)
