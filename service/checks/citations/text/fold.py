"""Fold a text so that two printings of the same words are equal, and keep the origin of every folded piece.

    in the text                                            folded
    a run of white space, also with zero widths inside     one space
    what may be kept from models (`service.debate.neutral`)  nothing: zero widths, selectors, controls, fillers
    curly, low, angle, prime, backtick quotation marks     ' or "
    hyphens, en, em and figure dashes, minus               -
    upper case                                             lower case (full case folding, but ß stays ß: Maße, Masse)
    ligatures, full width, other compatibility forms       their plain form (NFKC)
    letter with combining marks, Hangul jamo               composed (NFC)
    superscripts, subscripts, fractions, circled numbers   themselves: 30¹ is not 301, 5½ is not 51/2
    bidirectional overrides and isolates                   themselves: a reader would see another text; those that no
                                                           model reads are left out of the source alone (`judge`)

The unit is a cluster (a character and the marks that follow it), so a text folds to the same string in every context.
A run in which each character becomes one character is one segment. Any other cluster is a segment of its own that
cannot be cut. A segment has some hundred characters, so 5 MB fold in less than a second.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from service.checks.patterns import lazily
from service.debate.neutral import INVISIBLE_CHARACTERS, pieces_of

_MARKS_OF_PRINT = {
    **dict.fromkeys("‘’‚‛′`´‹›＇ʼ", "'"),
    **dict.fromkeys("“”„‟«»″〝〞〟＂", '"'),
    **dict.fromkeys("‐‑‒–—―−⁃﹘﹣－", "-"),
}
_PRINT = str.maketrans(_MARKS_OF_PRINT)
_DROPPED = INVISIBLE_CHARACTERS
_MOST_MARKS = 30
"""The most marks in one cluster, as in Unicode's Stream-Safe Text Format (UAX #15): ordering n marks costs n² steps."""
_KEPT_FORMS = ("<super>", "<sub>", "<fraction>", "<circle>")
_RUNS = lazily(r"[\0-\x7f]+|[^\0-\x7f]+")
"""The runs of a text, of ASCII and of other characters."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Folded:
    """A text, its folded form, and the segments that map one to the other.

    Segment ``k`` is the folded text from ``starts[k]`` to ``starts[k + 1]`` and the original from ``origins[k]`` to
    ``ends[k]``, in code points. Original text between two segments folds to nothing.
    """

    original: str
    text: str
    starts: array[int]
    origins: array[int]
    ends: array[int]
    whole: bytearray
    """1 where a segment must not be cut."""

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The original's code points behind a non-empty folded stretch, or ``None`` if it cuts a segment in two."""
        k = bisect_right(self.starts, start) - 1
        into = start - self.starts[k]
        if into and self.whole[k]:
            return None
        last = bisect_right(self.starts, end - 1) - 1
        if not self.whole[last]:
            return self.origins[k] + into, self.origins[last] + end - self.starts[last]
        upto = self.starts[last + 1] if last + 1 < len(self.starts) else len(self.text)
        return (self.origins[k] + into, self.ends[last]) if end == upto else None

    def reach(self, start: int, end: int) -> tuple[int, int]:
        """The least stretch of the original that holds all of a non-empty folded stretch."""
        k = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        first = self.origins[k] + (0 if self.whole[k] else start - self.starts[k])
        return first, self.ends[last] if self.whole[last] else self.origins[last] + end - self.starts[last]

    def printed(self, at: int) -> str:
        """The original character that a folded character came from (the first of its cluster)."""
        k = bisect_right(self.starts, at) - 1
        return self.original[self.origins[k] + (0 if self.whole[k] else at - self.starts[k])]

    def offset(self, origin: int) -> int:
        """The folded offset that is nearest to an offset of the original; accepts any integer."""
        k = bisect_right(self.origins, origin) - 1
        if k < 0:
            return 0
        upto = self.starts[k + 1] if k + 1 < len(self.starts) else len(self.text)
        return int(min(upto, self.starts[k] + (0 if self.whole[k] else origin - self.origins[k])))


def fold(text: str) -> Folded:
    """Fold a text; callers keep the result while quotations are checked against it."""
    even = _even(text)
    pieces: list[str] = []
    origins, ends, whole = array("L"), array("L"), bytearray()

    def add(piece: str, origin: int, end: int, uncut: int) -> None:
        pieces.append(piece)
        origins.append(origin)
        ends.append(end)
        whole.append(uncut)

    done = 0
    for match in _uneven(even):
        start, end = match.span()
        if start > done:
            add(even[done:start], done, start, 0)
        if piece := _fold_uneven(text[start:end]):
            add(piece, start, end, 1)
        done = end
    if done < len(text):
        add(even[done:], done, len(text), 0)
    starts = array("L", accumulate(map(len, pieces[:-1]), initial=0)) if pieces else array("L")
    return Folded(text, "".join(pieces), starts, origins, ends, whole)


