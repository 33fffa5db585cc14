"""Characters as a model reads them: one form for those that look alike, and none for those that show nothing.

Depends on `unicodedata`, and so on the Unicode version of the interpreter (14 in Python 3.11, 15 in 3.12 and 3.13), for
characters that it added: these have no compatibility form before.
"""

from __future__ import annotations

import unicodedata

TAGS = range(0xE0020, 0xE007F)
"""Unicode tag characters: invisible copies of the printable ones of ASCII."""
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ZERO_WIDTH = frozenset("\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u115f\u1160\u3164\uffa0\u034f")
SOFT_HYPHEN = "\u00ad"
LOOK_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u043a\u043c\u0442\u043d\u0432\u0433\u043f"
    "\u0438\u04cf\u0454\u044c\u03b1\u03b5\u03bf\u03c1\u03c5\u03c7\u03b9\u03ba\u03bd\u03c4\u03b7\u03b2\u03c9\u03f2\u03f3\u03b3"
    "\u03b4\u03c3\u03c2\u03bc\u0131\u0261\u0251\u028f\u1d04\u1d0f\u1d1c\u1d20\u1d21\u1d22\u0138\u043b\u0434\u0431\u0437\u0501\u057d\u0585",
    "aeopcyxijsdqwhkmthbrniiebaeopuxikvtnbwcjydoouigaycouvwzkldb3dso",
)
"""Letters of Greek, Cyrillic and others, folded, by the Latin letter that they are taken for within a Latin word."""
LOOKING_ALIKE = frozenset(map(chr, LOOK_ALIKE))
"""These letters."""
LEET = str.maketrans("0134578@$!|+", "oieastbasiit")
LEET_L = str.maketrans("0134578@$!|+", "oleastbaslit")
"""Digits and signs by the letters that they stand for; a one is an i or an l."""


class Folding(dict[int, str]):
    """What is read for each code point, worked out when it is first met. At most as long as Unicode is."""

    def __missing__(self, point: int) -> str:
        self[point] = read = _read(chr(point))
        return read


def _read(character: str) -> str:
    if ord(character) in TAGS:
        return chr(ord(character) - 0xE0000).lower()
    if character in ZERO_WIDTH or character in BIDI or character == SOFT_HYPHEN:
        return ""
    if character in "\u2018\u2019\u02bc\u00b4\u2032\uff07":
        return "'"
    kind = unicodedata.category(character)
    if kind in ("Cf", "Mn", "Me"):
        return ""
    if kind.startswith("Z") or character in "\u0085\u2028\u2029":
        return "\n" if character in "\u0085\u2028\u2029" else " "
    if is_ideographic(character):
        return unicodedata.normalize("NFKC", character).casefold()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(c for c in apart if unicodedata.category(c) not in ("Mn", "Cf"))


FOLDING = Folding()


def fold(text: str) -> str:
    """A text without case, accents, look-alike forms of the same letter and characters that show nothing."""
    return text.lower() if text.isascii() else text.translate(FOLDING)


def is_ideographic(character: str) -> bool:
    """Whether a character is of a script that is written without borders between words."""
    return "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or "\uff66" <= character <= "\uff9f"


def is_mixed(word: str) -> bool:
    """Whether a folded word has Latin letters beside others that look like Latin ones."""
    return not word.isascii() and word.translate(LOOK_ALIKE).isascii() and any("a" <= c <= "z" for c in word)
