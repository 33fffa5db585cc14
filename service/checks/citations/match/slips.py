"""When one word is another with a slip of the finger, which can be no other word, name, identifier or code.

A slip meets all of these conditions; otherwise it is another word:

    the hand        one letter dropped, added or replaced, two neighbours exchanged, or rn read for m; the first letter
                    is the same; in words of five letters only exchanged or doubled letters and neighbouring keys count
    the document    its word is an English one, or made of one (`derived_words`), printed in small letters here or near
                    by; otherwise a word with a capital may be a name: then it has eight letters, or six as a defined
                    term, and no two names differ by such a slip
    the quotation   its word is in no list of words, may not be made of common words, is not the document's word with
                    another ending, and stands in none of the documents
    the sense       no number, date or currency; a negation only if no other word is as near; and no other word of
                    these, of modals or negations is as near as the document's own

Code (addresses, flags, paths, words with digits) and names are recognised by their print: see `printed_form`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from service.checks.citations.text.cue_words import CRITICAL, MODALS, NEGATIONS
from service.checks.citations.text.derived_words import are_related, is_adverb_of_place, is_derived, may_be_made
from service.checks.citations.text.lexicon import is_english, is_listed, is_word
from service.checks.patterns import lazily

SHORTEST_SLIP = 5
_SHORTEST_ANYHOW = 6
"""The length from which any letter may be a slip; too many other words are one letter away from a shorter word."""
_SHORTEST_UNLISTED = 7
_TELLING = frozenset("ei ie ae ea ou uo sz zs".split())
"""Letters in which names differ from each other: Nielsen and Neilsen, Gonzales and Gonzalez."""
_SHORTEST_TERM, _SHORTEST_NAMED = 6, 8
"""The least letters of a word that is not printed in small ones."""
_INFLECTIONS = frozenset("sdrny")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LATIN = lazily(r"[a-z]+")
_NEVER_SPELLED = lazily(r"(.)\1\1|([hjkqvwxy])\2")
"""Triples of letters that no ending produces: a slip beyond doubt."""
_BESIDE = {
    key: frozenset(beside)
    for key, beside in zip(
        _LETTERS,
        "qwsz vghn xdfv serfcx wsdr drtgvc ftyhbv gyujnb ujko huikmn jiolm kop njk bhjm iklp ol wa edft awedxz rfgy "
        "yhji cfgb qase zsdc tghu asx".split(),
        strict=True,
    )
}
"""Neighbouring keys."""


def is_slip(theirs: str, ours: str, how: Literal["plain", "term", "name"]) -> bool:
    """Whether a quotation's word is the document's with a slip. The caller checks that it stands in no document.

    ``how`` is the document's print of its word: in small letters, here or near by, among English words; or with a
    capital, as a defined term or as a possible name.
    """
    if theirs.endswith("'s") and ours.endswith("'s"):
        theirs, ours = theirs[:-2], ours[:-2]
    if not (_LATIN.fullmatch(theirs) and _LATIN.fullmatch(ours)) or theirs[0] != ours[0]:
        return False
    if min(len(theirs), len(ours) + 1) < SHORTEST_SLIP or not _is_near(theirs, ours):
        return False
    if not (_may_be_struck(theirs, ours) if how == "plain" or theirs in MODALS else _is_no_name(theirs, ours, how)):
        return False
    if theirs in CRITICAL and theirs not in MODALS | NEGATIONS:
        return False
    if is_word(ours) or is_adverb_of_place(ours) or _is_as_near_to_another(theirs, ours):
        return False
    plainly = is_exchange(theirs, ours) or _is_double(theirs, ours) or (theirs[:-1] == ours and is_listed(theirs))
    return plainly or not may_be_made(ours, theirs)


def _may_be_struck(theirs: str, ours: str) -> bool:
    """Whether a word in small letters is certainly a word, and long enough for this slip."""
    if len(theirs) < _SHORTEST_ANYHOW and not _is_likely(theirs, ours):
        return False
    return is_word(theirs) or (len(theirs) >= _SHORTEST_UNLISTED and is_derived(theirs))


def _is_no_name(theirs: str, ours: str, how: str) -> bool:
    """Whether a word with a capital is a common word, and no two names differ by this slip."""
    if len(theirs) < _SHORTEST_TERM or not is_english(theirs) or not _is_likely(theirs, ours):
        return False
    differing = {a + b for a, b in zip(theirs, ours, strict=False) if a != b}
    distinguished = _is_double(theirs, ours) or _is_double(ours, theirs) or differing & _TELLING
    return (how == "term" or len(theirs) >= _SHORTEST_NAMED) and not distinguished


def _is_likely(theirs: str, ours: str) -> bool:
    """Whether a slip is one of the most frequent: a letter dropped or doubled, an exchange, a neighbouring key instead
    of the right one or together with it."""
    if len(theirs) > len(ours) or is_exchange(theirs, ours) or _is_double(theirs, ours):
        return True
    if len(theirs) == len(ours):
        return any(b in _BESIDE[a] for a, b in zip(theirs, ours, strict=True) if a != b)
    at = next((i for i, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), len(theirs))
    return any(ours[at] in _BESIDE[c] for c in theirs[max(0, at - 1) : at + 1])


def _is_as_near_to_another(theirs: str, ours: str) -> bool:
    """Whether another cue word (one that turns, bounds or counts) is as near to the quotation's word, or any other
    word is as near if the document's word is a cue word."""
    if theirs in CRITICAL and theirs not in MODALS:
        return any(word != theirs and is_known(word) for word in near(ours))
    return any(word in CRITICAL and word != theirs for word in near(ours))


