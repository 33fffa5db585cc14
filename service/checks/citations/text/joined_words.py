"""When two unlike runs of words are the same words or number, joined on one side and apart on the other.

    notation         500 000 for 500,000; a document's own "2 100" only if it cannot be two numbers
    notation         did not for didn't; cannot is can not
    hyphenation      agree-ment for agreement, nonrefundable for non-refundable, U.S. for US, can not for cannot
    spacing          inthe for in the: a slip that cannot make another word

The joined form must not be another word:

    price—less       a long dash joins nothing
    re-signed        a word with re, un or co is another word without its hyphen (resigned), also at a line's end
    a symptomatic    after a prefix (a, in, un, re …), or before an ending (less, free), a blank is no slip
    U.S.             the letters without their points are capitals, and not those of a word in a line of capitals
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from service.checks.citations.text.cue_words import CRITICAL, MODALS
from service.checks.citations.text.fold import Folded
from service.checks.citations.text.lexicon import is_listed
from service.checks.citations.text.tokens import TextTokens
from service.checks.patterns import lazily

_BREAK = lazily(r"- (?:> ?)*")
_GROUPS = lazily(r"\d{1,3}(?:[ ']\d{3})+(?:\.\d+)?")
_INITIALS = lazily(r"[^\W\d_](?:\. ?[^\W\d_])+")
_UNMISTAKEN = frozenset("eg ie ca pm phd cf".split())
"""Abbreviations that may lack their points in small letters too."""
_HOLDS_WORDS = ("non", "may", "can", "a")
_SPLITTING = frozenset("re un co".split())
_BOTH_WORDS = lazily(
    r"re(?:sign|cover|form|creat|leas|sent|serv|sort|press|mark|treat|collect|count|dress|solv"
    r"|strain|act|sound|lay|laid|pos|fund)"
    r"(?:s|e|es|d|ed|ing|er|ers|ion|ions|al|ation|ations|ment)?|un(?:ion|ionized|ionised)|co(?:op|operative)"
)
"""Words with another meaning if a hyphen follows their first syllable: release and re-lease."""
_OWN_FORMS = {"won't": ("will", "not"), "shan't": ("shall", "not"), "can't": ("can", "not"), "cannot": ("can", "not")}
_SHORT = {"ll": "will", "re": "are", "ve": "have", "m": "am"}
_AUXILIARIES = MODALS | frozenset("is are was were has have had do does did".split())
_PREFIXES = frozenset(
    "a an ab ad anti be bi co com con counter de dis down em en ex extra fore il im in inter "
    "intra ir macro mal mega meta "
    "micro mid mini mis mono multi non off on out over para per poly post pre pro re self semi "
    "sub super sur tele trans "
    "tri ultra un under uni up with".split()
)
_ENDINGS = frozenset(
    "less free able ible ful like wise ship hood some fold proof ward wards ness ee er or ed "
    "ing ist ism out up off in on".split()
)
_PLAIN = frozenset(
    "the this that these those a an any all each every such its his her their our your which "
    "whom who it they we you he "
    "she of to and or by for from as at be is are was were".split()
)  # fmt: skip
"""Words so common that a prefix before one of them is a separate word: inthe."""


def notation(original: str, between: str, is_ours: bool, tied: bool) -> str | None:
    """Whether groups of digits, as printed and as folded, are one number written with blanks or apostrophes.

    ``tied``: a currency sign stands before them. In the document a plain blank may separate two numbers.
    """
    if not _GROUPS.fullmatch(between) or re.search(r"[\n\t|]|  ", original):
        return None
    return None if " " in original and not (is_ours or tied) else "notation"


def initials(between: str, printed_whole: str, around: str) -> str | None:
    """Whether dotted letters stand for a word of capitals; ``around`` are the words printed before and after it."""
    if not _INITIALS.fullmatch(between.rstrip(". ")):
        return None
    whole = printed_whole
    if whole.casefold() in _UNMISTAKEN or (len(whole) > 3 and not is_listed(whole.casefold())):
        return "hyphenation"
    shouted = any(len(word) > 1 and word.isupper() for word in around.split())
    return "hyphenation" if whole.isupper() and not shouted else None


def hyphenated(between: str, printed: str, parts: Sequence[str]) -> str | None:
    """Whether a hyphen, or a line's end, divides the one word of the other side."""
    if "-" not in between or re.search(r"[^\w-] |[^\w\- >]", between) or re.search("[—―]|--", printed):
        return None
    if parts[0] not in _SPLITTING:
        return "hyphenation"
    at_end = _BREAK.search(between) is not None
    return "hyphenation" if at_end and not says_other("".join(parts)) else None


def says_other(word: str) -> bool:
    """Whether a word has another meaning than with a hyphen after its first syllable."""
    return _BOTH_WORDS.fullmatch(word) is not None


def may_be_spaced(parts: Sequence[str]) -> bool:
    """Whether a blank between parts can only be a slip, because together they make no other word."""
    if any(part in CRITICAL for part in parts):
        return False
    derived = any(a in _PREFIXES and b not in _PLAIN for a, b in pairwise(parts))
    return not derived and parts[-1] not in _ENDINGS


def is_cannot(parts: Sequence[str], whole: str) -> bool:
    """Whether it is "cannot" in one word and in two."""
    return whole == "cannot" and tuple(parts) == ("can", "not")


def spelled_out(word: str) -> tuple[str, ...]:
    """The words that a contraction stands for, if it has one reading: not 's nor 'd."""
    if word in _OWN_FORMS:
        return _OWN_FORMS[word]
    verb, _, rest = word.partition("'")
    if rest in _SHORT:
        return verb, _SHORT[rest]
    return (verb[:-1], "not") if rest == "t" and verb.endswith("n") and verb[:-1] in _AUXILIARIES else (word,)


def is_held_apart(parts: Sequence[str]) -> bool:
    """Whether one of the parts is a word that turns or limits the sense, and no syllable."""
    return any(part in CRITICAL and part not in _HOLDS_WORDS for part in parts)


def context(tokens: TextTokens, place: int, folded: Folded) -> str:
    """The words printed before and after a token."""
    first, last = max(0, place - 1), min(len(tokens.texts), place + 2)
    parts = [(tokens.starts[k], tokens.ends[k]) for k in range(first, last) if k != place]
    return " ".join(folded.original[slice(*folded.reach(*part))] for part in parts)
