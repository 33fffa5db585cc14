"""The check, at the start of a process, that this build lays requests out as the pinned layout files record it."""

from __future__ import annotations

from service.errors import PromptMismatch
from service.prompts import layouts
from service.prompts.manifest import Prompts


def refuse_others(prompts: Prompts) -> None:
    """Raise `PromptMismatch` if this build lays out a request in another way than a pinned file records."""
    if found := all_differences(prompts):
        raise PromptMismatch(found[0])


def all_differences(prompts: Prompts) -> list[str]:
    """All differences from the layouts' files, in words. A layout without a file or without code counts as one."""
    held = {f"layout/{entry.version}": entry.file for entry in prompts.entries if entry.kind == "template"}
    if lone := sorted(held.keys() ^ layouts.LAYOUTS.keys()):
        return [f"expected a pinned file and code for each layout of requests, found one alone for {lone[0]}"]
    return [difference for file in held.values() for difference in layouts.differences(prompts.files()[file])]
