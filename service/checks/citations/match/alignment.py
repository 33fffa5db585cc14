"""Lay a quotation over the passage of a document that it comes nearest to, word by word.

1. *Windows*: the index says in which blocks most of the quotation's words stand.
2. *Anchors*: runs of three words (else two, else one) that window and quotation share; those that lie as far apart in
   the one as in the other speak for the same passage, and the longest run of them in order is kept.
3. *Pairs*: between the anchors, and out to both ends, words are paired with the least cost. What an ellipsis stands for
   costs nothing, and neither do markup and the furniture of pages.

An alignment verifies nothing: `changes` judges every difference that is left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from service.checks.citations.match.quotation import QuoteWords
from service.checks.citations.match.windows import likeliest
from service.checks.citations.text.document import Document
from service.checks.citations.text.joined_words import spelled_out
from service.checks.citations.text.steps import Steps
from service.checks.citations.text.tokens import TextTokens, is_markup

_MOST_PASSAGES = 2
"""Passages of one window that are looked at."""
_MOST_BINS = 16
"""Passages of one window from which those are chosen, for a quotation of fewer words than `_LONG`; else four."""
_LONG = 400
_HITS = (12, 400)
"""Places of one run of words in a window up to which they are anchors; the second where the first leaves none."""
_MOST_ANCHORS = 200_000
_SLACK = 8
"""Words by which an end of the passage may be longer than the quotation's."""
_BESIDE_CUT = 100
"""Words that one ellipsis may stand for, as far as pairing looks; `changes` counts the characters."""
_FURNITURE = 40
"""Words that the furniture of a page may put between two words of the text."""
_FEW_WORDS = 8
_SHARE_ANCHORED = 6
"""Of a longer quotation one word in so many must belong to an anchor for a passage to be looked at."""
_MOST_JOINED = 5
"""Words of one side that may be one word or number of the other."""
_LONGEST_STRAY = 2
"""Words at an end that may be taken as changed; more are taken as added to the quotation."""
_MARKS = 8
_OPENING, _CLOSING = "\"'([", "\"')].,;:!?"
_EDIT = 8
_NEARLY = 4
"""The cost of a pair that may be the same word: less than any other change, so that such a pair is preferred."""


@dataclass(frozen=True, slots=True)
class Block:
    """What differs in one place: tokens of the document and of the quotation, and whether an ellipsis stands there."""

    source: tuple[int, int]
    quote: tuple[int, int]
    pairs: tuple[tuple[int, int], ...]
    """Of these tokens those that stand against each other, one and one."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A passage laid beside a quotation: ``equal`` are the indices of equal tokens, ``blocks`` what differs."""

    source: TextTokens
    quote: QuoteWords
    equal: Sequence[tuple[int, int]]
    blocks: Sequence[Block]
    span: tuple[int, int]
    """The indices of the passage's first token and the one after its last."""

    @property
    def folded_span(self) -> tuple[int, int]:
        """The passage's words, as folded offsets of the document."""
        return self.source.starts[self.span[0]], self.source.ends[self.span[1] - 1]

    def marked_span(self, document: str) -> tuple[int, int]:
        """The same with the marks around it that the quotation has too: brackets, quotation marks, its full stop."""
        start, end = self.folded_span
        text, words = self.quote.folded.text, self.quote.tokens
        before, after = text[: words.starts[0]][-_MARKS:], text[words.ends[-1] :][:_MARKS]
        while start and document[start - 1] in _OPENING and document[start - 1] in before:
            start -= 1
        while end < len(document) and document[end] in _CLOSING and document[end] in after:
            end += 1
        return start, end


