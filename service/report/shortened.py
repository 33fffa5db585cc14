"""Texts in fewer words: cut between words. The marks of code in them stay."""

from __future__ import annotations

import re
import unicodedata

from service.report.marks import CLOSE, OPEN, cut_marks

_LATIN = re.compile(r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""A character of a script that puts white space between words, or of a number."""
_KATAKANA = re.compile(r"[\u30a1-\u30ff]{2}")
_TIED = frozenset("\u200d\ufe0e\ufe0f")


def short(text: str, most: int) -> str:
    """The text on one line, cut between words when it is longer than ``most`` characters; the marks after it stay.

    A number whose groups stand apart ("5 000 000") is one word. Scripts without white space between words are cut
    between characters. A single word that is longer than ``most`` is cut within.
    """
    whole = " ".join(text.split())
    if len(whole) <= most:
        return whole
    length = next((at for at in range(most - 1, 0, -1) if _between(whole, at)), most - 1)
    cut = whole[:length]
    opened = cut.rfind(OPEN)
    return _cut(whole, opened if opened > cut.rfind(CLOSE) else length)


def _between(text: str, at: int) -> bool:
    """Whether a text may be cut before this character."""
    before, after = text[at - 1], text[at]
    if after == " ":
        return not (before.isdigit() and text[at + 1 : at + 2].isdigit())
    if unicodedata.category(after).startswith(("M", "P")) or after in _TIED or before in _TIED:
        return False
    wide = after.isalnum() and not _LATIN.match(after) and not before.isascii()
    return wide and not before.isspace() and not _KATAKANA.match(before + after)


def _cut(whole: str, length: int) -> str:
    """The beginning of a line, and the marks in what is left out."""
    kept, marks = whole[:length].rstrip(" ,;:"), cut_marks(whole, length)
    return f"{kept}…{f' {marks}' if marks else ''}"
