"""An OpenAPI 3.1 document in the words of 3.0.3, for tools that know no later version. Pure.

    3.1                                            3.0.3
    jsonSchemaDialect, info.summary, webhooks      left out
    license.identifier                             license.url
    type: [a, b], or with "null"                   anyOf of each, or nullable
    anyOf with {type: "null"}                      nullable, in a shape that has a type; a $ref gets one
    const                                          enum of one value
    exclusiveMinimum: n                            minimum: n, exclusiveMinimum: true
    $ref beside other words                        allOf of the $ref, beside them
    examples of a schema                           example: the first
    contentMediaType, contentSchema                anyOf of a text and of what the text says
    required: []                                   left out
    propertyNames                                  left out: 3.0 has no word for it

Everything else means the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from service.web.operation import Schema

LICENSE_URL = "https://spdx.org/licenses/{identifier}"
_SCHEMAS = "#/components/schemas/"
_NOT_IN_3_0 = ("openapi", "jsonSchemaDialect", "info", "webhooks")
_LEFT_OUT = ("propertyNames", "contentMediaType")
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_NULL = {"type": "null"}


def in_3_0(document: Mapping[str, Any]) -> Schema:
    """The document in OpenAPI 3.0.3; ``document`` stays as it is."""
    rest = {name: part for name, part in document.items() if name not in _NOT_IN_3_0}
    if "webhooks" in document:
        rest["components"] = _used(document["components"], rest["paths"])
    return {"openapi": "3.0.3", "info": _info(document["info"]), **cast(Schema, _part(rest))}


def _used(components: Mapping[str, Any], paths: Any) -> Schema:
    """The components without the schemas that no path leads to: those of webhooks alone, which 3.0 does not have."""
    schemas, used, found = components["schemas"], set[str](), _references(paths)
    while found:
        used |= found
        found = {name for one in found for name in _references(schemas[one])} - used
    return {**components, "schemas": {name: schema for name, schema in schemas.items() if name in used}}


def _references(part: Any) -> set[str]:
    """The schemas that a part names."""
    if isinstance(part, list):
        return {name for inner in part for name in _references(inner)}
    if not isinstance(part, dict):
        return {part.removeprefix(_SCHEMAS)} if isinstance(part, str) and part.startswith(_SCHEMAS) else set()
    return {name for inner in part.values() for name in _references(inner)}


def _info(info: Mapping[str, Any]) -> Schema:
    license_ = {"name": info["license"]["name"], "url": LICENSE_URL.format(**info["license"])}
    return {**{name: part for name, part in info.items() if name != "summary"}, "license": license_}


def _part(part: Any) -> Any:
    """Any part of the document but a schema, in which the schemas are converted."""
    if isinstance(part, list):
        return [_part(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    return {name: _named(name, inner) for name, inner in part.items()}


def _named(name: str, part: Any) -> Any:
    """A part under its name: a schema, a table of schemas, an example, which may be any JSON, or a part with others."""
    match name:
        case "schema":
            return schema_in_3_0(part)
        case "schemas" | "x-event-data":
            return {key: schema_in_3_0(inner) for key, inner in part.items()}
        case "example" | "value":
            return part
        case _:
            return _part(part)


def schema_in_3_0(schema: Any) -> Any:
    """A schema in the words of 3.0.3."""
    if not isinstance(schema, dict):
        return schema
    found: Schema = {}
    for name, part in schema.items():
        match name:
            case "properties":
                found[name] = {key: schema_in_3_0(inner) for key, inner in part.items()}
            case "items" | "additionalProperties" | "contentSchema":
                found[name] = schema_in_3_0(part)
            case "anyOf" | "oneOf" | "allOf":
                found[name] = [schema_in_3_0(inner) for inner in part]
            case _ if name not in _LEFT_OUT and part != []:
                found[name] = part
    return _referring(_or_null(_typed(_spoken(_bounded(_closed(found))))))


def _closed(schema: Schema) -> Schema:
    """``const`` as an ``enum``, and ``examples`` as one ``example``."""
    found = {name: part for name, part in schema.items() if name not in ("const", "examples")}
    if "const" in schema:
        found["enum"] = [schema["const"]]
    if schema.get("examples"):
        found["example"] = schema["examples"][0]
    return found


def _bounded(schema: Schema) -> Schema:
    """Bounds that are not reached themselves."""
    found = dict(schema)
    for name, bound in _EXCLUSIVE.items():
        if name in schema:
            found[bound], found[name] = schema[name], True
    return found


def _spoken(schema: Schema) -> Schema:
    """A text whose content has a schema: the text, or what it says."""
    if "contentSchema" not in schema:
        return schema
    rest = {name: part for name, part in schema.items() if name not in ("type", "contentSchema")}
    return {**rest, "anyOf": [{"type": schema["type"]}, schema["contentSchema"]]}


def _typed(schema: Schema) -> Schema:
    """One type; of several, a shape for each, with the words that each type knows."""
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return schema
    about = {name: part for name, part in schema.items() if name in ("description", "default", "example")}
    rest = {name: part for name, part in schema.items() if name not in ("type", *about)}
    return {**about, "anyOf": [{"type": kind, **_known(rest, kind)} for kind in kinds]}


_OF_TEXT = ("pattern", "minLength", "maxLength", "format")
_OF_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _known(words: Schema, kind: str) -> Schema:
    """The words that say something of a type: a number has no pattern, a text no least value."""
    other = _OF_NUMBER if kind == "string" else _OF_TEXT
    return {name: part for name, part in words.items() if name not in other}


def _or_null(schema: Schema) -> Schema:
    """A choice of which null is one: the first of the other shapes may be null, and stands alone if it is the last."""
    shapes = schema.get("anyOf", [])
    if _NULL not in shapes:
        return schema
    first, *others = (shape for shape in shapes if shape != _NULL)
    rest = {name: part for name, part in schema.items() if name != "anyOf"}
    if others:
        return {**rest, "anyOf": [_nullable(first), *others]}
    return {**_nullable(first), **rest}


def _nullable(schema: Schema) -> Schema:
    """The shape, which may also be null. 3.0 takes the word only beside a type."""
    if "anyOf" in schema:
        first, *others = schema["anyOf"]
        return {**schema, "anyOf": [_nullable(first), *others]}
    if "$ref" in schema:
        return {"type": "object", "nullable": True, "allOf": [schema]}
    return {**schema, "nullable": True}


def _referring(schema: Schema) -> Schema:
    """A reference alone: beside one, 3.0 reads no other word."""
    if "$ref" not in schema or len(schema) == 1:
        return schema
    rest = {name: part for name, part in schema.items() if name != "$ref"}
    return {"allOf": [{"$ref": schema["$ref"]}], **rest}
