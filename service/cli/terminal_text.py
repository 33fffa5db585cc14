"""Text that others wrote, made safe to print on a terminal.

Documents, questions and replies may hold escape sequences that move the cursor, rename the window or hide a line, and
characters that reverse the reading order. None of them is meant for a reader: they are taken out. A text that is
shortened keeps the marks of code in it (`service.report.marks`).
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from service.report.marks import CLOSE, MARK, OPEN, cut_marks

# CSI, OSC and the other string sequences whole, so that their letters do not stay behind as words.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_IN_ASCII = {"✓": "+", "✗": "x", "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "·": "-"}
_IN_ASCII |= {OPEN: "[[", CLOSE: "]]"}
# On a terminal that lacks a mark's brackets two square ones stand for each, so no text has two side by side.
_DOUBLED = re.compile(r"\[(?=\[)|\](?=\])")
# A short word before the full stop may be one that is cut short: No., Sec., Inc.
_SENTENCE = re.compile(r"(?:\w{4}|\d|[)\]”’\"'%])[.?!][)\]”’\"']*(?= [A-Z0-9“‘\"'(])")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def clean(text: str) -> str:
    """The text without terminal control, bidirectional and invisible characters; line ends stay, tabs become spaces."""
    plain = _SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\t", " ")
    seen = "".join(c for c in plain if c == "\n" or unicodedata.category(c) not in _UNSEEN)
    return _DOUBLED.sub(r"\g<0> ", seen)


def line(text: str) -> str:
    """The text cleaned and on one line."""
    return " ".join(clean(text).split())


def short(text: str, most: int) -> str:
    """The text on one line, cut between words when it is longer than ``most`` characters; the marks after it stay."""
    whole = line(text)
    if len(whole) <= most:
        return whole
    cut = whole[: most - 1]
    cut = cut.rsplit(" ", 1)[0] if " " in cut else cut
    opened = cut.rfind(OPEN)
    return _cut(whole, opened if opened > cut.rfind(CLOSE) else len(cut))


def first_sentence(text: str) -> str:
    """The first sentence on one line; with those after it where its end may be an abbreviation's; the marks stay."""
    whole = line(text)
    end = _SENTENCE.search(MARK.sub(lambda mark: "-" * len(mark[0]), whole))
    return _cut(whole, end.end(), "") if end else whole


def _cut(whole: str, length: int, end: str = "…") -> str:
    """The beginning of a line, and the marks in what is left out."""
    kept, marks = whole[:length].rstrip(" ,;:"), cut_marks(whole, length)
    return f"{kept}{end or ('…' if marks else '')}{f' {marks}' if marks else ''}"


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """For a terminal that cannot show a character: the nearest that it can."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_IN_ASCII.get(c, "?") for c in error.object[error.start : error.end]), error.end


codecs.register_error("nearest", _nearest)
