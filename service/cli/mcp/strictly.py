"""One reading of a message: the SDK's parser takes more than JSON, and the last of two members of one name.

The HTTP API refuses both (`service.intake.decoding`), because a proxy, a log or a guard may have read the other one.
"""

from __future__ import annotations

import msgspec
from mcp_types import INVALID_REQUEST, PARSE_ERROR

from service.intake.decoding import repeated

NO_JSON = "expected JSON in UTF-8, with numbers in range and nothing beside it"


def reading_fault(raw: bytes) -> tuple[int, str] | None:
    """The code and the words of JSON-RPC for bytes that are no JSON, or that have two readings."""
    try:
        msgspec.json.decode(raw)
        pointer = repeated(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return PARSE_ERROR, NO_JSON
    if pointer:
        return INVALID_REQUEST, f"expected each member once, found {pointer[:200]!r} twice"
    return None