def _even(text: str) -> str:
    """The text with each character as it folds where it folds to one, and a sign of its kind where it does not."""
    if text.isascii():
        return text.translate(_OF_ASCII)
    # A run of ASCII takes a tenth of what the same characters take beside others.
    runs = [run for piece in pieces_of(text) for run in ((piece,) if piece.isascii() else _RUNS.findall(piece))]
    table = _OF_ASCII | _table(frozenset("".join([run for run in runs if not run.isascii()])))
    return "".join([run.translate(table) for run in runs])


class _Sign:
    """What stands in an even text for a character that is dropped, that joins the one before it, or that folds to
    several. No character folds to one of them, because control characters are dropped."""

    dropped, mark, longer = "\0\1\2"


# The clusters of an even text that do not fold one to one: where there is nothing but white space to fold, as in most
# texts; where there are no marks; in any text. Every alternative consumes its lookahead, or has a bounded one, so that
# a scan is linear.
_TO_A_MARK = rf"[{_Sign.dropped}{_Sign.mark}]{{0,{_MOST_MARKS}}}{_Sign.mark}"
_OF_SPACES = lazily(r"  +")
_OF_NO_MARKS = lazily(rf" [ {_Sign.dropped}]+|{_Sign.dropped}[ {_Sign.dropped}]*|{_Sign.longer}")
_OF_ANY = lazily(
    rf"[ {_Sign.dropped}]{{2,}}|{_Sign.dropped}"
    rf"|[^ {_Sign.dropped}{_Sign.mark}]{_TO_A_MARK}|{_Sign.mark}(?:{_TO_A_MARK})?|{_Sign.longer}"
)


def _uneven(even: str) -> Iterator[re.Match[str]]:
    """The clusters of an even text that do not fold one to one."""
    if _Sign.mark in even:
        return _OF_ANY.finditer(even)
    simple = _Sign.dropped not in even and _Sign.longer not in even
    return (_OF_SPACES if simple else _OF_NO_MARKS).finditer(even)


def _table(characters: Iterable[str]) -> dict[int, str]:
    """What stands in an even text for these characters, where it is not themselves."""
    table: dict[int, str] = {}
    for c in characters:
        if c in _DROPPED:
            table[ord(c)] = _Sign.dropped
        elif _is_plain(c):
            continue
        elif c.isspace():
            table[ord(c)] = " "
        elif _is_mark(c):
            table[ord(c)] = _Sign.mark
        else:
            plain = _fold_cluster(c)
            table[ord(c)] = plain if len(plain) == 1 else _Sign.longer
    return table


def _is_plain(c: str) -> bool:
    """Whether a character certainly folds to itself: checked first, because a hostile text may hold every character."""
    if c in _MARKS_OF_PRINT or c.isspace() or not unicodedata.normalize("NFKD", c) == c == c.casefold():
        return False
    return not _is_mark(c)


def _is_mark(c: str) -> bool:
    """Whether a character may join the one before it: combining marks, and Hangul's vowels and final consonants."""
    first = unicodedata.normalize("NFKD", c)[0]
    return unicodedata.category(first)[0] == "M" or unicodedata.combining(first) > 0 or "\u1160" <= first <= "\u11ff"


def _fold_uneven(piece: str) -> str:
    if piece[0].isspace() or piece[-1].isspace() or any(map(str.isspace, piece)):
        return " "
    return _fold_short(piece) if len(piece) <= 16 else _fold_cluster(piece)


def _fold_cluster(cluster: str) -> str:
    plain = "".join(_plain(c) for c in cluster if c not in _DROPPED)
    return unicodedata.normalize("NFC", _lower(plain)).translate(_PRINT)


_fold_short = lru_cache(maxsize=1 << 14)(_fold_cluster)  # texts repeat a few hundred short clusters


def _plain(c: str) -> str:
    """A character's compatibility form, unless that form would read as another number or gain a space."""
    if c in _MARKS_OF_PRINT:
        return _MARKS_OF_PRINT[c]
    if c == "№":  # its plain form is a negation
        return c
    plain = unicodedata.normalize("NFKC", c)
    if plain == c or unicodedata.decomposition(c).startswith(_KEPT_FORMS) or any(map(str.isspace, plain)):
        return c
    return plain if c.isdecimal() or not any(map(str.isnumeric, plain)) else c


def _lower(text: str) -> str:
    return "ß".join(part.casefold() for part in text.replace("ẞ", "ß").split("ß"))


_OF_ASCII = _table(map(chr, range(128)))
