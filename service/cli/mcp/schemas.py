"""The schemas of tools: those of the HTTP API, from its OpenAPI document, so that a member means the same at each door.

A model reads the schemas of input, so they are shortened: without titles and patterns. The service checks a case anyway
and answers with each fault and its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from service.web.answer_schemas import reached
from service.web.openapi import document
from service.web.operation import Schema
from service.web.operations import OPERATIONS

_PREFIX = "#/components/schemas/"
_LEFT_OUT = ("title", "pattern")


@cache
def _components() -> Mapping[str, Any]:
    schemas: dict[str, Any] = document()["components"]["schemas"]
    return schemas


def input_of(
    name: str, more: Mapping[str, Schema], *, replaced: Mapping[str, Schema] | None = None, without: Sequence[str] = ()
) -> Schema:
    """The arguments of a tool: the members of a request of the API, with those of the tool's own."""
    own = _components()[name]
    kept = {key: value for key, value in own["properties"].items() if key not in without}
    found: Schema = {
        "type": "object",
        "properties": {**kept, **(replaced or {}), **more},
        "required": list(own["required"]),
        "additionalProperties": False,
    }
    shown: Schema = _shortened(_with_definitions(found))
    return shown


def query_of(operation: str) -> Schema:
    """The arguments of a tool that has the parameters of an operation's query."""
    named = next(one for one in OPERATIONS if one.id == operation)
    properties = {p.name: {**p.schema, "description": p.description} for p in named.parameters if p.place == "query"}
    found: Schema = _shortened({"type": "object", "properties": properties, "additionalProperties": False})
    return found


def output_of(name: str, more: Mapping[str, Schema]) -> Schema:
    """The result of a tool: an answer of the API, with members of the tool's own."""
    own = _components()[name]
    return _with_definitions(
        {
            "type": "object",
            "properties": {**own["properties"], **more},
            "required": [*own.get("required", ()), *more],
        }
    )


def made_of(properties: Mapping[str, Schema], required: Sequence[str]) -> Schema:
    """An object with these members, each a schema of its own or a `ref`."""
    return _with_definitions({"type": "object", "properties": dict(properties), "required": list(required)})


def ref(name: str, description: str = "") -> Schema:
    """A member that has a schema of the API."""
    return {"$ref": f"{_PREFIX}{name}", **({"description": description} if description else {})}


def text(description: str, **more: Any) -> Schema:
    """A member that is a text."""
    return {"type": "string", "description": description, **more}


def texts(description: str) -> Schema:
    """A member that is a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _with_definitions(schema: Schema) -> Schema:
    """The schema with each schema that it refers to beside it, so that it stands alone."""
    components = {**_components(), "": schema}
    others = sorted(reached(components, "") - {""})
    found: Schema = _local(schema)
    if others:
        found["$defs"] = {name: _local(components[name]) for name in others}
    return found


def _local(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_local(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _local(part) for name, part in schema.items() if name != "discriminator"}
    if isinstance(reference := found.get("$ref"), str):
        found["$ref"] = reference.replace(_PREFIX, "#/$defs/")
    return found


def _shortened(schema: Any, *, named: bool = False) -> Any:
    """The schema without what a model need not read; ``named`` is an object whose keys are names of members."""
    if isinstance(schema, list):
        return [_shortened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _shortened(part, named=name in ("properties", "$defs") and not named)
        for name, part in schema.items()
        if named or name not in _LEFT_OUT
    }
