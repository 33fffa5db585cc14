"""Word overlap of answers: it sees words, and never their meaning.

    1  statements that are struck do not count
    2  words are runs of letters and digits after NFKC and case folding, an apostrophe within them included
    3  stop words are removed, and all words of the question and of the documents' titles: every answer uses those
    4  overlap is shared words by the words of either (Jaccard); without remaining words it is undefined
    5  every pair has to reach the similarity (per mille, both multiplied out); 1,000 requires equal arguments too
       (``order`` where all words are the same and stand in another order)
    6  answers with different final answers never converge, whatever their words
    7  nor do answers of which only one negates a word
    8  nor do fewer than two voices, or fewer than there are seats: a missing debater has not agreed

The words of the documents themselves stay. Answers about a long contract use hardly any other words, and without them
two answers would have only their style in common. Answers that quote the same clause overlap, so 6 and 7 override any
similarity. A missing seat costs the remaining rounds, within the ceiling; otherwise agreement of the remaining seats
would count as agreement of all. Stop words and negations are English. Results are recorded with the name of their
version in `OVERLAPS`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations, islice, takewhile
from typing import Literal, NamedTuple, Protocol

from service.checks.patterns import lazily
from service.debate.answer_keys import folded, plain
from service.debate.findings import ConvergenceFound, PairOverlap
from service.debate.turns import TurnId

WHOLE = 1_000
FEWEST = 2
SCOPE = 3
"""The number of words on either side of a negation that it counts for."""

Apart = Literal["answers", "negation"]

STOP_WORDS = frozenset(
    "a about also am an and any are as at be because been being but by did do does doing for from further had has have"
    " having he her here hers him his how however i if in into is it its itself me my of on or our so such than that"
    " the their them then there therefore these they this those through thus to upon us very was we were what when"
    " where whether which while who whom whose why with within you your it's that's there's i'm we're they're i've"
    " we've they've he's she's who's what's let's".split()
)
"""Words without content. Modals, amounts, times and places have content: "may" is not "must", "before" not "after"."""
_CONTRACTED = "ai are ca could did do does had has have is might must need ought sha should was were wo would".split()
NEGATIONS = frozenset(
    "no not non un none nor neither never nobody nothing nowhere cannot without hardly scarcely barely lack lacks"
    " lacking fail fails failed absent except unless false untrue".split()
) | frozenset(f"{verb}{end}" for verb in _CONTRACTED for end in ("n't", "nt"))
_SMALL = STOP_WORDS | NEGATIONS
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis")
_POINT = lazily(r"(?<=\d)[.,](?=\d)")
_ENDS = ".;:!?"
"""Marks that end a sentence, or a part of it that limits a negation."""


class ComparedAnswer(NamedTuple):
    """A debater's answer in a round: its turn, its final answer, and the texts of its arguments that are not struck."""

    turn: TurnId
    answer: str
    arguments: Sequence[str]


class _Read(NamedTuple):
    """A voice prepared for comparison: all its words, those that count, its negations, and the words next to them.

    ``whole`` are its arguments as they stand, ``bag`` all its words in the order of the alphabet.
    """

    voice: ComparedAnswer
    said: frozenset[str]
    words: frozenset[str]
    negations: int
    governed: Counter[tuple[str, str]]
    whole: tuple[str, ...]
    bag: tuple[str, ...]


def check_overlap(
    voices: Sequence[ComparedAnswer], *, seats: int, similarity: int, known: Iterable[str] = ()
) -> ConvergenceFound:
    """Whether the answers of a round have converged, so that no further round is needed.

    ``similarity`` is per mille, ``known`` the question and the titles, ``seats`` the number of debaters.
    """
    removed = _SMALL | frozenset(words(" ".join(known)))
    read = [_read(voice, removed) for voice in voices]
    pairs = tuple(_pair(one, other) for one, other in combinations(read, 2))
    near = all(_reaches(pair, similarity) for pair in pairs)
    unlike = similarity >= WHOLE and len({r.whole for r in read}) > 1
    why_not = {
        "overlap": not near or (unlike and len({r.bag for r in read}) > 1),
        "order": near and unlike and len({r.bag for r in read}) == 1,
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
    """Shared words by the words of either, in whole per mille; ``None`` without words."""
    either = len(one | other)
    return len(one & other) * WHOLE // either if either else None


def _tokens(text: str) -> list[str]:
    """Words, and ends of sentences as tokens of their own. Combining marks belong to their letter."""
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
    bag = tuple(sorted(token for token in tokens if token not in _ENDS))
    return _Read(voice, said, said - removed, negations, _governed(tokens), whole, bag)


def _governed(tokens: Sequence[str]) -> Counter[tuple[str, str]]:
    """The words next to negations in their sentences, before and after them: the nearest words with content.

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
    """Whether only one of the two negates: more negations, negations of other words, or an opposite."""
    both = one.said & other.said
    here, there = ({at: n for at, n in read.governed.items() if at[1] in both} for read in (one, other))
    return one.negations != other.negations or here != there or opposes(one.said, other.said)


def opposes(one: Set[str], other: Set[str]) -> bool:
    """Whether one has a word and the other its opposite by a syllable: limited, unlimited; harmful, harmless."""
    return bool(opposites(one - other, other - one))


def opposites(one: Set[str], other: Set[str]) -> set[str]:
    """The words of one whose opposite by a syllable the other has, and these opposites."""
    found: set[str] = set()
    for some, others in ((one, other), (other, one)):
        for word in some:
            turned = {f"{prefix}{word}" for prefix in _PREFIXES} | {f"{word.removesuffix('ful')}less"}
            found |= {word, *(turned & others)} if turned & others else set()
    return found


def _reaches(pair: PairOverlap, similarity: int) -> bool:
    """Whether a pair reaches the similarity; a pair without words has a reason of its own."""
    return not pair.either or pair.shared * WHOLE >= similarity * pair.either


class OverlapEngine(Protocol):
    """Measures the overlap of a round's answers."""

    def __call__(
        self, voices: Sequence[ComparedAnswer], *, seats: int, similarity: int, known: Iterable[str] = ()
    ) -> ConvergenceFound: ...


OVERLAPS: Mapping[str, OverlapEngine] = {"wording/1": check_overlap}
"""Every version of this comparison, by the name that is recorded with a finding."""
