"""Words that are in no list but that English makes of common words.

    another ending      the document's word and the quotation's are one stem with two endings: indemnitor, indemnitee
    a beginning         a common word after un-, re-, non-, pre-, sub- and the like
    a telling ending    a common word before -less, -able, -ness, -ship, -ee and the like
    a compound          two common words in one, in place of another compound that has one of them: workplace, workplate
    hereto, therefor    an adverb of place with a preposition, as lawyers write them

A string that is in no list and that none of these rules makes is no word with a meaning of its own for a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.checks.citations.text.lexicon import common, is_word
from service.checks.patterns import lazily

_SHORTEST_STEM = 3
_ENDINGS = frozenset(
    "s es d ed ing ings r er ers or ors ar ee ees y ies ly al als ally ic ics ical ically ion ions ional ation "
    "ations ate ated ates ator ators atory ative ite ites ide ides ine ines ane ene yl ol ous ously ive ives able "
    "ible ably ibly ist ists ism isms istic ity ities ness less ful fully ance ances ence ences ant ants ent ents "
    "ancy ency ary ory ery ise ised ises ize ized izes ish age ages dom hood ship ment ments ure ures en ens ened "
    "th eth est le let ling ette ess esses ial ially ian ians eer eers ster some ward wards wise like".split()
)
_NEVER_NEW = frozenset("en ens ened est ess esses eer eers ane ene ine ines ide ides ite ites yl ol".split())
"""Endings whose common words are all in the lists: a word that only these endings would make is none. `_SUBSTANCE`
distinguishes substances."""
_SIBILANT = ("s", "x", "z", "ch", "sh", "o", "i")
_AFTER_E = frozenset("s d r rs st".split())
"""Endings that only a stem in -e takes: balance, balancer."""
_EITHER = lazily(r"[ae](n|nt|nts|nce|nces|ncy|r|ble|bly)|[ai](ble|bly)|i?c?(al|ally)")
"""Endings that are spelled one way or the other and mean the same."""
_TELLING = (
    "less lessly lessness ness nesses like ship ships hood ism isms ist ists ish ee ees dom able ably wise ful fully "
    "ward wards proof worthy free".split()
)
_BEFORE = (
    "un re non pre sub super over under out up mis dis inter intra trans counter anti fore post semi multi micro macro "
    "hyper mid self cross auto bio de".split()
)
_SHORTEST_PART = 4
_NO_ONE = lazily(r".*(?:[ae]nce|[ai]ble|ive|wise|ture|some|[pg]le)")
"""Words that take no -ee: their action has no recipient."""
_NO_ROLES = frozenset("wheth eith neith oth anoth rath furth wherev whatev howev whenev togeth".split())
_PLACE = lazily(
    r"(?:here|there|where)(?:about|above|after|among|at|before|below|by|for|fore|from|in|into|of|off|on|over|through|to"
    r"|under|unto|until|up|upon|with|within|without)"
)
_SUBSTANCE = lazily(r"(?P<stem>\w{2,}?)(?:[aeiouy](?:te|ne|de)|an[aeo]l)s?")
"""Kinds of substances: sulfate is not sulfite."""
_ROLE = lazily(r"(?P<stem>\w{2,}?)(?:ee|er|or|ees|ers|ors|ed)")
"""Endings for the actor and for the recipient: assignee is not assigner."""


def is_adverb_of_place(word: str) -> bool:
    """Whether a word is "here", "there" or "where" with a preposition."""
    return _PLACE.fullmatch(word) is not None


def may_be_made(word: str, of: str) -> bool:
    """Whether a word that no list has may be made of common ones: with a listed beginning or ending, or as a compound
    that shares a part with the compound ``of``."""
    if any(word.startswith(before) and _is_part(word[len(before) :]) for before in _BEFORE):
        return True
    if any(word.endswith(end) and _is_part(word[: -len(end)]) for end in _TELLING):
        return True
    return any(
        (of.startswith(head) and _is_part(of[len(head) :])) or (of.endswith(tail) and _is_part(of[: -len(tail)]))
        for head, tail in _compounds(word)
    )


def _compounds(word: str) -> Iterator[tuple[str, str]]:
    """All ways to divide a word into two common ones."""
    for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        if _is_part(word[:at]) and _is_part(word[at:]):
            yield word[:at], word[at:]


def is_derived(word: str) -> bool:
    """Whether a word that no list has is made of common ones: authenticators, namespace."""
    if any(word.startswith(before) and word[len(before) :] in common() for before in _BEFORE) or any(_compounds(word)):
        return True
    return any(
        word.endswith(end) and len(word) - len(end) > _SHORTEST_STEM and _is_stem(word[: -len(end)], end)
        for end in _ENDINGS
    )


def are_related(theirs: str, ours: str) -> bool:
    """Whether two words are one stem with two endings of different meaning."""
    if _stem(_SUBSTANCE, theirs) == _stem(_SUBSTANCE, ours) != "":
        return True
    if (stem := _stem(_ROLE, theirs)) and stem == _stem(_ROLE, ours) and stem not in _NO_ROLES:
        return True
    shared = next(
        (i for i, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(map(len, (theirs, ours)))
    )
    return any(_parts(theirs, ours, at) for at in range(_SHORTEST_STEM, shared + 1))


def _parts(theirs: str, ours: str, at: int) -> bool:
    one, other = theirs[at:], ours[at:]
    if (other not in _ENDINGS and other not in _AFTER_E) or other in _NEVER_NEW:
        return False
    if one not in _ENDINGS and one not in ("", "e", "y"):
        return False
    if (same := _EITHER.fullmatch(one)) and (also := _EITHER.fullmatch(other)) and same.groups() == also.groups():
        return False
    if theirs + "e" == ours and _NO_ONE.fullmatch(theirs):
        return False
    return (one, other) != ("ly", "y") and _is_stem(theirs[:at], other)


def _is_stem(stem: str, ending: str) -> bool:
    """Whether an ending may stand after a stem: the stem or, if the ending drops a letter, its word is known."""
    if ending in _AFTER_E and not (ending == "s" and is_word(stem)):
        return stem.endswith("e") and is_word(stem)
    if (ending == "s" and stem.endswith("s")) or (ending == "es" and not stem.endswith(_SIBILANT)):
        return False
    if len(stem) >= _SHORTEST_PART and is_word(stem):
        return stem[-1] != "e" or stem[-2] in "eoy" or ending[0] not in "aeiouy"
    if len(stem) > 2 and stem[-1] == stem[-2] and ending[0] in "aeiouy" and stem[:-1] in common():
        return True
    return (
        ending[0] in "aeiouy"
        and stem[-1] + ending[0] != "ii"
        and (stem + "e" in common() or stem + "y" in common() or (stem[-1] == "i" and stem[:-1] + "y" in common()))
    )


def _is_part(word: str) -> bool:
    return len(word) >= _SHORTEST_PART and word in common()


def _stem(ending: re.Pattern[str], word: str) -> str:
    """The stem before an ending, or an empty string if the word has another ending."""
    found = ending.fullmatch(word)
    return found["stem"] if found else ""
