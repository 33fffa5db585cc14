"""Tables for people as CSV (RFC 4180) of which no spreadsheet runs a cell and no terminal obeys a character.

    what a cell holds                       what stands in the file
    a character that acts unseen            its number, such as [U+202E]
    a line break                            ⏎, so that each row is one line
    a tab                                   a blank
    = + - @, also in full width or small,   an apostrophe before it: a spreadsheet shows the cell as text
      at the beginning, or behind a comma,
      a semicolon or an upright line
    a plain number, such as -1.50           itself

Blanks and quotation marks before such a sign do not hide it. Programs of some countries take a semicolon for the
separator, so one inside a cell may begin another cell there. Such a table is for reading: the same texts stand exactly
in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from service.unseen import escape_json, visible

BREAK = "\u23ce"
"""What stands in a cell for a line break."""
_BREAKS = re.compile("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_SIGNS = "=+@\ufe62-\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20\u207a-\u207c\u208a-\u208c\u2212\ufb29-"
"""The signs that begin a formula, and those that Unicode folds to one of them."""
_MARK, _TWO_MARKS = '"', '""'
_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RUN = re.compile(
    rf"(?P<before>(?:^|[,;|])[\s\"]*)(?P<number>{_NUMBER}\s*(?=[,;|]|$))?(?P<sign>(?(number)|[{_SIGNS}]))"
)
_PLAIN_CELL = r"(?:[A-Za-z0-9][A-Za-z0-9 ._:/@+-]*+)?+"
_PLAIN = re.compile(rf"{_PLAIN_CELL}(?:\n{_PLAIN_CELL})*+")
"""Cells, one a line, in which `_safe` changes nothing: names, ids, hashes, times, numbers."""
_RUN_IN_JSON = re.compile(
    rf'(?P<before>[,;|][\s"\\]*)(?P<number>{_NUMBER}\s*(?=[\],;|}}]))?(?P<sign>(?(number)|[{_SIGNS}]))'
)


def csv_line(cells: Sequence[str], json: Container[int] = ()) -> bytes:
    """A line of texts. A line of cells that were read from such a line is that line again.

    At the places of ``json`` a cell is JSON: the same value, spelled so that it acts nowhere.
    """
    texts = "\n".join(["" if place in json else cell for place, cell in enumerate(cells)])
    plain = texts.count("\n") == len(cells) - 1 and _PLAIN.fullmatch(texts) is not None
    shown = [
        _quoted(_safe_json(cell)) if place in json else cell if plain else _quoted(_safe(cell))
        for place, cell in enumerate(cells)
    ]
    return f"{_TWO_MARKS if shown == [''] else ','.join(shown)}\r\n".encode()


def _quoted(cell: str) -> str:
    """A cell in quotation marks where it holds one or what separates cells or lines (RFC 4180, 2.6 and 2.7)."""
    if '"' in cell or "," in cell or "\n" in cell or "\r" in cell:
        return f'"{cell.replace(_MARK, _TWO_MARKS)}"'
    return cell


def _safe(cell: str) -> str:
    one_line = _BREAKS.sub(f" {BREAK} ", cell).strip(" ") if _BREAKS.search(cell) else cell
    return _RUN.sub(_as_text, visible(one_line.replace("\t", " ")))


def _as_text(found: re.Match[str]) -> str:
    if not found["sign"]:
        return found.group()
    if found["before"][:1] not in (",", ";", "|"):
        return f"'{found.group()}"
    return f"{found['before']}'{found['sign']}"


def _safe_json(json: str) -> str:
    """JSON with signs behind a separator escaped: they stand in strings, since outside of one a sign has a number."""
    plain = escape_json(json.encode()).decode()
    return _RUN_IN_JSON.sub(lambda found: f"{found['before']}{found['number'] or ''}{_escaped(found['sign'])}", plain)


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if sign else ""
