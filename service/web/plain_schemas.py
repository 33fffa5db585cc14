"""Schemas in the words that generators of clients read.

msgspec writes a pair as ``prefixItems`` with ``items: false``, which is right and which openapi-python-client refuses.
Where all places of a list have one schema, ``items`` with ``minItems`` and ``maxItems`` says the same. It leaves
out the type of closed values, which validators do not need and generators do.

openapi-typescript takes a member with a default for one that is always there, which is true of an answer and not of a
request: a caller would have to give every member. So a request's defaults are words.
"""

from __future__ import annotations

from typing import Any


def plain(schema: Any) -> Any:
    """The schema with every list of fixed length in these words; ``schema`` stays as it is.

    Raises `LookupError` for a list whose places have different schemas: an object with names says more.
    """
    if isinstance(schema, list):
        return [plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("items") is False and "prefixItems" in schema:
        first, *others = schema["prefixItems"]
        if any(other != first for other in others):
            raise LookupError(f"expected one schema for all places of a list, found {schema['prefixItems']}")
        schema = {name: part for name, part in schema.items() if name != "prefixItems"} | {"items": first}
    if "type" not in schema and (values := schema.get("enum")) and all(isinstance(value, str) for value in values):
        schema = {"type": "string", **schema}
    return {name: plain(part) for name, part in schema.items()}


def defaults_in_words(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object of a request; a default that says something stands in its member's description."""
    if "properties" not in schema:
        return schema
    return {**schema, "properties": {name: _in_words(member) for name, member in schema["properties"].items()}}


def _in_words(member: dict[str, Any]) -> dict[str, Any]:
    rest = {name: part for name, part in member.items() if name != "default"}
    if not isinstance(default := member.get("default"), str | int) or default == "":
        return rest
    written = str(default).lower() if isinstance(default, bool) else default
    said = " ".join(filter(None, (member.get("description"), f"Default: {written}.")))
    return {**rest, "description": said}
