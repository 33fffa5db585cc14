"""The name under which a browser keeps an answer: Content-Disposition (RFC 6266), in one place.

A name is of letters, digits, dots, underscores and hyphens in ASCII: it needs neither quoting nor RFC 8187, is no path
and ends no header. Windows takes some names for devices; they are not given.
"""

from __future__ import annotations

import re
from typing import Literal

_STEM = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", re.ASCII)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def kept_as(how: Literal["inline", "attachment"], stem: str, suffix: str, *, otherwise: str) -> dict[str, str]:
    """The header for a file of this name, or called ``otherwise`` where the name is not fit for every system.

    ``suffix`` has no dot; it and ``otherwise`` are of our own.
    """
    fit = _STEM.fullmatch(stem) and not _DEVICE.fullmatch(stem)
    return {"Content-Disposition": f'{how}; filename="{stem if fit else otherwise}.{suffix}"'}
