"""A report as PDF: typeset by Typst from a constant template and data, with fonts that come with the compiler.

Values never become markup: the template reads them as JSON strings. The same report gives the same bytes, because the
time in the file is the debate's own and no font of the machine is used. The file is made for archives (PDF/A-2a) and
for screen readers (PDF/UA-1).
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from service.audit.report_forms import Paper
from service.errors import GainsayError
from service.report.document.blocks import Banner, Map, Plot, ReportBlocks, legible
from service.report.document.contents import report
from service.report.document.plots import draw
from service.report.document.strip_chart import draw_strip, standalone, swatch
from service.report.document.typst_template import TEMPLATE
from service.report.result.types import Result

if TYPE_CHECKING:
    import typst

_LONG = re.compile(r"\S{48}(?=\S)")
_STRICT: list[typst.PDFStandard] = ["a-2a", "ua-1"]
_BOXES = Banner(
    "warn",
    "Some characters are shown as boxes",
    ("The fonts of this file lack them. The report as HTML or Markdown shows every character.",),
)


class CannotTypeset(GainsayError):
    """The PDF could not be made; the other renderings are not affected."""

    code = "cannot_typeset"
    title = "The report cannot be made as PDF"


def pdf(result: Result, paper: Paper = "a4") -> bytes:
    """The report of a debate as an archival, tagged PDF; raises `CannotTypeset`."""
    return write(report(result, paper))


def write(content: ReportBlocks) -> bytes:
    """A report's blocks as PDF.

    Takes some tenths of a second of CPU time. Both standards refuse a character that no font has (the embedded fonts
    have Latin, Greek and Cyrillic). A report with such a character is made without the standards, and its first page
    says so. Raises `CannotTypeset` if that fails too.
    """
    import typst  # loading the compiler is slow, and the other renderings do not need it

    try:
        return _typeset(content, _STRICT)
    except typst.TypstError:
        marked = replace(content, first=(_BOXES, *content.first))
    try:
        return _typeset(marked, [])
    except typst.TypstError as error:
        raise CannotTypeset(f"expected the report to be typeset, found: {error.message}; ask for HTML") from error


def _typeset(content: ReportBlocks, standards: list[typst.PDFStandard]) -> bytes:
    import typst

    data = msgspec.json.encode(_leaves(msgspec.to_builtins(content)))
    return typst.compile(
        TEMPLATE.encode(),
        format="pdf",
        sys_inputs={"report": data.decode(), "drawings": msgspec.json.encode(_drawings(content)).decode()},
        ignore_system_fonts=True,
        pdf_standards=standards,
        timestamp=datetime.fromisoformat(content.concluded).replace(microsecond=0),  # typst takes whole seconds
    )


def _drawings(content: ReportBlocks) -> dict[str, dict[str, list[str]]]:
    """Block -> its drawings as SVG: the keys and strips of a map, the one drawing of a plot; they have no leaves."""
    drawn: dict[str, dict[str, list[str]]] = {}
    for block in content.blocks:
        if isinstance(block, Map):
            keys = [standalone(swatch(key.sign)) for key in block.keys]
            strips = [standalone(draw_strip(strip, f"{block.name}-{i}")) for i, strip in enumerate(block.strips)]
            drawn[block.name] = {"keys": keys, "strips": strips}
        elif isinstance(block, Plot):
            drawn[block.name] = {"course": [standalone(draw(block))]}
    return drawn


def _leaves(value: object) -> object:
    """The same value with every text legible, and breakable if it is too long for a line."""
    match value:
        case str():
            return _LONG.sub("\\g<0>\u200b", legible(value))
        case dict():
            return {key: _leaves(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_leaves(inner) for inner in value]
        case _:
            return value
