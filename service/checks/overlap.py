"""Word overlap of answers, called what it is: it sees words, and never what they mean.

    1  statements that are struck do not count
    2  words are runs of letters and digits after NFKC and case folding, an apostrophe within them included
    3  stop words are removed, and all words of the question and of the documents' titles: whoever answers uses those
    4  overlap is shared words by the words of either (Jaccard); where no word is left it is undefined
    5  every pair has to reach the similarity (per mille, both multiplied out); 1,000 asks for equal arguments as well
    6  answers whose final answers differ never converge, whatever their words
    7  nor do answers of which one negates what the other does not
    8  nor do fewer than two voices, or fewer than there are seats: who is missing has not agreed

The words of the documents themselves stay: answers about a long contract use hardly any other words, and what two of
them have in common after its words are gone is their manner of speaking. Two who quote the same clause overlap, which
is why 6 and 7 stand above any similarity. A missing seat costs the rounds that are left, within the ceiling; agreement
of whoever is left would be called agreement of all. Stop words and negations are English. Results are recorded with
the name of their version in `OVERLAPS`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations, islice, takewhile
from typing import Literal, NamedTuple, Protocol

from service.debate.answer_keys import folded, plain
from service.debate.findings import ConvergenceFound, PairOverlap
from service.debate.turns import TurnId

WHOLE = 1_000
FEWEST = 2
SCOPE = 3
"""How many words on either side of a negation it is taken to be about."""

Apart = Literal["answers", "negation"]

STOP_WORDS = frozenset(
    "a about also am an and any are as at be because been being but by did do does doing for from further had has have"
    " having he her here hers him his how however i if in into is it its itself me my of on or our so such than that"
    " the their them then there therefore these they this those through thus to upon us very was we were what when"
    " where whether which while who whom whose why with within you your it's that's there's i'm we're they're i've"
    " we've they've he's she's who's what's let's".split()
)
"""Words that carry no content. Modals, amounts, times and places do: "may" is not "must", "before" is not "after"."""
_CONTRACTED = "ai are ca could did do does had has have is might must need ought sha should was were wo would".split()
NEGATIONS = frozenset(
    "no not non un none nor neither never nobody nothing nowhere cannot without hardly scarcely barely lack lacks"
    " lacking fail fails failed absent except unless false untrue".split()
) | frozenset(f"{verb}{end}" for verb in _CONTRACTED for end in ("n't", "nt"))
_SMALL = STOP_WORDS | NEGATIONS
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis")
_POINT = re.compile(r"(?<=\d)[.,](?=\d)")
_ENDS = ".;:!?"
"""What ends a sentence, or a part of it that a negation does not reach beyond."""


class ComparedAnswer(NamedTuple):
    """A debater's answer in a round: its turn, its final answer, and the texts of its arguments that are not struck."""

    turn: TurnId
    answer: str
    arguments: Sequence[str]


class _Read(NamedTuple):
    """A voice as it is compared: all its words and those that count, its negations, and what they stand next to."""

    voice: ComparedAnswer
    said: frozenset[str]
    words: frozenset[str]
    negations: int
    governed: Counter[tuple[str, str]]
    whole: tuple[str, ...]


def check_overlap(
    voices: Sequence[ComparedAnswer], *, seats: int, similarity: int, known: Iterable[str] = ()
) -> ConvergenceFound:
    """Whether the answers of a round are so near to each other that another round would add nothing.

    ``similarity`` is per mille, ``known`` the question and the titles, ``seats`` how many there are to be heard.
    """
    removed = _SMALL | frozenset(words(" ".join(known)))
    read = [_read(voice, removed) for voice in voices]
    pairs = tuple(_pair(one, other) for one, other in combinations(read, 2))
    why_not = {
        "overlap": not all(_reaches(pair, similarity) for pair in pairs)
        or (similarity >= WHOLE and len({r.whole for r in read}) > 1),
        "answers": any("answers" in pair.apart for pair in pairs),
        "negation": any("negation" in pair.apart for pair in pairs),
        "noWords": any(not r.words for r in read),
        "fewVoices": len(voices) < max(FEWEST, seats),
    }
    named = tuple(name for name, holds in why_not.items() if holds)
    return ConvergenceFound(len(voices), similarity, pairs, converged=not named, why_not=named)


