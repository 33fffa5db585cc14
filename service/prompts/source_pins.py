"""The layout of requests that a debate promised, from its pins.

pins of templates                        layout
template.layout = v<n>:<sha256>          layout/<n>
exactly the five of `SOURCES`            layout/1, by a build that pinned the sources of its modules
any others                               none: no build has issued such pins
"""

from __future__ import annotations

import re
from collections.abc import Mapping

LAYOUT = "template.layout"
"""The id of a layout's file."""
SOURCES: Mapping[str, str] = {
    "template.cited": "v1:dc87f6f365b46609e72ef59d03518542d0f6cc658714971de0656a8f60abc8c2",
    "template.fence": "v1:80bcc35bb66ed22969ace57045d4a14d9ae9948b3847c9f3550d1637066641b7",
    "template.render": "v1:d3399e9d357b07a4e25dc1ec6647595259600ecbd3b062f0600cbac13f93932f",
    "template.request": "v1:0291a6d0c11959e91503e80d8d984579b7640582e16870573dec2b97810450e8",
    "template.transcript": "v1:a859a46159e0c684373882e82c58cd3fd88377ff4490ee098248829a90e8e7f6",
}
"""The pins of layout/1 from before it had a file of its own: SHA-256 of the modules that laid requests out."""

_MARK = re.compile(r"v([1-9]\d{0,3}):[0-9a-f]{64}")


def templates(pins: Mapping[str, str]) -> dict[str, str]:
    """The pins of a debate that name the layout of its requests."""
    return {id_: mark for id_, mark in pins.items() if id_.startswith("template.")}


def layout_of(pins: Mapping[str, str]) -> str | None:
    """The version of the layout that these pins promise; ``None`` if no build has issued such pins."""
    found = templates(pins)
    if found == SOURCES:
        return "layout/1"
    mark = _MARK.fullmatch(found[LAYOUT]) if set(found) == {LAYOUT} else None
    return f"layout/{mark[1]}" if mark else None
