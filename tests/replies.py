"""Replies as models may send them: drawn from the pinned schemas, within the limits that their descriptions state."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from service.prompts import Prompts

Wire = dict[str, Any]
TEXTS = st.text(min_size=1, max_size=30)
_PROMPTS = Prompts.load()
_RANGE = re.compile(r"\b(\d+) to (\d+)\b")


def replies(kind: str) -> st.SearchStrategy[Wire]:
    """Every reply that a kind's schema and the limits that it states admit, as plain JSON values without ``seat``."""
    return _drawn(_PROMPTS.schema(kind))


def _drawn(schema: dict[str, Any], said: str = "") -> st.SearchStrategy[Any]:
    """Values of a schema; ``said`` is the description that counts where it has none of its own."""
    said = schema.get("description", said)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([_drawn(choice, said) for choice in schema["anyOf"]])
    match schema["type"]:
        case "object":
            drawn = st.fixed_dictionaries({name: _drawn(part) for name, part in schema["properties"].items()})
            return drawn.map(_ordered) if {"low", "high"} <= set(schema["properties"]) else drawn
        case "array":
            return _listed(schema["items"], said)
        case "integer":
            low, high = map(int, _RANGE.findall(said)[0])
            return st.integers(low, high)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
    return TEXTS


def _ordered(interval: Wire) -> Wire:
    """Bounds the right way round, as their descriptions have them."""
    low, high = sorted((interval["low"], interval["high"]))
    return {**interval, "low": low, "high": high}


def _listed(items: dict[str, Any], said: str) -> st.SearchStrategy[list[Any]]:
    """Short lists; what an item is known by stands in it once."""
    least = 1 if said.startswith("At least one:") else 0
    known = next((name for name in ("n", "label") if name in items.get("properties", {})), None)
    drawn = _drawn(items, said)
    if known is None:
        return st.lists(drawn, min_size=least, max_size=3)
    return st.lists(drawn, min_size=least, max_size=3, unique_by=lambda item: item[known])
