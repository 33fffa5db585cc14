"""A text as HTML: escaped, and each mark of code an element of its own."""

from __future__ import annotations

from html import escape as escaped

from service.report.document.blocks import legible
from service.report.marks import pieces


def escape(text: str) -> str:
    """A text, escaped so that an element shows it unchanged; only a mark becomes an element in it."""
    return "".join(
        f'<mark dir="ltr">{escaped(piece)}</mark>' if is_mark else escaped(piece)
        for piece, is_mark in pieces(legible(text))
    )
