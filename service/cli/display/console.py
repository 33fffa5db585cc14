"""Consoles, and the few shapes of which all pages are made."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import IO, TextIO, cast

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from service.cli.terminal_text import line, unbroken
from service.report.marks import MARK

WIDEST = 100
"""The greatest width of lines: longer ones are hard to read in a window of any width."""
PLAIN_WIDTH = 80
"""The width for a file or a pipe."""

MARKED = "bold not dim red"
"""The style of a mark, whose brackets and words say the same without colours."""


class _Trimmed:
    """Passes lines on without the blanks that a layout leaves at their ends.

    It has no `io` base class: such an object closes itself when it is collected, and must not close the stream behind.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rest = ""

    @property
    def encoding(self) -> str:
        """The encoding of the stream behind; rich chooses the characters of boxes by it."""
        return self._stream.encoding

    def write(self, given: str) -> int:
        """Pass whole lines on; an unfinished line is kept until its end."""
        *lines, self._rest = (self._rest + given).split("\n")
        self._stream.write("".join(f"{one.rstrip()}\n" for one in lines))
        return len(given)

    def flush(self) -> None:
        """Pass on all text so far."""
        self._stream.flush()

    def isatty(self) -> bool:
        """No terminal: lines are trimmed for files and pipes."""
        return False


class _Screen(Console):
    """A console whose reader may go away: `endings` chooses the exit code then, and not rich."""

    def on_broken_pipe(self) -> None:
        """Raise the error, like any other writer."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or error: colours and movement only on a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    found = _Screen(file=stream, highlight=False, markup=False, emoji=False)
    if found.is_terminal:
        found.width = min(found.width, WIDEST)
        return found
    trimmed = cast("IO[str]", _Trimmed(stream))
    return _Screen(file=trimmed, width=PLAIN_WIDTH, highlight=False, markup=False, emoji=False, color_system=None)


def text(words: str, style: str = "") -> Text:
    """Untrusted text, cleaned, on one line until the console wraps it; the marks of code in it stand out."""
    return _with_marks(Text(line(words), style=style))


def unwrapped(words: str) -> Text:
    """One line of untrusted text, cleaned, with its blanks; the console does not wrap it."""
    return _with_marks(Text(unbroken(words), no_wrap=True))


def _with_marks(found: Text) -> Text:
    found.highlight_regex(MARK, MARKED)
    return found


def joined(*parts: Text, by: str = " ") -> Text:
    """Texts side by side, without those that are empty."""
    return Text(by).join([part for part in parts if part.plain])


def row(
    lead: str | Text, body: str | Text, right: str | Text = "", *, lead_width: int = 12, indent: int = 0
) -> Padding:
    """One line, or more if the body wraps under itself: a lead, a body, and an amount at the right."""
    grid = Table.grid(padding=(0, 1, 0, 0), expand=True)
    grid.add_column(width=lead_width, no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")  # a hash or a time is never cut
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(*(part if isinstance(part, Text) else Text(unbroken(part)) for part in (lead, body, right)))
    return Padding(grid, (0, 0, 0, indent))


def dollars(amount: str, places: int = 4) -> str:
    """A decimal amount of US dollars, shown to a hundredth of a cent: ``0.0213 USD``."""
    return f"{Decimal(amount):,.{places}f} USD"


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 argument``, ``2 arguments``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
