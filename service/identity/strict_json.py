"""JSON that others may have chosen with care: one reading of it alone, and an object.

RFC 8259 lets a member stand twice and leaves open which counts. Two readers of one token would then see two subjects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def read_object(data: bytes) -> Mapping[str, Any]:
    """The members of a JSON object in UTF-8, none of them twice at any depth; raises `ValueError`."""
    try:
        found = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - of the text, not of an argument
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member stands twice")
    return found


def _no_number(_: str) -> Any:
    raise ValueError("NaN and Infinity are no JSON")
