"""Text that others wrote, made safe to print: every command writes such a text by a function of this module.

    say             a line of a command's own, with words of others in it
    clean           several lines, for a document or a page
    line            one line, its blanks collapsed
    unbroken        one line of a layout, with its blanks
    print_json      JSON, which is the same value with every unseen character escaped
    write_out       a whole file, such as a document or a table
    standard_output a file of bytes that comes piece by piece, such as an export

Documents, questions, replies and answers of a service may hold escape sequences that move the cursor, rename the window
or hide a line, and characters that reverse the reading order. They act on no terminal: they are shown by their number,
``[U+001B]``, so that a reader sees that they are there.
"""

from __future__ import annotations

import codecs
import re
import sys
from typing import IO, Any, cast

import click

from service.unseen import escape_json, visible

_IN_ASCII = {"✓": "+", "✗": "x", "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "·": "-"}
# For the brackets of a mark (`service.report.marks`) two square ones stand there, so no text has two side by side.
_IN_ASCII |= {"\u27e6": "[[", "\u27e7": "]]"}
_LAYOUT = "\n\t"
_DOUBLED = re.compile(r"\[(?=\[)|\](?=\])")


def clean(text: str) -> str:
    """The text with every character that acts shown by its number; line ends stay, tabs become spaces."""
    return _DOUBLED.sub(r"\g<0> ", visible(text.replace("\r\n", "\n").replace("\t", " "), kept="\n"))


def line(text: str) -> str:
    """The text cleaned and on one line."""
    return " ".join(clean(text).split())


def unbroken(text: str) -> str:
    """The text cleaned, with a space for each line end: a row of a layout cannot begin a line of its own."""
    return clean(text).replace("\n", " ")


def say(text: str | bytes = "", *, lead: str = "", err: bool = False, nl: bool = True) -> None:
    """Print words on standard output, or on standard error: the one way in which commands print a line.

    ``lead`` is of our own, such as a coloured word: it is printed as it is.
    """
    words = text.decode() if isinstance(text, bytes) else text
    click.echo(f"{lead}{visible(words, kept=_LAYOUT)}", err=err, nl=nl)


def write_exactly(content: bytes) -> None:
    """Write bytes of our own, such as a PDF or a table that was escaped, to standard output."""
    if (binary := getattr(sys.stdout, "buffer", None)) is None:  # a program took its place, and reads texts
        sys.stdout.write(content.decode())
    else:
        sys.stdout.flush()
        binary.write(content)
    sys.stdout.flush()


def json_lines(value: Any, *, indented: bool = True) -> bytes:
    """A value as JSON for a file or a terminal, with its newline; without ``indented`` on one line."""
    import msgspec

    data = escape_json(msgspec.json.encode(value))
    return (msgspec.json.format(data, indent=2) if indented else data) + b"\n"


def print_json(value: Any, *, indented: bool = True) -> None:
    """Print a value as JSON on standard output. Where types leave members out, give `service.report.sent.as_json`."""
    write_exactly(json_lines(value, indented=indented))


def write_out(content: bytes) -> None:
    """Write UTF-8 to standard output: as it is where a program reads, and cleaned on a terminal."""
    standard_output().write(content)
    sys.stdout.flush()


def standard_output() -> IO[bytes]:
    """Standard output for bytes in UTF-8, which come in pieces: as they are for a program, cleaned for a terminal."""
    return cast("IO[bytes]", _Cleaned()) if sys.stdout.isatty() else sys.stdout.buffer


class _Cleaned:
    """A terminal to which bytes are written; a character may begin in one piece and end in the next."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, piece: bytes) -> int:
        """Show a piece."""
        sys.stdout.write(clean(self._decoder.decode(piece).replace("\r\n", "\n")))
        return len(piece)

    def flush(self) -> None:
        """Show all that was written."""
        sys.stdout.write(clean(self._decoder.decode(b"", final=True)))
        sys.stdout.flush()


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """For a terminal that cannot show a character: the nearest that it can."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_IN_ASCII.get(c, "?") for c in error.object[error.start : error.end]), error.end


codecs.register_error("nearest", _nearest)
