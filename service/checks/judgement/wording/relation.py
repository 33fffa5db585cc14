"""Whether what a critic says is about the case: its words are those of the question, the proposals or the documents.

    a text      names the case where enough of its telling words are those of the question, of a proposal, of a document
                or of what it quotes itself, or where it speaks of that quotation. It may lean on another point, because
                honest critics speak in images; a short one also on a thesis with one such word. That a longer one
                has no word of the case under a thesis that has is for a reader to judge: it is only flagged
    a passage   concerns an argument where its sentence has a word of the point that quotes it, of the thesis of the
                critique or of the argument

Telling words are of three letters and more, or numbers of two figures and more; the general ones, faults and negations
count for nothing, because they fit every case. These rules are for cases in English, where general words are known.
Over a document in another language nothing is compared, because an English text has next to none of its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from msgspec import Struct

from service.checks import kept
from service.checks.judgement.wording.grounds import is_english
from service.checks.judgement.wording.softening import unquoted
from service.checks.judgement.wording.vocabulary import EVERYDAY, FAULTS, FUNCTION, GENERAL, JOINING, NEGATIONS, matcher
from service.checks.patterns import lazily

_WORD = lazily(r"\d+(?:[.,]\d+)+|[^\W_]+")
_NUMBERS = r"\b(?:arguments?|points?|statements?) \d+(?:(?:,| and| or|, and) \d+)*"
_NUMBERED, _NUMBERED_SMALL = lazily(_NUMBERS, re.IGNORECASE), lazily(_NUMBERS)
_NUMBERED_KINDS = ("argument", "point", "statement")
_IN_WORDS = str.maketrans({char: char if char.isalnum() or char in ".," else " " for char in map(chr, range(128))})
"""Blanks for all of ASCII that is in no word and no number."""
_GENERAL = frozenset(f"{GENERAL} {JOINING} document documents file files record records text texts".split()) | FUNCTION
_EMPTY = matcher(f"{FAULTS} {NEGATIONS}")
_COUNTED = lazily(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|half|twice)\b", re.IGNORECASE)
_OF_A_TEXT = lazily(
    r"\b(?:quoted|quotation|quotes?|sentences?|passages?|clauses?|paragraphs?|sections?|omit(?:s|ted)|left out)\b",
    re.IGNORECASE,
)
"""What a remark on a quotation is about: the words beside it, which its own passage then shows."""
_END = lazily(r"[.;!?](?=\s)|\n")
_BEGINNING = 20_000
"""The characters of a document by which its language is known."""
WORDS_KEPT = 16_384
"""Of how many words of one tenant the stems are kept: turns share most of them."""
LONGEST_KEPT = 60
"""The most characters of such a word."""


class RelationLimits(Struct, frozen=True, rename="camel"):
    """The least that a text shares with the case.

    A case of fewer than ``enough`` words is not compared. ``shared`` is per mille of a text's telling words; it rises
    by ``chance`` for each thousand words of a case beyond ``vocabulary``, up to ``most``. A text of up to ``brief``
    telling words may lean on a thesis that has one word of the case. The sentence of a passage is looked for within
    ``sentence`` characters on either side. ``stem`` is in letters.
    """

    enough: int = 40
    shared: int = 30
    vocabulary: int = 200
    chance: int = 200
    most: int = 120
    brief: int = 5
    stem: int = 5
    sentence: int = 400


LIMITS = RelationLimits()


class CaseWords(NamedTuple):
    """The stems of the telling words of a case: what is asked and argued, what the documents say, and both together.

    ``english`` says that its documents are in English.
    """

    argued: frozenset[str]
    documents: frozenset[str]
    all: frozenset[str]
    english: bool = True
    limits: RelationLimits = LIMITS

    @property
    def is_compared(self) -> bool:
        """Whether a text can be seen to be about something else."""
        return self.english and len(self.all) >= self.limits.enough

    @property
    def least(self) -> int:
        """The least share of the case's words in a text, per mille: a long case has more of them by chance."""
        limits = self.limits
        more = max(0, len(self.all) - limits.vocabulary) * limits.chance // 1_000
        return min(limits.shared + more, limits.most)


def case_words(argued: Sequence[str], documents: Collection[str], limits: RelationLimits = LIMITS) -> CaseWords:
    """The words of a case by its question, positions and proposals, and by the texts of its documents."""
    common = _everyday(limits)
    read = [kept.once(("stems", limits), partial(_read, limits=limits), text) for text in documents]
    said = stems("\n".join(argued), limits) - common
    written = frozenset[str]().union(*(document.stems for document in read))
    return CaseWords(said, written, said | written, all(document.english for document in read), limits)


