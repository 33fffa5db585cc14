"""The fingerprint of a case: the hash stored with an idempotency key.

It depends on the content of a case and not on its spelling: white space, the order of members, ``1.0`` for ``"1"`` (in
a schema of the caller's: for ``1``) and a default that is spelt out change nothing. What says nothing is left out, so a
case keeps its hash when later versions know more members. Any other difference makes another case.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import NODEFAULT, Raw, Struct
from msgspec.structs import FieldInfo, fields

from service.checks.output_schema import unbounded
from service.errors import InvalidCase
from service.intake.request import CaseRequest

_encoder = msgspec.json.Encoder(order="sorted")


def fingerprint(request: CaseRequest) -> bytes:
    """SHA-256 over the canonical encoding of a case, as it was decoded.

    Raises `InvalidCase` for a schema without end, as `intake.prepare` would: it cannot be walked through.
    """
    schema = request.options.output_schema
    if schema is not None and (why := unbounded(schema)):
        raise InvalidCase(why, pointers=("/options/outputSchema",))
    return sha256(_encoder.encode(_laid_out(request))).digest()


def _laid_out(request: CaseRequest) -> dict[str, Any]:
    """A case as it was first fingerprinted: its format stands beside its options."""
    plain: dict[str, Any] = _plain(request)
    options = plain.pop("options", {})
    if "format" in options:
        plain["format"] = options.pop("format")
    return {**plain, "options": options} if options else plain


def _plain(value: Any) -> Any:
    """A value as JSON has it, without members that say no more than their absence."""
    match value:
        case Struct():
            said = ((field, getattr(value, field.name)) for field in _fields(type(value)))
            return {field.encode_name: _plain(given) for field, given in said if given != _default(field)}
        case Mapping():
            return {name: _free(given) for name, given in value.items()}
        case tuple() | list():
            return [_plain(given) for given in value]
        case Decimal():
            return _number(value)
        case _:
            return value


def _free(value: Any) -> Any:
    """JSON that says what a caller likes, its numbers as one and the same wherever they are equal."""
    match value:
        case Mapping():
            return {name: _free(given) for name, given in value.items()}
        case list():
            return [_free(given) for given in value]
        case bool():
            return value
        case int() | float():
            return Raw(_number(Decimal(repr(value))).encode())
        case _:
            return value


@cache
def _fields(type_: type[Struct]) -> tuple[FieldInfo, ...]:
    return fields(type_)


def _default(field: FieldInfo) -> Any:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return field.default


def _number(value: Decimal) -> str:
    """A number by its value: however many zeros follow, and without rounding."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):  # not a number at all: the case is refused for it later
        return str(value)
    whole = "".join(map(str, digits)).lstrip("0")
    kept = whole.rstrip("0")
    return f"{'-' if sign else ''}{kept}e{exponent + len(whole) - len(kept)}" if kept else "0"
