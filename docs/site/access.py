"""What the theme lacks for a keyboard, a screen reader or a narrow screen, written into its pages once they are built.

| what the theme writes | what is written in its place | why |
|---|---|---|
| a caption with the role of a heading and no level | a heading of level 2 | a screen reader lists it where it belongs |
| two asides without names | asides called *Pages* and *On this page* | a screen reader tells them apart |
| a block of code, or a table without links | one that the keyboard reaches | so that the arrows scroll it sideways |
| a head of a table without words | a cell | a screen reader reads out an empty head with every row |
| a long name of code in a cell | one that may break behind `_`, `/`, `::` and `.` | so that a phone has more of a row |

`checked.py` then finds what is missing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PLAIN = (
    ('class="caption" role="heading">', 'class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ("<pre>", '<pre tabindex="0">'),
)
_EMPTY_HEAD = re.compile(r'<th class="head[^"]*"><p></p></th>')
_TABLE = re.compile(r'<div class="table-wrapper(?=[^>]*>((?:(?!</table>).)*))', re.DOTALL)
_CELL = re.compile(r"<td>.*?</td>", re.DOTALL)
_CODE = re.compile(r'(?<=<span class="pre">)[^<]{18,}(?=</span>)')
_BREAKS = re.compile(r"(_+|/|::|\.)(?=\w)")


def written(page: str) -> str:
    """The HTML of a page with what it lacked."""
    for found, instead in _PLAIN:
        page = page.replace(found, instead)
    page = _EMPTY_HEAD.sub("<td></td>", page)
    page = _TABLE.sub(_reached, page)
    return _CELL.sub(lambda cell: _CODE.sub(lambda code: _BREAKS.sub(r"\1<wbr>", code[0]), cell[0]), page)


def _reached(table: re.Match[str]) -> str:
    return table[0] if "<a " in table[1] else table[0].replace("<div", '<div tabindex="0"')


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        for file in Path(app.outdir).rglob("*.html"):
            file.write_text(written(file.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx asks of an extension."""
    app.connect("build-finished", _write, priority=100)  # before what is checked
    return {"parallel_read_safe": True, "parallel_write_safe": True}
