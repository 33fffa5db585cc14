"""Stretches of a text that say something once they are decoded."""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Iterator

from service.checks.injection.concepts import ROT13
from service.checks.injection.views import Region, Stretch, View
from service.checks.patterns import lazily

PRINTABLE_MIN = 90
"""The least percentage of printable characters by which decoded bytes are a text."""
LETTERS_MIN = 8
"""The fewest letters of a decoded text that is read."""
_BASE64 = lazily(r"[A-Za-z0-9+/_-]{16,}(?:[ \t]{0,4}\r?\n[ \t>]{0,8}[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEX = lazily(r"(?<![0-9A-Za-z])(?:(?:0x)?[0-9A-Fa-f]{2}(?:[ :,]{1,2}|\r?\n[ \t]{0,8})?){12,}(?![0-9A-Za-z])")


def _table(digits: str) -> bytes:
    """A table for `bytes.translate` that makes a zero of each of these digits, and nothing else one."""
    return bytes(ord("0" if chr(n) in digits else ".") for n in range(256))


_BASE64_DIGITS, _OF_BASE64 = _table(f"{string.ascii_letters}{string.digits}+/_-"), b"0" * 16
"""What every match of `_BASE64` holds: so many digits in a row."""
_HEX_DIGITS, _OF_HEX, _BETWEEN_DIGITS = _table(f"{string.hexdigits}xX"), b"0" * 24, b" :,\r\n\t"
"""What every match of `_HEX` holds once nothing stands between digits: so many of them, or an x, in a row."""


def decoded(origin: View) -> Iterator[View]:
    """What base64 and hexadecimal stretches say, where it is a text."""
    signs = origin.text.encode("ascii", "replace")  # other characters as a question mark, which is in no stretch
    for match in _HEX.finditer(origin.text) if _OF_HEX in signs.translate(_HEX_DIGITS, _BETWEEN_DIGITS) else ():
        digits = re.sub("0x|[^0-9A-Fa-f]", "", match.group())
        if len(digits) % 2 == 0 and (text := _text(bytes.fromhex(digits))):
            yield Region(origin, match.span(), text, origin.hidden or "hex")
    for match in _BASE64.finditer(origin.text) if _OF_BASE64 in signs.translate(_BASE64_DIGITS) else ():
        if text := _unbased(match.group()):
            yield Region(origin, match.span(), text, origin.hidden or "base64")


def turn(plain: View, span: tuple[int, int]) -> View:
    """What a stretch of a view says from its end to its beginning."""
    return Stretch(plain, span, plain.text[slice(*span)][::-1], plain.hidden or "reversed", turned=True)


def rotate(plain: View, span: tuple[int, int]) -> View:
    """What a stretch of a view says with each letter thirteen further."""
    return Stretch(plain, span, plain.text[slice(*span)].translate(ROT13), plain.hidden or "rot13")


def _unbased(written: str) -> str | None:
    digits = re.sub(r"[\s>=]", "", written).replace("-", "+").replace("_", "/")
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    try:
        return _text(base64.b64decode(digits + "=" * (-len(digits) % 4)))
    except binascii.Error:
        return None


def _text(said: bytes) -> str | None:
    """Bytes as a text, or nothing where they are none."""
    wide = said.count(0) * 3 > len(said)
    try:
        text = said.decode("utf-16-le" if wide and len(said) % 2 == 0 else "utf-8")
    except UnicodeDecodeError:
        return None
    shown = sum(map(str.isprintable, text)) + text.count("\n")
    letters = sum(map(str.isalpha, text))
    return text if shown * 100 >= PRINTABLE_MIN * len(text) and letters >= LETTERS_MIN else None
