"""A linear model over what stands in a unit of text: how much it looks like an order to a model, and what it does.

Its weights are in `weights.txt`, written by `bench.corpora.injection.train` from the open texts of the corpus: behind
a name in brackets, a feature a line, with its weight as an integer. A line of ``family`` has a weight for each of
`FAMILIES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from copy import copy
from functools import cache
from itertools import combinations, repeat, starmap
from math import sqrt
from operator import or_
from pkgutil import get_data
from typing import NamedTuple

from service.checks.injection.characters import LEET, LEET_L
from service.checks.injection.concepts import bits_of
from service.checks.injection.features import DISTANCES, Pair, concepts_of, grams, parts_of, tokens_of
from service.checks.injection.fields import COUNTED
from service.checks.injection.posing import POSES
from service.checks.injection.reading import LEET_SIGN, Odd
from service.checks.patterns import lazily
from service.debate.suspicions import FAMILIES, CaseField, InjectionFamily

SCALE = 1000
"""What a weight of one is in the file."""
LONG, WITHOUT_PAIRS = 120, -700
"""How many words and parts of words a text has, and its score by them and concepts, under which pairs are not looked at
any more: they bring one such unit in a thousand over it."""
OF_COUNT = 32
MOST = (1 << OF_COUNT) - 1
"""A count in the lowest bits of a number, and the most that it can be: more than any text has tokens."""
KNOWN_MAX = 8_192
"""How many words are remembered with their weights, and sentences with theirs, before all are forgotten."""
LONGEST = 60
"""The most characters of a word that is remembered."""
KNOWN_OF_ONE_MAX = 100_000
"""How many of one long text."""
_SECTION = lazily(r"\n\[([a-z0-9]+)\]\n")
_LEET = lazily(r"(?<![a-z0-9@$])(?=[a-z]{0,40}[0134578@$])(?=[0134578@$]{0,40}[a-z])[a-z0134578@$]{2,40}")


class Bar(NamedTuple):
    """The least scores of what is found in a field: of a unit, of a sentence in one, and of what is hidden."""

    unit: int
    sentence: int
    hidden: int


class Remembered(dict[str, int]):
    """A number for each word, worked out when the word is first met. All are forgotten when they are too many."""

    def __init__(self, work_out: Callable[[str], int], most: int) -> None:
        self._work_out = work_out
        self._most = most

    def __missing__(self, word: str) -> int:
        number = self._work_out(word)
        if len(word) <= LONGEST:
            if len(self) >= self._most:
                self.clear()
            self[word] = number
        return number


class Memory(NamedTuple):
    """What was worked out of texts: the number of each word, and by its concepts the weight of a sentence and how many
    they are. It is of one tenant's texts: how soon a score comes would say what others have written."""

    weighed: Remembered
    said: dict[int, tuple[int, int]]


