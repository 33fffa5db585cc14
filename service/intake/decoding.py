"""JSON bytes of a request as a value of its type, decoded strictly.

Each of these is refused, with the field where there is one: an unknown member, a number in the place of a text, the
same member twice (most decoders silently take one of the two), bytes that are not UTF-8. The HTTP API and the command
line read a case by the same code, so both give the same errors.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from service.debate.amounts import is_plain
from service.errors import BadRequest, GainsayError, WrongShape, together
from service.intake.positions import place, repeated_member, unclosed
from service.intake.shape import SAID_MAX, escape, has_few_values, parsed, shape_faults, split_path

T = TypeVar("T")
ESCAPED_BYTES = 6
"""The most bytes that JSON takes for a code point of the basic plane (``\\u00e9``)."""
BODY_REST = 1 << 20
"""Room for the parts of a body that policy's limits do not count."""
_TRUNCATED = "Input data was truncated"
_AT_BYTE = re.compile(r"\(byte (\d+)\)")
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
"""An escape in JSON: of a pair of surrogates, of one alone, or any other."""
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
    pointer, members = _read(raw)
    if pointer:
        raise _twice(raw, pointer)
    if odd := _odd_numbers(members, type_):
        raise together(odd)
    return value


def _refusal(raw: bytes, type_: type[Any], first: msgspec.DecodeError) -> GainsayError:
    """Why a body was not decoded: it is no JSON, or JSON of another shape, with all its faults."""
    faults, twice = [], ""
    try:
        if has_few_values(raw):
            faults = shape_faults(parsed(raw), type_)
            twice = repeated(raw)
        elif syntax := _syntax_fault(raw):
            return BadRequest(_not_json(raw, syntax))
    except RecursionError:
        return BadRequest(_TOO_DEEP)
    except UnicodeDecodeError:
        return BadRequest(_not_utf8(raw))
    except ValueError as error:
        return BadRequest(_not_json(raw, _syntax_fault(raw) or error))
    # Of a body of many values, or of a text's length, which was cut for the faults.
    if not faults and isinstance(first, msgspec.ValidationError):
        text, pointer = split_path(str(first))
        faults = [WrongShape(text, pointers=(pointer,) if pointer else ())]
    if not faults:
        return BadRequest(_not_json(raw, first))
    return together([*faults, *([_twice(raw, twice)] if twice else [])])


def _syntax_fault(raw: bytes) -> msgspec.DecodeError | None:
    """The decoder's error of a body that is no JSON, of whatever shape."""
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return error
    return None


def _not_json(raw: bytes, error: Exception) -> str:
    """What is wrong with a body that is no JSON, and where."""
    expected = "the body must be one JSON object in UTF-8, found"
    if not raw.strip():
        return f"{expected} none; send one with the members that /openapi.json lists"
    if raw.startswith(BOM_UTF8):
        return f"{expected} a byte order mark before it; leave that out"
    if half := _half_character(raw):
        return (
            f"{expected} half a character, {half[0].decode()} at {place(raw, half.start())}: a text was cut between "
            "the two escapes of one character, or has one of them alone; send whole characters"
        )
    said = str(error)
    if isinstance(error, json.JSONDecodeError):
        before = len(error.doc[: error.pos].encode("utf-8", "replace"))
        said = f"{error.msg} (byte {before})"
    if said == _TRUNCATED or said.endswith(f"(byte {len(raw)})"):
        inside = unclosed(raw)
        return (
            f"{expected} its end too early, at {place(raw, len(raw))}{inside and ', '}{inside}; send all of it, and "
            "check Content-Length"
        )
    return f"{expected} other text: {_AT_BYTE.sub(lambda at: f'at {place(raw, int(at[1]))}', said)[:SAID_MAX]}"


def _half_character(raw: bytes) -> re.Match[bytes] | None:
    """The first escape of a surrogate without its other half, in a body that is JSON but for such."""
    if (half := next((found for found in _ESCAPE.finditer(raw) if found[1]), None)) is None:
        return None
    mended = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], raw)
    return None if _syntax_fault(mended) else half


def _twice(raw: bytes, pointer: str) -> WrongShape:
    """The refusal of a repeated member, with both places where they are found."""
    if found := repeated_member(raw):
        pointer = "".join(f"/{escape(step)}" for step in found.path)
        where = f", at {place(raw, found.first)} and at {place(raw, found.second)}"
    else:
        where = ""
    return WrongShape(f"one object has the same member twice{where}; send it once", pointers=(pointer,))


def repeated(raw: bytes) -> str:
    """The pointer of a member that its object has twice, or ``""``. ``raw`` is valid JSON."""
    return _read(raw)[0]


def _read(raw: bytes) -> tuple[str, Sequence[tuple[str, Any]]]:
    """What `repeated` returns, and the members of the body, numbers as texts; of an object, which ends last."""
    last: list[list[tuple[str, Any]]] = [[]]

    def kept(pairs: list[tuple[str, Any]]) -> _Twice | None:
        last[0] = pairs
        return _find_repeated(pairs)

    found = json.loads(raw, object_pairs_hook=kept, parse_float=str, parse_int=str)
    return "".join(f"/{escape(step)}" for step in found.path) if isinstance(found, _Twice) else "", last[0]


def _odd_numbers(members: Sequence[tuple[str, Any]], type_: type[Any]) -> list[WrongShape]:
    """The amounts and shares that Python reads and no description of the body allows: 1_0 would be ten."""
    names = _decimals(type_)  # type: ignore[arg-type] # a type is hashable
    return [
        WrongShape(
            f'expected a decimal number, as 0.75 or "0.75", found {json.dumps(value[:SAID_MAX], ensure_ascii=False)}',
            pointers=(f"/{name}",),
        )
        for name, value in members
        if name in names and isinstance(value, str) and not is_plain(value)
    ]


@cache
def _decimals(type_: type[Any]) -> frozenset[str]:
    """The members of a type that are decimal numbers, by their names in JSON."""
    if not isinstance(type_, type(Struct)):
        return frozenset()
    return frozenset(one.encode_name for one in fields(type_) if Decimal in (one.type, *get_args(one.type)))


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
        found = f"0x{raw[error.start]:02x} at {place(raw, error.start)}"
        return f"the body must be JSON in UTF-8, found the byte {found}, which is none there; re-encode the text"
    return "the body must be JSON in UTF-8; re-encode the text"
