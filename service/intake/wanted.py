"""What a type has at a place of a body: the names of its members, or the values that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import inspect

_SHOWN = 24
"""A longer list of names is left to the OpenAPI document."""


def known_members(type_: type[Any], steps: Sequence[str]) -> tuple[str, ...]:
    """The members of the object at the end of a way through a body, in JSON's names; none if it is no object."""
    names = [
        field.encode_name
        for found in _at(type_, steps)
        if isinstance(found, inspect.StructType)
        for field in found.fields
    ]
    return tuple(dict.fromkeys(names))


def known_values(type_: type[Any], steps: Sequence[str]) -> tuple[str, ...]:
    """The values of a closed list at the end of a way through a body; none where any value may stand."""
    return tuple(
        str(value) for found in _at(type_, steps) if isinstance(found, inspect.LiteralType) for value in found.values
    )


def listed(names: Sequence[str]) -> str:
    """Names in a message, as far as a reader takes them in."""
    return ", ".join(names) if len(names) <= _SHOWN else f"{', '.join(names[:_SHOWN])}, ..."


@cache
def _described(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


def _at(type_: type[Any], steps: Sequence[str]) -> list[inspect.Type]:
    """The types that a value may have at the end of a way."""
    whole: Any = type_
    found = _plain(_described(whole))
    for step in steps:
        found = [part for kind in found for part in _inside(kind, step)]
    return found


def _plain(kind: inspect.Type) -> list[inspect.Type]:
    """The kinds of a union, or the one kind."""
    if isinstance(kind, inspect.Metadata):
        return _plain(kind.type)
    return [part for one in kind.types for part in _plain(one)] if isinstance(kind, inspect.UnionType) else [kind]


def _inside(kind: inspect.Type, step: str) -> list[inspect.Type]:
    match kind:
        case inspect.StructType():
            return [part for field in kind.fields if field.encode_name == step for part in _plain(field.type)]
        case inspect.DictType():
            return _plain(kind.value_type)
        case inspect.ListType() | inspect.VarTupleType():
            return _plain(kind.item_type)
        case inspect.TupleType() if step.isdecimal() and int(step) < len(kind.item_types):
            return _plain(kind.item_types[int(step)])
        case _:
            return []
