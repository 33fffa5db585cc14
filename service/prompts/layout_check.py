"""The check, at the start of a process, that this build lays requests out as the pinned layout files record it."""

from __future__ import annotations

from functools import lru_cache

from service.errors import PromptMismatch
from service.prompts import layouts
from service.prompts.layouts import Renderer
from service.prompts.manifest import Prompts


def refuse_others(prompts: Prompts) -> None:
    """Raise `PromptMismatch` if this build lays out a request in another way than a pinned file records."""
    if found := all_differences(prompts):
        raise PromptMismatch(found[0])


def all_differences(prompts: Prompts) -> tuple[str, ...]:
    """All differences from the layouts' files, in words. A layout without a file or without code counts as one."""
    held = {f"layout/{entry.version}": entry.file for entry in prompts.entries if entry.kind == "template"}
    if lone := sorted(held.keys() ^ layouts.LAYOUTS.keys()):
        return (f"expected a pinned file and code for each layout of requests, found one alone for {lone[0]}",)
    contents = frozenset(prompts.files()[file] for file in held.values())
    return _differences(contents, frozenset(layouts.LAYOUTS.items()))


@lru_cache(maxsize=4)
def _differences(contents: frozenset[bytes], _code: frozenset[tuple[str, Renderer]]) -> tuple[str, ...]:
    """Found once for the same files and code: a process that deploys again has the modules that it had before."""
    return tuple(difference for content in sorted(contents) for difference in layouts.differences(content))
