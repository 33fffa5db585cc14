"""The sentences that bear on a proposition, with their relevance and their side.

Relevance is the weight of the words that a sentence and its headings share with the question: rare words count more,
words of the same topic less than the question's own, words of an answer under review or a persona least. The table of
the proposition's kind judges the relevant sentences. There is no randomness: the same documents and question always
give the same evidence in the same order.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.simulated.bearings import (
    HIGHER_TEXT,
    RIVAL_BETTER,
    RIVAL_WORSE,
    decided_option,
    definitions,
    is_rival,
    owed_by_another,
    own_option,
    prevailing,
    speaks_of,
)
from service.simulated.cues import cues, figures
from service.simulated.index import SHELF_CHARACTERS, Index, Shelf, index_of, quality
from service.simulated.locations import place
from service.simulated.propositions import Proposition
from service.simulated.segments import Sentence, clip
from service.simulated.tables import Rule, judge
from service.simulated.topics import PRECEDENCE, expanded
from service.simulated.words import PARTIES, terms, topic_terms

OWN, TOPIC, HINT = 1.0, 0.3, 0.15
MOST_CANDIDATES = 400
LEAST_RELEVANT = 0.08


class Document(NamedTuple):
    """A document as evidence knows it."""

    id: str
    title: str
    text: str


class BearingSentence(NamedTuple):
    """A sentence that bears on the proposition, the part of it to quote, and its function.

    ``side`` is 1 for the proposition, -1 against it, 0 for neither; ``weight`` (0 to 5) its directness. ``where`` names
    its place with the caption, ``brief`` without.
    """

    source_id: str
    start: int
    end: int
    quote: str
    where: str
    brief: str
    location: str
    section: str
    heading: str
    caption: str
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
    """The search: stems with their weights, best known words first, and the proposition that decides sides."""

    weights: tuple[tuple[str, float], ...]
    own: frozenset[str]
    proposition: Proposition
    subject: str


def query(proposition: Proposition, question: str, answer: str, hints: Sequence[str], focus: str = "") -> Query:
    """The search for a question, an answer under review, a position in focus and further hints (personas)."""
    focused = topic_terms(focus)
    own = topic_terms(question) | focused
    weights: dict[str, float] = {stem: TOPIC if stem in PARTIES else OWN for stem in own}
    for stem in focused:
        weights[stem] = OWN * 2
    for stem in expanded(own | terms(question)) | (PRECEDENCE if proposition.kind == "exposure" else frozenset()):
        weights.setdefault(stem, TOPIC)
    for text in (answer, *hints):
        for stem in topic_terms(text):
            weights.setdefault(stem, HINT)
    return Query(tuple(sorted(weights.items())), own, proposition, focus or question)


_GATHERED: Shelf[tuple[tuple[Document, ...], Query], tuple[BearingSentence, ...]] = Shelf(SHELF_CHARACTERS)
_EVIDENCE_CHARACTERS = 20_000
"""The size of the evidence itself in the cache, whatever the documents' size."""


def gather(documents: tuple[Document, ...], wanted: Query) -> tuple[BearingSentence, ...]:
    """All evidence in the documents, the most relevant first; computed once for all turns of a debate."""
    size = sum(len(d.text) for d in documents) + _EVIDENCE_CHARACTERS
    return _GATHERED.get((documents, wanted), size, lambda: _gather(documents, wanted))


def _gather(documents: tuple[Document, ...], wanted: Query) -> tuple[BearingSentence, ...]:
    indexes = [index_of(d.text) for d in documents]
    rarity = _rarity(indexes, wanted)
    scored: list[tuple[float, int, int]] = []
    judge_one = Judge(documents, wanted)
    for d, index in enumerate(indexes):
        scores = _scores(index, wanted, rarity)
        if judge_one.own:
            scores = _favoured(index, scores, judge_one.own)
        scored.extend((score, d, i) for i, score in scores)
    scored.sort(key=lambda row: (-row[0], row[1], row[2]))
    # The third best is the measure: one sentence that repeats the question must not dwarf all others.
    best = scored[min(2, len(scored) - 1)][0] if scored else 0.0
    found = [
        judge_one.sentence(documents[d], indexes[d], indexes[d].sentences[i], min(1.0, score / best), rarity)
        for score, d, i in scored[:MOST_CANDIDATES]
        if score > LEAST_RELEVANT * best
    ]
    return tuple(judge_one.in_company(e, found) for e in found)


def _rarity(indexes: Sequence[Index], wanted: Query) -> dict[str, float]:
    """The weight of each stem of the search: the fewer sentences hold it, the higher."""
    total = sum(len(index.sentences) for index in indexes) or 1
    found = {}
    for stem, weight in wanted.weights:
        times = sum(len(index.postings.get(stem, ())) for index in indexes)
        if times:
            found[stem] = weight * math.log(1 + total / times)
    return found


def _favoured(index: Index, scores: list[tuple[int, float]], own: str) -> list[tuple[int, float]]:
    """The scores, raised for sentences that name the option in question by its letter."""
    best = max((score for _, score in scores), default=1.0)
    totals = dict(scores)
    for i, sentence in enumerate(index.sentences):
        if speaks_of(own, index.text[sentence.start : sentence.end]):
            totals[i] = totals.get(i, 0.0) + 0.6 * best
    return list(totals.items())


