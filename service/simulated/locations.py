"""The names of a place in a document, for a sentence and for a citation."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_NUMBERED = re.compile(
    r"^(?P<num>(?:Section |§ |Article |ARTICLE |Annex |"
    r"ANNEX "
    r")?[A-Z]?\d+[A-Za-z]?(?:\.\d+)*(?:\([A-Za-z0-9]+\))*)\.?(?:[\s:]+(?P<rest>.+))?$"
)
_GENERIC = frozenset(
    "context decision consequences status overview introduction background summary note notes general scope".split()
)
_EMPTY = frozenset("agreement|contract|terms|terms and conditions|general|miscellaneous".split("|"))
_SMALL = frozenset("of and or the a an in to for on by at from with as".split())


class PlaceName(NamedTuple):
    """``named`` and ``brief`` (no caption) go into a sentence, ``location`` into a citation; ``section`` groups."""

    named: str
    brief: str
    location: str
    section: str


@lru_cache(maxsize=8192)
def place(title: str, location: str, caption: str, heading: str, lone: bool) -> PlaceName:
    """The place of a sentence; with several documents the title stands before it."""
    prefix = "" if lone else f"{short_title(title)}, "
    if not location:
        words = "an unnumbered passage" if lone else f"an unnumbered passage of {short_title(title)}"
        return PlaceName(words, words, "", "")
    found = _NUMBERED.match(location)
    if found and (found["rest"] is None or not found["num"].isdigit()):
        number = found["num"]
        words = caption_words(found["rest"] or caption)
        words = "" if words.lower() in _EMPTY else words
        noun = "" if number[0] == "§" or (number.split(" ")[0].isalpha() and " " in number) else _noun(number)
        brief = f"{prefix}{noun}{number}"
        named = f"{brief} ({words})" if words and words != number and len(words) <= 44 else brief
        cited = f"{_noun(number)}{number}" if number.isdigit() else number
        return PlaceName(named, brief, cited, _parent(number) + "|" + title)
    words = caption_words(location)
    above = heading.split(" / ")[:-1]
    if words.lower() in _GENERIC and above:
        words = f"{words} ({caption_words(above[-1])})"
    named = f"{prefix}the part on {words}"
    return PlaceName(named, named, words[:120], words + "|" + title)


def _parent(number: str) -> str:
    """The part that a clause belongs to: 12 for 12.2, 5.1.1 for 5.1.1.2."""
    bare = number.partition("(")[0]
    return bare.rpartition(".")[0] or bare


def _noun(number: str) -> str:
    return "point " if re.match(r"[A-Z]\d+$", number) else "clause "


def short_title(title: str) -> str:
    """The title up to its first comma, colon or bracket, and no longer than a line allows."""
    short = re.split(r",|:\s|\s\(|\swith\s", title)[0].strip() or title.strip()
    return short if len(short) <= 48 else short[:48].rsplit(" ", 1)[0]


def _cased(word: str, inner: bool) -> str:
    """A word in capitals in its normal case; codes such as ADR-031 do not change."""
    if any(c.isdigit() for c in word) or word[0] == "(":
        return word
    return word.lower() if inner and word.lower() in _SMALL else word.capitalize()


def caption_words(caption: str) -> str:
    """A heading in the form for a sentence: no number, no capitals throughout."""
    found = _NUMBERED.match(caption)
    words = (found["rest"] or "") if found else caption
    words = re.sub(r"^(?:(?:ARTICLE|Article|SECTION|Section)\s+[IVXLC\d.]+\s*|\d+\.(?=\D))", "", words).strip(" .:-–—")
    if re.sub(r"\([a-z0-9]+\)$", "", words).isupper() and len(words) > 4:
        parts = words.split()
        words = " ".join(_cased(p, 0 < i < len(parts) - 1) for i, p in enumerate(parts))
    return words[:90]
