"""One pass over a plain view: its sentences, and which concepts stand in each.

A text is cut at the ends of its sentences first, and each sentence into words by one expression. A word is looked up
when it is first met, and a sentence adds up what its words stand for in two numbers for all languages (`Entry`).
Phrases, and words in another alphabet or order, are looked for in sentences that have the first word of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import chain, filterfalse
from struct import Struct
from typing import NamedTuple

from msgspec.structs import replace

from service.checks.injection.characters import LEET, LEET_L
from service.checks.injection.concepts import BITS, LEXICONS, WIDTH, Entry, entry_of, in_all, vocabulary
from service.checks.patterns import lazily

SENTENCE_WORDS_MAX = 60
"""The most words of a sentence; a longer one is read in parts, each with the one before it."""
APART_MAX = 3
"""The most words from one that says automatic to the reader that it describes."""
WORD_MAX = 60
"""The most characters of a word whose parts and spellings are looked up."""
LONGEST = 40
"""The most characters of a word that is remembered, and that is one for the model over words."""
KNOWN_MAX = 8_192
"""How many words are remembered with what they stand for, before all are forgotten and those of the next text come."""
FOREIGN_MIN = 3
"""The fewest frequent words in another alphabet or order by which a stretch is decoded."""
FOREIGN_GAP = 80
"""The most characters between two of them."""
_QUOTED = BITS["QUOTED"]
_AUTOMATIC, _AGENT, _READER = BITS["AUTOMATIC"], BITS["AGENT"], BITS["READER"]
_ANY_AUTOMATIC, _ANY_AGENT = in_all(_AUTOMATIC), in_all(_AGENT)
_OF_ONE = (1 << WIDTH) - 1
_COUNTS = Struct(f"<{len(LEXICONS) - 1}I")
_WORD = lazily(r"[\w@$]+(?:'(?=\w)[\w@$]+)*")
_BLANKED = "".join(chr(n) if chr(n).isalnum() or chr(n) in "_@$" else " " for n in range(128))
"""By code point what a character of ASCII is to words: itself, or a blank."""
_END = lazily(
    r"[.\u2026!?;\u3002\uff01\uff1f\uff1b=\"'<\n-](?:(?<=[!?;\u3002\uff01\uff1f\uff1b])"
    r"|(?<=[.\u2026])(?=[\s\"'\u201c\u201d\u00bb)\]*_|<]|$)|(?<==)[\"']|(?<=[\"'])>|(?<=<)!--|(?<=-)->"
    r"|(?<=\n)[ \t]*\n|(?<=\n)(?=[ \t]*(?:[#|*\u2022-]|[0-9]{1,2}[.)])[ \t]))"
)
"""What ends a sentence. No word has a character of it, so that words are the same between two ends as in the whole."""
_ENDS = {
    "!": lazily("!"),
    "?": lazily(r"\?"),
    ";": lazily(";"),
    ".": lazily(r"\.(?=[\s\"')\]*_|]|$)"),
    "\n": lazily(r"\n(?:[ \t]*\n|(?=[ \t]*(?:[#|*-]|[0-9]{1,2}[.)])[ \t]))"),
}
"""By its first character, each begins with one character and no class, which `re` finds ten times as fast. Whether a
text holds a character is seen in a twentieth of that."""
_QUOTES = '"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300e`'
_QUOTE = lazily(f"[{_QUOTES}'](?:(?<!')|(?<!\\w')(?=\\w))")
_OPENING = lazily(r"'(?<!\w')(?=\w)")
"""The only apostrophe that is one of `_QUOTE`."""
LEET_SIGN = lazily(r"[0134578@$](?:(?=[a-z])|(?<=[a-z].))")
"""What every word has that is written with digits and signs for letters: a letter and one of these side by side."""
_IDEOGRAPHIC = lazily("[\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f]+")


class Sentence(NamedTuple):
    """A sentence of a view: its place, its concepts in the language of which it has the most words, and its words."""

    start: int
    end: int
    said: int
    words: Sequence[str]


class Odd(NamedTuple):
    """What is seen at once of all words of a view: its numbers, and whether one of its words is longer than `LONGEST`,
    or may be written with digits or signs for letters."""

    numbers: Set[str]
    are_long: bool
    may_be_leet: bool


_Cut = tuple[Sequence[str], int, int, int]
"""The words of a sentence, its start and its end, and up to where quotation marks are looked for."""


class Known(dict[str, Entry | None]):
    """What each word that was met stands for; ``None`` for nothing. All are forgotten when they are too many."""

    def __init__(self) -> None:
        self._vocabulary = vocabulary()
        self.more = set[str]()
        """Those of them that are more than their concepts."""

    def __missing__(self, word: str) -> Entry | None:
        """A word that is too long to be learnt, or that another thread has made forgotten since."""
        return self._looked_up({word})[word]

    def learn(self, words: set[str]) -> bool:
        """Look up those of these words that are new, and remember them unless they are too long to be words.

        Whether one is too long.
        """
        if len(self) > KNOWN_MAX:
            self.clear()
            self.more.clear()
        # Not `set.difference`, which looks at each word of another class of dict, not at these.
        new = set(filterfalse(self.__contains__, words))
        short = {word for word in new if len(word) <= LONGEST}
        found = self._looked_up(short)
        self.more.update(word for word, entry in found.items() if entry and entry.is_more)
        self.update(found)
        return len(short) < len(new)

    def alone(self, words: set[str]) -> set[str]:
        """Those of a text's words that are no more than their concepts in it: none of their phrases can go on."""
        return {word for word in words & self.more if (entry := self[word]) and not entry.goes_on_among(words)}

    def _looked_up(self, words: set[str]) -> dict[str, Entry | None]:
        foreign = self._vocabulary.foreign
        entries: dict[str, Entry | None] = dict.fromkeys(words)
        entries.update((word, foreign[word]) for word in words & foreign.keys())
        entries.update(self._vocabulary.entries(words))
        for word in words:
            if not word.isalpha() or not word.isascii():
                entries[word] = self._odd(entries[word], word)
        return entries

    def _odd(self, entry: Entry | None, word: str) -> Entry | None:
        """What a word of other characters than letters of ASCII stands for; ``entry`` is what it does as it is."""
        if (entry is None or entry.foreign) and not word.isalpha() and not word.isdigit() and len(word) <= WORD_MAX:
            entry = self._otherwise(word) or entry
        return self._with_run(entry, word) if not word.isascii() and _IDEOGRAPHIC.search(word) else entry

    def _otherwise(self, word: str) -> Entry | None:
        """What a word of letters and others stands for that is no entry: by its parts, or by its digits for letters."""
        if "'" in word:
            parts = [entry for part in word.split("'") if (entry := self._vocabulary.entry(part))]
            return entry_of(chain(*(p.meaning for p in parts)), chain(*(p.phrases for p in parts)))
        for table in (LEET, LEET_L):
            plain = word.translate(table)
            if plain.isalpha() and len(plain) > 2 and (entry := self._vocabulary.entry(plain)):
                return entry
        return None

    def _with_run(self, entry: Entry | None, word: str) -> Entry | None:
        """With what the entries without word borders stand for that are found in a word, and its Latin parts."""
        runs = self._vocabulary.runs
        bits, counts = (entry.bits, entry.counts) if entry else (0, 0)
        for at, character in enumerate(word):
            if character in runs:
                for term, of, count in runs[character]:
                    if word.startswith(term, at):
                        bits |= of
                        counts += count
        for part in re.split(r"[^a-z]+", word):
            if part and (latin := self._vocabulary.entry(part)):
                bits |= latin.bits
        if entry and entry.phrases:
            return replace(entry, bits=bits, counts=counts)
        return Entry(bits, counts, is_more=False, meaning=entry.meaning if entry else ()) if bits else None


