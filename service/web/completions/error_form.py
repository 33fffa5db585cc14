"""Every error of the drop-in routes in OpenAI's form, by which its clients choose their exceptions.

The status, the headers and ``code`` are those of every other route. ``x-should-retry: false`` stands where the same
request sent again cannot have another answer, though its status says otherwise.
"""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from msgspec import Struct

from service.errors import GainsayError
from service.intake.request import CaseRequest
from service.report.sent import EVERY

PREFIXES = ("/v1/chat/", "/v1/models/")
"""The paths whose errors have this form. ``/v1/models`` is our own catalogue as well, and has problem documents."""
_FINAL = frozenset(("budget_exhausted", "evidence_damaged", "illegal_entry", "no_answer", "prompt_changed"))
"""Codes of errors that the same request meets again."""
_TYPES = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
_CASE = frozenset(CaseRequest.__struct_encode_fields__)
_TEXTS = frozenset(("question", "documents"))

ErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "insufficient_quota",
    "permission_error",
    "not_found_error",
    "conflict_error",
    "rate_limit_error",
    "server_error",
]


class ChatErrorDetail(Struct, frozen=True, kw_only=True):
    """An error in OpenAI's form."""

    always_sent: ClassVar = EVERY

    message: str
    """What was expected, what was found, and what to do, for people."""
    type: ErrorType
    """The kind of the error, which follows from the status."""
    param: str | None
    """The parameter that is wrong, such as `metadata.taskType`. Null where it is none."""
    code: str
    """The code of the error, the same as in problem documents; GET /problems/ and the code explain it."""


class ChatError(Struct, frozen=True, kw_only=True):
    """The body of an error of a drop-in route."""

    error: ChatErrorDetail
    """What went wrong, and what to do."""


def is_chat(path: str) -> bool:
    """Whether the errors of a path have OpenAI's form."""
    return path.startswith(PREFIXES)


def chat_error(error: GainsayError) -> ChatError:
    """The body of an error."""
    pointers = [pointer for part in error.parts for pointer in part.pointers]
    kind = _TYPES.get(error.status, "server_error" if error.status >= 500 else "invalid_request_error")
    return ChatError(
        error=ChatErrorDetail(
            message=error.public_detail,
            type=kind,  # type: ignore[arg-type] # a value of the table
            param=_param(pointers[0]) if pointers else None,
            code=error.code,
        )
    )


def chat_headers(error: GainsayError) -> dict[str, str]:
    """The headers by which OpenAI's clients decide whether to send again."""
    return {"X-Should-Retry": "false"} if error.code in _FINAL else {}


def _param(pointer: str) -> str | None:
    """A JSON Pointer into a body, or into the case that was made of it, as OpenAI names a parameter."""
    first, *others = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    if first in _TEXTS:
        return "messages"
    path = "".join(f"[{step}]" if re.fullmatch(r"\d+", step) else f".{step}" for step in others)
    return f"metadata.{first}{path}" if first in _CASE and first != "metadata" else f"{first}{path}"
