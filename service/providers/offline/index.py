"""A document ready to be searched, kept for as long as there is room, and how well a sentence stands on its own."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import NamedTuple

from service.providers.offline.cues import DEFINITION
from service.providers.offline.segments import Sentence, sentences
from service.providers.offline.words import terms

_SHELF_CHARACTERS = 8_000_000


class Index(NamedTuple):
    """A document ready to be searched: its sentences, their stems, and where each stem stands."""

    text: str
    sentences: tuple[Sentence, ...]
    stems: tuple[frozenset[str], ...]
    heads: tuple[frozenset[str], ...]
    postings: Mapping[str, tuple[int, ...]]
    norm: bool


class Shelf:
    """The indexes of the documents read last, bounded by their characters; least recently used ones go first."""

    def __init__(self, characters: int) -> None:
        self._most = characters
        self._held = 0
        self._books: OrderedDict[str, Index] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str) -> Index:
        """The index of a text, made once."""
        with self._lock:
            if text in self._books:
                self._books.move_to_end(text)
                return self._books[text]
        made = _index(text)
        with self._lock:
            if text not in self._books:
                self._books[text] = made
                self._held += len(text)
            while self._held > self._most and len(self._books) > 1:
                gone, _ = self._books.popitem(last=False)
                self._held -= len(gone)
        return made


SHELF = Shelf(_SHELF_CHARACTERS)


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


def quality(text: str, sentence: Sentence) -> float:
    """How well a sentence stands on its own (0 to 1): complete, of fair length, no definition, recital or link."""
    words = text[sentence.start : sentence.end]
    size = len(words)
    value = 1.0
    if size < 45:
        value *= 0.35 if size < 30 else 0.6
    if words[0].islower() or words[-1] not in ".;?!。)”\"'’":
        value *= 0.35
    if words[-1] in ":?":
        value *= 0.3
    if sentence.kind == "table":
        value *= 0.5
    if sentence.start < 800 and sentence.location and sentence.location == sentence.heading:
        value *= 0.5  # what stands between a title and the first clause says who wrote it, and when
    if _ROUGH.search(words):
        value *= 0.6
    if _ASIDE.match(words) or DEFINITION.match(words) or "definition" in sentence.heading.lower():
        value *= 0.4
    return value