def words(text: str) -> tuple[str, ...]:
    """The words of a text in their order, folded; a number with its point is one word."""
    return tuple(token for token in _tokens(text) if token not in _ENDS)


def overlap(one: Set[str], other: Set[str]) -> int | None:
    """Shared words by the words of either, in whole per mille; nothing where there are none."""
    either = len(one | other)
    return len(one & other) * WHOLE // either if either else None


def _tokens(text: str) -> list[str]:
    """Words, and what ends a sentence as a token of its own. Marks belong to the letter that they stand on."""
    said = plain(text)
    points = {match.start() for match in _POINT.finditer(said)}
    spaced = "".join(c if i in points else _spaced(c) for i, c in enumerate(said))
    return [token for part in spaced.split() if (token := part.strip("'"))]


def _spaced(character: str) -> str:
    if character == "'" or unicodedata.category(character)[0] in "LMN":
        return character
    return f" {character} " if character in _ENDS else " "


def _read(voice: ComparedAnswer, removed: Set[str]) -> _Read:
    tokens = [token for text in voice.arguments for token in (*_tokens(text), ".")]
    said = frozenset(tokens) - set(_ENDS)
    negations = sum(token in NEGATIONS for token in tokens)
    whole = tuple(folded(text) for text in voice.arguments)
    return _Read(voice, said, said - removed, negations, _governed(tokens), whole)


def _governed(tokens: Sequence[str]) -> Counter[tuple[str, str]]:
    """What stands next to negations in their sentences, before and after them: the nearest words that mean something.

    Both sides count: "fines aren't covered" and "costs aren't covered" deny the same of something else.
    """
    found: Counter[tuple[str, str]] = Counter()
    for i, token in enumerate(tokens):
        if token in NEGATIONS:
            before = reversed(tokens[:i])
            found.update(("before", word) for word in _nearest(before))
            found.update(("after", word) for word in _nearest(tokens[i + 1 :]))
    return found


def _nearest(tokens: Iterable[str]) -> list[str]:
    sentence = takewhile(lambda token: token not in _ENDS, tokens)
    return list(islice((token for token in sentence if token not in _SMALL), SCOPE))


def _pair(one: _Read, other: _Read) -> PairOverlap:
    apart: list[Apart] = []
    if folded(one.voice.answer) != folded(other.voice.answer):
        apart.append("answers")
    if _negated(one, other):
        apart.append("negation")
    return PairOverlap(
        (one.voice.turn, other.voice.turn),
        len(one.words & other.words),
        len(one.words | other.words),
        overlap(one.words, other.words),
        tuple(apart),
    )


def _negated(one: _Read, other: _Read) -> bool:
    """Whether one says no where the other does not: more negations, negations of other words, or an opposite."""
    both = one.said & other.said
    here, there = ({at: n for at, n in read.governed.items() if at[1] in both} for read in (one, other))
    return one.negations != other.negations or here != there or _opposed(one.said, other.said)


def _opposed(one: Set[str], other: Set[str]) -> bool:
    """Whether one has a word and the other its opposite by a syllable: limited, unlimited; harmful, harmless."""
    here, there = one - other, other - one
    return bool(_opposites(here) & there or _opposites(there) & here)


def _opposites(said: Set[str]) -> set[str]:
    without = {f"{word.removesuffix('ful')}less" for word in said}
    return without | {f"{prefix}{word}" for word in said for prefix in _PREFIXES}


def _reaches(pair: PairOverlap, similarity: int) -> bool:
    """Whether a pair is as similar as is asked for; what has no words is told by that, and not by this."""
    return not pair.either or pair.shared * WHOLE >= similarity * pair.either


class OverlapEngine(Protocol):
    """Judges how near the answers of a round are."""

    def __call__(
        self, voices: Sequence[ComparedAnswer], *, seats: int, similarity: int, known: Iterable[str] = ()
    ) -> ConvergenceFound: ...


OVERLAPS: Mapping[str, OverlapEngine] = {"wording/1": check_overlap}
"""Every version of this comparison, by the name that is recorded with a finding."""
