"""The path that a caller probably meant, for one that does not exist."""

from __future__ import annotations

import re
from collections.abc import Collection

from service.errors import slips

_STEP_MAX = 80
_STEPS_MAX = 12
_GIVEN = re.compile(r"\{\w+:\w+\}")
_PREFIX = "v1"


def probable_path(path: str, templates: Collection[str]) -> str | None:
    """The one nearest path of the templates, with the caller's own ids in it; ``None`` where none is near.

    Steps may differ by a slip each, and the first one, the version, may be missing.
    """
    steps = path.strip("/").split("/")
    if len(steps) > _STEPS_MAX or not path.isprintable():
        return None
    near = []
    for template in sorted(templates):
        for more, given in ((0, steps), (1, [_PREFIX, *steps])):
            if (found := _compare(given, template.strip("/").split("/"))) is not None:
                near.append((found[0] + more, found[1]))
    return min(near)[1] if near else None


def _compare(given: list[str], template: list[str]) -> tuple[int, str] | None:
    """The letters in which a path differs from a template, and that path without them."""
    if len(given) != len(template) or template == [""]:
        return None
    total, path = 0, ""
    for mine, theirs in zip(given, template, strict=True):
        if _GIVEN.fullmatch(theirs):
            path += f"/{mine[:_STEP_MAX]}"
            continue
        found = slips(mine[:_STEP_MAX], theirs)
        if found is None:
            return None
        total, path = total + found, f"{path}/{theirs}"
    return total, path
