"""A word on what a command waits for, on standard error, before anything large is imported.

On a terminal it is one line that the next one replaces and that goes away in the end; in a file or a pipe it is a line
like any other. Standard output stays the command's answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_ERASE = "\r\x1b[K"
_USUAL = 80


class Notice:
    """The notice of one command on a stream, standard error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moves = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._shown = False

    @property
    def moves(self) -> bool:
        """Whether it goes away: standard error is a terminal that can erase a line."""
        return self._moves

    def say(self, words: str) -> None:
        """Show what is waited for now."""
        if self._moves:
            self._stream.write(f"{_ERASE}{_cut(f'{words} ...', _width(self._stream))}")
            self._shown = True
        else:
            self._stream.write(f"gainsay: {words} ...\n")
        self._stream.flush()

    def clear(self) -> None:
        """Take the line away; one in a file or a pipe stays."""
        if self._shown:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._shown = False


@contextmanager
def notice(stream: TextIO | None = None) -> Iterator[Notice]:
    """A notice that is gone when the block ends, also by an error."""
    shown = Notice(sys.stderr if stream is None else stream)
    try:
        yield shown
    finally:
        shown.clear()


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL
    except OSError:
        return _USUAL


def _cut(words: str, width: int) -> str:
    """The words on one line of the terminal: a line that wraps could not be erased."""
    return words if len(words) < width else f"{words[: max(0, width - 4)]}..."
