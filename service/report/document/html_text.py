"""A text as HTML: escaped, each mark of code an element of its own, and words from right to left kept to themselves."""

from __future__ import annotations

import re
from html import escape as escaped

from service.report.document.blocks import legible
from service.report.marks import pieces

_LEFTWARDS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHTWARDS = "A-Za-z\xaa\xb5\xba\xc0-\u02ff\u0370-\u058f\u0900-\u1fff\u2c00-\ud7ff\uf900-\ufb1c\uff21-\uffdc"
_RUN = re.compile(f"[{_LEFTWARDS}](?:[^<>&{_RIGHTWARDS}]*[{_LEFTWARDS}])?")
"""Words that are read from right to left, with the digits and signs between them."""


def escape(text: str) -> str:
    """A text, escaped so that an element shows it unchanged; only a mark becomes an element in it.

    What is read from right to left is isolated, so that it turns no word beside it.
    """
    return "".join(
        f'<mark dir="ltr">{escaped(piece)}</mark>' if is_mark else _isolated(escaped(piece))
        for piece, is_mark in pieces(legible(text))
    )


def escape_plain(text: str) -> str:
    """A text for a place that holds no elements, such as the title of a page."""
    return escaped(legible(text))


def _isolated(html: str) -> str:
    return _RUN.sub(r"<bdi>\g<0></bdi>", html)
