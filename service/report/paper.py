"""A report as PDF: typeset by Typst from a constant template and data, with fonts that come with the compiler.

Values never become markup: the template reads them as JSON strings. The same report gives the same bytes, because the
time in the file is the debate's own and no font of the machine is used.
"""

from __future__ import annotations

import re
from datetime import datetime

import msgspec
import typst

from service.report.contents import report
from service.report.outline import legible
from service.report.shape import Result
from service.report.template import TEMPLATE

_LONG = re.compile(r"\S{48}(?=\S)")


def pdf(result: Result) -> bytes:
    """The report of a debate as a tagged PDF."""
    told = report(result)
    data = _leaves(msgspec.to_builtins(told))
    return typst.compile(
        TEMPLATE.encode(),
        format="pdf",
        sys_inputs={"report": msgspec.json.encode(data).decode()},
        ignore_system_fonts=True,
        timestamp=datetime.fromisoformat(told.concluded),
    )


def _leaves(value: object) -> object:
    """Every text made legible, and breakable where it is too long for a line."""
    match value:
        case str():
            return _LONG.sub("\\g<0>\u200b", legible(value))
        case dict():
            return {key: _leaves(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_leaves(inner) for inner in value]
    return value
