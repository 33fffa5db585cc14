"""From a vendor's error to one typed error, by the first row of the table below that fits.

    found                                                           reason           again   billable
    a model that is not there, by code                              unknownModel     no      no
    413; 400 or 422 with a context that is too long                 contextTooLong   no      no
    401, 403                                                        refusedKey       no      no
    400, 404, 422 that name the way in which the schema travels     unsupported      lower   no
    404                                                             unknownModel     no      no
    4xx with a content filter's code: the request was not let in    modelRefused     no      no
    402; 429 about quota or credit                                  rateLimit        no      no
    429                                                             rateLimit        yes     no
    529; 503 in which the vendor itself says that it is overloaded  overload         yes     no
    503, 504                                                        overload         yes     yes
    other 5xx                                                       providerFault    yes     yes
    3xx: another address, which is not followed                     providerFault    no      no
    other 4xx                                                       providerFault    no      no
    anything else                                                   providerFault    yes     yes

A call that the vendor may have begun is billable. Its cost is unknown, so its reservation is charged. The vendor's
message selects the row and is then dropped, because it may repeat keys and payloads. The record has the status of an
error, and its type, code and parameter if they are plain words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from service.providers.bounded_text import word
from service.running.provider_port import CallFailed, FailureReason

MESSAGE_MAX = 4_000
"""How much of a vendor's message is read, in characters."""


class ProviderFailure(CallFailed):
    """A failure of the vendor, and not of this one call alone. Circuit breakers count these."""

    def __init__(self, reason: FailureReason, detail: str, **rest: Any) -> None:
        super().__init__(reason, detail, **{"unavailable": True, **rest})


class ErrorBody(Struct, frozen=True):
    """A vendor's error. ``message`` is in lower case; it serves to distinguish cases and is never shown."""

    status: int
    words: tuple[str, ...] = ()
    param: str = ""
    message: str = ""

    def has(self, *words: str) -> bool:
        """Whether the type or code is one of these."""
        return any(mine.lower() in words for mine in self.words)

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether type, code or message match."""
        return any(pattern.search(text.lower()) for text in (*self.words, self.message))

    @property
    def shown(self) -> str:
        """The parts that may be recorded: status, type, code and parameter."""
        said = dict.fromkeys(found for text in (*self.words, self.param) if (found := word(text)))
        return f"{self.status or 200} ({', '.join(said)})" if said else f"{self.status or 200}"


class Verdict(Struct, frozen=True):
    """The meaning of an error: the fields of a `CallFailed`, and whether it opens the vendor's circuit."""

    reason: FailureReason
    retry: bool
    billable: bool
    advice: str
    down: bool = False


def trouble(status: int, decoded: Any) -> ErrorBody:
    """The error in a body, in the envelopes that vendors and compatible servers use.

    A response with status 200 and an error inside gets the status that the error's code stands for, or 0.
    """
    error: Any = decoded
    if isinstance(decoded, dict):
        error = decoded.get("error") or decoded
    if not isinstance(error, dict):
        return ErrorBody(0 if 200 <= status < 300 else status, message=_text(error))
    names = tuple(_plain(error.get(name)) for name in ("type", "code"))
    texts = (error.get("message"), error.get("detail"), error.get("metadata"))
    message = " ".join(_text(text) for text in texts if text is not None)
    said = _status(names) if 200 <= status < 300 else status
    return ErrorBody(said, tuple(name for name in names if name), _plain(error.get("param")), message)


def verdict(found: ErrorBody) -> Verdict:
    """The first row of the table that fits."""
    return next(row for fits, row in _TABLE if fits(found))


_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|prompt is too long|input is too long|context (?:length|window|limit)"
    r"|context size|too many (?:input )?tokens"
)
_TRAVEL = re.compile(
    r"response[_ ]format|json[_ ]schema|json[_ ]object|output[_ ]config|output[_ ]format|structured|\bstrict\b"
    r"|\btools?\b|tool[_ ]choice|function[_ ]call|guided|grammar|invalid schema"
)
_LACKS = re.compile(
    r"n[o']t (?:\w+ ){0,2}(?:support|available|permit|allow|implement|recogni|enabled)|unsupported|unavailable|unknown"
    r"|unrecogni|unexpected|extra (?:inputs|fields|keys)|extra_forbidden|invalid|cannot|can't|must be|no endpoints"
    r"|may not|required"
)
_OVERLOADED = re.compile(r"overload|slow_?\s?down|(?:at|over|exceeded) capacity|too busy")
_QUOTA = re.compile(r"insufficient|billing|credit|payment")
_FILTER = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation")
_MISSING = ("model_not_found", "not_found_error", "deploymentnotfound", "modelnotfound")