class Reader:
    """Reads plain texts. What a word stands for is looked up once for all of them, or for all that have ``known``."""

    def __init__(self, known: Known | None = None) -> None:
        self._known = Known() if known is None else known
        self.rot13: list[tuple[int, int]] = []
        self.reversed: list[tuple[int, int]] = []
        self.odd = Odd(set(), are_long=False, may_be_leet=False)

    def sentences(self, text: str) -> Sequence[Sentence]:
        """The sentences that have a word, in their order."""
        self.rot13, self.reversed = [], []
        cut = list(_cut(text))
        words = set[str]().union(*[words for words, *_ in cut])
        are_long = self._known.learn(words)
        others = set(filterfalse(str.isalpha, words))
        numbers = set(filter(str.isdigit, others))
        self.odd = Odd(numbers, are_long, any(map(LEET_SIGN.search, others - numbers)))
        alone = self._known.alone(words)
        holds_quotes = any(map(text.__contains__, _QUOTES)) or ("'" in text and _OPENING.search(text) is not None)
        return [self._sentence(text, one, alone, holds_quotes=holds_quotes) for one in cut]

    def _sentence(self, text: str, cut: _Cut, alone: set[str], *, holds_quotes: bool) -> Sentence:
        words, start, end, until = cut
        known = self._known
        bits = counts = n = 0
        is_foreign = False
        for word in words:
            n += 1
            entry = known[word]
            if entry is None:
                continue
            bits |= entry.bits
            counts += entry.counts
            if entry.is_more and word not in alone:
                if entry.foreign:
                    is_foreign = True
                elif n < len(words) and (words[n] in entry.seconds or words[n].startswith(entry.beginnings)):
                    bits |= entry.phrases_with(words, n)
        if is_foreign:
            self._note(text, start, end)
        if bits & _ANY_AUTOMATIC and bits & _ANY_AGENT:
            bits |= self._described(words)
        if not bits:
            return Sentence(start, end, 0, words)
        said = bits & _OF_ONE
        if counts:
            said |= bits >> _most(counts) * WIDTH & _OF_ONE
        if holds_quotes and _QUOTE.search(text, start, until):
            said |= _QUOTED
        return Sentence(start, end, said, words)

    def _note(self, text: str, start: int, end: int) -> None:
        """Note where words of a sentence stand that are frequent in another alphabet or order."""
        for match in _WORD.finditer(text, start, end):
            entry = self._known[match.group()]
            if entry and entry.foreign:
                (self.rot13 if entry.foreign == "rot13" else self.reversed).append(match.span())

    def _described(self, words: Sequence[str]) -> int:
        """The bits of a reader that is a machine, in each language in which one word says what it is, and one close to
        it that it is automatic."""
        described = 0
        last: dict[int, tuple[int, int]] = {}
        for n, entry in enumerate(map(self._known.__getitem__, words)):
            for language, bits in entry.meaning if entry else ():
                if bits & (_AUTOMATIC | _AGENT):
                    automatic, agent = last.get(language, (-9, -9))
                    automatic, agent = n if bits & _AUTOMATIC else automatic, n if bits & _AGENT else agent
                    last[language] = automatic, agent
                    if min(automatic, agent) >= 0 and 0 < abs(automatic - agent) <= APART_MAX:
                        described |= _READER << language * WIDTH
        return described

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


