"""Texts in fewer words: cut between words, or after the first sentence. The marks of code in them stay."""

from __future__ import annotations

import re

from service.report.marks import CLOSE, MARK, OPEN, cut_marks

# A short word before the full stop may be one that is cut short: No., Sec., Inc.
_SENTENCE = re.compile(r"(?:\w{4}|\d|[)\]”’\"'%])[.?!][)\]”’\"']*(?= [A-Z0-9“‘\"'(])")


def short(text: str, most: int) -> str:
    """The text on one line, cut between words when it is longer than ``most`` characters; the marks after it stay."""
    whole = " ".join(text.split())
    if len(whole) <= most:
        return whole
    cut = whole[: most - 1]
    cut = cut.rsplit(" ", 1)[0] if " " in cut else cut
    opened = cut.rfind(OPEN)
    return _cut(whole, opened if opened > cut.rfind(CLOSE) else len(cut))


def first_sentence(text: str) -> str:
    """The first sentence on one line; with those after it where its end may be an abbreviation's; the marks stay."""
    whole = " ".join(text.split())
    end = _SENTENCE.search(MARK.sub(lambda mark: "-" * len(mark[0]), whole))
    return _cut(whole, end.end(), "") if end else whole


def _cut(whole: str, length: int, end: str = "…") -> str:
    """The beginning of a line, and the marks in what is left out."""
    kept, marks = whole[:length].rstrip(" ,;:"), cut_marks(whole, length)
    return f"{kept}{end or ('…' if marks else '')}{f' {marks}' if marks else ''}"
