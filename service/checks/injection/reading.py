"""One pass over a plain view: its sentences, and which concepts of which language stand in each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.checks.injection.characters import LEET, LEET_L, is_ideographic
from service.checks.injection.concepts import BITS, NOTHING, STOPS, Entry, Vocabulary, vocabulary
from service.checks.patterns import lazily

SENTENCE_WORDS_MAX = 60
"""The most words of a sentence; a longer one is read in parts, each with the one before it."""
APART_MAX = 3
"""The most words from one that says automatic to the reader that it describes."""
WORD_MAX = 60
"""The most characters of a word whose parts and spellings are looked up."""
FOREIGN_MIN = 3
"""The fewest frequent words in another alphabet or order by which a stretch is decoded."""
FOREIGN_GAP = 80
"""The most characters between two of them."""
_QUOTED = BITS["QUOTED"]
_AUTOMATIC, _AGENT, _READER = BITS["AUTOMATIC"], BITS["AGENT"], BITS["READER"]
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_TOKEN = lazily(
    r"([\w@$](?:[\w@$]|'(?=\w))*)|([.!?\u2026](?=[\s\"'\u201c\u201d\u00bb)\]*_|<]|$)|=[\"']|[\"']>|<!--|-->|[;\u3002\uff01\uff1f\uff1b!?]"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:[#|*\u2022-]|[0-9]{1,2}[.)])[ \t])|\Z)"
)
_QUOTE = lazily("[\"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300e`]|(?<!\\w)'(?=\\w)")
_SAYS_NOTHING, _FOREIGN = Entry((), ()), Entry((), ())
"""What a word stands for that no lexicon has, and what one does that is frequent in another alphabet or order."""
_IDEOGRAPHIC = lazily("[\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f]+")


Pending = tuple[int, tuple[tuple[str, bool], ...], int, int]
"""A phrase that has begun: how many of its further words were met, these words, its language and its bits."""


class Sentence:
    """A sentence of a view: its place, and the bits of its concepts by language."""

    __slots__ = ("bits", "counts", "end", "start", "words")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.bits: dict[int, int] = {}
        self.counts: dict[int, int] = {}
        self.words = 0

    @property
    def said(self) -> int:
        """The concepts of this sentence, in the language of which it has the most words."""
        language = max(((count, n) for n, count in self.counts.items() if n), default=(0, 0))[1]
        return self.bits.get(language, 0) | self.bits.get(0, 0)


class Reader:
    """Reads a plain text word by word. What a word stands for is looked up once for each text."""

    def __init__(self) -> None:
        self._vocabulary: Vocabulary = vocabulary()
        self._known: dict[str, Entry] = {}
        self._foreign: dict[str, str] = {}
        self.rot13: list[tuple[int, int]] = []
        self.reversed: list[tuple[int, int]] = []

    def sentences(self, text: str) -> Iterator[Sentence]:
        """The sentences that have a word, one after the other."""
        self.rot13, self.reversed = [], []
        now, pending = Sentence(0), list[Pending]()
        last: dict[int, tuple[int, int]] = {}
        known = self._known
        for match in _TOKEN.finditer(text):
            word = match.group(1)
            if word is None or now.words >= SENTENCE_WORDS_MAX:
                if now.words:
                    if now.bits and _QUOTE.search(text, now.start, match.end()):
                        now.bits[0] = now.bits.get(0, 0) | _QUOTED
                    yield now
                now, pending, last = Sentence(match.start() if word else match.end()), [], {}
                if word is None:
                    continue
            if not now.words:
                now.start = match.start()
            now.words += 1
            now.end = match.end()
            if pending:
                pending = list(_further(pending, word, now))
            entry = known.get(word)
            if entry is _SAYS_NOTHING:
                continue
            entry = self._look_up(word, match, now)
            for language, bits in entry.meaning:
                now.bits[language] = now.bits.get(language, 0) | bits
                now.counts[language] = now.counts.get(language, 0) + 1
                if bits & (_AUTOMATIC | _AGENT):
                    _describe(now, last, language, bits)
            if entry.phrases:
                pending += [(0, phrase.rest, phrase.language, phrase.bits) for phrase in entry.phrases]

    def _look_up(self, word: str, match: re.Match[str], now: Sentence) -> Entry:
        entry = self._known.get(word)
        if entry is None:
            entry = self._known[word] = self._read(word)
        if not word.isascii() and _IDEOGRAPHIC.search(word):
            self._read_run(word, now)
        elif entry is _FOREIGN:
            written = self._foreign.get(word)
            if written == "rot13":
                self.rot13.append(match.span())
            elif written == "reversed":
                self.reversed.append(match.span())
        return entry

    def _read(self, word: str) -> Entry:
        """What a word stands for, also where it is written with digits for letters."""
        entry = self._vocabulary.entry(word)
        if entry is not NOTHING:
            return entry
        if "'" in word and len(word) <= WORD_MAX:
            parts = [self._vocabulary.entry(part) for part in word.split("'")]
            return Entry(sum((p.meaning for p in parts), ()), sum((p.phrases for p in parts), ()))
        if not word.isalpha() and not word.isdigit() and len(word) <= WORD_MAX:
            for table in (LEET, LEET_L):
                plain = word.translate(table)
                if plain.isalpha() and len(plain) > 2 and (entry := self._vocabulary.entry(plain)) is not NOTHING:
                    return entry
        if word not in STOPS and len(word) <= WORD_MAX and self._is_foreign(word):
            return _FOREIGN
        return NOTHING if not word.isascii() and _IDEOGRAPHIC.search(word) else _SAYS_NOTHING

    def _is_foreign(self, word: str) -> bool:
        if self._vocabulary.is_plain(word[::-1]):
            self._foreign[word] = "reversed"
        elif word.isascii() and self._vocabulary.is_plain(word.translate(_ROT13)):
            self._foreign[word] = "rot13"
        return word in self._foreign

    def _read_run(self, word: str, now: Sentence) -> None:
        runs = self._vocabulary.runs
        for at, character in enumerate(word):
            if not is_ideographic(character):
                continue
            for term, meaning in runs.get(character, ()):
                if word.startswith(term, at):
                    for language, bits in meaning:
                        now.bits[language] = now.bits.get(language, 0) | bits
                        now.counts[language] = now.counts.get(language, 0) + 1
        for part in re.split(r"[^a-z]+", word):
            for language, bits in self._vocabulary.entry(part).meaning if part else ():
                now.bits[language] = now.bits.get(language, 0) | bits

    def stretches(self, marks: list[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
        """The stretches of a text in which such words stand close together, with what stands around them."""
        first = 0
        for n in range(1, len(marks) + 1):
            if n == len(marks) or marks[n][0] - marks[n - 1][1] > FOREIGN_GAP:
                if n - first >= FOREIGN_MIN:
                    start, end = marks[first][0], marks[n - 1][1]
                    before = text.rfind("\n", max(0, start - 200), start) + 1 or max(0, start - 200)
                    after = text.find("\n", end, end + 200)
                    yield before, after if after >= 0 else min(len(text), end + 200)
                first = n


def _further(pending: list[Pending], word: str, now: Sentence) -> Iterator[Pending]:
    """The phrases that go on behind a word; those that end with it are noted."""
    for at, rest, language, bits in pending:
        expected, is_stem = rest[at]
        if word == expected or (is_stem and word.startswith(expected)):
            if at + 1 == len(rest):
                now.bits[language] = now.bits.get(language, 0) | bits
            else:
                yield at + 1, rest, language, bits


def _describe(now: Sentence, last: dict[int, tuple[int, int]], language: int, bits: int) -> None:
    """Note a reader that is a machine where one word says what it is, and one close to it that it is automatic."""
    automatic, agent = last.get(language, (-9, -9))
    automatic, agent = (
        now.words if bits & _AUTOMATIC else automatic,
        now.words if bits & _AGENT else agent,
    )
    last[language] = automatic, agent
    if min(automatic, agent) > 0 and 0 < abs(automatic - agent) <= APART_MAX:
        now.bits[language] |= _READER
