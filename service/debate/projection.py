"""A projection's output: JSON text with exactly one reading, on any machine and under any version.

a name twice in one object              refused: one of the two values would be lost
NaN, Infinity, 1e999                    refused: JSON knows no such number
whole numbers beyond 64 bits            refused: readers round them
half of a surrogate pair                refused: it is no text
more than `DEPTH_MAX` levels            refused
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, NoReturn

DEPTH_MAX = 24
_WHOLE_MAX = 2**63


class _Unreadable(ValueError):
    """The text has no reading, or two; the message is the fault."""


def value(text: str, levels: int = DEPTH_MAX) -> Any:
    """The value of a text; raises `ValueError`, in words of our own, if it has no reading or two."""
    try:
        found = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_whole
        )
    except _Unreadable:
        raise
    except ValueError:
        raise _Unreadable("text that is not JSON, or more than one value") from None
    except RecursionError:
        raise _Unreadable(f"more than {levels} levels") from None
    _bounded(found, levels)
    return found


def unreadable(text: str) -> str | None:
    """Why the text has not exactly one reading, in words for its author; ``None`` if it has one."""
    try:
        value(text)
    except ValueError as found:
        return f"output must be the text of one JSON value and nothing around it, found {found}"
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Unreadable("an object with a name twice")
    return members


def _constant(_: str) -> NoReturn:
    raise _Unreadable("NaN or Infinity, which JSON does not know")


def _float(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise _Unreadable("a number that is too large")
    return number


def _whole(digits: str) -> int:
    if len(digits) > 20 or not -_WHOLE_MAX <= (number := int(digits)) < _WHOLE_MAX:
        raise _Unreadable("a whole number beyond 64 bits")
    return number


def _bounded(found: Any, levels: int) -> None:
    """Refuse values that are nested too deeply, and text that no encoder can write."""
    if isinstance(found, str) and any("\ud800" <= character <= "\udfff" for character in found):
        raise _Unreadable("half of a surrogate pair")
    if isinstance(found, dict | list):
        if levels == 0:
            raise _Unreadable("more levels than are read")
        for part in (*found, *found.values()) if isinstance(found, dict) else found:
            _bounded(part, levels - 1)
