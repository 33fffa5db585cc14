"""The text of a PDF that Typst wrote, as a reader copies it, and the font in which each piece is set."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_OBJECT = re.compile(rb"(\d+) 0 obj(.*?)endobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*)endstream", re.DOTALL)
_TEXT = re.compile(rb"\bBT\b(.*?)\bET\b", re.DOTALL)
_SHOWN = re.compile(rb"/(f\d+) [\d.]+ Tf|\((?:\\.|[^\\()])*\)", re.DOTALL)
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_PAGE = re.compile(rb"/Type/Page/Resources (\d+) 0 R.*?/Contents (\d+) 0 R")
_FONT = re.compile(rb"/(f\d+) (\d+) 0 R")
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def pieces(pdf: bytes) -> Iterator[tuple[str, str]]:
    """Each piece of text page by page, with the name of its font; lines end without a blank."""
    return ((text, font) for text, font, _ in _placed(pdf))


def pages_of(pdf: bytes) -> list[str]:
    """The text of each page without blanks."""
    found: dict[int, str] = {}
    for text, _, page in _placed(pdf):
        found[page] = found.get(page, "") + "".join(text.split())
    return list(found.values())


def _placed(pdf: bytes) -> Iterator[tuple[str, str, int]]:
    objects = {int(n): body for n, body in _OBJECT.findall(pdf)}
    for page, (resources, contents) in enumerate(_PAGE.findall(pdf)):
        fonts = {name: objects[int(at)] for name, at in _FONT.findall(objects[int(resources)])}
        font, letters = "", dict[int, str]()
        for text in _TEXT.findall(_decoded(objects[int(contents)])):
            for shown in _SHOWN.finditer(text):
                if shown[1]:
                    font, letters = _font(objects, fonts[shown[1]])
                    continue
                codes = _ESCAPED.sub(_unescaped, shown[0][1:-1])
                yield "".join(letters[int.from_bytes(codes[i : i + 2])] for i in range(0, len(codes), 2)), font, page


def _unescaped(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 8)]) if len(found[1]) == 3 else _LETTERS.get(found[1], found[1])


def text_of(pdf: bytes) -> str:
    """The whole text without blanks, because lines of a PDF end without one."""
    return "".join("".join(text for text, _ in pieces(pdf)).split())


def _decoded(body: bytes) -> bytes:
    found = _STREAM.search(body)
    if not found:
        return b""
    return zlib.decompress(found[1]) if b"/FlateDecode" in body else found[1]


def _font(objects: dict[int, bytes], body: bytes) -> tuple[str, dict[int, str]]:
    """The name of a font, and its letters by code."""
    map_at = re.search(rb"/ToUnicode (\d+) 0 R", body)
    named = re.search(rb"/BaseFont/([^/\s<>]+)", body)
    assert map_at
    assert named
    codes = re.findall(rb"<([0-9A-F]{4})> <((?:[0-9A-F]{4})+)>\n", _decoded(objects[int(map_at[1])]))
    return named[1].decode(), {int(code, 16): bytes.fromhex(to.decode()).decode("utf-16-be") for code, to in codes}
