"""The choice of evidence for a seat: the best by a model's own preferences, no passage twice, no two alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from service.simulated.evidence import BearingSentence, Document, Query, gather, locate, query
from service.simulated.index import index_of
from service.simulated.propositions import Proposition, frame, kind_of
from service.simulated.request_reader import Reading
from service.simulated.strategies import Strategy
from service.simulated.tables import Kind
from service.simulated.topics import touched
from service.simulated.words import topic_terms


class Desk(NamedTuple):
    """The working material of a seat: the reading, the model's strategy, the search, and its evidence."""

    reading: Reading
    strategy: Strategy
    documents: tuple[Document, ...]
    wanted: Query
    evidence: tuple[BearingSentence, ...]
    used: frozenset[tuple[str, int, int]]

    @property
    def kind(self) -> str:
        return self.wanted.proposition.kind


def lay_out(reading: Reading, strategy: Strategy) -> Desk:
    """The desk of a seat; a seat with a position of its own searches for that position's words."""
    documents = tuple(Document(d.id, d.title, d.text) for d in reading.documents)
    sample = " ".join(d.text[:20_000] for d in documents)
    if "." in reading.kind:
        proposition = proposed(reading, documents, sample)
    else:
        proposition = frame(reading.question, reading.answer, sample, len(reading.positions))
    focus = dict(reading.positions).get(reading.own_position, "")
    wanted = query(proposition, reading.question, reading.answer or "", (reading.persona, reading.instructions), focus)
    standing = [s for s in reading.statements if not (reading.retry and s.by == "critic" and s.round == reading.round)]
    quoted = [(c.source_id, c.quote) for s in standing for a in s.arguments for c in a.citations]
    used = frozenset(span for source, quote in quoted if (span := locate(documents, source, quote)))
    return Desk(reading, strategy, documents, wanted, gather(documents, wanted), used)


def proposed(reading: Reading, documents: Sequence[Document], sample: str) -> Proposition:
    """The proposition of a question that seats answer for themselves, without regard to an answer under review.

    If the question itself takes no side, the stances or votes give its subject, or else its words.
    """
    stated = frame(reading.question, None, sample)
    if stated.settled:
        norms = [index_of(d.text).norm for d in documents]
        if stated.kind == "adoption" and any(norms) and not all(norms):
            return stated._replace(kind="conformity")
        matters_most = stated.kind == "adoption" and _matter(reading.question) == "sufficiency"
        return stated._replace(kind="sufficiency") if matters_most else stated
    texts = (reading.stance, *(reading.ballots.options if reading.ballots else ()))
    found = next((k for text in texts if text and (k := kind_of(text))), None) or kind_of(reading.question)
    if found:
        return stated._replace(kind=found[0], direction=1 if any(texts) else found[1])
    matter = _matter(reading.question)
    return stated._replace(kind=matter) if matter else stated


def _matter(question: str) -> Kind | None:
    """The table for the first topic that a question touches."""
    return next((_MATTERS[name] for name in touched(topic_terms(question)) if name in _MATTERS), None)


_MATTERS: dict[str, Kind] = {
    "liability": "exposure",
    **dict.fromkeys(("session", "token", "authentication", "secrets", "attack", "access", "network"), "sufficiency"),
    **dict.fromkeys(("monitoring", "throttling"), "sufficiency"),
    **dict.fromkeys(("decision", "operation", "data"), "adoption"),
    **dict.fromkeys(("leverage", "earnings", "customers", "valuation"), "soundness"),
    **dict.fromkeys(("records", "consent", "notice"), "conformity"),
}


def turned_to(desk: Desk, text: str, kind: Kind | None = None) -> Desk:
    """The same desk with a search for evidence on a text: a stance, an option, a vote."""
    proposition = desk.wanted.proposition._replace(kind=kind) if kind else desk.wanted.proposition
    hints = (desk.reading.persona, desk.reading.instructions)
    wanted = query(proposition, desk.reading.question, desk.reading.answer or "", hints, text)
    return desk._replace(wanted=wanted, evidence=gather(desk.documents, wanted))


def focused(desk: Desk, position: str) -> Desk:
    """The same desk with a search for evidence on one position."""
    focus = dict(desk.reading.positions).get(position, "")
    wanted = query(desk.wanted.proposition, desk.reading.question, "", (desk.reading.persona,), focus)
    return desk._replace(wanted=wanted, evidence=gather(desk.documents, wanted))


def value(desk: Desk, evidence: BearingSentence) -> float:
    """The value of a piece of evidence for this model: its relevance, its directness and the model's own preference."""
    preference = 1 + desk.strategy.bonus * min(2, len(desk.strategy.prefers & evidence.cues))
    if "norm" in evidence.cues and "only norm" not in evidence.cues and desk.kind == "conformity":
        preference *= 0.5
    fresh = 1.6 if evidence.source_id in desk.reading.new_documents else 1.0
    return float(evidence.relevance**0.8 * (0.5 + evidence.weight) * preference * fresh)


def pick(
    desk: Desk,
    side: int,
    most: int,
    floor: float,
    taken: Iterable[tuple[str, int, int]] = (),
    among: Sequence[BearingSentence] | None = None,
) -> list[BearingSentence]:
    """The best evidence on one side, none of it used before in the debate, at most two from one clause."""
    barred = [*desk.used, *taken]
    pool = [
        e
        for e in (desk.evidence if among is None else among)
        if e.side == side and e.relevance >= floor and len(e.quote) >= 30 and not overlaps(e, barred)
    ]
    pool.sort(key=lambda e: (-value(desk, e), e.source_id, e.start))
    chosen: list[BearingSentence] = []
    for e in pool:
        if len(chosen) == most:
            break
        most_here = 1 if any(c.isdigit() for c in e.location) else 2
        if sum(c.where == e.where for c in chosen) < most_here and not any(_alike(c, e) for c in chosen):
            chosen.append(e)
    return chosen


def overlaps(evidence: BearingSentence, spans: Iterable[tuple[str, int, int]]) -> bool:
    """Whether a passage shares words with one of the spans."""
    return any(s == evidence.source_id and a < evidence.end and evidence.start < b for s, a, b in spans)


def span(evidence: BearingSentence) -> tuple[str, int, int]:
    """The passage of a piece of evidence in its document."""
    return evidence.source_id, evidence.start, evidence.end


def _alike(one: BearingSentence, other: BearingSentence) -> bool:
    if one.rule is not other.rule:
        return False
    a, b = set(one.quote.lower().split()), set(other.quote.lower().split())
    return len(a & b) > 0.55 * min(len(a), len(b))
