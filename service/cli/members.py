"""Members of the JSON that a service answers: of a newer version, one may be missing or of another type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def member(found: Any, *names: str) -> str:
    """A member of JSON as text, at a path; empty where there is none that is a text, a number or a truth value."""
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return "" if found is None or isinstance(found, list | tuple | Mapping) else str(found)


def items(found: Any, name: str) -> list[Mapping[str, Any]]:
    """The objects of a list; empty where there is none."""
    given = found.get(name) if isinstance(found, Mapping) else None
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list | tuple) else []
