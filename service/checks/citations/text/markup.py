"""A text of a reply without the disguises of its markup: Markdown and HTML in one plain notation, with the way back.

    &quot; &#67;              the characters that they stand for
    <b> <em> ** __ ~~ ==      `*`, the mark of emphasis
    <q> <blockquote>          quotation marks; <p> <li> <td> <h2> the line, item, cell or heading
    ``` ~~~ <pre>             `FENCE`, before and behind the block
    \u2033 \u275d \u00b4 << \u201c\u201c ""       one quotation mark: of an unusual form, or written twice
    \\* \\"                     the character that is escaped
    soft line breaks          a blank; tags and comments without a meaning, and invisible characters: nothing

Every place of the plain text has its place in the original. The work is linear.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from service.checks.patterns import lazily
from service.debate.neutral import INVISIBLE

FENCE = "\ue002"
"""What stands before and behind a block of code; a private character, of which no text keeps one."""

Span = tuple[int, int]

_EMPHASIS = "em i strong b u s strike del ins mark code tt kbd samp var cite small big sub sup dfn font"
_ROWS = "p div section article tr table thead tbody ul ol dl br hr body html"
_TAGS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(_EMPHASIS.split(), ("*", "*")),
    **dict.fromkeys(_ROWS.split(), ("\n", "\n")),
    **dict.fromkeys(("q", "quote"), ("\u201c", "\u201d")),
    "blockquote": ("\n\u201c", "\u201d\n"),
    **dict.fromkeys(("li", "dt", "dd"), ("\n- ", "")),
    **dict.fromkeys(("td", "th"), (" | ", "")),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), ("\n# ", "\n")),
    "pre": (FENCE, FENCE),
    **dict.fromkeys("a span abbr img wbr time data label center details summary figure figcaption".split(), ("", "")),
}
"""By the name of a tag, what stands for it where it opens and where it closes; any other is no tag but words."""
_FORMS = {
    **dict.fromkeys("\u275d\u201f\U0001f676", "\u201c"),
    **dict.fromkeys("\u275e\U0001f677", "\u201d"),
    **dict.fromkeys("\u275b\u2e42", "\u2018"),
    **dict.fromkeys("\u275c", "\u2019"),
    **dict.fromkeys("\u2033\u2036\u02ba\u02dd\u05f4\u3003\uff02\u02ee", '"'),
    **dict.fromkeys("\u2032\u2035\u00b4\u02b9\u05f3\uff07\u02ca\u02cb", "'"),
    **dict.fromkeys("\u300a\u27ea\u2e22", "\u00ab"),
    **dict.fromkeys("\u300b\u27eb\u2e23", "\u00bb"),
    **dict.fromkeys("\u3008\u27e8", "\u2039"),
    **dict.fromkeys("\u3009\u27e9", "\u203a"),
    "\uff1a": ":",
    "\ufe55": ":",
    "\u2236": ":",
    "<<": "\u00ab",
    ">>": "\u00bb",
}
"""By a quotation mark or colon of an unusual form, the usual one."""
_DOUBLE, _SINGLE = (
    '"\u201c\u201d\u201e\uff02\u2033\u275d\u275e\u201f',
    "'\u2018\u2019\u201a\u201b\u2032\u00b4\u275b\u275c",
)
_INVISIBLE = f"{INVISIBLE}\ue000-\uf8ff"
_TOKEN = lazily(
    r"(?P<comment><!--.{0,500}?-->|<!\[CDATA\[|\]\]>)"
    r"|<(?P<closing>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9]{0,15})(?:[\s/][^<>]{0,300})?>"
    r"|(?P<entity>&(?:[a-zA-Z]{2,10}|\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6});)"
    r"|^[ \t]{0,8}(?P<fence>`{3,}|~{3,})[^\n`]{0,40}$"
    rf"|(?P<doubled>[{_DOUBLE}]{{2,}}|[{_SINGLE}]{{2,}}|`{{2,}}|\u00ab{{2,}}|\u00bb{{2,}}|<<(?=\w)|(?<=[\w.,;:!?])>>)"
    r"|(?P<escaped>\\(?=[!-/:-@\[-`{-~]))"
    r"|(?P<emphasis>\*{2,}(?!\*)|~{1,2}(?!~)|={2}(?!=)|\^\^|(?<!_)__++(?=[^\W_])|(?<=[^\W_])__+|(?<=[.;:!?,)])__+"
    r"|(?<!\w)_(?=[^\W_])|(?<=[^\W_])_(?!\w)|(?<=[.;:!?,)])_(?!\w))"
    rf"|(?P<invisible>[{_INVISIBLE}]+)"
    rf"|(?P<form>[{''.join(key for key in _FORMS if len(key) == 1)}])"
    r"|(?P<soft>(?<=[^\s>|])[ \t]*\r?\n[ \t]{0,3}(?=[^\W_]|[\"'\u201c\u2018])(?!\d{1,3}[.)]\s|[a-z][.)]\s))",
    re.MULTILINE | re.DOTALL,
)
_ORDINARY = lazily(r"[A-Za-z0-9 .,;:!?()\[\]/%$+'\"-]*+")
"""Characters that no token has, unless a quotation mark is written twice."""
_PRIMES = frozenset("\u2032\u2033\u2035\u2036\u00b4\u02b9\u02ba\u02dd")


class Plain(NamedTuple):
    """A text in the plain notation; ``at`` are places in it and ``origin`` the same ones in the original, in order."""

    text: str
    at: tuple[int, ...]
    origin: tuple[int, ...]
    end: int

    def span(self, span: Span) -> Span:
        """A stretch of the plain text as a stretch of the original."""
        start, end = span
        return self._place(start), max(self._place(start), self._place(end - 1) + 1) if end > start else self._place(
            end
        )

    def _place(self, place: int) -> int:
        k = bisect_right(self.at, place) - 1
        following = self.origin[k + 1] - 1 if k + 1 < len(self.origin) else self.end
        return max(self.origin[k], min(self.origin[k] + place - self.at[k], following))


def plain(text: str) -> Plain:
    """A text in the plain notation."""
    if _ORDINARY.fullmatch(text) and '""' not in text and "''" not in text:
        return Plain(text, (0,), (0,), len(text))
    pieces, at, origin = list[str](), [0], [0]
    done = length = 0
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        instead = _INSTEAD[kind](found)
        kept = text[done : found.start()]
        pieces += (kept, instead)
        length += len(kept)
        at.append(length)
        origin.append(found.start())
        length += len(instead)
        done = found.end()
        at.append(length)
        origin.append(done)
    pieces.append(text[done:])
    return Plain("".join(pieces), tuple(at), tuple(origin), len(text))


def _of_tag(found: re.Match[str]) -> str:
    stands_for = _TAGS.get(found["tag"].lower())
    return stands_for[bool(found["closing"])] if stands_for else found.group()


def _of_form(found: re.Match[str]) -> str:
    char = found.group()
    before = found.string[found.start() - 1 : found.start()] if found.start() else ""
    return char if char in _PRIMES and before.isdigit() else _FORMS[char]


def _of_doubled(found: re.Match[str]) -> str:
    """One mark for several; nothing for an empty quotation: the field "" stays empty."""
    marks = found.group()
    before = found.string[found.start() - 1 : found.start()] if found.start() else " "
    after = found.string[found.end() : found.end() + 1] or " "
    if before.isspace() and not (after.isalnum() or after in "[(\u2026*_<"):
        return "" if marks[0] in _DOUBLE else marks
    if len(set(marks)) > 1 or marks[0] in "'`":
        return '"'
    return _FORMS.get(marks, _FORMS.get(marks[0], marks[0]))


def _of_soft(found: re.Match[str]) -> str:
    """A blank within a paragraph; a heading, a quoted line and a row end where their line ends."""
    line = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()].lstrip()
    return "\n" if line.startswith(("#", ">", "|", "`", "~")) else " "


def _nothing(_: re.Match[str]) -> str:
    return ""


def _fence(_: re.Match[str]) -> str:
    return FENCE


def _emphasis(_: re.Match[str]) -> str:
    return "*"


_INSTEAD: dict[str, Callable[[re.Match[str]], str]] = {
    "comment": _nothing,
    "tag": _of_tag,
    "entity": lambda found: html.unescape(found.group()),
    "fence": _fence,
    "doubled": _of_doubled,
    "escaped": _nothing,
    "emphasis": _emphasis,
    "invisible": _nothing,
    "form": _of_form,
    "soft": _of_soft,
}
