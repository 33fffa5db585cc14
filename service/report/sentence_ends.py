"""Where the sentences of a text on one line end.

    after                                       a full stop, question or exclamation mark ends a sentence
    a word                                      if white space and something other than a small letter follow
    an abbreviation ("e.g.", "Inc.", "z. B.")   never
    "No.", "Art.", "Nr.", ...                   unless a number follows
    one letter                                  only of what is named by letters ("Option B.")
    a number                                    unless it begins the text, or is a day of a month ("am 1. Januar")
    an opening bracket or quotation mark        not before it is closed, if it ever is
    Chinese and Japanese full stops             at once, unless what is quoted goes on ("...。」と")

In doubt there is no end: a sentence may be too long, and is never cut short. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

_CLOSERS = ")\\]”’\"'»«“」』）】"
_STOP = re.compile(f"(?:[.?!؟।]+[{_CLOSERS}]*(?=\\s|$))|(?:[。！？｡]+[{_CLOSERS}]*)")
_WIDE = frozenset("。！？｡")
_GOES_ON = re.compile(r"[\u3041-\u309f]")
_WORD = re.compile(r"[^\s(\[“„‘\"'«]+$")
_NEXT = re.compile(r"\s*(\S*)")
_OPENERS = frozenset("(“„‘\"'«[「『")

_ALWAYS = frozenset(
    """approx ca cf cl cls co corp dept dr e.g eg etc excl ggf gem i.e ie inc incl inkl jr llc ltd mio mr mrd
    mrs ms para paras plc prof resp sec secs sog sr st usw vgl vs viz zzgl bspw bzw evtl d.h u.a z.b u.s u.k
    e.u a.m p.m s.a abb abschn jan feb mar apr aug sep sept oct okt nov dec dez""".split()
)
_BEFORE_NUMBERS = frozenset("abs app art arts ch ex fig figs lit max min no nos nr p pp rn s tab vol ziff".split())
_LETTERED = re.compile(
    r"\b(?:alternative|annex|appendix|class|debater|exhibit|model|option|party|phase|plan|point|position|schedule|scenario"
    r"|segment|stage|tier|variant|version|anhang|anlage|klasse|partei|variante)s?\s+$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"[\d§(]|[IVXLC]+\b|[A-Z]\d|[A-Z]\b")
_DAY = re.compile(r"(?:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec)\w*", re.IGNORECASE)
_DATED = re.compile(r"\b(?:am|ab|bis|vom|zum|seit|der|des|dem|den|die|das|im)\s+$", re.IGNORECASE)
_PAIRS = (("(", ")"), ("[", "]"), ("「", "」"), ("『", "』"), ("“", "”"))
_PAIRED = frozenset('"„' + "".join(a + b for a, b in _PAIRS))
_LONGEST_WORD = 60
"""How many characters before a full stop are read."""


def ends_of(line: str) -> Iterator[int]:
    """Where sentences end before the end of a line, as places behind their stops and what closes them.

    What comes after an end is not read before the next one is asked for.
    """
    found = list[int]()
    closed = False
    for end in _closed(line, _stops(line, found)):
        closed = True
        yield end
    if not closed:
        yield from found


def _stops(line: str, found: list[int]) -> Iterator[int]:
    """Where sentences end, whatever is open; those that were read are in ``found``."""
    for stop in _STOP.finditer(line):
        if stop.end() < len(line) and _ends(line, stop):
            found.append(stop.end())
            yield stop.end()


def _ends(line: str, stop: re.Match[str]) -> bool:
    after = line[stop.end() : stop.end() + _LONGEST_WORD]
    if stop[0][0] in _WIDE:
        return not (len(stop[0]) > 1 and stop[0][-1] not in _WIDE and _GOES_ON.match(after))
    following = _NEXT.match(after)
    word = following[1] if following else ""
    if not word or not _begins(word):
        return False
    return (
        _ends_at_full_stop(line[max(0, stop.start() - _LONGEST_WORD) : stop.start()], word)
        if stop[0].startswith(".")
        else True
    )


def _begins(word: str) -> bool:
    """Whether a word may begin a sentence: a capital, a figure, a letter of a script without capitals, a quote."""
    first = word[0]
    return (first.isalnum() and not first.islower()) or first in _OPENERS or first in "$€£¥§"


def _ends_at_full_stop(before: str, following: str) -> bool:
    found = _WORD.search(before)
    if found is None:
        return True  # a full stop behind a bracket or a quotation mark
    word, lead = found[0].casefold(), before[: found.start()]
    if word in _ALWAYS or word.endswith("."):
        return False
    if word in _BEFORE_NUMBERS:
        return not _NUMBERED.match(following)
    if word.isdigit():
        day = len(word) < 3 and bool(_DAY.fullmatch(following.rstrip(".,;:")) or _DATED.search(lead))
        return bool(lead.strip()) and not day
    if len(word) == 1 and word.isalpha():
        return bool(_LETTERED.search(lead)) or not word.isascii()
    return not re.fullmatch(r"(?:[^\W\d]\.)+[^\W\d]", word)


def _closed(line: str, ends: Iterable[int]) -> Iterator[int]:
    """Of these ends, those before which every bracket and quotation mark that opens closes."""
    seen: Counter[str] = Counter()
    start = 0
    for end in ends:
        part = line[start:end]
        if not _PAIRED.isdisjoint(part):
            seen.update(c for c in part if c in _PAIRED)
        start = end
        german = seen["„"] > 0
        open_ = [a for a, b in _PAIRS if seen[a] > seen[b] and not (a == "“" and german)]
        if not open_ and seen["„"] <= seen["“"] + seen["”"] and seen['"'] % 2 == 0:
            yield end
