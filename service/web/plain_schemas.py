"""Schemas in the words that generators of clients read: lists of fixed length without ``prefixItems``.

msgspec writes a pair as ``prefixItems`` with ``items: false``, which is right and which openapi-python-client refuses.
Where all places of a list have one schema, ``items`` with ``minItems`` and ``maxItems`` says the same.
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
    return {name: plain(part) for name, part in schema.items()}
