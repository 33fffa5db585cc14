"""Text that others wrote, made safe to print on a terminal.

Documents, questions and replies may hold escape sequences that move the cursor, rename the window or hide a line, and
characters that reverse the reading order. None of them is meant for a reader: they are taken out.
"""

from __future__ import annotations

import codecs
import re
import sys
import unicodedata

# CSI, OSC and the other string sequences whole, so that their letters do not stay behind as words.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_IN_ASCII = {"✓": "+", "✗": "x", "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "·": "-"}
# For the brackets of a mark (`service.report.marks`) two square ones stand there, so no text has two side by side.
_IN_ASCII |= {"\u27e6": "[[", "\u27e7": "]]"}
_DOUBLED = re.compile(r"\[(?=\[)|\](?=\])")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def clean(text: str) -> str:
    """The text without terminal control, bidirectional and invisible characters; line ends stay, tabs become spaces."""
    plain = _SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\t", " ")
    seen = "".join(c for c in plain if c == "\n" or unicodedata.category(c) not in _UNSEEN)
    return _DOUBLED.sub(r"\g<0> ", seen)


def line(text: str) -> str:
    """The text cleaned and on one line."""
    return " ".join(clean(text).split())


def write_out(content: bytes) -> None:
    """Write UTF-8 to standard output: as it is where a program reads, and cleaned on a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(clean(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)
    sys.stdout.flush()


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """For a terminal that cannot show a character: the nearest that it can."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_IN_ASCII.get(c, "?") for c in error.object[error.start : error.end]), error.end


codecs.register_error("nearest", _nearest)