def _scores(index: Index, wanted: Query, rarity: Mapping[str, float]) -> list[tuple[int, float]]:
    totals: Counter[int] = Counter()
    for stem, worth in rarity.items():
        for i in index.postings.get(stem, ()):
            totals[i] += worth if stem in index.stems[i] else worth * 0.45  # type: ignore[assignment]
    found = []
    core = (wanted.own - PARTIES) or wanted.own
    strict = wanted.proposition.kind == "presence"
    for i, total in totals.items():
        if not core & (index.stems[i] | index.heads[i]) and (strict or sum(s in index.stems[i] for s in rarity) < 2):
            continue
        sentence = index.sentences[i]
        length = 1 + 0.12 * math.log(1 + len(index.stems[i]) / 12)
        found.append((i, total * quality(index.text, sentence) / length))
    return found


_RESTRICTIVE = re.compile(r"restrict|prohibit|forbid|prevent|exclusiv|compet|\bbar|\bnot\b", re.IGNORECASE)


class Judge:
    """Judges sentences by the table of a proposition's kind, and by the documents as a whole."""

    def __init__(self, documents: Sequence[Document], wanted: Query) -> None:
        indexes = [index_of(d.text) for d in documents]
        self._wanted = wanted
        self._lone = len(documents) == 1
        restrictive = bool(_RESTRICTIVE.search(wanted.proposition.thesis))
        only_norm = bool(indexes) and all(i.norm for i in indexes)
        self._marks = frozenset(["only norm"] * only_norm + ["restrictive"] * restrictive)
        self.own: str | None = None
        self._decided: str | None = None
        if wanted.proposition.kind == "adoption":
            said = [i.text[s.start : s.end] for i in indexes for s in i.sentences]
            self.own = own_option(wanted.subject, definitions(said))
            self._decided = decided_option(said)

    def sentence(
        self, document: Document, index: Index, sentence: Sentence, relevance: float, rarity: Mapping[str, float]
    ) -> BearingSentence:
        """A sentence as evidence; of a long one the part that bears on the matter."""

        def value(part: str) -> float:
            return sum(rarity.get(s, 0.0) for s in terms(part)) + 1.5 * len(cues(part) & _TELLING) + 0.01

        span = clip(index.text, sentence, value)
        return self.passage(document, index, sentence, span, relevance, frozenset(rarity))

    def passage(
        self,
        document: Document,
        index: Index,
        sentence: Sentence,
        span: tuple[int, int],
        relevance: float,
        stems: frozenset[str],
    ) -> BearingSentence:
        """A passage as evidence."""
        quote = index.text[span[0] : span[1]]
        found = cues(quote, sentence.heading) | self._marks | ({"norm"} if index.norm else frozenset())
        where = place(document.title, sentence.location, sentence.caption, sentence.heading, self._lone)
        plain = BearingSentence(
            source_id=document.id,
            start=span[0],
            end=span[1],
            quote=quote,
            where=where.named,
            brief=where.brief,
            location=where.location,
            section=where.section,
            heading=sentence.heading,
            caption=sentence.caption,
            cues=found,
            figures=figures(quote),
            shared=terms(quote) & stems,
            rule=None,
            side=0,
            relevance=relevance,
        )
        return self._sided(plain, judge(self._wanted.proposition.kind, found))

    def _sided(self, evidence: BearingSentence, rule: Rule | None) -> BearingSentence:
        if rule and is_rival(self.own, self._decided, evidence):
            rule = RIVAL_BETTER if rule.side > 0 else RIVAL_WORSE
        if rule and rule.side > 0 and owed_by_another(self._wanted.proposition.thesis, evidence.quote):
            rule = None
        side = rule.side * self._wanted.proposition.direction if rule else 0
        return evidence._replace(rule=rule, side=side)

    def in_company(self, evidence: BearingSentence, found: Sequence[BearingSentence]) -> BearingSentence:
        """Precedence helps the side that has its evidence in the text that prevails; else it helps neither."""
        if self._wanted.proposition.kind != "exposure" or "override" not in evidence.cues:
            return evidence
        if evidence.rule and evidence.rule.name not in ("precedence", "higher text"):
            return evidence
        names = prevailing(evidence.quote)
        inside = [e for e in found if e is not evidence and "override" not in e.cues and _stands_in(e, evidence, names)]
        balance = sum(e.side * e.weight for e in inside)
        if not names or not balance:
            return evidence._replace(side=0)
        return evidence._replace(rule=HIGHER_TEXT, side=1 if balance > 0 else -1)


def _stands_in(one: BearingSentence, holder: BearingSentence, names: Sequence[str]) -> bool:
    if names == ("this text",):
        return one.source_id == holder.source_id and one.section == holder.section
    return any(name.lower() in one.heading.lower() for name in names)


_TELLING = frozenset(
    "cap exclusion uncapped indemnity exception gap weakness ban deadline benefit cost strength decline".split()
)


def locate(documents: Sequence[Document], source_id: str, quote: str) -> tuple[str, int, int] | None:
    """The place of a quotation in any of the documents, the named one first; whitespace may differ."""
    for document in sorted(documents, key=lambda d: d.id != source_id):
        at = document.text.find(quote)
        if at >= 0:
            return document.id, at, at + len(quote)
    return None


def describe(documents: Sequence[Document], wanted: Query, source_id: str, quote: str) -> BearingSentence | None:
    """Another seat's quotation as evidence, judged like one's own."""
    known = next((e for e in gather(tuple(documents), wanted) if e.quote == quote and e.source_id == source_id), None)
    if known:
        return known
    found = locate(documents, source_id, quote)
    if not found:
        return None
    document = next(d for d in documents if d.id == found[0])
    index = index_of(document.text)
    holder = next((s for s in index.sentences if s.start <= found[1] < s.end), None)
    sentence = holder or Sentence(found[1], found[2], "", "", "", "prose")
    stems = frozenset(stem for stem, _ in wanted.weights)
    return Judge(documents, wanted).passage(document, index, sentence, found[1:], 0.3, stems)