class Weights:
    """The model: weights by kind and key, those of the families, and the least scores by kind of field."""

    def __init__(self, text: str) -> None:
        columns = {name: body.split() for name, body in _sections(text)}
        self.bias = int(columns["bias"][0])
        self.bars = {name: Bar(*map(int, least)) for name, *least in _rows(columns["bar"], 4)}
        self._words = _weights(columns["word"])
        self._grams = _weights(columns["gram"])
        self._pairs = {far: _weights_of_pairs(columns[f"pair{far}"]) for far in DISTANCES}
        # The intersection of two sets looks at no word again, as a look at each pair in a table would.
        self._known_pairs = {far: frozenset(weighed) for far, weighed in self._pairs.items()}
        self._concepts = _weights(columns["concept"])
        self._of_bits = {bits_of(*key.split("+")): weight for key, weight in self._concepts.items()}
        self._poses = _weights(columns["pose"])
        self._families = {name: numbers for name, *numbers in _rows(columns["family"], 1 + len(FAMILIES))}
        self._memory = self.memory()

    def remembering(self, memory: Memory) -> Weights:
        """The same model, with another memory."""
        model = copy(self)
        model._memory = memory
        return model

    def memory(self, most: int = KNOWN_MAX) -> Memory:
        """A new memory for `remembering`, of so many words."""
        return Memory(Remembered(self._weigh, most), {})

    def bar(self, field: CaseField) -> Bar:
        """The least scores in a field."""
        return self.bars[bar_of(field)]

    def score(
        self,
        text: str,
        said: Iterable[int],
        poses: Sequence[int] = (),
        words: Sequence[str] | None = None,
        odd: Odd | None = None,
    ) -> float:
        """How much a plain text looks like an order to a model; ``said`` are the concepts of each of its sentences, and
        ``poses`` what passages of it pose as. ``words`` are those of its sentences, if they are at hand, and ``odd`` is
        what is known of the words of its view."""
        may_be_leet = (odd is None or odd.may_be_leet) and LEET_SIGN.search(text)
        if may_be_leet and (spelt := _LEET.sub(self._spelt, text)) != text:
            text, words = spelt, None
        # Of a text so short pairs are always needed: a word and its parts are never more than its characters.
        parts = None
        if words is None or odd is None or len(text) <= LONG:
            parts = parts_of(text)
            tokens = parts.tokens
        else:
            tokens = tokens_of(text, words, odd)
        total = sum(map(self._memory.weighed.__getitem__, tokens))
        weight, count = total >> OF_COUNT, total & MOST
        score = self.bias + self._of_concepts(said) + self.of_poses(poses)
        if count > LONG and score + weight / sqrt(count) < WITHOUT_PAIRS:
            return score + weight / sqrt(count)
        parts = parts or parts_of(text)
        for far, weighed in self._pairs.items():
            pairs = parts.pairs(far)
            weight += sum(map(weighed.__getitem__, pairs & self._known_pairs[far]))
            count += len(pairs)
        return score + weight / sqrt(count)

    def _of_concepts(self, said: Iterable[int]) -> float:
        weight, count = 0, 0
        known = self._memory.said
        for bits in said:
            concept = known.get(bits)
            if concept is None:
                if len(known) >= KNOWN_MAX:
                    known.clear()
                concept = known[bits] = self._concept(bits)
            weight += concept[0]
            count += concept[1]
        return weight / sqrt(count) if count else 0.0

    def of_poses(self, poses: Sequence[int]) -> float:
        """What poses add to a score."""
        return sum(self._poses.get(str(pose), 0) for pose in poses) / sqrt(len(poses)) if poses else 0.0

    def family(
        self, text: str, said: Iterable[int], poses: Sequence[int], counted: Container[str] | None
    ) -> InjectionFamily:
        """What a text does that looks like an order: what it poses as, or else what its words say.

        Of ``counted`` families alone, where not all count.
        """
        among = [n for n, family in enumerate(FAMILIES) if counted is None or family in counted]
        posing = [POSES[pose].family for pose in poses]
        if posing and (counted is None or posing[0] in counted):
            return posing[0]
        totals = [0] * len(FAMILIES)
        keys = [f"word:{token}" for token in parts_of(text).tokens]
        keys += [f"concept:{concept}" for bits in said for concept in concepts_of(bits)]
        for key in keys:
            for n, weight in enumerate(self._families.get(key, ())):
                totals[n] += int(weight)
        return FAMILIES[max(among, key=totals.__getitem__)]

    def _spelt(self, match: re.Match[str]) -> str:
        """A word with digits and signs for letters as it is meant, where the model knows that word."""
        word = match.group()
        meant = (word.translate(table) for table in (LEET, LEET_L))
        return next((plain for plain in meant if plain in self._words), word)

    def _weigh(self, token: str) -> int:
        """What a token adds, with its parts, and below that in `OF_COUNT` bits how many it and they are.

        Sums of such numbers are both sums: a count is never negative.
        """
        parts = grams(token) if len(token) > 1 else ()
        weight = self._words.get(token, 0) + sum(map(self._grams.get, parts, repeat(0)))
        return (weight << OF_COUNT) + 1 + len(parts)

    def _concept(self, bits: int) -> tuple[int, int]:
        """The weight of the concepts of a sentence and of every two of them, and how many these are."""
        single = list[int]()
        while bits:
            single.append(bits & -bits)
            bits &= bits - 1
        keys = [*single, *starmap(or_, combinations(single, 2))]
        return sum(map(self._of_bits.get, keys, repeat(0))), len(keys)


def bar_of(field: CaseField) -> str:
    """The name of the least scores that count in a field."""
    return "document" if field == "document" else "own" if field in COUNTED else "short"


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """The parts of the file with their names; what stands before the first is for readers."""
    _, *parts = _SECTION.split(text)
    yield from zip(parts[::2], parts[1::2], strict=True)


def _rows(fields: Sequence[str], width: int) -> Iterator[tuple[str, ...]]:
    return zip(*(fields[n::width] for n in range(width)), strict=True)


def _weights(fields: Sequence[str]) -> dict[str, int]:
    return dict(zip(fields[::2], map(int, fields[1::2]), strict=True))


def _weights_of_pairs(fields: Sequence[str]) -> dict[Pair, int]:
    first, second = fields[::3], fields[1::3]
    return dict(zip(zip(first, second, strict=True), map(int, fields[2::3]), strict=True))


def stored() -> str:
    """The file, which is a part of the package as its modules are. Raises ``FileNotFoundError`` where it is missing."""
    file = get_data(__package__, "weights.txt")
    if file is None:
        raise FileNotFoundError("weights.txt of service.checks.injection cannot be read: install Gainsay anew")
    return file.decode()


@cache
def weights() -> Weights:
    """The model, read once."""
    return Weights(stored())
