"""Views of a text: what a model makes of it, each with a map from its offsets to those of the stored text."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from service.checks.injection.characters import FOLDING, LOOK_ALIKE, LOOKING_ALIKE, fold, is_mixed
from service.checks.patterns import lazily


class Replaced(NamedTuple):
    """A stretch of a text, and what is read in its place."""

    start: int
    end: int
    by: str


class View:
    """A text that was made of another one, and the places of its characters there.

    ``hidden`` says how it is written in the stored text, where that is not in plain words.
    """

    def __init__(self, text: str, hidden: str = "", origin: View | None = None) -> None:
        self.text = text
        self.hidden: str = hidden or (origin.hidden if origin else "")
        self.origin = origin

    @property
    def root(self) -> str:
        """The stored text."""
        view = self
        while view.origin is not None:
            view = view.origin
        return view.text

    def within_origin(self, start: int, end: int) -> tuple[int, int]:
        """The span of the origin's text that a span of this text was made of."""
        return start, end

    def stored(self, start: int, end: int) -> tuple[int, int]:
        """The span of the stored text that a span of this text was made of."""
        view: View | None = self
        while view is not None and view.origin is not None:
            start, end = view.within_origin(start, end)
            view = view.origin
        return start, end


class Pieced(View):
    """A view in which stretches are replaced; between them it is the origin's text."""

    def __init__(self, origin: View, replaced: Iterable[Replaced]) -> None:
        pieces, at, length = list[str](), 0, 0
        self._starts, self._pieces = list[int](), list[tuple[int, int, int]]()
        for start, end, by in replaced:
            pieces += (origin.text[at:start], by)
            length += start - at
            self._starts.append(length)
            self._pieces.append((length + len(by), start, end))
            length, at = length + len(by), end
        pieces.append(origin.text[at:])
        super().__init__("".join(pieces), origin=origin)

    def within_origin(self, start: int, end: int) -> tuple[int, int]:
        return self._place(start, at_end=False), self._place(end - 1, at_end=True) if end > start else self._place(
            start, at_end=False
        )

    def _place(self, at: int, *, at_end: bool) -> int:
        n = bisect_right(self._starts, at) - 1
        if n < 0:
            return at + at_end
        made_until, start, end = self._pieces[n]
        if at < made_until:
            return end if at_end else start
        return end + at - made_until + at_end


class Region(View):
    """A view of what a stretch of its origin says as a whole, once it is decoded: every part of it is the stretch."""

    def __init__(self, origin: View, span: tuple[int, int], text: str, hidden: str) -> None:
        super().__init__(text, hidden, origin)
        self._span = span

    def within_origin(self, start: int, end: int) -> tuple[int, int]:
        return self._span


class Stretch(View):
    """A view with a character for each one of a stretch of its origin, in the same order or in the opposite one."""

    def __init__(self, origin: View, span: tuple[int, int], text: str, hidden: str, *, turned: bool = False) -> None:
        super().__init__(text, hidden, origin)
        self._span = span
        self._turned = turned

    def within_origin(self, start: int, end: int) -> tuple[int, int]:
        first, last = self._span
        return (last - end, last - start) if self._turned else (first + start, first + end)


def read_plainly(origin: View) -> View:
    """A view without case, accents, look-alike letters, escapes, and what breaks a word up or shows nothing."""
    view = _without_breaks(origin)
    if view.text.isascii():
        return Stretch(view, (0, len(view.text)), view.text.lower(), "")
    several = {c for c in set(view.text) if len(FOLDING[ord(c)]) != 1}
    if several:
        single = re.compile(f"[{re.escape(''.join(sorted(several)))}]")
        view = Pieced(view, (Replaced(*m.span(), FOLDING[ord(m.group())]) for m in single.finditer(view.text)))
    text = fold(view.text)
    if len(text) != len(view.text):  # a form that is itself folded to another length: no character has one today
        text = view.text.lower() if len(view.text.lower()) == len(view.text) else view.text
    if not LOOKING_ALIKE.isdisjoint(text) and _SIDE_BY_SIDE.search(text):
        text = _MIXED.sub(_unmixed, text)
    return Stretch(view, (0, len(view.text)), text, "")


def _without_breaks(origin: View) -> View:
    replaced = [Replaced(*match.span(), by) for match in _breaks(origin.text) if (by := _joined(match)) is not None]
    return Pieced(origin, replaced) if replaced else origin