def is_known(word: str) -> bool:
    """Whether a word is in the common list, or a cue word."""
    return word in CRITICAL or (len(word) >= SHORTEST_SLIP - 1 and is_english(word))


def _is_near(theirs: str, ours: str) -> bool:
    if theirs.replace("rn", "m") == ours.replace("rn", "m"):
        return True
    if _hides_an_ending(theirs, ours) or not distance_is_one(theirs, ours):
        return False
    return is_exchange(theirs, ours) or _NEVER_SPELLED.search(ours) is not None or not are_related(theirs, ours)


def _hides_an_ending(theirs: str, ours: str) -> bool:
    """Whether the last letter is missing or different, so that the word may be read without its ending or with
    another one."""
    if ours[:-1] == theirs:
        return ours[-1] in _INFLECTIONS and ours[-1] != theirs[-1]
    if theirs[:-1] == ours:  # "informatio" has one reading, and so has "partie": "party" is two letters away
        return theirs[-1] in _INFLECTIONS and not is_listed(theirs)
    if theirs[:-1] != ours[:-1] or theirs[-1] not in _INFLECTIONS or not is_english(theirs[:-1]):
        return False
    # "purposeo" may be "purpose" or "purposes", but "purposez" is "purposes": z lies beside s
    return ours[-1] not in _BESIDE[theirs[-1]] or ours[-1] in "sdrnye" or ours[-1] == ours[-2]


def is_exchange(one: str, other: str) -> bool:
    """Whether two words differ in the order of two neighbouring letters only."""
    differing = [i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    return (
        len(one) == len(other)
        and len(differing) == 2
        and differing[1] == differing[0] + 1
        and one[differing[0]] == other[differing[1]]
        and one[differing[1]] == other[differing[0]]
    )


def _is_double(once: str, twice: str) -> bool:
    """Whether the second word has a letter twice that the first has once."""
    if len(twice) != len(once) + 1:
        return False
    return any(twice[:i] + twice[i + 1 :] == once for i in range(1, len(twice)) if twice[i] == twice[i - 1])


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
    """All strings at an edit distance of one from a word, with the same first letter."""
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
