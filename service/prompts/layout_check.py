"""That this build lays requests out as the pinned files of its layouts hold them; asked at the start of a process."""

from __future__ import annotations

from service.errors import PromptMismatch
from service.prompts import layouts
from service.prompts.manifest import Prompts


def refuse_others(prompts: Prompts) -> None:
    """Raise `PromptMismatch` where a request is laid out in another way than a pinned file holds it."""
    if found := all_differences(prompts):
        raise PromptMismatch(found[0])


def all_differences(prompts: Prompts) -> list[str]:
    """What differs from any layout's file, in words; and a layout that has a file and no code, or code and no file."""
    held = {f"layout/{entry.version}": entry.file for entry in prompts.entries if entry.kind == "template"}
    if lone := sorted(held.keys() ^ layouts.LAYOUTS.keys()):
        return [f"expected a pinned file and code for each layout of requests, found one alone for {lone[0]}"]
    return [difference for file in held.values() for difference in layouts.differences(prompts.files()[file])]
