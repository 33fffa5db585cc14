"""Words, their light stems, and the words without a topic."""

from __future__ import annotations

import re
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

STOP = frozenset(
    """a an and any are as at be been being but by can cannot could did do does done each either else ever every
    few for from further had has have having he her here hers him his how however i if in into is it its itself
    just may me might more most much must my neither no nor not now of off on once one only or other our ours
    out over own per same shall she should so some such than that the their theirs them then there therefore
    these they this those through thus to too under until up upon us use used uses using very was we were what
    when where which while who whom whose why will with within without would yes yet you your also about above
    after again against all am because before below between both during hereby herein hereof hereto hereunder
    thereof thereto two three first new make made makes get let way via etc eg ie ok""".split()
)
# Words of all questions and documents; they show the kind of answer that is wanted, not its subject.
GENERIC = frozenset(
    """sufficient sufficiently adequate adequately appropriate sound secure safe good enough best better right
    correct valid proposed propose current currently existing design approach document documents question answer
    agreement contract section article clause paragraph part case whether meet meets satisfy satisfies comply
    complies requirement requirements provide provides provided give given expose exposes exposed adopt adopting
    approve review assess thesis proposition party parties company plan really fully ensure likely chapter
    standard standards guidance procedure procedures process need needs want""".split()
)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light stem: without plural, participle and gerund endings, and at most seven letters."""
    low = word.lower().replace("’", "'").removesuffix("'s").rstrip("'")
    if len(low) > 4 and low.endswith("ies"):
        low = low[:-3] + "y"
    elif len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is")):
        low = low[:-1]
    for ending in ("ing", "ed"):
        if low.endswith(ending) and len(low) - len(ending) >= 4:
            low = low.removesuffix(ending)
            break
    return low.removesuffix("e")[:7] if len(low) > 4 else low


def words(text: str) -> list[str]:
    """The words of a text in their order; scripts without spaces are cut into pairs of characters."""
    found: list[str] = []
    for word in WORD.findall(text):
        if len(word) > 2 and _WIDE.search(word):
            found.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            found.append(word)
    return found


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    low = word.lower()
    if low in STOP or (len(low) < 3 and not _WIDE.search(low)) or low.isdigit():
        return ""
    return stem(low)


def terms(text: str) -> frozenset[str]:
    """The stems of a text's words, without stop words and bare numbers."""
    found = {_term(word) for word in words(text)}
    found.discard("")
    return frozenset(found)


_GENERIC_STEMS = frozenset(stem(word) for word in GENERIC)


def topic_terms(text: str) -> frozenset[str]:
    """The stems of a question's subject."""
    return terms(text) - _GENERIC_STEMS


PARTIES = frozenset(
    stem(word)
    for word in (
        "buyer seller supplier customer vendor licensee licensor distributor agent company bank client user we us"
    ).split()
)
"""The parties of the texts: they are in nearly every sentence, so they help little to find one."""