_HTTP_ERROR = re.compile(r"[45][0-9]{2}")

_NOT_TAKEN = "it did not take the request; compare seat_role, max_tokens_field and parameters with what it knows"
_ELSEWHERE = "it points to another address, and nothing is sent there; correct base_url or path"
_TABLE: tuple[tuple[Callable[[ErrorBody], bool], Verdict], ...] = (
    (
        lambda t: t.has(*_MISSING) and 400 <= t.status < 500,
        Verdict("unknownModel", False, False, "it does not have the model, or not for this key; check the name"),
    ),
    (
        lambda t: t.status == 413 or (t.status in (400, 422) and t.says(_CONTEXT)),
        Verdict("contextTooLong", False, False, "the request is longer than the model takes; lower the model's window"),
    ),
    (
        lambda t: t.status in (401, 403),
        Verdict("refusedKey", False, False, "it refused the key; see whether it is valid and may use this model"),
    ),
    (
        lambda t: t.status in (400, 404, 422) and _lacks_mode(t),
        Verdict("unsupported", False, False, "it lacks the way in which the reply schema was sent"),
    ),
    (
        lambda t: t.status == 404,
        Verdict("unknownModel", False, False, "it has nothing there; look at base_url, path and the model's name"),
    ),
    (
        lambda t: 400 <= t.status < 500 and t.has(*_FILTER),
        Verdict("modelRefused", False, False, "its content filter did not let the request in"),
    ),
    (
        lambda t: t.status == 402 or (t.status == 429 and _quota(t)),
        Verdict("rateLimit", False, False, "the account's quota or credit is used up"),
    ),
    (lambda t: t.status == 429, Verdict("rateLimit", True, False, "it takes no more calls for now")),
    (
        lambda t: t.status == 529 or (t.status == 503 and t.says(_OVERLOADED)),
        Verdict("overload", True, False, "it is overloaded and has not begun", down=True),
    ),
    (
        lambda t: t.status in (503, 504),
        Verdict("overload", True, True, "it, or something before it, could not answer", down=True),
    ),
    (lambda t: t.status >= 500, Verdict("providerFault", True, True, "it failed", down=True)),
    (lambda t: t.status in (400, 422), Verdict("providerFault", False, False, _NOT_TAKEN)),
    (lambda t: t.status >= 400, Verdict("providerFault", False, False, "it did not take the request")),
    (lambda t: 300 <= t.status < 400, Verdict("providerFault", False, False, _ELSEWHERE)),
    (lambda _: True, Verdict("providerFault", True, True, "it did not answer with a reply")),
)


def _lacks_mode(found: ErrorBody) -> bool:
    """Whether an error is about the field that carries the schema, by its parameter or in its message."""
    if _TRAVEL.match(found.param.lower()):
        return True
    return bool(_TRAVEL.search(found.message) and _LACKS.search(found.message))


def _quota(found: ErrorBody) -> bool:
    """Whether a quota is exhausted, by the code alone: some vendors mention billing in the message of every limit."""
    return any(_QUOTA.search(name.lower()) for name in found.words)


_STATUS: Mapping[str, int] = {
    "api_error": 500,
    "authentication_error": 401,
    "billing_error": 402,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "insufficient_quota": 429,
    "internal_server_error": 500,
    "invalid_api_key": 401,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "server_error": 500,
    "timeout_error": 504,
}


def _status(names: tuple[str, ...]) -> int:
    """The status that an error's code, or else its type, stands for; 0 for none."""
    for name in reversed(names):
        if _HTTP_ERROR.fullmatch(name):
            return int(name)
        if name.lower() in _STATUS:
            return _STATUS[name.lower()]
    return 0


def _plain(value: object) -> str:
    """A name as text, cut; `word` decides whether it may be shown."""
    if isinstance(value, int) and not isinstance(value, bool):
        return word(value)
    return value[:200] if isinstance(value, str) else ""


def _text(value: object) -> str:
    """A message as one text. In a list of complaints each repeats the whole request, so only the complaint is taken."""
    if isinstance(value, str):
        return value[:MESSAGE_MAX].lower()
    if isinstance(value, list):
        kept = ("type", "loc", "msg", "message")
        value = [{k: item[k] for k in kept if k in item} if isinstance(item, dict) else item for item in value]
    return msgspec.json.encode(value)[:MESSAGE_MAX].decode("utf-8", "replace").lower() if value else ""
