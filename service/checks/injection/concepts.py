"""Concepts: what words of any language do to a reader, as bits, and the words that stand for them.

A lexicon (one module for each language in `lexicons`) maps the name of a concept to entries between spaces. An entry is
a word; with ``*`` at its end it stands for every word that begins so; with ``+`` or a hyphen between words for these
words one after the other. Entries are folded as texts are: without case and accents. A word may stand for several
concepts. Chinese and Japanese entries are found anywhere in a run of their characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

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

Meaning = tuple[tuple[int, int], ...]
"""What a word stands for: pairs of a language, as its place in `LEXICONS`, and the bits of concepts."""


class Phrase(NamedTuple):
    """The rest of a phrase, whose first word was met, and what the whole phrase stands for."""

    rest: tuple[tuple[str, bool], ...]
    """Each word, and whether it stands for all that begin so."""
    language: int
    bits: int


class Entry(NamedTuple):
    """What a word stands for, and the phrases that begin with it."""

    meaning: Meaning
    phrases: tuple[Phrase, ...]


NOTHING = Entry((), ())
_NONE: Mapping[int, int] = {}


def bits_of(*names: str) -> int:
    """The bits of several concepts."""
    return sum(BITS[name] for name in set(names))


class Vocabulary:
    """All lexicons, by word, by stem, and by the first two characters of entries without word borders."""

    def __init__(self) -> None:
        self._words: dict[str, dict[int, int]] = {}
        self._stems: dict[str, dict[int, int]] = {}
        self._phrases: dict[str, list[Phrase]] = {}
        self._stem_phrases: dict[str, list[Phrase]] = {}
        self.runs: dict[str, list[tuple[str, Meaning]]] = {}
        runs: dict[str, dict[int, int]] = {}
        for language, lexicon in enumerate(LEXICONS):
            for name, entries in lexicon.items():
                for entry in fold(entries).split():
                    self._add(entry, language, BITS[name], runs)
        self._beginnings = {stem[:3] for stem in (*self._stems, *self._stem_phrases)}
        for term, meaning in runs.items():
            self.runs.setdefault(term[:1], []).append((term, tuple(meaning.items())))

    def _add(self, entry: str, language: int, bit: int, runs: dict[str, dict[int, int]]) -> None:
        if is_ideographic(entry[0]):
            _note(runs, entry, language, bit)
            return
        first, *rest = entry.replace("-", "+").split("+")
        if rest:
            heads = self._stem_phrases if first.endswith("*") else self._phrases
            further = tuple((word.rstrip("*"), word.endswith("*")) for word in rest)
            heads.setdefault(first.rstrip("*"), []).append(Phrase(further, language, bit))
        elif first.endswith("*"):
            _note(self._stems, first[:-1], language, bit)
        else:
            _note(self._words, first, language, bit)

    def entry(self, word: str) -> Entry:
        """What a word stands for, by itself and by its stems."""
        meant = dict(self._words.get(word, ()))
        phrases = list(self._phrases.get(word, ()))
        if not self._beginnings.isdisjoint((word[:1], word[:2], word[:3])):
            for end in range(1, min(len(word), LONGEST_STEM) + 1):
                stem = word[:end]
                for language, bits in self._stems.get(stem, _NONE).items():
                    meant[language] = meant.get(language, 0) | bits
                phrases += self._stem_phrases.get(stem, ())
        return Entry(tuple(meant.items()), tuple(phrases)) if meant or phrases else NOTHING

    def is_plain(self, word: str) -> bool:
        """Whether a word is a frequent one or an entry, not only by its stem."""
        return word in STOPS or (len(word) > 3 and word in self._words)


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
