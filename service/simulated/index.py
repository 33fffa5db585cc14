"""A document prepared for searches, cached within a bound, and the quality of a sentence as a quotation."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from service.simulated.cues import DEFINITION
from service.simulated.segments import Sentence, sentences
from service.simulated.words import terms

SHELF_CHARACTERS = 8_000_000


class Index(NamedTuple):
    """A document prepared for searches: its sentences, their stems, and the places of each stem."""

    text: str
    sentences: tuple[Sentence, ...]
    stems: tuple[frozenset[str], ...]
    heads: tuple[frozenset[str], ...]
    postings: Mapping[str, tuple[int, ...]]
    norm: bool


Key = TypeVar("Key", bound=Hashable)
Book = TypeVar("Book")


class Shelf(Generic[Key, Book]):
    """A cache of results, bounded by the characters of their inputs; the least recently used is dropped."""

    def __init__(self, characters: int) -> None:
        self._most = characters
        self._held = 0
        self._books: OrderedDict[Key, tuple[int, Book]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, size: int, make: Callable[[], Book]) -> Book:
        """The value of a key, made if it is missing."""
        with self._lock:
            if key in self._books:
                self._books.move_to_end(key)
                return self._books[key][1]
        made = make()
        with self._lock:
            if key not in self._books:
                self._books[key] = size, made
                self._held += size
            while self._held > self._most and len(self._books) > 1:
                _, (gone, _) = self._books.popitem(last=False)
                self._held -= gone
        return made


_INDEXES: Shelf[str, Index] = Shelf(SHELF_CHARACTERS)


def index_of(text: str) -> Index:
    """The index of a document, made once."""
    return _INDEXES.get(text, len(text), lambda: _index(text))


def _index(text: str) -> Index:
    found = tuple(s for s in sentences(text) if s.end - s.start >= 12)
    stems = tuple(terms(text[s.start : s.end]) for s in found)
    by_heading: dict[str, frozenset[str]] = {}
    postings: dict[str, list[int]] = {}
    heads = []
    for i, sentence in enumerate(found):
        if sentence.heading not in by_heading:
            by_heading[sentence.heading] = terms(sentence.heading)
        head = by_heading[sentence.heading]
        heads.append(head)
        for stem in stems[i] | head:
            postings.setdefault(stem, []).append(i)
    return Index(text, found, stems, tuple(heads), {k: tuple(v) for k, v in postings.items()}, _is_norm(text))


_NORM = re.compile(
    r"§\s*\d|\bC\.?F\.?R\b|\bthis (?:part|standard|regulation|act|policy)\b|\bthe standard\b", re.IGNORECASE
)


def _is_norm(text: str) -> bool:
    """Whether a document lays down rules for others, as regulations and standards do."""
    head = text[:400].lower()
    named = any(w in head for w in ("standard", "regulation", "policy", "§", "cfr", "requirements"))
    described = any(w in head for w in ("procedure", "memorandum", "campaign:", "design record", "order form"))
    return (named and not described) and len(_NORM.findall(text[:60_000])) >= 2


_ROUGH = re.compile(r"https?://|\]\(|</?\w|\{\{|\[\*+\]|_{4,}|\[●\]|\|")
_ASIDE = re.compile(
    r"^(?:See|For (?:more|further|example|details)|WHEREAS|Whereas|NOW, THEREFORE|IN WITNESS|By:|Name:|Note)\b"
)


def _titled(words: str) -> bool:
    longer = [w for w in words.split() if len(w) > 3 and w[0].isalpha()]
    return sum(w[0].isupper() for w in longer) >= 0.6 * len(longer)


def quality(text: str, sentence: Sentence) -> float:
    """The quality of a sentence by itself (0 to 1): complete, of fair length, no definition, recital or link."""
    words = text[sentence.start : sentence.end]
    size = len(words)
    value = 1.0
    if size < 45:
        value *= 0.35 if size < 30 else 0.6
    if words[0].islower() or words[-1] not in ".;?!。)”\"'’":
        value *= 0.35
    if words[-1].isalnum() and _titled(words):
        value *= 0.1  # a line of a table of contents
    if words[0] == "(" and words[-1] != ".":
        value *= 0.5
    if words[-1] in ":?":
        value *= 0.3
    if sentence.kind == "table":
        value *= 0.5
    if sentence.start < 800 and sentence.location and sentence.location == sentence.heading:
        value *= 0.5  # the lines between a title and the first clause name authors and dates
    if _ROUGH.search(words):
        value *= 0.6
    if _ASIDE.match(words) or DEFINITION.match(words) or "definition" in sentence.heading.lower():
        value *= 0.4
    return value
