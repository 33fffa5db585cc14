"""The transcript of a panel up to a round, as the measures read it.

In round ``r`` a debater marks the claims in its request: those of every other's latest answer before that round,
without the struck ones. So agreement after a round is about the claims of the round before, and the blind round has no
marks at all. An author counts as accepting its own claim, unless its own mark is different, which withdraws the claim.
A mark `accept` counts as `unsure` if the same answer still challenges the claim or names it in an open point. A silent
debater is no voice; the others may still mark its claims.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from service.checks.consensus.matter import Compared, Span
from service.checks.overlap import STOP_WORDS
from service.checks.patterns import lazily
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, CitationVerdict, Dimension
from service.debate.model import Check, TurnId, seat_of
from service.debate.panel_standing import dimensions_used, labels_of, options_of, question_type
from service.debate.replies import BlindAnswer, Claim, ObjectionAnswers, RevisedAnswer
from service.debate.replies.panel import MarkAs, QuestionType
from service.debate.script import Script
from service.debate.turns import round_of
from service.errors import IllegalEntry

Answer = BlindAnswer | RevisedAnswer
_WORD = lazily(r"[^\W_]+")


class PanelVoice(NamedTuple):
    """A debater that spoke in a round."""

    seat: str
    label: str
    turn: TurnId
    reply: Answer


class Opinion(NamedTuple):
    """A voice's mark on a claim, and its confidence in the mark, in per cent."""

    mark: MarkAs
    confidence: int


Marks = Mapping[tuple[str, int], Opinion]
"""A voice's opinions of the claims that it marked, by the author's letter and the claim's number."""


class ShownClaims(NamedTuple):
    """A claim in the requests of a round, and each voice's opinion by seat, with its author's.

    ``rests`` says that it quotes a verified passage.
    """

    turn: TurnId
    author: str
    claim: Claim
    opinions: Mapping[str, Opinion]
    rests: bool = False

    def by(self, mark: MarkAs) -> tuple[str, ...]:
        """The seats that give it this mark."""
        return tuple(sorted(seat for seat, opinion in self.opinions.items() if opinion.mark == mark))


class Transcript(NamedTuple):
    """The answers up to a round: turn -> reply, with the verdicts on their citations, and the seats' letters.

    ``answered`` are the answers to objections that stood after the last round. ``documented`` says that the case has
    documents.
    """

    kind: QuestionType
    threshold: int
    labels: Mapping[str, str]
    said: Mapping[TurnId, Answer]
    citations: Mapping[TurnId, CitationsFound]
    answered: Mapping[TurnId, ObjectionAnswers] = {}
    documented: bool = True

    @property
    def uses(self) -> tuple[Dimension, ...]:
        """The dimensions that count for this question and case."""
        return dimensions_used(self.kind, documented=self.documented)

    @property
    def rounds(self) -> int:
        """The last round with a reply; 0 if there is none."""
        return max((_round(turn) for turn in self.said), default=0)

    def voices(self, r: int) -> tuple[PanelVoice, ...]:
        """The voices of a round, by seat."""
        there = sorted((seat_of(turn), turn) for turn in self.said if _round(turn) == r)
        return tuple(PanelVoice(seat, self.labels[seat], turn, self.said[turn]) for seat, turn in there)

    def pairs(self, r: int) -> tuple[tuple[PanelVoice, PanelVoice], ...]:
        """Every two voices of a round."""
        return tuple(combinations(self.voices(r), 2))

    def before(self, r: int) -> tuple[PanelVoice, ...]:
        """The latest answer of every debater before a round, as a deliberation's requests show them."""
        last: dict[str, int] = {}
        for turn in self.said:
            if _round(turn) < r:
                last[seat_of(turn)] = max(last.get(seat_of(turn), 0), _round(turn))
        return tuple(v for seat in sorted(last) for v in self.voices(last[seat]) if v.seat == seat)

    def standing(self, voice: PanelVoice) -> tuple[Claim, ...]:
        """The claims of an answer that are not struck."""
        found = self.citations.get(voice.turn)
        struck = found.struck(voice.turn) if found else {}
        return tuple(claim for claim in voice.reply.claims if claim.n not in struck)

    def verdicts(self, voice: PanelVoice) -> dict[int, tuple[CitationVerdict, ...]]:
        """The verdicts on an answer's citations, by the number of their claim."""
        found = self.citations.get(voice.turn)
        return {a.n: a.verdicts for a in found.arguments if a.turn == voice.turn} if found else {}

    def spans(self, voice: PanelVoice) -> frozenset[Span]:
        """The verified passages that an answer quotes, without those of struck claims."""
        return frozenset(span for claim in self.compared(voice).values() for span in claim.spans)

    def compared(self, voice: PanelVoice) -> dict[int, Compared]:
        """The claims of an answer that stand, by number, with the verified passages that each quotes."""
        given, found = self.verdicts(voice), {}
        for claim in self.standing(voice):
            held = [v for v in given.get(claim.n, ()) if v.verdict == "verified" and v.source_id and v.span is not None]
            spans = frozenset((v.source_id or "", *v.span) for v in held if v.span is not None)
            found[claim.n] = Compared(claim.text, spans, tuple(v.text for v in held if v.text))
        return found

    def shown(self, r: int) -> tuple[ShownClaims, ...]:
        """The claims in the requests of a round, with the voices' opinions; none in the blind round."""
        marks = {voice.seat: _marks(voice) for voice in self.voices(r)}
        found = []
        for author in self.before(r):
            compared = self.compared(author)
            found += [
                ShownClaims(
                    author.turn, author.seat, claim, _opinions(author, claim, marks), bool(compared[claim.n].spans)
                )
                for claim in self.standing(author)
            ]
        return tuple(found)


