"""Text from vendors within bounds: it is untrusted, and some of it goes into the record.

JSON          decoded, or nothing if it is no JSON or nested too deep
identifiers   one short run of printable ASCII, or nothing
words         a code, type or parameter's name that may stand in an error's detail, or nothing
usage         unchanged, or nothing if it is larger than a usage can be
waits         seconds from Retry-After or retry-after-ms, or nothing if they are not sensible
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

USAGE_BYTES_MAX = 4_096
USAGE_DEPTH_MAX = 6
WAIT_MAX_S = 600.0

_IDENTIFIER = re.compile(r"[!-~]{1,200}")
_WORD = re.compile(r"[A-Za-z0-9_.\[\]-]{1,80}")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_NESTED = (dict, list)
_JSON = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE | re.ASCII)
_decoder, _encoder = msgspec.json.Decoder(), msgspec.json.Encoder()


def decode(body: bytes) -> Any:
    """The JSON of a body, or ``None`` where it is not JSON."""
    try:
        return _decoder.decode(body)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, and so are those of the UTF-8 in it
        return None


def is_json(content_type: str | None) -> bool:
    """Whether a Content-Type says that JSON follows."""
    return content_type is not None and _JSON.fullmatch(content_type.strip()) is not None


def identifier(value: object) -> str | None:
    """A name or id as it came, if it is one."""
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else None


def word(value: object) -> str:
    """A vendor's word that may be recorded, or an empty string. A number is a word: some codes are numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < 10**9 else ""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else ""


def unescaped(body: bytes) -> bytes | None:
    """A body of JSON with every string in it as it is read, or ``None`` if it has other escapes than of quotes and line
    ends. Then an escaped backslash is never taken apart: it leaves one behind."""
    plain = body.replace(b'\\"', b'"').replace(b"\\n", b"\n")
    return None if b"\\" in plain else plain


def texts(value: object) -> bytes:
    """All strings of a decoded JSON, one on each line, without their escapes."""
    return "\n".join([leaf for leaf in _leaves(value) if isinstance(leaf, str)]).encode("utf-8", "surrogatepass")


def counts(usage: object) -> bool:
    """Whether a vendor's usage object contains a number above 0."""
    return any(isinstance(leaf, int | float) and leaf is not True and leaf > 0 for leaf in _leaves(usage))


def bounded(usage: object) -> dict[str, Any] | None:
    """A usage object unchanged, or ``None`` if it is missing, or larger or deeper than every shape that we know."""
    if not isinstance(usage, dict) or _deeper(usage, USAGE_DEPTH_MAX):
        return None
    return usage if len(_encoder.encode(usage)) <= USAGE_BYTES_MAX else None


def wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """The wait that a vendor asks for, in seconds, or ``None``. ``now`` is an aware time, for headers with a date."""
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return min(ms / 1_000, WAIT_MAX_S)
    header = headers.get("retry-after")
    if (seconds := _number(header)) is not None:
        return min(seconds, WAIT_MAX_S)
    try:
        at = parsedate_to_datetime(header or "")
        left = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(left.total_seconds(), WAIT_MAX_S) if left.total_seconds() > 0 else None


def _number(header: str | None) -> float | None:
    return float(header) if header is not None and _NUMBER.fullmatch(header.strip()) else None


def _leaves(value: object) -> list[object]:
    """All scalars of a decoded JSON and all names of its members, in no order, at any depth."""
    found, waiting = list[object](), [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            found.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        else:
            found.append(one)
    return found


def _deeper(value: dict[str, Any] | list[Any], levels: int) -> bool:
    """Whether an object or a list has more levels of them than these."""
    if levels == 0:
        return True
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, _NESTED) and _deeper(item, levels - 1):
            return True
    return False
