"""Lay a quotation over the nearest passage of a document, word by word: seed, chain and extend, as for genomes.

1. *Windows* (`windows`): the document's index gives the blocks that have most of the quotation's words.
2. *Anchors*: runs of three words (else two, else one) that window and quotation share.
   a. Anchors with nearly the same distance between their two places (a diagonal) belong to one passage.
   b. The longest chain of them that rises on both sides is kept (the longest increasing subsequence).
   c. Its best-scoring part is kept (Kadane's maximum sum), so that a stray repetition does not stretch the passage.
3. *Pairs*: between the anchors, and out to both ends, words are paired with the least cost (the edit distance of Wagner
   and Fischer, with weights). Omissions at an ellipsis cost nothing, and neither do markup and page furniture.
4. *Blocks*: the stretches between equal words. `changes` judges each of them; an alignment alone verifies nothing.
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
"""The most passages of one window that are aligned."""
_MOST_BINS = 16
"""The most candidates for these passages, for a quotation of fewer words than `_LONG`; else four."""
_LONG = 400
_HITS = (12, 400)
"""A run of words is an anchor if the window has it at most so often; the second limit applies if the first leaves none.
Frequent words are at many places and say little about the passage."""
_MOST_ANCHORS = 200_000
_SLACK = 8
"""The number of words by which an end of the passage may be longer than the quotation's."""
_BESIDE_CUT = 100
"""The most words at one ellipsis that pairing considers; `changes` counts the characters."""
_FURNITURE = 40
"""The most words of page furniture between two words of the text."""
_FEW_WORDS = 8
_SHARE_ANCHORED = 6
"""In a quotation of more than `_FEW_WORDS`, one word in so many must belong to an anchor of the passage."""
_MOST_JOINED = 5
"""The most words of one side that may be one word or number of the other."""
_LONGEST_STRAY = 2
"""The most words at an end that count as changed; more count as added to the quotation."""
_MARKS = 8
_OPENING, _CLOSING = "\"'([", "\"')].,;:!?"
_EDIT = 8
_NEARLY = 4
"""The cost of a pair that may be the same word: less than any other change, so that such a pair is preferred."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch that differs: the ranges of its tokens in document and quotation (indices, end exclusive)."""

    source: tuple[int, int]
    quote: tuple[int, int]
    pairs: tuple[tuple[int, int], ...]
    """The pairs of tokens, one of each side, that stand for each other."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A passage beside a quotation: ``equal`` are the indices of equal tokens, ``blocks`` the stretches that differ."""

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
        """`folded_span` with the marks around it that the quotation has too: brackets, quotation marks, a full stop."""
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
        if sum(word in known for word in words) < enough:  # no passage of this window can share enough
            continue
        for chain in _chains(_Costs(quote, window, document), steps):
            if len(chain) * 3 < best * 2 or not chain:  # far fewer anchored words than the best chain so far
                continue
            best = max(best, len(chain))
            found = _over(chain, quote, window, document, steps)
            if len(found.equal) >= enough:
                yield found


Pair = tuple[int, int]


class _Costs:
    """The cost of leaving out each word: 0 for markup and for the document's page furniture, else `_EDIT`."""

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
        """The number of words between two pairs that may be skipped at no cost."""
        hidden = _BESIDE_CUT * sum(j in self.cuts for j in range(q, q_next + 1)) if self.cuts else 0
        seen = range(s, min(s_next, s + _FURNITURE))
        return hidden + sum(self.source(i) == 0 for i in seen) + sum(self.quote(j) == 0 for j in range(q, q_next))

    def quote(self, j: int) -> int:
        return 0 if is_markup(self.ours[j]) else _EDIT


def _chains(costs: _Costs, steps: Steps) -> list[list[Pair]]:
    """Step 2: chains of pairs (index in the window, index in the quotation) of equal words, the longest first."""
    for size in (3, 2, 1):  # long runs are rare, so they give few false anchors; short ones only if there is no other
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
    """The number of the quotation's words in a chain and in the stretches where the rest of its passage would be."""
    (s0, q0), (s1, q1) = chain[0], chain[-1]
    beside = costs.theirs[max(0, s0 - q0 - 1) : s0] + costs.theirs[s1 + 1 : s1 + 1 + len(costs.ours) - q1]
    steps.take(len(beside))
    return len(chain) + len(known.intersection(beside))


