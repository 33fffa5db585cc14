"""Which sentences bear on a proposition, how much, and on whose side.

Relevance is the weight of the words that a sentence and its headings share with the question: rare words count more,
words of the same topic less than the question's own, words of an answer under review or a persona least. What remains
is judged by the table of the proposition's kind. Nothing is drawn by lot: the same documents and question always give
the same evidence in the same order.
"""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

from service.providers.offline.cues import cues, figures
from service.providers.offline.places import place
from service.providers.offline.propositions import Proposition
from service.providers.offline.rules import Rule, judge
from service.providers.offline.segments import Sentence, clip, sentences
from service.providers.offline.topics import expanded
from service.providers.offline.words import terms, topic_terms

OWN, TOPIC, HINT = 1.0, 0.3, 0.15
MOST_CANDIDATES = 400
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


class Document(NamedTuple):
    """A document as evidence knows it."""

    id: str
    title: str
    text: str


class Evidence(NamedTuple):
    """A sentence that bears on the proposition, the part of it to quote, and what it does.

    ``side`` is 1 for the proposition, -1 against it, 0 for neither; ``weight`` (0 to 5) how directly. ``where`` names its
    place with the caption, ``brief`` without.
    """

    source_id: str
    start: int
    end: int
    quote: str
    where: str
    brief: str
    location: str
    section: str
    cues: frozenset[str]
    figures: tuple[str, ...]
    shared: frozenset[str]
    rule: Rule | None
    side: int
    relevance: float

    @property
    def weight(self) -> int:
        return self.rule.weight if self.rule else 0


class Query(NamedTuple):
    """What is looked for: stems with their weights, best known words first, and the proposition to judge by."""

    weights: tuple[tuple[str, float], ...]
    own: frozenset[str]
    proposition: Proposition


def query(proposition: Proposition, question: str, answer: str, hints: Sequence[str], focus: str = "") -> Query:
    """The stems that a question, an answer under review, a position in focus and further hints (personas) look for."""
    focused = topic_terms(focus)
    own = topic_terms(question) | focused
    weights: dict[str, float] = dict.fromkeys(own, OWN)
    for stem in focused:
        weights[stem] = OWN * 2
    for stem in expanded(own):
        weights[stem] = TOPIC
    for text in (answer, *hints):
        for stem in topic_terms(text):
            weights.setdefault(stem, HINT)
    return Query(tuple(sorted(weights.items())), own, proposition)


@lru_cache(maxsize=64)
def gather(documents: tuple[Document, ...], wanted: Query) -> tuple[Evidence, ...]:
    """All evidence in the documents, the most relevant first."""
    indexes = [SHELF.get(d.text) for d in documents]
    lone = len(documents) == 1
    rarity = _rarity(indexes, wanted)
    scored: list[tuple[float, int, int]] = []
    for d, index in enumerate(indexes):
        scored.extend((score, d, i) for i, score in _scores(index, wanted, rarity))
    scored.sort(key=lambda row: (-row[0], row[1], row[2]))
    best = scored[0][0] if scored else 0.0
    return tuple(
        _evidence(documents[d], indexes[d], indexes[d].sentences[i], score / best, wanted, rarity, lone)
        for score, d, i in scored[:MOST_CANDIDATES]
        if score > 0.08 * best
    )


def _rarity(indexes: Sequence[Index], wanted: Query) -> dict[str, float]:
    """The weight of each stem that is looked for, by how few sentences hold it."""
    total = sum(len(index.sentences) for index in indexes) or 1
    found = {}
    for stem, weight in wanted.weights:
        times = sum(len(index.postings.get(stem, ())) for index in indexes)
        if times:
            found[stem] = weight * math.log(1 + total / times)
    return found


def _scores(index: Index, wanted: Query, rarity: Mapping[str, float]) -> list[tuple[int, float]]:
    totals: Counter[int] = Counter()
    for stem, worth in rarity.items():
        for i in index.postings.get(stem, ()):
            totals[i] += worth if stem in index.stems[i] else worth * 0.45  # type: ignore[assignment]
    found = []
    for i, total in totals.items():
        touches = wanted.own & (index.stems[i] | index.heads[i])
        if not touches and sum(s in index.stems[i] for s in rarity) < 2:
            continue
        sentence = index.sentences[i]
        length = 1 + 0.12 * math.log(1 + len(index.stems[i]) / 12)
        found.append((i, total * _quality(index.text, sentence) / length))
    return found