def alignments(quote: QuoteWords, document: Document, least: int, steps: Steps) -> Iterator[Alignment]:
    """The passages that share at least ``least`` per cent of the quotation's words, the likeliest first."""
    words = quote.tokens.texts
    steps.take(len(words) * 4)
    enough = -(-least * len(words) // 100)
    best = len(words) // _SHARE_ANCHORED - 1 if len(words) > _FEW_WORDS else 0
    length = len(quote.folded.text) * 5 // 4
    for window in likeliest(quote, document, length, least, steps):
        known = set(window.texts)
        if sum(word in known for word in words) < enough:
            continue
        for chain in _chains(_Costs(quote, window, document), steps):
            if len(chain) * 3 < best * 2 or not chain:
                continue
            best = max(best, len(chain))
            found = _over(chain, quote, window, document, steps)
            if len(found.equal) >= enough:
                yield found


Pair = tuple[int, int]


class _Costs:
    """What it costs to leave out each word: nothing for markup and for furniture of the document."""

    def __init__(self, quote: QuoteWords, window: TextTokens, document: Document) -> None:
        self.cuts = quote.cuts
        self.theirs, self.ours = window.texts, quote.tokens.texts
        self._window, self._document = window, document
        self.has_furniture = bool(document.furniture)

    def source(self, i: int) -> int:
        if is_markup(self.theirs[i]):
            return 0
        if not self.has_furniture:
            return _EDIT
        start, end = self._window.starts[i], self._window.ends[i]
        return 0 if self._document.is_furniture(start, end) else _EDIT

    def free_between(self, s: int, s_next: int, q: int, q_next: int) -> int:
        """How many words between two pairs may be passed over at no cost."""
        hidden = _BESIDE_CUT * sum(j in self.cuts for j in range(q, q_next + 1)) if self.cuts else 0
        seen = range(s, min(s_next, s + _FURNITURE))
        return hidden + sum(self.source(i) == 0 for i in seen) + sum(self.quote(j) == 0 for j in range(q, q_next))

    def quote(self, j: int) -> int:
        return 0 if is_markup(self.ours[j]) else _EDIT


def _chains(costs: _Costs, steps: Steps) -> list[list[Pair]]:
    """Runs of pairs (index in the window, index in the quotation) of equal words, the longest first."""
    for size in (3, 2, 1):
        if anchors := _anchors(costs.ours, costs.theirs, size, costs.cuts, steps):
            kept: list[list[Pair]] = []
            for run in _diagonals(anchors, len(costs.ours), steps):
                chain = _without_strays(_spelled_out(run, size), costs)
                if chain not in kept:
                    kept.append(chain)
            if len(kept) <= _MOST_PASSAGES:
                return sorted(kept, key=len, reverse=True)
            known = frozenset(costs.ours)
            return sorted(kept, key=lambda chain: (_beside(chain, costs, known, steps), len(chain)), reverse=True)[
                :_MOST_PASSAGES
            ]
    return []


def _beside(chain: Sequence[Pair], costs: _Costs, known: frozenset[str], steps: Steps) -> int:
    """How many of the quotation's words stand in a chain and where the rest of its passage would be."""
    (s0, q0), (s1, q1) = chain[0], chain[-1]
    beside = costs.theirs[max(0, s0 - q0 - 1) : s0] + costs.theirs[s1 + 1 : s1 + 1 + len(costs.ours) - q1]
    steps.take(len(beside))
    return len(chain) + len(known.intersection(beside))


def _without_strays(chain: list[Pair], costs: _Costs) -> list[Pair]:
    """The part of a chain in which pairs weigh most against the words passed over between them.

    The first words of a quotation may stand once more, far before the passage; a chain that runs through both places
    would say that all between them was left out.
    """
    best = total = begin = 0
    best_part = (0, 1)
    for k, (s, q) in enumerate(chain):
        if k:
            s_before, q_before = chain[k - 1]
            if passed := abs((s - s_before) - (q - q_before)):
                total -= max(0, passed - costs.free_between(s_before + 1, s, q_before + 1, q))
        if total <= 0:
            total, begin = 0, k
        total += 1
        if total > best:
            best, best_part = total, (begin, k + 1)
    return chain[slice(*best_part)]


def _anchors(words: Sequence[str], window: Sequence[str], size: int, cuts: frozenset[int], steps: Steps) -> list[Pair]:
    steps.take((len(words) + len(window)) * 3)
    wanted = set(_runs(words, size))
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, key in enumerate(_runs(window, size)):
        if key in wanted:
            places[key].append(i)
    crossed = {cut - k for cut in cuts for k in range(1, size)}
    for hits in _HITS:
        anchors: list[Pair] = []
        for q, key in enumerate(_runs(words, size)):
            found = places.get(key, ())
            if len(found) <= hits and q not in crossed:
                anchors += [(s, q) for s in found]
            if len(anchors) > _MOST_ANCHORS:
                break
        if anchors:
            return anchors
    return []


def _runs(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[k:] for k in range(size)), strict=False)