def _breaks(text: str) -> Iterator[re.Match[str]]:
    """All that `_BREAK` finds in a text, which is tried only where it may begin.

    A match begins with one of the signs, with a hyphen before the end of a line, with a letter that stands alone before
    two others that do, or with one behind two blanks. Where nearly every character may begin one, it is tried at each.
    """
    signs = [expression for sign, expression in _SIGNS.items() if sign in text]
    starts = [match.start() for expression in signs for match in expression.finditer(text)]
    starts += [place - 1 for place in _spaced(text) if place]
    if "  " in text or "\t" in text:
        starts += [match.end() for match in _BEHIND_BLANKS.finditer(text)]
    if len(starts) * DENSE > len(text):
        yield from _BREAK.finditer(text)
        return
    at = 0
    for start in sorted(starts):
        if start >= at and (match := _BREAK.match(text, start)):
            yield match
            at = match.end()


def _spaced(text: str) -> Iterator[int]:
    """Where `_SPACED` finds something; in ASCII without underscores, which are both, sooner than by an expression."""
    if not text.isascii() or "_" in text:
        yield from (match.start() for match in _SPACED.finditer(text))
        return
    kinds = text.encode().translate(_SPACES)
    at = kinds.find(_APART)
    while at >= 0:
        yield at
        at = kinds.find(_APART, at + 1)


def _joined(match: re.Match[str]) -> str | None:
    text = match.group()
    match text[0]:
        case "&":
            return html.unescape(text)
        case "%":
            return _bytes(text.replace("%", ""))
        case "=":
            return _bytes(re.sub(r"[=\r\n]", "", text))
        case "\\":
            return chr(min(int(text[2:].strip("{}"), 16), 0x10FFFF))
        case "-" | "<":
            return ""
        case _:
            return "".join(text[::2])


def _bytes(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-8", "replace")


def _unmixed(match: re.Match[str]) -> str:
    return match.group().translate(LOOK_ALIKE) if is_mixed(match.group()) else match.group()


DENSE = 16
"""Where a break may begin at more than one in so many characters, each is tried."""
_SIGNS = {
    **{sign: lazily(re.escape(sign)) for sign in "&%=\\<"},
    "-": lazily(r"-[ \t]{0,8}\r?\n"),
}
"""By its first sign, an expression that begins with one character and no class, which `re` finds ten times as
fast. Whether a text holds a character is seen in a twentieth of that."""
_SPACED = lazily(r"[ .\u00b7_*-](?=\w[ .\u00b7_*-]\w[ .\u00b7_*-])")
_APART = b" a a "
_SPACES = bytes(ord("a" if chr(n).isalnum() else " " if chr(n) in " .*-" else "?") for n in range(256))
"""What stands where `_SPACED` matches, by a table for `bytes.translate`, in a text of ASCII without underscores."""
_BEHIND_BLANKS = lazily(r"[ \t](?<=[ \t]{2})(?=\w \w)")
_BREAK = lazily(
    r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}[0-9]{0,2});|(?:%[0-9a-f]{2})+|(?:=[0-9a-f]{2})+|=\r?\n"
    r"|\\u[0-9a-f]{4}|\\u\{[0-9a-f]{1,6}\}|\\x[0-9a-f]{2}"
    r"|(?<=\w)(?:<!--[^<>]{0,80}-->|</?(?:b|i|em|a|u|s|span|strong|font|wbr|small|sub|sup|mark|code|br)\b[^<>]{0,120}>){1,4}(?=\w)"
    r"|(?<=[^\W\d_])-[ \t]{0,8}\r?\n[ \t>]{0,8}(?=[^\W\d_])"
    r"|(?<![\w.*_\u00b7-])\w(?:[ .\u00b7_*-]\w(?!\w)){3,}|(?<=[ \t]{2})\w(?: \w){1,2}(?=[ \t]{2})",
    re.IGNORECASE,
)
_SIDE_BY_SIDE = lazily(r"[^\x00-\x7f](?:(?=[a-z])|(?<=[a-z].))", re.DOTALL)
"""What every word of `_MIXED` has: a Latin letter beside a character that is no letter of ASCII."""
_MIXED = lazily(r"\w{0,40}[a-z][^\W\x00-\x7f]\w{0,40}|\w{0,40}[^\W\x00-\x7f][a-z]\w{0,40}")
