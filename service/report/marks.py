"""Marks of code in a text: words in brackets that no other text of a page can hold.

A mark stands beside the words that it is about: ``"no limit" ⟦not in any document⟧``. In every other text of the page
these brackets are shown as plain square ones (`neutral`), so that no reply, name or document can fake a mark or end
one early. Both functions change texts only for display: records and JSON keep them as they were written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

OPEN, CLOSE = "\u27e6", "\u27e7"
MARK = re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}")
"""A mark in a text that was made neutral before marks were placed in it."""

_PLAIN = str.maketrans({OPEN: "[", CLOSE: "]", "\u301a": "[", "\u301b": "]"})
_PLACED = re.compile(f" {MARK.pattern}")
_QUOTE_ENDS = re.compile("(?:''|['\u2018\u2019](?!\\w)|[\"`\u201a-\u201f\u00ab\u00bb\u2039\u203a\u300d\u300f])")
"""The end of a quotation, which a mark follows."""
_WORD_GOES_ON = re.compile("(?<=\\w)['\u2019]?\\w+")

Span = tuple[int, int]
T = TypeVar("T")


def neutral(text: str) -> str:
    """The text with plain square brackets in the place of a mark's and of those that look alike; as long as before."""
    return text.translate(_PLAIN)


def neutral_texts(value: T) -> T:
    """A value with every text in it neutral, names of members too; the very same object if none is another."""
    new: Any = value
    match value:
        case str():
            new = neutral(value)
            return value if new == value else new
        case tuple() | list():
            new = type(value)(map(neutral_texts, value))
            return value if all(a is b for a, b in zip(value, new, strict=True)) else new
        case dict():
            return type(value)((neutral_texts(name), neutral_texts(one)) for name, one in value.items())
        case Struct():
            old = {name: getattr(value, name) for name in value.__struct_fields__}
            changes = {name: new for name, one in old.items() if (new := neutral_texts(one)) is not one}
            return replace(value, **changes) if changes else value
        case _:
            return value


def place(text: str, marks: Iterable[tuple[Span, str]]) -> str:
    """The text with a mark after each span, behind the quotation mark that ends it.

    ``marks`` are spans of the text in code points, end exclusive, each with the words of its mark; spans may nest,
    overlap and stand in any order. The text and the words are made neutral. The same words are said once at one place.
    A span beyond the text has its mark at the end: no mark is lost.
    """
    plain = neutral(text)
    at: dict[int, list[str]] = {}
    for (_, end), words in marks:
        mark = f" {OPEN}{neutral(words)}{CLOSE}"
        said = at.setdefault(_after(plain, min(max(end, 0), len(plain))), [])
        if mark not in said:
            said.append(mark)
    parts, done = [], 0
    for end, said in sorted(at.items()):
        parts += [plain[done:end], *said]
        if unicodedata.category(plain[end : end + 1] or " ").startswith("M"):
            parts.append(" ")  # an accent joins the character before it, and that is no longer the text's own
        done = end
    return "".join([*parts, plain[done:]])


def _after(text: str, end: int) -> int:
    """Where the mark of a span stands: behind the quotation mark or the word in which the span ends."""
    if quote := _QUOTE_ENDS.match(text, end):
        return quote.end()
    word = _WORD_GOES_ON.match(text, end)
    return word.end() if word else end


def without_marks(text: str) -> str:
    """The text as it was before marks were placed in it; for comparisons."""
    return _PLACED.sub("", text)


def pieces(text: str) -> list[tuple[str, bool]]:
    """The text in its order as pieces, each with whether it is a mark; no piece is empty."""
    found, done = [], 0
    for match in MARK.finditer(text):
        found += [(text[done : match.start()], False), (match.group(), True)]
        done = match.end()
    return [(piece, is_mark) for piece, is_mark in [*found, (text[done:], False)] if piece]


def cut_marks(whole: str, kept: int) -> str:
    """The marks after the first ``kept`` characters, each once: they stay where a text is shortened."""
    return " ".join(dict.fromkeys(match.group() for match in MARK.finditer(whole, kept)))
