"""What leaves the service as JSON: of every object only the members that say something.

A member is left out where it has nothing to say: null, an empty list or object, an empty text that is its usual value.
`False` and `0` say something. The rule goes by the declared type:

    a type names members in ``always_sent``    they are there whatever they hold (`EVERY`: all of them)
    a member may be any JSON (``Any``)         its value is as it was given, but left out where it is empty
    an item of a list                          stays, also as null: its place says something
    a text under a key of a caller             stays, also where it is empty
    anything else                              follows the rule, at every depth

Every answer of HTTP is encoded here, and what a command prints as JSON is `as_json` of it. An unseen character is
escaped (`service.unseen`): the value is the same, and it acts on no terminal. The OpenAPI document asks
`may_be_absent`, so a schema requires exactly the members that are always there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType

from service.unseen import escape_json

T = TypeVar("T")
EVERY = ("*",)
"""The ``always_sent`` of a type all of whose members are always there, because a reference names them."""


class Member(NamedTuple):
    """A member of a type: its names in Python and in JSON, and whether it is always there or any JSON."""

    name: str
    json: str
    always: bool
    given: bool


def encode(value: object) -> bytes:
    """A value as the bytes that leave the service."""
    return escape_json(msgspec.json.encode(as_json(value)))


def as_json(value: object) -> Any:
    """A value as plain JSON, without the members that have nothing to say."""
    return _as_json(value, msgspec.to_builtins(value))


def _as_json(value: object, plain: Any) -> Any:
    """``plain`` is the value as msgspec has it: without the members that have their usual value."""
    if isinstance(value, Struct):
        return _members(value, plain)
    if isinstance(value, dict):
        parts = ((key, _as_json(of, part)) for of, (key, part) in zip(value.values(), plain.items(), strict=True))
        return {key: part for key, part in parts if isinstance(part, str) or not _is_empty(part)}
    if isinstance(value, list | tuple):
        return tuple(_as_json(of, part) for of, part in zip(value, plain, strict=True))
    return plain


def _members(value: Struct, plain: dict[str, Any]) -> dict[str, Any]:
    of = {member.json: member for member in members(type(value))}
    found: dict[str, Any] = {}
    for json, given in plain.items():
        member = of.get(json)  # None is the tag
        part = given if not member or member.given else _as_json(getattr(value, member.name), given)
        if not member or member.always or not _is_empty(part):
            found[json] = part
    return found


def _is_empty(part: object) -> bool:
    return part is None or (isinstance(part, str | list | tuple | dict) and not part)


@cache
def members(kind: type[Struct]) -> tuple[Member, ...]:
    """The members of a type, in their order."""
    return tuple(
        Member(field.name, field.encode_name, _is_always_sent(kind, field), any_json(field.type))
        for field in msgspec.structs.fields(kind)
    )


def _is_always_sent(kind: type[Struct], field: msgspec.structs.FieldInfo) -> bool:
    """Whether a type names a member; a text without a usual value is always there too."""
    named: tuple[str, ...] = getattr(kind, "always_sent", ())
    return named == EVERY or field.name in named or (field.type is str and field.required)


def any_json(kind: Any) -> bool:
    """Whether a type is any JSON, or holds it."""
    return kind is Any or any(map(any_json, get_args(kind)))


@cache
def may_be_absent(kind: type[Struct], name: str) -> bool:
    """Whether a member of a type, by its name in Python, is left out of some value of the type."""
    field = next(one for one in msgspec.structs.fields(kind) if one.name == name)
    if not field.required and kind.__struct_config__.omit_defaults:
        return True
    return not _is_always_sent(kind, field) and (field.type is str or may_be_empty(field.type))


def may_be_empty(kind: Any) -> bool:
    """Whether a value of a type may be null, an empty list or object, or an object whose members are all left out."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return may_be_empty(parts[0])
    if origin is tuple:
        return Ellipsis in parts
    if origin in (Union, UnionType):
        return any(map(may_be_empty, parts))
    if isinstance(kind, type) and issubclass(kind, Struct):
        fields = msgspec.structs.fields(kind)
        return kind.__struct_config__.tag is None and all(may_be_absent(kind, field.name) for field in fields)
    return kind in (Any, None, NoneType, UnsetType) or (origin or kind) in (list, dict, Mapping)


# What another process has sent.


def read(data: bytes, kind: type[T]) -> T:
    """The value that `encode` wrote: a member that was left out is empty. Raises `msgspec.MsgspecError`."""
    return read_json(msgspec.json.decode(data), kind)


def read_json(plain: Any, kind: type[T]) -> T:
    """The same of JSON that is decoded already."""
    return msgspec.convert(_filled(plain, kind), kind)


def _filled(plain: Any, kind: Any) -> Any:
    """``plain`` with every member that its type requires, at every depth."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _filled(plain, parts[0])
    if origin in (Union, UnionType):
        return _filled(plain, next((part for part in parts if _fits(plain, part)), Any))
    if isinstance(plain, list) and origin in (tuple, list):
        return [_filled(item, parts[0] if Ellipsis in parts or len(parts) == 1 else Any) for item in plain]
    if isinstance(plain, dict) and origin in (dict, Mapping):
        return {name: _filled(value, parts[1]) for name, value in plain.items()}
    if isinstance(plain, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        found = dict(plain)
        for field in msgspec.structs.fields(kind):
            if field.encode_name in found:
                found[field.encode_name] = _filled(found[field.encode_name], field.type)
            elif field.required:
                found[field.encode_name] = _empty(field.type)
        return found
    return plain


def _fits(plain: Any, kind: Any) -> bool:
    """Whether a JSON value may be of a part of a union: an object by its tag, a list, or a plain value."""
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, Struct):
        config = origin.__struct_config__
        return isinstance(plain, dict) and (config.tag is None or plain.get(config.tag_field) == config.tag)
    return isinstance(plain, list) if origin in (tuple, list) else isinstance(plain, dict) and origin in (dict, Mapping)


def _empty(kind: Any) -> Any:
    """The empty value of a type: null where it may be, or else an empty list, object or text."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _empty(parts[0])
    if kind in (Any, NoneType) or (origin in (Union, UnionType) and NoneType in parts):
        return None
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _filled({}, kind)
    return [] if (origin or kind) in (tuple, list) else {} if (origin or kind) in (dict, Mapping) else ""