class _Read(NamedTuple):
    """The stems of a document's telling words, without everyday ones, and whether it may be in English.

    An empty one may.
    """

    stems: frozenset[str]
    english: bool


def _read(document: str, limits: RelationLimits) -> _Read:
    return _Read(stems(document, limits) - _everyday(limits), not document.strip() or is_english(document[:_BEGINNING]))


def stems(text: str, limits: RelationLimits = LIMITS) -> frozenset[str]:
    """The stems of the telling words of a text."""
    known = kept.once(("stems of words", limits.stem), partial(_Stems, limits.stem))
    return frozenset(filter(None, map(known.__getitem__, _words(text))))


class _Stems(dict[str, str]):
    """The stem of each word that tells something, and nothing for others, worked out when a word is first met.

    All are forgotten when they are too many.
    """

    def __init__(self, letters: int) -> None:
        self._letters = letters

    def __missing__(self, word: str) -> str:
        stem = _stem(word, self._letters) if _is_telling(word) else ""
        if len(word) <= LONGEST_KEPT:
            if len(self) >= WORDS_KEPT:
                self.clear()
            self[word] = stem
        return stem


@lru_cache(maxsize=4)
def _everyday(limits: RelationLimits) -> frozenset[str]:
    return stems(EVERYDAY, limits)


def _words(text: str) -> set[str]:
    """The different words of a text without case. No word and no numbered argument goes over a line break, so lines of
    ASCII are searched in small letters, and what stands between blanks in the others is read once."""
    if text.isascii():
        return _plain_words(text)
    plain, other = list[str](), list[str]()
    for line in text.split("\n"):
        (plain if line.isascii() else other).append(line)
    different = {*_NUMBERED.sub(" ", "\n".join(other)).casefold().split()}
    return _plain_words("\n".join(plain)).union(_WORD.findall("\n".join(different)))


def _plain_words(text: str) -> set[str]:
    """The same of ASCII: a piece of letters and figures is a word, and only others are searched for words."""
    small = text.lower()
    if any(map(small.__contains__, _NUMBERED_KINDS)):
        small = _NUMBERED_SMALL.sub(" ", small)
    pieces = set(small.translate(_IN_WORDS).split())
    words = set(filter(str.isalnum, pieces))
    return words.union(_WORD.findall("\n".join(pieces - words)))


def names_the_case(point: str, quotes: Sequence[str], beside: str, others: Sequence[str], case: CaseWords) -> bool:
    """Whether a point is about the case: by itself, or with another point; a short one also with what stands beside it.

    ``quotes`` are those of the point's own citations; ``beside`` is the thesis, or what it quotes; ``others`` are the
    other points' texts.
    """
    said, limits = stems(unquoted(point), case.limits), case.limits
    if not case.is_compared or _by_itself(said, quotes, case) or _of_its_quotes(unquoted(point), quotes):
        return True
    if any(names_it(other, case) for other in others):
        return True
    return len(said) <= limits.brief and bool(stems(unquoted(beside), limits) & case.all)


def names_it(text: str, case: CaseWords) -> bool:
    """Whether a text has words enough of the case by itself."""
    return _by_itself(stems(unquoted(text), case.limits), (), case)


def _by_itself(said: frozenset[str], quotes: Sequence[str], case: CaseWords) -> bool:
    shared = said & (case.all | stems(" ".join(quotes), case.limits))
    return bool(shared) and not (case.documents and len(shared) * 1_000 < case.least * len(said))


def _of_its_quotes(point: str, quotes: Sequence[str]) -> bool:
    """Whether a point speaks of what it quotes: as a text, or with a number of it that is written as a word."""
    counted = {word.casefold() for word in _COUNTED.findall(" ".join(quotes))}
    return bool(quotes) and bool(
        _OF_A_TEXT.search(point) or counted & {word.casefold() for word in _COUNTED.findall(point)}
    )


def concerns(document: str, span: tuple[int, int], said: str, argument: str, limits: RelationLimits = LIMITS) -> bool:
    """Whether the passage at ``span`` of a document has to do with the argument, or with what is said."""
    start, end = span
    before = document[max(0, start - limits.sentence) : start]
    after = document[end - 1 : end + limits.sentence]
    begin = max((found.end() for found in _END.finditer(before)), default=0)
    stop = found.start() if (found := _END.search(after)) else len(after)
    passage = stems(before[begin:] + document[start : end - 1] + after[:stop], limits)
    return bool(passage & (stems(unquoted(said), limits) | stems(argument, limits)))


def _is_telling(word: str) -> bool:
    if word[0].isdigit():
        return len(word) > 1
    return len(word) > 2 and word not in _GENERAL and not _EMPTY.fullmatch(word)


def _stem(word: str, letters: int) -> str:
    singular = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    return singular[:letters]
