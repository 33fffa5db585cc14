"""Concepts: what words of any language do to a reader, as bits, and the words that stand for them.

A lexicon (one module for each language in `lexicons`) maps the name of a concept to entries between spaces. An entry is
a word; with ``*`` at its end it stands for every word that begins so; with ``+`` or a hyphen between words for these
words one after the other. Entries are folded as texts are: without case and accents. A word may stand for several
concepts. Chinese and Japanese entries are found anywhere in a run of their characters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from service.checks.injection.characters import fold, is_ideographic
from service.checks.injection.lexicons import (
    chinese,
    dutch,
    english,
    french,
    german,
    italian,
    japanese,
    polish,
    portuguese,
    russian,
    shared,
    spanish,
)

LEXICONS: Sequence[Mapping[str, str]] = (
    shared.WORDS,
    english.WORDS,
    german.WORDS,
    french.WORDS,
    spanish.WORDS,
    italian.WORDS,
    portuguese.WORDS,
    dutch.WORDS,
    polish.WORDS,
    russian.WORDS,
    chinese.WORDS,
    japanese.WORDS,
)
"""The languages; the first is a part of each of the others."""
STOPS = frozenset(
    word
    for module in (english, german, french, spanish, italian, portuguese, dutch, polish)
    for word in module.STOP
    if len(word) > 2
)
"""Frequent words, by which text in another alphabet or order is known."""
MADE = ("QUOTED",)
"""The concept that no word stands for: words in quotation marks."""
NAMES: Sequence[str] = tuple(dict.fromkeys((*MADE, *(name for lexicon in LEXICONS for name in lexicon))))
BITS: Mapping[str, int] = {name: 1 << n for n, name in enumerate(NAMES)}
LONGEST_STEM = 16
"""The most letters of a word that are compared with stems."""
HEAD = 3
"""By how many first letters stems are looked for."""
ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")

WIDTH, OF_COUNT = len(NAMES), 32
"""How many bits a number has for the concepts of one language, and one for how many words mean something in it."""

Meaning = tuple[tuple[int, int], ...]
"""What a word stands for: pairs of a language, as its place in `LEXICONS`, and the bits of concepts."""


class Phrase(NamedTuple):
    """The rest of a phrase, whose first word was met, and what the whole phrase stands for."""

    rest: tuple[tuple[str, bool], ...]
    """Each word, and whether it stands for all that begin so."""
    bits: int
    """The concepts, at the place of their language in a number for all."""

    def goes_on(self, words: Sequence[str], at: int) -> bool:
        """Whether the words from a place on are those behind the first one."""
        if at + len(self.rest) > len(words):
            return False
        return all(
            word == expected or (is_stem and word.startswith(expected))
            for (expected, is_stem), word in zip(self.rest, words[at : at + len(self.rest)], strict=True)
        )


class Entry(Struct, frozen=True):
    """What a word stands for, and the phrases that begin with it.

    ``bits`` and ``counts`` are numbers for all languages in one: `WIDTH` bits of concepts for each, and `OF_COUNT` bits
    that count one word, the last language lowest and the one that all share nowhere. ``foreign`` says how a frequent
    word is written in another alphabet or order.
    """

    bits: int
    counts: int
    is_more: bool
    """Whether there is more to it than its concepts."""
    meaning: Meaning = ()
    phrases: tuple[Phrase, ...] = ()
    seconds: Mapping[str, Sequence[Phrase]] = MappingProxyType({})
    """The phrases by their second word, where that is a whole one."""
    beginnings: tuple[str, ...] = ()
    """The second words of the others, of which a part is enough."""
    foreign: str = ""

    def goes_on_among(self, words: Set[str]) -> bool:
        """Whether one of its phrases may go on in a text of these words, or they are looked at for another reason."""
        return bool(self.foreign or self.beginnings) or not self.seconds.keys().isdisjoint(words)

    def phrases_with(self, words: Sequence[str], at: int) -> int:
        """The bits of the phrases that go on with the words from a place on."""
        phrases = self.phrases if words[at].startswith(self.beginnings) else self.seconds.get(words[at], ())
        bits = 0
        for phrase in phrases:
            if phrase.goes_on(words, at):
                bits |= phrase.bits
        return bits


def entry_of(meaning: Iterable[tuple[int, int]], phrases: Iterable[Phrase] = ()) -> Entry | None:
    """The entry of what a word stands for; ``None`` if that is nothing."""
    meaning, phrases = tuple(meaning), tuple(phrases)
    if not meaning and not phrases:
        return None
    bits, counts = packed(meaning)
    seconds, beginnings = defaultdict[str, list[Phrase]](list), set[str]()
    for phrase in phrases:
        second, is_stem = phrase.rest[0]
        seconds[second].append(phrase)
        if is_stem:
            beginnings.add(second)
    return Entry(bits, counts, bool(phrases), meaning, phrases, dict(seconds), tuple(beginnings))


def packed(meaning: Meaning) -> tuple[int, int]:
    """The concepts and the counts of a meaning, as `Entry` has them."""
    bits = counts = 0
    for language, of in meaning:
        bits |= of << language * WIDTH
        counts += 1 << (len(LEXICONS) - 1 - language) * OF_COUNT if language else 0
    return bits, counts


def in_all(bits: int) -> int:
    """These concepts in every language, as `Entry` has them."""
    return sum(bits << language * WIDTH for language in range(len(LEXICONS)))


_NONE: Mapping[int, int] = {}
_REVERSED, _ROTATED = Entry(0, 0, is_more=True, foreign="reversed"), Entry(0, 0, is_more=True, foreign="rot13")


def bits_of(*names: str) -> int:
    """The bits of several concepts."""
    return sum(BITS[name] for name in set(names))


class Vocabulary:
    """All lexicons, by word and by stem, and by the first character of entries without word borders.

    What an entry stands for is worked out here, once, with the stems that it begins with: a word of a text is only
    looked up.
    """

    def __init__(self) -> None:
        read = _Read()
        stems = {stem for stem in (*read.stems, *read.stem_phrases) if len(stem) <= LONGEST_STEM}
        self._of_stem = {stem: read.entry("", stem) for stem in stems}
        ordered = sorted(stems, key=len, reverse=True)
        self._short = tuple(stem for stem in ordered if len(stem) < HEAD)
        grouped = defaultdict[str, list[str]](list)
        for stem in ordered:
            grouped[stem[:HEAD]].append(stem)
        self._stems = {head: (*grouped[head], *self._short) for head in grouped if len(head) == HEAD}
        """By their first letters the stems of words that begin so, the longest first."""
        self._whole = {word: read.entry(word, word) for word in (*read.words, *read.phrases)}
        self._names = frozenset(self._whole)
        self.runs = read.runs
        plain = {word for word in (*STOPS, *read.words) if word in STOPS or len(word) > 3}
        rot13 = {word.translate(ROT13): _ROTATED for word in plain if word.isascii()}
        turned = {word[::-1]: _REVERSED for word in plain}
        marks = {**rot13, **turned}.items()
        self.foreign = {word: mark for word, mark in marks if word not in STOPS and "'" not in word}
        """The marks of words that are frequent ones or entries, in another alphabet or order; of others than these."""

    def entries(self, words: Set[str]) -> dict[str, Entry | None]:
        """What each of these words stands for that is an entry, by itself or by its stems."""
        entries = {word: self._whole[word] for word in words & self._names}
        stems, short = self._stems.get, self._short
        for word in words - self._names:
            may_begin = stems(word[:HEAD], short)
            if word.startswith(may_begin):
                # All stems of a word begin the longest one, whose entry has them.
                entries[word] = self._of_stem[next(filter(word.startswith, may_begin))]
        return entries

    def entry(self, word: str) -> Entry | None:
        """What one word stands for, by itself and by its stems."""
        return self.entries({word}).get(word)


class _Read:
    """The lexicons as they are read."""

    def __init__(self) -> None:
        self.words: dict[str, dict[int, int]] = {}
        self.stems: dict[str, dict[int, int]] = {}
        self.phrases: dict[str, list[Phrase]] = {}
        self.stem_phrases: dict[str, list[Phrase]] = {}
        self.runs: dict[str, list[tuple[str, int, int]]] = {}
        """By their first character the entries without word borders, each with its bits and counts."""
        runs: dict[str, dict[int, int]] = {}
        for language, lexicon in enumerate(LEXICONS):
            for name, entries in lexicon.items():
                for entry in fold(entries).split():
                    self._add(entry, language, BITS[name], runs)
        for term, meant in runs.items():
            self.runs.setdefault(term[:1], []).append((term, *packed(tuple(meant.items()))))

    def _add(self, entry: str, language: int, bit: int, runs: dict[str, dict[int, int]]) -> None:
        if is_ideographic(entry[0]):
            _note(runs, entry, language, bit)
            return
        first, *rest = entry.replace("-", "+").split("+")
        if rest:
            heads = self.stem_phrases if first.endswith("*") else self.phrases
            further = tuple((word.rstrip("*"), word.endswith("*")) for word in rest)
            heads.setdefault(first.rstrip("*"), []).append(Phrase(further, bit << language * WIDTH))
        elif first.endswith("*"):
            _note(self.stems, first[:-1], language, bit)
        else:
            _note(self.words, first, language, bit)

    def entry(self, word: str, begun: str) -> Entry | None:
        """What a word stands for, with all stems by which ``begun`` begins; of a stem alone, without a word."""
        meant = dict(self.words.get(word, ()))
        phrases = list(self.phrases.get(word, ()))
        for end in range(1, min(len(begun), LONGEST_STEM) + 1):
            for language, bits in self.stems.get(begun[:end], _NONE).items():
                meant[language] = meant.get(language, 0) | bits
            phrases += self.stem_phrases.get(begun[:end], ())
        return entry_of(meant.items(), phrases)


def _note(into: dict[str, dict[int, int]], word: str, language: int, bit: int) -> None:
    meant = into.setdefault(word, {})
    meant[language] = meant.get(language, 0) | bit


@cache
def vocabulary() -> Vocabulary:
    """The lexicons, read once."""
    return Vocabulary()


def names_of(bits: int) -> Iterable[str]:
    """The names of the concepts in these bits."""
    return (name for name, bit in BITS.items() if bits & bit)
