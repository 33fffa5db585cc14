"""Which word may stand for another: the same word in British and American spelling, or a slip of the finger.

A slip is all of this, and else it is another word:

    one letter dropped, doubled, added, struck for another, or two neighbours exchanged; or rn read for m
    at least 5 letters of the Latin alphabet without accents, and the same first letter
    the result is no English word and stands in none of the documents: "viable" for "liable" is no slip
    nothing that may be an inflection: -s, -d, -r, -n, -y added or dropped at the end
    the word hit is English, or is printed in small letters among English words: a name with a slip is another name
    no number, date or currency; a modal or a negation only where no other word is as near
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from service.citations.lexicon import is_english
from service.citations.words import CRITICAL, MODALS, NEGATIONS

SHORTEST_SLIP = 5
_SHORTEST_UNLISTED = 7
_INFLECTIONS = frozenset("sdrny")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LATIN = re.compile(r"[a-z]+")
_OUR = (
    "arb|ard|arm|behavi|cand|clam|clang|col|cold|demean|disfav|dishon|disc?ol|enam|endeav|fav|ferv|flav|glam|harb|hon|hum"
    "|lab|misdemean|neighb|od|parl|ranc|rig|rum|sav|savi|splend|succ|tum|val|vap|vig"
)
_ELL = (
    "cancel|travel|label|model|signal|channel|counsel|total|level|fuel|marvel|libel|initial|equal|dial|rival|tunnel"
    "|quarrel|panel|shovel|funnel|pedal|barrel|jewel"
)
_AMERICAN = (
    (re.compile(r"^practis(e|es|ed|ing)$"), r"practic\1"),
    (re.compile(rf"\b((?:bel|mis|re|un|dis)?(?:{_OUR}))our"), r"\1or"),
    (re.compile(r"([a-z]{3})is(e|ed|es|er|ers|ing|able|ation|ations|ational)$"), r"\1iz\2"),
    (re.compile(r"(anal|paral|catal|hydrol|electrol)ys(e|ed|er|ers|es|ing)$"), r"\1yz\2"),
    (re.compile(r"^(.*)(cent|lit|met|fib|theat|calib|sab|spect|lust|meag|somb|och)re(s|d)?$"), r"\1\2er\3"),
    (re.compile(rf"({_ELL})l(ed|ing|er|ers|or|ors|ous|able|ery)$"), r"\1\2"),
    (re.compile(r"^(fulfil|enrol|instil|distil|appal|instal)l?(s|ment|ments)?$"), r"\1l\2"),
    (re.compile(r"^(ski|wi)ll?ful(ly|ness)?$"), r"\1lful\2"),
    (re.compile(r"(licen|defen|offen|preten)c(e|es|ed|ing|eless)$"), r"\1s\2"),
    (re.compile(r"(catal|dial|anal|monol|prol|epil)ogue(s|d)?$"), r"\1og\2"),
    (re.compile(r"(acknowl|l|abr|fle)edge(ment)"), r"\1edg\2"),
    (re.compile(r"\b((?:mis|pre)?jud|acknowled|abrid)gement"), r"\1gment"),
    (re.compile(r"\bprogramme(s?)$"), r"program\1"),
    (re.compile(r"^(un|dis)?(an|p|h|gyn|orthop|encyclop)(ae)(.*)$"), r"\1\2e\4"),
    (re.compile(r"^(manoeuv)re"), r"maneuver"),
    (re.compile(r"^aluminium$"), "aluminum"),
    (re.compile(r"^ageing$"), "aging"),
    (re.compile(r"^grey(s|ed|er|ing)?$"), r"gray\1"),
    (re.compile(r"^mould"), "mold"),
    (re.compile(r"^artefact"), "artifact"),
    (re.compile(r"^scept(ic)"), r"skept\1"),
    (re.compile(r"^plough"), "plow"),
    (re.compile(r"^storey(s?)$"), r"story\1"),
    (re.compile(r"^sulph"), "sulf"),
)  # fmt: skip
_NOT_IZE = frozenset(
    "advis compromis exercis supervis surpris improvis promis premis revis devis televis excis".split()
)


_ROLE = re.compile(r"(?P<stem>\w{2,}?)(?:ee|er|or|ees|ers|ors|ed|es)")
"""Who does it and to whom it is done: assignee is not assigner, and no list of words has them all."""
_KIND = re.compile(r"(?P<stem>\w{2,}?)[aei](?:te|ne|de)s?")
"""Kinds of substances: sulfate is not sulfite."""


@lru_cache(maxsize=1 << 12)
def american(word: str) -> str:
    """A word in American spelling, where British has another of the same word."""
    if any(word.startswith(stem) for stem in _NOT_IZE):
        return word
    for british, spelling in _AMERICAN:
        changed = british.sub(spelling, word)
        if changed != word:
            return changed
    return word


def is_respelled(word: str, other: str) -> bool:
    """Whether two words differ in British and American spelling only."""
    return word != other and american(word) == american(other)


def is_slip(theirs: str, ours: str, printed_small: bool) -> bool:
    """Whether a quotation's word is the document's, struck wrongly. That it stands in no document is for the caller.

    ``printed_small``: the document prints its word in small letters, among English words.
    """
    if theirs.endswith("'s") and ours.endswith("'s"):
        theirs, ours = theirs[:-2], ours[:-2]
    if not (_LATIN.fullmatch(theirs) and _LATIN.fullmatch(ours)) or theirs[0] != ours[0]:
        return False
    if min(len(theirs), len(ours) + 1) < SHORTEST_SLIP or is_english(ours) or not _is_near(theirs, ours):
        return False
    if theirs in CRITICAL and theirs not in MODALS | NEGATIONS:
        return False
    if not is_english(theirs) and not (printed_small and len(theirs) >= _SHORTEST_UNLISTED):
        return False
    return not (theirs in CRITICAL and any(word != theirs and is_known(word) for word in near(ours)))


def is_known(word: str) -> bool:
    """Whether a word is one of the list, or one that a rule knows by name."""
    return word in CRITICAL or (len(word) >= SHORTEST_SLIP - 1 and is_english(word))


def _is_near(theirs: str, ours: str) -> bool:
    if theirs.replace("rn", "m") == ours.replace("rn", "m"):
        return True
    longer, shorter = (theirs, ours) if len(theirs) > len(ours) else (ours, theirs)
    if longer[:-1] == shorter and longer[-1] in _INFLECTIONS and (longer[-1] != shorter[-1] or longer is theirs):
        return False
    if theirs[:-1] == ours[:-1] and theirs[-1] in _INFLECTIONS and is_english(theirs[:-1]):
        return False  # "purposeo" may be "purpose" as well as "purposes"
    if _stem(_ROLE, theirs) == _stem(_ROLE, ours) != "" or _stem(_KIND, theirs) == _stem(_KIND, ours) != "":
        return False
    return distance_is_one(theirs, ours)


def _stem(ending: re.Pattern[str], word: str) -> str:
    """What stands before an ending, or nothing where the word has none."""
    found = ending.fullmatch(word)
    return found["stem"] if found else ""


def distance_is_one(one: str, other: str) -> bool:
    """Whether one letter dropped, added or changed, or two neighbours exchanged, make one word of the other."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    head = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if len(one) == len(other):
        exchanged = one[head + 1 : head + 2] + one[head : head + 1] + one[head + 2 :]
        return one[head + 1 :] == other[head + 1 :] or exchanged == other[head:]
    return one[head + 1 :] == other[head:] if len(one) > len(other) else one[head:] == other[head + 1 :]


def near(word: str) -> Iterator[str]:
    """All strings at a distance of one from a word that begin with its first letter."""
    for i in range(1, len(word) + 1):
        head, tail = word[:i], word[i:]
        for letter in _LETTERS:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