_ROUGH = re.compile(r"https?://|\]\(|</?\w|\{\{|\[\*+\]|_{4,}|\[●\]|\|")
_TITLEISH = re.compile(
    r"^(?:See|For (?:more|further|example|details)|WHEREAS|Whereas|NOW, THEREFORE|IN WITNESS|By:|Name:|Note)\b"
)


def _quality(text: str, sentence: Sentence) -> float:
    """How well a sentence stands on its own (0 to 1): complete, of fair length, not a definition, a recital or a link."""
    words = text[sentence.start : sentence.end]
    size = len(words)
    value = 1.0
    if size < 45:
        value *= 0.35 if size < 30 else 0.6
    if words[0].islower() or words[-1] not in ".;?!。)”\"'’":
        value *= 0.35
    if words[-1] == ":" or words[-1] == "?":
        value *= 0.3
    if sentence.kind == "table":
        value *= 0.5
    if _ROUGH.search(words):
        value *= 0.6
    if _TITLEISH.match(words) or "definition" in sentence.heading.lower():
        value *= 0.4
    elif re.match(r"[\"“][A-Z][^\"”]{1,60}[\"”](?: or [\"“][^\"”]+[\"”])? (?:means|has the meaning|shall mean)", words):
        value *= 0.4
    return value


def _evidence(
    document: Document,
    index: Index,
    sentence: Sentence,
    relevance: float,
    wanted: Query,
    rarity: Mapping[str, float],
    lone: bool,
) -> Evidence:
    def value(part: str) -> float:
        return sum(rarity.get(s, 0.0) for s in terms(part)) + 1.5 * len(cues(part) & _TELLING) + 0.01

    start, end = clip(index.text, sentence, value)
    quote = index.text[start:end]
    found = cues(quote, sentence.heading)
    if index.norm:
        found |= {"norm"}
    rule = judge(wanted.proposition.kind, found)
    where = place(document.title, sentence.location, sentence.caption, lone)
    return Evidence(
        source_id=document.id,
        start=start,
        end=end,
        quote=quote,
        where=where.named,
        brief=where.brief,
        location=where.location,
        section=where.section,
        cues=found,
        figures=figures(quote),
        shared=terms(quote) & rarity.keys(),
        rule=rule,
        side=rule.side * wanted.proposition.direction if rule else 0,
        relevance=relevance,
    )


_TELLING = frozenset(
    "cap exclusion uncapped indemnity exception gap weakness ban deadline benefit cost strength decline".split()
)


def locate(documents: Sequence[Document], source_id: str, quote: str) -> tuple[str, int, int] | None:
    """Where a quotation stands, whichever document was named; whitespace may differ."""
    for document in sorted(documents, key=lambda d: d.id != source_id):
        at = document.text.find(quote)
        if at >= 0:
            return document.id, at, at + len(quote)
    return None


def describe(documents: Sequence[Document], wanted: Query, source_id: str, quote: str) -> Evidence | None:
    """The evidence that a quotation of another seat is, judged like one's own."""
    found = locate(documents, source_id, quote)
    if not found:
        return None
    document = next(d for d in documents if d.id == found[0])
    index = SHELF.get(document.text)
    holder = next((s for s in index.sentences if s.start <= found[1] < s.end), None)
    if holder is None:
        holder = Sentence(found[1], found[2], "", "", "", "prose")
    cues_found = cues(quote, holder.heading) | ({"norm"} if index.norm else frozenset())
    rule = judge(wanted.proposition.kind, cues_found)
    where = place(document.title, holder.location, holder.caption, len(documents) == 1)
    return Evidence(
        source_id=document.id,
        start=found[1],
        end=found[2],
        quote=quote,
        where=where.named,
        brief=where.brief,
        location=where.location,
        section=where.section,
        cues=cues_found,
        figures=figures(quote),
        shared=terms(quote) & {s for s, _ in wanted.weights},
        rule=rule,
        side=rule.side * wanted.proposition.direction if rule else 0,
        relevance=0.5,
    )
