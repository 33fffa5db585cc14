"""Descriptions of OpenAPI's schemas: docstrings, with the names of members in JSON in place of those in Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any

_NAMED = re.compile(r"``([a-z]+(?:_[a-z0-9]+)+)``")


def describe_json_names(components: dict[str, Any]) -> None:
    """Rewrite the description of each schema: ``max_rounds`` is ``maxRounds``, of its own members or of others'.

    A name that no schema has stays unchanged.
    """
    everywhere = {_plain(name): name for schema in components.values() for name in schema.get("properties", {})}
    for schema in components.values():
        if "description" in schema:
            own = {_plain(name): name for name in schema.get("properties", {})}
            schema["description"] = _renamed(cleandoc(schema["description"]), {**everywhere, **own})


def _renamed(text: str, known: Mapping[str, str]) -> str:
    return _NAMED.sub(lambda found: f"``{known.get(_plain(found[1]), found[1])}``", text)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
