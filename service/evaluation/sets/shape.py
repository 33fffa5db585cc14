"""Every fault of a value that is JSON or TOML of another shape than its type, each with its place in the value.

`msgspec` names the first fault alone. A set is written by hand, so its author is given all of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from service.errors import did_you_mean
from service.evaluation.sets.faults import said

T = TypeVar("T")
_NAME_MAX = 80
Found = tuple[str, str]
"""The place of a fault in a value, such as ``documents[0].sha256``, and a sentence."""
_Fault = tuple[str, str, bool]
"""The same, and whether it is an unknown member."""


def read_shape(value: object, type_: type[T], elsewhere: Mapping[str, str]) -> tuple[T | None, list[Found]]:
    """The value as its type with its faults; ``None`` unless they are unknown members alone, which are left out.

    So a member too many hides no other fault. ``elsewhere`` has members that belong to another file, with what to say
    of them where they are found.
    """
    kind = _described(type_)  # type: ignore[arg-type]  # a type hashes
    rest = deepcopy(value)
    unknown, wrong = list[Found](), list[Found]()
    for place, words, is_unknown in _faults(rest, kind, "", elsewhere):
        (unknown if is_unknown else wrong).append((place, words))
    if wrong:
        return None, [*unknown, *wrong]
    try:
        return msgspec.convert(rest, type=type_), unknown
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        return None, [*unknown, (place.strip("`."), words[0].lower() + words[1:])]


@cache
def _described(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


def _faults(value: object, kind: inspect.Type, at: str, elsewhere: Mapping[str, str]) -> Iterator[_Fault]:
    """All faults of a value, from which unknown members are taken away."""
    match kind:
        case inspect.UnionType():
            if value is not None or not any(isinstance(one, inspect.NoneType) for one in kind.types):
                (wanted,) = (one for one in kind.types if not isinstance(one, inspect.NoneType))
                yield from _faults(value, wanted, at, elsewhere)
        case inspect.StructType():
            yield from _of_object(value, kind, at, elsewhere)
        case inspect.VarTupleType() | inspect.ListType():
            yield from _of_list(value, kind, at, elsewhere)
        case _:
            if words := _of_one(value, kind):
                yield at, words, False


def _of_object(value: object, kind: inspect.StructType, at: str, elsewhere: Mapping[str, str]) -> Iterator[_Fault]:
    if not isinstance(value, dict):
        yield at, f"expected an object, found {_found(value)}", False
        return
    fields = {field.encode_name: field for field in kind.fields}
    for name in [name for name in value if name not in fields]:
        del value[name]
        meant = did_you_mean(str(name), fields) or f"; known here: {', '.join(fields)}"
        named = str(name)[:_NAME_MAX]
        yield f"{at}.{named}" if at else named, elsewhere.get(name, f"this member is unknown{meant}"), True
    for name, field in fields.items():
        place = f"{at}.{name}" if at else name
        if name in value:
            yield from _faults(value[name], field.type, place, elsewhere)
        elif field.required:
            yield place, "this member is missing; add it", False


def _of_list(
    value: object, kind: inspect.VarTupleType | inspect.ListType, at: str, elsewhere: Mapping[str, str]
) -> Iterator[_Fault]:
    if not isinstance(value, list):
        yield at, f"expected a list, found {_found(value)}", False
        return
    least, most = kind.min_length or 0, kind.max_length
    if len(value) < least or (most is not None and len(value) > most):
        yield at, f"expected a list of {_span(least, most)} values, found {len(value)}", False
    for i, one in enumerate(value):
        yield from _faults(one, kind.item_type, f"{at}[{i}]", elsewhere)


def _of_one(value: object, kind: inspect.Type) -> str | None:
    """What is expected in the place of a value that is neither object nor list, if it is something else."""
    match kind:
        case inspect.StrType():
            return _of_text(value, kind)
        case inspect.LiteralType():
            return None if isinstance(value, str) and value in kind.values else _of_list_of_values(value, kind)
        case inspect.IntType():
            fits = type(value) is int and _within(value, kind)
            return None if fits else f"expected a whole number of {_span(kind.ge or 0, kind.le)}, found {_found(value)}"
        case inspect.FloatType():
            fits = isinstance(value, int | float) and not isinstance(value, bool) and _within(value, kind)
            return None if fits else f"expected a number from {kind.ge} to {kind.le}, found {_found(value)}"
        case _:
            raise TypeError(f"no rule for {kind}: add it here")


def _within(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    """Whether a number is within the bounds of its kind; neither NaN nor an infinite one is."""
    return (kind.ge is None or value >= kind.ge) and (kind.le is None or value <= kind.le)


def _of_list_of_values(value: object, kind: inspect.LiteralType) -> str:
    values = [str(one) for one in kind.values]
    near = did_you_mean(value, values) if isinstance(value, str) else ""
    return f"expected one of {', '.join(values)}, found {_found(value)}{near}"


def _of_text(value: object, kind: inspect.StrType) -> str | None:
    if not isinstance(value, str):
        return f"expected a text, found {_found(value)}"
    if kind.pattern is not None and not re.search(kind.pattern, value):
        return f"expected a text of the form {kind.pattern.removesuffix(chr(92) + 'Z')}$, found {said(value)}"
    least, most = kind.min_length or 0, kind.max_length
    if len(value) < least or (most is not None and len(value) > most):
        return f"expected a text of {_span(least, most)} characters, found {len(value)} of them"
    return None if value.strip() or not least else "expected a text, found blanks alone"


def _span(least: int, most: int | None) -> str:
    return f"{least} or more" if most is None else f"{least} to {most}"


def _found(value: object) -> str:
    """What was found, with JSON's own names for the kinds that Python calls otherwise."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else "an object" if isinstance(value, dict) else said(value)