def _most(counts: int) -> int:
    """The language of the most words, the later one of two with as many, where words count."""
    counted = _COUNTS.unpack(counts.to_bytes(_COUNTS.size, "little"))
    return len(counted) - counted.index(max(counted))


def _cut(text: str) -> Iterator[_Cut]:
    """A text cut at the ends of its sentences."""
    # A text of ASCII is split at blanks, which is sooner done; an apostrophe is in a word only between two letters.
    blanked = text.translate(_BLANKED) if text.isascii() else None
    at = 0
    holds_apostrophes = "'" in text
    for end, until in (*_ends(text), (len(text), len(text))):
        if blanked is None or (holds_apostrophes and text.find("'", at, end) >= 0):
            words = _WORD.findall(text, at, end)
        else:
            words = blanked[at:end].split()
        if len(words) > SENTENCE_WORDS_MAX:
            yield from _cut_long(text, words, at, until)
        elif words:
            # Before the first word and behind the last one there is no character of a word.
            last = words[-1]
            yield words, text.find(words[0], at), text.rfind(last, at, end) + len(last), until
        at = until


def _ends(text: str) -> Sequence[tuple[int, int]]:
    """What `_END` finds in a text; in ASCII without markup, what each of `_ENDS` does, which is sooner found."""
    if not text.isascii() or "=" in text or "<" in text or ">" in text:
        return [match.span() for match in _END.finditer(text)]
    ends = [end for sign, end in _ENDS.items() if sign in text]
    return sorted([match.span() for end in ends for match in end.finditer(text)])


def _cut_long(text: str, words: Sequence[str], at: int, until: int) -> Iterator[_Cut]:
    """A sentence of too many words, in parts; quotation marks are looked for up to the end of the next word."""
    ends = list[int]()
    for word in words:  # between two words there is no character of a word
        at = text.find(word, at) + len(word)
        ends.append(at)
    for first in range(0, len(words), SENTENCE_WORDS_MAX):
        part = words[first : first + SENTENCE_WORDS_MAX]
        behind = first + len(part)
        end_of_next = ends[behind] if behind < len(words) else until
        yield part, ends[first] - len(part[0]), ends[behind - 1], end_of_next
