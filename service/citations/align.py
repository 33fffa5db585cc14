"""Lay a quotation that is nowhere word for word over the passage that it comes nearest to.

1. *Seeds*: phrases of three (else two) of the quotation's words, spread over it, are searched for in the document.
2. *Diagonals*: seeds that lie as far apart in the document as in the quotation speak for the same passage.
3. *Chain*: the seeds of one passage, in order, are fixed points; between them, and out to both ends, words are paired
   with the fewest changes.

An alignment explains a refusal: it never verifies anything.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from service.citations.bounds import is_word
from service.citations.fold import Folded
from service.citations.steps import Steps

_SEEDS = (32, 128)
"""Fewest and most; between them, one for eight words."""
_HITS = 24
"""Places of one seed that are looked at: a phrase that stands everywhere says nothing."""
_PASSAGES = 3
_A_SEARCH = 32
_SLACK = 8
"""Words by which an end of the passage may be longer than the quotation's."""
_LONGEST_WORD = 64
_LONGEST_STRAY = 2
"""Words at an end that may be taken as changed; more are taken as added to the quotation."""

_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W_]+(?:'[^\W\d_]+)*|[^\s!-#&-/:-@\[-^`{-~]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number, or a sign that counts as one, with its offsets in the folded text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """Tokens that differ: those of the document from ``source`` to ``source_end``, and of the quotation likewise."""

    source: int
    source_end: int
    quote: int
    quote_end: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """A passage of the document laid beside the quotation.

    ``source`` and ``quote`` are their tokens, ``pairs`` the indices of the equal ones, ``blocks`` what lies between
    and around them within the passage. ``span`` is the passage, as folded offsets of the document.
    """

    source: Sequence[Token]
    quote: Sequence[Token]
    pairs: Sequence[tuple[int, int]]
    blocks: Sequence[Block]
    span: tuple[int, int]


def tokens(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens of a folded text between two offsets; punctuation and spaces are left out."""
    found = _TOKEN.finditer(text, start, len(text) if end is None else end)
    return [Token(match.group(), match.start(), match.end()) for match in found]


def align(quote: Folded, document: Folded, least: int, steps: Steps) -> Alignment | None:
    """The passage that shares most words with the quotation, if these are at least ``least`` per cent of its words."""
    steps.take(len(quote.text) // 4)
    words = tokens(quote.text)
    best: Alignment | None = None
    for chain in _passages(words, quote.text, document.text, steps):
        found = _over(chain, words, document.text, steps)
        if found and (best is None or len(found.pairs) > len(best.pairs)):
            best = found
    return best if best and len(best.pairs) * 100 >= least * len(words) else None


@dataclass(frozen=True, slots=True)
class _Seed:
    """``size`` words of the quotation from ``word`` on, found in the document at ``at``."""

    word: int
    size: int
    at: int


def _passages(words: Sequence[Token], quote: str, document: str, steps: Steps) -> list[list[_Seed]]:
    for size in (3, 2):
        seeds = list(_seeds(words, size, quote, document, steps))
        if seeds:
            return _diagonals(seeds, words, len(quote))
    return []


def _seeds(words: Sequence[Token], size: int, quote: str, document: str, steps: Steps) -> Iterator[_Seed]:
    """Of each stretch of the quotation its longest phrase, wherever the document has it."""
    last = len(words) - size + 1
    count = min(max(_SEEDS[0], min(_SEEDS[1], len(words) // 8)), last)
    for k in range(count):
        stretch = range(k * last // count, (k + 1) * last // count)
        word = max(stretch, key=lambda i: words[i + size - 1].end - words[i].start)
        steps.take(len(stretch))
        phrase = quote[words[word].start : words[word + size - 1].end]
        at = -1
        for _ in range(_HITS):
            found = document.find(phrase, at + 1)
            steps.take(_A_SEARCH + ((found if found >= 0 else len(document)) - at) // 256 + len(phrase) // 64)
            if found < 0:
                break
            at = found
            yield _Seed(word, size, at)


def _diagonals(seeds: Sequence[_Seed], words: Sequence[Token], length: int) -> list[list[_Seed]]:
    """The passages that most seeds speak for, each with its seeds in the quotation's order."""
    width = max(64, length // 3)
    bins: dict[int, list[tuple[int, _Seed]]] = defaultdict(list)
    for seed in seeds:
        diagonal = seed.at - words[seed.word].start
        for place in (diagonal // width, diagonal // width + 1):  # a passage may lie across two bins
            bins[place].append((diagonal, seed))
    fullest = sorted(bins.items(), key=lambda item: (-len({seed.word for _, seed in item[1]}), item[0]))[:_PASSAGES]
    return [_in_order(_one_a_word(members)) for _, members in fullest]


def _one_a_word(members: list[tuple[int, _Seed]]) -> list[_Seed]:
    """Of the places of each seed the one nearest to where most seeds say the passage is."""
    middle = sorted(diagonal for diagonal, _ in members)[len(members) // 2]
    nearest: dict[int, tuple[int, _Seed]] = {}
    for diagonal, seed in members:
        off = abs(diagonal - middle)
        if seed.word not in nearest or off < nearest[seed.word][0]:
            nearest[seed.word] = off, seed
    return [seed for _, seed in nearest.values()]


def _in_order(seeds: list[_Seed]) -> list[_Seed]:
    """The longest run of seeds whose places in the document rise with their words; each may be used once."""
    seeds.sort(key=lambda s: s.word)
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for i, seed in enumerate(seeds):
        k = bisect_left(tails, seed.at)
        before.append(ends[k - 1] if k else -1)
        tails[k : k + 1], ends[k : k + 1] = [seed.at], [i]
    chain, i = [], ends[-1]
    while i >= 0:
        chain.append(seeds[i])
        i = before[i]
    return chain[::-1]


def _over(chain: Sequence[_Seed], words: Sequence[Token], document: str, steps: Steps) -> Alignment | None:
    """Pair the quotation's words with the document's around a chain of seeds."""
    head = words[chain[0].word].start - words[0].start
    tail = words[-1].end - words[chain[-1].word].start
    start = _word_start(document, max(0, chain[0].at - head * 5 // 4 - 12 * _SLACK))
    end = min(len(document), chain[-1].at + tail * 5 // 4 + 12 * _SLACK)
    steps.take((end - start) // 4)
    passage = tokens(document, start, end)
    fixed = _fixed(chain, words, passage)
    if not fixed:
        return None
    theirs, ours = [t.text for t in passage], [t.text for t in words]
    (s0, q0), (s1, q1) = fixed[0], fixed[-1]
    pairs = [(s0 - 1 - s, q0 - 1 - q) for s, q in _outwards(theirs[:s0][::-1], ours[:q0][::-1], steps)][::-1]
    for (s, q), (s_next, q_next) in pairwise(fixed):
        pairs.append((s, q))
        between = _between(theirs[s + 1 : s_next], ours[q + 1 : q_next], steps)
        pairs += [(s + 1 + i, q + 1 + j) for i, j in between]
    pairs.append((s1, q1))
    pairs += [(s1 + 1 + s, q1 + 1 + q) for s, q in _outwards(theirs[s1 + 1 :], ours[q1 + 1 :], steps)]
    return _alignment(passage, words, pairs)


def _word_start(document: str, at: int) -> int:
    for start in range(at, max(0, at - _LONGEST_WORD), -1):
        if not (is_word(document[start]) and is_word(document[start - 1])):
            return start
    return at


def _fixed(chain: Sequence[_Seed], words: Sequence[Token], passage: Sequence[Token]) -> list[tuple[int, int]]:
    """The pairs of equal words that the seeds stand for; a seed inside longer words stands for none."""
    index = {token.start: i for i, token in enumerate(passage)}
    fixed: list[tuple[int, int]] = []
    for seed in chain:
        shift = seed.at - words[seed.word].start
        for q in range(seed.word, seed.word + seed.size):
            s = index.get(words[q].start + shift)
            after = not fixed or (s is not None and s > fixed[-1][0] and q > fixed[-1][1])
            if s is not None and after and passage[s].text == words[q].text:
                fixed.append((s, q))
    return fixed


def _between(theirs: Sequence[str], ours: Sequence[str], steps: Steps) -> list[tuple[int, int]]:
    """Pair two stretches from end to end with the fewest changes; equal and changed pairs, in order."""
    least = min(len(theirs), len(ours))
    head = next((i for i in range(least) if theirs[i] != ours[i]), least)
    tail = next((i for i in range(least - head) if theirs[-1 - i] != ours[-1 - i]), least - head)
    mid_theirs, mid_ours = theirs[head : len(theirs) - tail], ours[head : len(ours) - tail]
    pairs = [(i, i) for i in range(head)]
    pairs += [(head + i, head + j) for i, j in _fewest_changes(mid_theirs, mid_ours, False, steps)]
    return pairs + [(len(theirs) - i, len(ours) - i) for i in range(tail, 0, -1)]


def _outwards(theirs: Sequence[str], ours: Sequence[str], steps: Steps) -> list[tuple[int, int]]:
    """Pair the quotation's end with what follows in the document, which may go on; long strays are cut off."""
    theirs = theirs[: len(ours) * 5 // 4 + _SLACK]
    least = min(len(theirs), len(ours))
    head = next((i for i in range(least) if theirs[i] != ours[i]), least)
    pairs = [(i, i) for i in range(head)]
    if head < len(ours):
        rest = _fewest_changes(theirs[head:], ours[head:], True, steps)
        pairs += [(head + i, head + j) for i, j in rest]
    equal = max((k for k, (i, j) in enumerate(pairs) if theirs[i] == ours[j]), default=-1)
    stray = len(pairs) - 1 - equal
    whole = pairs[equal][1] + 1 + stray == len(ours) if equal >= 0 else stray == len(ours)
    return pairs if whole and stray <= _LONGEST_STRAY else pairs[: equal + 1]


def _fewest_changes(theirs: Sequence[str], ours: Sequence[str], open_end: bool, steps: Steps) -> list[tuple[int, int]]:
    """Levenshtein over words; with ``open_end`` what is left of ``theirs`` costs nothing."""
    if not theirs or not ours:
        return []
    steps.take(2 * len(theirs) * len(ours))
    before = list(range(len(theirs) + 1))
    moves: list[bytearray] = []
    for i, word in enumerate(ours, 1):
        row, made = [i], bytearray(len(theirs) + 1)
        for j, other in enumerate(theirs, 1):
            cost, move = before[j - 1] + (word != other), 0
            if before[j] + 1 < cost:
                cost, move = before[j] + 1, 1
            if row[-1] + 1 < cost:
                cost, move = row[-1] + 1, 2
            row.append(cost)
            made[j] = move
        before = row
        moves.append(made)
    i, j = len(ours), len(theirs)
    if open_end:
        j = min(range(len(theirs) + 1), key=lambda k: (before[k], abs(k - len(ours))))
    pairs = []
    while i and j:
        move = moves[i - 1][j]
        if move == 0:
            i, j = i - 1, j - 1
            pairs.append((j, i))
        elif move == 1:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _alignment(passage: Sequence[Token], words: Sequence[Token], paired: Sequence[tuple[int, int]]) -> Alignment:
    equal = [(s, q) for s, q in paired if passage[s].text == words[q].text]
    first, last = paired[0][0], paired[-1][0]
    edges = [(first - 1, -1), *equal, (last + 1, len(words))]
    blocks = [
        Block(s + 1, s_next, q + 1, q_next)
        for (s, q), (s_next, q_next) in pairwise(edges)
        if s_next - s > 1 or q_next - q > 1
    ]
    return Alignment(passage, words, equal, blocks, (passage[first].start, passage[last].end))
