"""Schemas of what is sent: a member that may be left out is not required, and a member that is there is not empty.

The rule is that of `service.report.sent`, which encodes every answer; a schema says the same by ``required``, and by a
least length of 1. The schemas of requests stay as they are: a caller may send null and empty lists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import fields

from service.report.sent import may_be_absent, members

_LEAST = {"array": "minItems", "object": "minProperties"}
_PREFIX = "#/components/schemas/"


def describe_absence(components: dict[str, Any], names: Mapping[type, str], requests: Collection[str]) -> None:
    """Say in the schema of every type of an answer which members are always there, and that no other is empty.

    ``names`` are the schemas' by type, ``requests`` the schemas of bodies. A schema that both have stays as it is.
    """
    asked = {name for request in requests for name in reached(components, request)}
    for kind, name in names.items():
        if name in components and name not in asked:
            components[name] = _of_answers(components[name], kind)


def reached(components: Mapping[str, Any], name: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """A schema and all to which it refers."""
    found = seen | {name}
    for other in _references(components[name]):
        if other not in found:
            found = reached(components, other, found)
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(ref := schema.get("$ref"), str):
            yield ref.removeprefix(_PREFIX)
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def _of_answers(schema: dict[str, Any], kind: type) -> dict[str, Any]:
    always = {member.json for member in members(kind) if member.always}
    optional = {field.encode_name for field in fields(kind) if may_be_absent(kind, field.name)}
    properties = schema["properties"]
    shown = {name: part if name in always else _filled(part) for name, part in properties.items()}
    return {**schema, "properties": shown, "required": [name for name in properties if name not in optional]}


def _filled(schema: dict[str, Any]) -> dict[str, Any]:
    """A member's schema without null and without empty values; a place in a list of fixed length stays as it is."""
    shapes = [_filled(one) for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    rest = {key: part for key, part in schema.items() if key != "anyOf" and not (key == "default" and _is_none(part))}
    if len(shapes) == 1:
        return {**shapes[0], **rest}
    if shapes:
        rest["anyOf"] = shapes
    if isinstance(values := rest.get("additionalProperties"), dict):
        rest["additionalProperties"] = _filled(values)
    if least := _LEAST.get(str(rest.get("type"))):
        rest.setdefault(least, 1)
    if rest.get("type") == "string" and schema.get("default") == "":
        rest["minLength"] = 1
    return rest


def _is_none(value: object) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict) and not value)
