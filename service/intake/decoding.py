"""JSON bytes of a request as a value of its type, decoded strictly.

Each of these is refused, with the field where there is one: an unknown member, a number in the place of a text, the
same member twice (most decoders silently take one of the two), bytes that are not UTF-8. The HTTP API and the command
line read a case by the same code, so both give the same errors.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from service.errors import BadRequest, GainsayError, WrongShape, together
from service.intake.shape import SAID_MAX, escape, parsed, shape_faults

T = TypeVar("T")
ESCAPED_BYTES = 6
"""The most bytes that JSON takes for a code point of the basic plane (``\\u00e9``)."""
BODY_REST = 1 << 20
"""Room for the parts of a body that policy's limits do not count."""
_TOO_DEEP = "the body is nested too deeply to be read"


def most_bytes(characters: int) -> int:
    """Bytes that suffice for a body with so many characters of text, with any escapes in its JSON."""
    return ESCAPED_BYTES * characters + BODY_REST


def decode(raw: bytes, type_: type[T]) -> T:
    """The value of JSON bytes.

    Raises `BadRequest` where they are no JSON, and `WrongShape` with the pointers of all invalid fields where they are
    JSON of another shape.
    """
    try:
        value: T = msgspec.json.decode(raw, type=type_)
    except UnicodeDecodeError as error:
        raise BadRequest(_not_utf8(raw)) from error
    except msgspec.DecodeError as error:
        raise _refusal(raw, type_, error) from error
    except RecursionError as error:
        raise BadRequest(_TOO_DEEP) from error
    if pointer := repeated(raw):
        raise _twice(pointer)
    return value


def _refusal(raw: bytes, type_: type[Any], first: msgspec.DecodeError) -> GainsayError:
    """Why a body was not decoded: it is no JSON, or JSON of another shape, with all its faults."""
    no_json = BadRequest(f"the body must be one JSON object in UTF-8: {str(first)[:SAID_MAX]}")
    try:
        tree = parsed(raw)
        faults = shape_faults(tree, type_)
        pointer = repeated(raw)
    except RecursionError:
        return BadRequest(_TOO_DEEP)
    except ValueError as error:
        return no_json if not isinstance(first, msgspec.ValidationError) else BadRequest(_not_json(error))
    if not faults:
        return no_json
    return together([*faults, *([_twice(pointer)] if pointer else [])])


def _not_json(error: ValueError) -> str:
    return f"the body must be one JSON object in UTF-8: {str(error)[:SAID_MAX]}"


def _twice(pointer: str) -> WrongShape:
    return WrongShape("one object has the same member twice; send it once", pointers=(pointer,))


def repeated(raw: bytes) -> str:
    """The pointer of a member that its object has twice, or ``""``. ``raw`` is valid JSON."""
    found = json.loads(raw, object_pairs_hook=_find_repeated, parse_float=str, parse_int=str)
    return "".join(f"/{escape(step)}" for step in found.path) if isinstance(found, _Twice) else ""


class _Twice(Struct, frozen=True):
    """Stands for an object that has a member twice; ``path`` leads to that member."""

    path: tuple[str, ...]


def _find_repeated(pairs: list[tuple[str, Any]]) -> _Twice | None:
    """Keeps no object, only the path of a repeated member in it or below."""
    seen = set()
    for name, value in pairs:
        if name in seen:
            return _Twice((name,))
        seen.add(name)
        if below := _repeated_path(value):
            return _Twice((name, *below))
    return None


def _repeated_path(value: object) -> tuple[str, ...]:
    if isinstance(value, _Twice):
        return value.path
    if isinstance(value, list):
        return next(((str(i), *below) for i, item in enumerate(value) if (below := _repeated_path(item))), ())
    return ()


def _not_utf8(raw: bytes) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return f"the body must be JSON in UTF-8, found a byte that is not (at byte {error.start}); re-encode the text"
    return "the body must be JSON in UTF-8; re-encode the text"
