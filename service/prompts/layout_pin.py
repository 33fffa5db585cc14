"""The layout of requests that a debate promised, from its pins.

pins of templates                        layout
template.layout = v<n>:<sha256>          layout/<n>
any others                               none: no build has issued such pins
"""

from __future__ import annotations

import re
from collections.abc import Mapping

LAYOUT = "template.layout"
"""The id of a layout's file."""
_MARK = re.compile(r"v([1-9]\d{0,3}):[0-9a-f]{64}")


def layout_of(pins: Mapping[str, str]) -> str | None:
    """The version of the layout that these pins promise; ``None`` if no build has issued such pins."""
    found = {id_: mark for id_, mark in pins.items() if id_.startswith("template.")}
    mark = _MARK.fullmatch(found[LAYOUT]) if set(found) == {LAYOUT} else None
    return f"layout/{mark[1]}" if mark else None