def _diagonals(anchors: Sequence[Pair], length: int, steps: Steps) -> list[list[Pair]]:
    """The passages that most anchors speak for, each with its anchors in order."""
    steps.take(len(anchors) * 12)
    width = max(40, length // 2)
    bins: dict[int, list[Pair]] = defaultdict(list)
    for s, q in anchors:
        place = (s - q) // width
        bins[place].append((s, q))
        bins[place + 1].append((s, q))  # a passage may lie across two bins
    fullest = sorted(bins.items(), key=lambda item: (-len({q for _, q in item[1]}), item[0]))
    most = len({q for _, q in fullest[0][1]})
    likely = [members for _, members in fullest[: 2 * _MOST_PASSAGES]]
    if length < _LONG:
        likely += [m for _, m in fullest[2 * _MOST_PASSAGES : _MOST_BINS] if len({q for _, q in m}) * 3 >= most * 2]
    runs = [run for members in likely for run in (_in_order(members), _in_order_from_end(members))]
    return [run for k, run in enumerate(runs) if run not in runs[:k]]


def _in_order(anchors: list[Pair]) -> list[Pair]:
    """The longest run of anchors that rises on both sides; each word of the quotation is used once."""
    anchors.sort(key=lambda a: (a[1], -a[0]))
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for i, (s, _) in enumerate(anchors):
        k = bisect_left(tails, s)
        before.append(ends[k - 1] if k else -1)
        tails[k : k + 1], ends[k : k + 1] = [s], [i]
    chain, i = [], ends[-1]
    while i >= 0:
        chain.append(anchors[i])
        i = before[i]
    return chain[::-1]


def _in_order_from_end(anchors: list[Pair]) -> list[Pair]:
    """The same, but of several such runs the one that stands last, its end in one piece."""
    return [(-s, -q) for s, q in _in_order([(-s, -q) for s, q in anchors])[::-1]]


def _spelled_out(chain: Sequence[Pair], size: int) -> list[Pair]:
    """The single words that a chain of runs pairs."""
    pairs: list[Pair] = []
    for s, q in chain:
        for k in range(size):
            if not pairs or (s + k > pairs[-1][0] and q + k > pairs[-1][1]):
                pairs.append((s + k, q + k))
    return pairs


def _over(chain: Sequence[Pair], quote: QuoteWords, window: TextTokens, document: Document, steps: Steps) -> Alignment:
    costs = _Costs(quote, window, document)
    (s0, q0), (s1, q1) = chain[0], chain[-1]
    pairs = _outwards(costs, (s0, q0), -1, steps)[::-1]
    for (s, q), (s_next, q_next) in pairwise(chain):
        pairs.append((s, q))
        if s_next - s > 1 or q_next - q > 1:
            pairs += _fewest_changes(costs, range(s + 1, s_next), range(q + 1, q_next), False, steps)
    pairs.append((s1, q1))
    pairs += _outwards(costs, (s1, q1), 1, steps)
    return _alignment(quote, window, pairs)


def _outwards(costs: _Costs, at: Pair, way: int, steps: Steps) -> list[Pair]:
    """Pair the quotation's end with what lies beyond an anchor, in that order; long strays are cut off."""
    s, q = at
    pairs: list[Pair] = []
    theirs, ours = costs.theirs, costs.ours
    while 0 <= s + way < len(theirs) and 0 <= q + way < len(ours) and theirs[s + way] == ours[q + way]:
        if (q + 1 if way > 0 else q) in costs.cuts:  # what is hidden may begin with the word that stands behind it
            break
        s, q = s + way, q + way
        pairs.append((s, q))
    quote = range(q + 1, len(ours)) if way > 0 else range(q - 1, -1, -1)
    if not quote:
        return pairs
    if joined := _joined(theirs, ours, s, quote, way):
        return [*pairs, joined]
    reach = len(quote) * 5 // 4 + _SLACK + _BESIDE_CUT * sum(j in costs.cuts for j in (*quote, q))
    reach += _FURNITURE if costs.has_furniture else 0
    source = range(s + 1, min(len(theirs), s + 1 + reach)) if way > 0 else range(s - 1, max(-1, s - 1 - reach), -1)
    pairs += _fewest_changes(costs, source, quote, True, steps)
    last = max((k for k, (i, j) in enumerate(pairs) if theirs[i] == ours[j]), default=-1)
    stray = [j for _, j in pairs[last + 1 :]]
    behind = [j for j in quote if costs.quote(j) and (last < 0 or (j - pairs[last][1]) * way > 0)]
    whole = len(stray) >= len(behind)
    return pairs if whole and len(stray) <= _LONGEST_STRAY else pairs[: last + 1]


def _joined(theirs: Sequence[str], ours: Sequence[str], s: int, quote: range, way: int) -> Pair | None:
    """The pair that lays the quotation's last words over the document's next, when the one is the other in pieces."""
    if len(quote) > _MOST_JOINED:
        return None
    rest = "".join(ours[j] for j in quote[::way])
    for n in range(1, _MOST_JOINED + 1):
        places = range(s + way, s + way * (n + 1), way)
        if places[-1] < 0 or places[-1] >= len(theirs):
            return None
        if "".join(theirs[i] for i in places[::way]) == rest:
            return (places[-1], quote[-1])
    return None


def _fewest_changes(costs: _Costs, source: range, quote: range, open_end: bool, steps: Steps) -> list[Pair]:
    """Pair two stretches with the least cost, in the order of the ranges; with ``open_end`` what is left of the
    document's costs nothing."""
    if not source or not quote:
        return []
    steps.take(3 * len(source) * len(quote) + 8 * len(source))
    theirs, ours = [costs.theirs[i] for i in source], [costs.ours[j] for j in quote]
    skip = [costs.source(i) for i in source]
    step = quote.step
    before = [0]
    first_cut = (quote[0] if step > 0 else quote[0] + 1) in costs.cuts
    for cost in skip:
        before.append(before[-1] + (0 if first_cut else cost))
    moves: list[bytearray] = []
    signs = {other[0] for other in theirs if not other[0].isalnum()}
    for j, word in enumerate(ours):
        cut = (quote[j] + 1 if step > 0 else quote[j]) in costs.cuts
        note = costs.quote(quote[j])
        row, made = [before[0] + note], bytearray(len(theirs) + 1)
        is_word = word[0].isalnum()
        made[0] = 1
        for i, other in enumerate(theirs, 1):
            cost, move = before[i - 1], 0
            if word != other:
                if word[0] == other[0]:
                    cost += _change(word, other)
                else:  # a word is not taken for a sign
                    cost += _EDIT if is_word == (other[0] not in signs) else 2 * _EDIT
            if before[i] + note < cost:
                cost, move = before[i] + note, 1
            left = row[-1] + (0 if cut else skip[i - 1])
            if left < cost:
                cost, move = left, 2
            row.append(cost)
            made[i] = move
        before = row
        moves.append(made)
    return _traced(moves, before, source, quote, open_end)


def _traced(moves: list[bytearray], last: list[int], source: range, quote: range, open_end: bool) -> list[Pair]:
    j, i = len(quote), len(source)
    if open_end:
        i = min(range(len(source) + 1), key=lambda k: (last[k], abs(k - len(quote))))
    pairs: list[Pair] = []
    while i and j:
        move = moves[j - 1][i]
        if move == 0:
            i, j = i - 1, j - 1
            pairs.append((source[i], quote[j]))
        elif move == 1:
            j -= 1
        else:
            i -= 1
    return pairs[::-1]


def _change(word: str, other: str) -> int:
    """The cost of one word for another: less when they begin alike and are about as long, as after a slip."""
    if ("'" in word or "'" in other) and spelled_out(word)[0] == spelled_out(other)[0]:
        return _NEARLY
    near = abs(len(word) - len(other)) <= 2 and len(word) > 2
    return _NEARLY if near and (word[-1:] == other[-1:] or word[:3] == other[:3]) else _EDIT


def _alignment(quote: QuoteWords, window: TextTokens, paired: Sequence[Pair]) -> Alignment:
    theirs, ours = window.texts, quote.tokens.texts
    equal = [(s, q) for s, q in paired if theirs[s] == ours[q]]
    first, last = paired[0][0], paired[-1][0]
    edges = [(first - 1, -1), *equal, (last + 1, len(ours))]
    blocks: list[Block] = []
    k = 0
    for (s, q), (s_next, q_next) in pairwise(edges):
        if s_next - s == 1 and q_next - q == 1:
            continue
        while k < len(paired) and paired[k][1] <= q:
            k += 1
        inside = []
        while k < len(paired) and paired[k][1] < q_next:
            inside.append(paired[k])
            k += 1
        blocks.append(Block((s + 1, s_next), (q + 1, q_next), tuple(inside)))
    return Alignment(window, quote, equal, blocks, (first, last + 1))
