"""What every answer names, also one that no endpoint gives: the request's id, its trace, and the version of the API."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable

from service.observing.trace_context import Trace
from service.web.safe_headers import Headers
from service.web.versions import ANSWERED

_TOKEN = re.compile(rb"[A-Za-z0-9._~:/+=-]{1,128}")


def id_of_headers(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The id of a request with these headers: its caller's if that is a plain token, otherwise a new one."""
    given = next((value for name, value in headers if name == b"request-id"), b"")
    return given.decode() if _TOKEN.fullmatch(given) else f"req_{secrets.token_hex(12)}"


def headers_of_every_answer(id_: str, trace: Trace) -> Headers:
    """The headers."""
    return [(b"request-id", id_.encode()), (b"traceresponse", trace.header), ANSWERED]
