"""Writes `docs/review.svg`, the picture of the first page: ``python -m docs.site.picture`` runs the command in it.

The command runs at a terminal of 80 columns with a data folder of its own, and its first lines are drawn with their
colours. Fonts are those of the reader's machine.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from io import StringIO

from rich.console import Console
from rich.text import Text

from docs.site.fences import ROOT

PAGE = ROOT / "docs" / "review.svg"
COMMAND = ("gainsay", "review", "--sample", "contract")
LINES = 52
_FORM = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-family: system-ui, sans-serif; font-size: 18px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def printed() -> str:
    """What the command prints at a terminal, with its colours."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GAINSAY_")}
        environment |= {"GAINSAY_DATA_DIR": folder, "COLUMNS": "80", "TERM": "xterm-256color"}
        ours, theirs = pty.openpty()
        command = (sys.executable, "-m", "service", *COMMAND[1:])
        process = subprocess.Popen(command, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)  # noqa: S603
        os.close(theirs)
        found = b""
        while True:
            try:
                found += os.read(ours, 65536)
            except OSError:  # how a terminal says that its last writer has gone
                break
        if process.wait():
            raise SystemExit("the command failed: run it by hand")
        subprocess.run((sys.executable, "-m", "service", "stop"), env=environment, capture_output=True, check=False)
    return found.decode().replace("\r\n", "\n").strip("\n")


def drawn(text: str) -> str:
    """The picture of the first lines of what a terminal showed."""
    console = Console(record=True, width=80, file=StringIO(), force_terminal=True, color_system="truecolor")
    for line in text.splitlines()[:LINES]:
        console.print(Text.from_ansi(line), no_wrap=True, overflow="crop")
    svg = console.export_svg(title=" ".join(COMMAND), code_format=_FORM, unique_id="review")
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)


def shown(svg: str) -> list[str]:
    """The lines of text in a picture, without blanks at their ends and without empty ones."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, part in re.findall(r'<text class="review-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        rows.setdefault(float(y), []).append((float(x), _plain(part)))
    lines = ("".join(part for _, part in sorted(row)).strip() for _, row in sorted(rows.items()))
    return [line for line in lines if line]


def _plain(text: str) -> str:
    from html import unescape

    return unescape(text).replace("\N{NO-BREAK SPACE}", " ")


if __name__ == "__main__":
    PAGE.write_text(drawn(printed()), "utf-8")