def read(facts: Facts, check: Check) -> Transcript:
    """The transcript of a check; raises `IllegalEntry` if the debate is no panel."""
    if facts.started is None:
        raise IllegalEntry(f"check {check.id} is made in a debate that has started, and this one has not")
    s = Script(facts.started, facts)
    kind = question_type(s)
    said = {turn: reply for turn in check.over if isinstance(reply := facts.said[turn], BlindAnswer | RevisedAnswer)}
    found = {turn: f for turn in said if isinstance(f := facts.found.get(f"{turn}/citations"), CitationsFound)}
    answered = {turn: reply for turn in check.over if isinstance(reply := facts.said[turn], ObjectionAnswers)}
    threshold = options_of(s).thresholds[kind]
    return Transcript(kind, threshold, labels_of(s), said, found, answered, facts.documented)


def known_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of a question and its documents: every answer uses them, so they show no agreement."""
    return frozenset(word for text in texts for word in words(text))


def words(text: str) -> frozenset[str]:
    """The content words of a text: letters and digits after NFKC and case folding, no stop words."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold())) - STOP_WORDS


def mean(values: Iterable[int | None]) -> int | None:
    """The mean of the defined values, rounded down; ``None`` if there are none."""
    defined = [value for value in values if value is not None]
    return sum(defined) // len(defined) if defined else None


def share(part: int, whole: int) -> int | None:
    """A share in per mille, rounded down; ``None`` if the whole is 0."""
    return part * 1_000 // whole if whole else None


def _round(turn: TurnId) -> int:
    return round_of(turn)


def _marks(voice: PanelVoice) -> Marks:
    """A voice's opinions of claims, by letter and number; one mark for each, as `panel_usability` demands."""
    if not isinstance(voice.reply, RevisedAnswer):
        return {}
    contested = voice.reply.contested
    return {
        (mark.label, mark.n): Opinion(
            "unsure" if mark.mark == "accept" and (mark.label, mark.n) in contested else mark.mark, mark.confidence
        )
        for mark in voice.reply.marks
    }


def _opinions(author: PanelVoice, claim: Claim, marks: Mapping[str, Marks]) -> dict[str, Opinion]:
    found: dict[str, Opinion] = {}
    for seat, given in marks.items():
        if opinion := given.get((author.label, claim.n)):
            found[seat] = opinion
        elif seat == author.seat:
            found[seat] = Opinion("accept", claim.confidence)
    return found