def _without_strays(chain: list[Pair], costs: _Costs) -> list[Pair]:
    """Step 2c: the part of a chain with the highest sum of its pairs (1 each) less the words skipped between them.

    The first words of a quotation may occur a second time, far before the passage. A chain through both places would
    report all words between them as omitted.
    """
    best = total = begin = 0
    best_part = (0, 1)
    for k, (s, q) in enumerate(chain):
        if k:
            s_before, q_before = chain[k - 1]
            if passed := abs((s - s_before) - (q - q_before)):
                total -= max(0, passed - costs.free_between(s_before + 1, s, q_before + 1, q))
        if total <= 0:  # Kadane: a prefix that does not pay for its gap is dropped
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
    # Words on both sides of an ellipsis are no neighbours in the document.
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
    """Steps 2a and 2b: the passages with most anchors, each with its anchors in order."""
    steps.take(len(anchors) * 12)
    width = max(40, length // 2)
    bins: dict[int, list[Pair]] = defaultdict(list)
    for s, q in anchors:
        place = (s - q) // width  # the diagonal: equal for anchors of one passage, but for words left out or added
        bins[place].append((s, q))
        bins[place + 1].append((s, q))  # overlapping bins: a passage may lie across the limit of two
    fullest = sorted(bins.items(), key=lambda item: (-len({q for _, q in item[1]}), item[0]))
    most = len({q for _, q in fullest[0][1]})
    likely = [members for _, members in fullest[: 2 * _MOST_PASSAGES]]
    if length < _LONG:
        likely += [m for _, m in fullest[2 * _MOST_PASSAGES : _MOST_BINS] if len({q for _, q in m}) * 3 >= most * 2]
    runs = [run for members in likely for run in (_in_order(members), _in_order_from_end(members))]
    return [run for k, run in enumerate(runs) if run not in runs[:k]]


def _in_order(anchors: list[Pair]) -> list[Pair]:
    """Step 2b: the longest increasing subsequence of anchors; each word of the quotation is used once.

    ``tails[k]`` is the least last place of a run of k + 1 anchors, ``ends[k]`` that anchor, ``before`` its predecessor.
    """
    # For one word of the quotation the places come in falling order, so a rising run takes at most one of them.
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
    """Like `_in_order`, but of several longest runs the last one, its end in one piece."""
    return [(-s, -q) for s, q in _in_order([(-s, -q) for s, q in anchors])[::-1]]


def _spelled_out(chain: Sequence[Pair], size: int) -> list[Pair]:
    """The pairs of single words in a chain of runs, which may overlap."""
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
    """Step 3 beyond the outermost anchor: pair the quotation's end with the words there; long strays are cut off.

    ``way`` is 1 to the end and -1 to the beginning. Pairs are in the order of the walk.
    """
    s, q = at
    pairs: list[Pair] = []
    theirs, ours = costs.theirs, costs.ours
    while 0 <= s + way < len(theirs) and 0 <= q + way < len(ours) and theirs[s + way] == ours[q + way]:
        if (q + 1 if way > 0 else q) in costs.cuts:  # the hidden text may begin with the same word
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
    """The pair of the quotation's last word and the document's, if both ends are the same letters, cut differently."""
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
    """Step 3: pair two stretches with the least cost, in the order of the ranges (Wagner and Fischer, 1974).

    Row j holds the least cost of pairing the first j words of the quotation with the first i of the document. A move is
    0 for a pair, 1 for a word of the quotation alone, 2 for one of the document alone. With ``open_end`` the rest of
    the document's stretch costs nothing.
    """
    if not source or not quote:
        return []
    steps.take(3 * len(source) * len(quote) + 8 * len(source))
    theirs, ours = [costs.theirs[i] for i in source], [costs.ours[j] for j in quote]
    skip = [costs.source(i) for i in source]
    step = quote.step
    before = [0]  # row 0; an ellipsis before the first word makes all omissions there free
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
                else:  # a word and a sign are dearest, so that they are not paired
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
        # The cheapest end of the last row; of equal ones, the stretch that is nearest to the quotation's length.
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
    """The cost of one word for another: less if they begin or end alike and are about as long, as after a slip."""
    if ("'" in word or "'" in other) and spelled_out(word)[0] == spelled_out(other)[0]:
        return _NEARLY
    near = abs(len(word) - len(other)) <= 2 and len(word) > 2
    return _NEARLY if near and (word[-1:] == other[-1:] or word[:3] == other[:3]) else _EDIT


def _alignment(quote: QuoteWords, window: TextTokens, paired: Sequence[Pair]) -> Alignment:
    # Step 4. Unequal pairs stay inside the block between the two equal words around them.
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
