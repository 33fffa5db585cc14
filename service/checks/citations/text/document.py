"""A document prepared for searches: folded, indexed, its words and page furniture read when they are needed.

The index gives the blocks of the folded text in which a word stands. The rare words of a quotation show where its
passage must be. So only a few thousand characters are compared word by word, in a document of any length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter
from zlib import crc32

from service.checks.citations.text.fold import Folded, fold
from service.checks.citations.text.joined_words import says_other
from service.checks.citations.text.lexicon import is_listed
from service.checks.citations.text.outline import NamedPlace, outline
from service.checks.citations.text.page_furniture import furniture
from service.checks.citations.text.steps import Steps
from service.checks.citations.text.tokens import TextTokens, join_broken, read_tokens
from service.checks.patterns import lazily

BLOCK = 2048
"""Folded characters in one block of the index."""
_RAREST = 48
"""The most words of a quotation that are looked up, those in the fewest blocks first."""
_MOST_BLOCKS = 4096
"""The most blocks that all these words may name together; a word in every block shows no place."""
_INDEXED = lazily(r"[^\W_\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff]")
_BETWEEN_WORDS = {code: " " for code in range(128) if not chr(code).isalnum()}


class Document:
    """One text with its derived data, each computed once: folding at the start, the rest at first use."""

    def __init__(self, text: str) -> None:
        self.original = text
        self.folded: Folded = fold(text)
        self._blocks: dict[int, TextTokens] = {}
        self.mentions: dict[tuple[str, str], bool] = {}
        """Whether the text names some clauses, by numeral and word; `service.checks.texts.clauses` keeps it."""

    @cached_property
    def outline(self) -> tuple[NamedPlace, ...]:
        """The document's headings, clauses and pages."""
        return outline(self.original)

    @cached_property
    def furniture(self) -> Sequence[tuple[int, int]]:
        """The page furniture, as folded offsets in order."""
        return [
            (self.folded.offset(start), self.folded.offset(end))
            for start, end in furniture(self.original)
            if end > start
        ]

    @cached_property
    def index(self) -> dict[str, list[int]]:
        """The blocks in which each word stands."""
        found = defaultdict[str, list[int]](list)
        text = self.folded.text
        for block in range(-(-len(text) // BLOCK)):
            for word in _words(text[self.cut(block) : self.cut(block + 1)]):
                found[word].append(block)
        return dict(found)

    def is_furniture(self, start: int, end: int) -> bool:
        """Whether a folded stretch lies within the furniture of a page."""
        found = self.furniture
        k = bisect_right(found, start, key=itemgetter(0)) - 1
        return k >= 0 and end <= found[k][1]

    def windows(self, words: Sequence[str], length: int, most: int, steps: Steps) -> list[tuple[int, int, int]]:
        """The places where most of the words stand close together, as first block, last block and score.

        ``length`` is that of the passage, in folded characters. There are at most ``most`` places, and every score is
        at least 70 % of the best.
        """
        votes = self._votes(words, steps)
        if not votes:
            return []
        span = length // BLOCK + 2
        steps.take(len(votes) * 4)
        blocks = sorted(votes)
        sums: list[tuple[int, int]] = []
        total, tail = 0, 0
        for block in blocks:
            total += votes[block]
            while blocks[tail] <= block - span:
                total -= votes[blocks[tail]]
                tail += 1
            sums.append((-total, block))
        chosen: list[tuple[int, int, int]] = []
        beside: set[int] = set()
        best = min(sums)[0]
        for score, last in sorted(pair for pair in sums if pair[0] * 10 <= best * 7):
            if last not in beside:
                chosen.append((max(0, last - span + 1), last, -score))
                if len(chosen) == most:
                    break
                beside.update(range(last - span + 1, last + span))
        return chosen

    def _votes(self, words: Sequence[str], steps: Steps) -> dict[int, int]:
        # Of words with the same count, a checksum chooses: the order of a set depends on the process, and
        # alphabetical order may be the order of the text.
        held = [
            (len(found), crc32(word.encode(errors="surrogatepass")), word)
            for word in set(words)
            if (found := self.index.get(word))
        ]
        votes: dict[int, int] = {}
        taken = 0
        for count, _, word in sorted(held)[:_RAREST]:
            taken += count
            if votes and taken > _MOST_BLOCKS:
                break
            steps.take(count * 2)
            weight = 1 + 64 // count
            for block in self.index[word]:
                votes[block] = votes.get(block, 0) + weight
        return votes

    def tokens(self, first: int, last: int, steps: Steps) -> TextTokens:
        """The tokens of some blocks in a row, one block more on either side.

        Steps are charged also for blocks that are cached: a verdict must not depend on earlier calls.
        """
        steps.take(BLOCK * (last + 2 - max(0, first - 1)))
        texts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for block in range(max(0, first - 1), last + 2):
            part = self._blocks.get(block)
            if part is None:
                read = read_tokens(self.folded, self.cut(block), self.cut(block + 1))
                part = self._blocks[block] = join_broken(read, self.folded, self._is_word)
            texts += part.texts
            starts += part.starts
            ends += part.ends
        return TextTokens(texts, starts, ends)

    def _is_word(self, word: str) -> bool:
        """Whether the two parts of a word that is hyphenated at a line's end certainly are that word."""
        return (word in self.index or is_listed(word)) and not says_other(word)

    def cut(self, block: int) -> int:
        """The offset at which a block begins: after a space, if there is one near."""
        at, text = block * BLOCK, self.folded.text
        if at == 0 or at >= len(text):
            return min(at, len(text))
        space = text.find(" ", at, at + BLOCK // 4)
        return space + 1 if space >= 0 else at


def _words(text: str) -> set[str]:
    """The words of a folded text, each once: of ASCII, what stands between all that is no letter and no figure."""
    return set(text.translate(_BETWEEN_WORDS).split() if text.isascii() else _INDEXED.findall(text))
