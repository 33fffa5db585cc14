"""A model's plain answer to the question, in the same words for every model: yes, in part, no, an option, or a place.

the question                              the answer
can be answered yes or no                 "Yes, ...", "Only in part: ...", "No, ..."
asks which option of the documents        "Option B"
asks anything else                        the place with most of the answer, and the function of its sentence
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from service.simulated.bearings import definitions
from service.simulated.evidence import BearingSentence
from service.simulated.index import index_of
from service.simulated.leaning import Leaning, Level, lean
from service.simulated.passage_choice import Desk, turned_to, value
from service.simulated.phrases import does, listed, upper
from service.simulated.propositions import lowered, negate
from service.simulated.transcript import HeardVoice, others, quoted

_WHICH = re.compile(r"\bwhich\b.{0,40}\b(?:option|alternative|design|approach)s?\b", re.IGNORECASE)
NO_ANSWER = "The documents supplied do not answer the question."
NO_DOCUMENTS = "Without documents the simulated models have no answer to this question, only considerations."


class Answered(NamedTuple):
    """An answer: in few words, its relation to the question, the leaning behind it, and the desk with its evidence.

    ``option`` says that it names one of several options; its passages are for and against that one.
    """

    words: str
    level: Level | None
    leaning: Leaning
    desk: Desk
    option: bool = False

    @property
    def side(self) -> int:
        """The side of the passages that carry the answer; 0 if both sides do."""
        return 1 if self.option else {"yes": 1, "no": -1, "part": 0, None: 0}[self.level]


def conclude(desk: Desk, said: Sequence[HeardVoice] = ()) -> Answered:
    """The answer of a seat's model, after the statements in its request."""
    if options := _options(desk):
        return _chosen(desk, options, said)
    leaning = lean(desk, said)
    if not leaning.pool and not (desk.documents or not desk.wanted.proposition.settled):
        return Answered(in_words(desk, leaning.level), leaning.level, leaning, desk)
    if not leaning.pool:
        return Answered(NO_ANSWER if desk.documents else NO_DOCUMENTS, None, leaning, desk)
    if not desk.wanted.proposition.settled:
        looked = leaning._replace(own=_pertinent(desk), learned=tuple(quoted(others(said))))
        return Answered(_place(desk, looked), None, looked, desk)
    return Answered(in_words(desk, leaning.level), leaning.level, leaning, desk)


def in_words(desk: Desk, level: Level) -> str:
    """An answer to a question of yes or no; it depends only on the question and the level."""
    thesis = desk.wanted.proposition.thesis.rstrip(".")
    match level:
        case "yes":
            return f"Yes, {lowered(thesis)}."
        case "no":
            return f"No, {lowered(negate(thesis))}."
        case _:
            return f"Only in part: {lowered(thesis)}, but with exceptions or conditions."


def _options(desk: Desk) -> list[str]:
    if desk.wanted.proposition.settled or not _WHICH.search(desk.reading.question):
        return []
    said = [i.text[s.start : s.end] for d in desk.documents for i in [index_of(d.text)] for s in i.sentences]
    labels = sorted({label for label, _ in definitions(said)})
    return labels if len(labels) > 1 else []


def _chosen(desk: Desk, options: Sequence[str], said: Sequence[HeardVoice]) -> Answered:
    """The option that the model leans to most; the first of equal ones."""
    leanings = {}
    for label in options:
        turned = turned_to(desk, f"Adopt option {label}", "adoption")
        leanings[label] = lean(turned, said), turned
    best = max(options, key=lambda o: round(leanings[o][0].opinion * len(leanings[o][0].on(1)) ** 0.5, 3))
    return Answered(f"Option {best}", None, *leanings[best], option=True)


def _pertinent(desk: Desk) -> tuple[BearingSentence, ...]:
    """The passages nearest to a question that asks for more than yes or no, of all sides."""
    found = [e for e in desk.evidence if len(e.quote) >= 30]
    found.sort(key=lambda e: (-pertinence(desk, e), e.source_id, e.start))
    kept: list[BearingSentence] = []
    for e in found:
        if all(e.where != k.where for k in kept):
            kept.append(e)
    return tuple(kept[: 2 * desk.strategy.most])


def pertinence(desk: Desk, evidence: BearingSentence) -> float:
    """The nearness of a passage to an open question, for this model."""
    return evidence.relevance * (1 + 0.15 * min(2, len(desk.strategy.prefers & evidence.cues)))


def _place(desk: Desk, leaning: Leaning) -> str:
    """The place of the answer. The model's own preference counts for its own passages until it has heard others."""
    heard = bool(leaning.learned)
    best = max(leaning.pool, key=lambda e: (e.relevance if heard else pertinence(desk, e), e.source_id, -e.start))
    return f"{upper(best.where)} {does(best)}."


def chosen(answered: Answered, most: int) -> list[BearingSentence]:
    """The passages behind an answer: those that carry it first, then the weightiest on the other side."""
    desk, leaning = answered.desk, answered.leaning
    if answered.level is None and not answered.option:
        return sorted(leaning.pool, key=lambda e: (-pertinence(desk, e), e.source_id, e.start))[:most]
    ranked = sorted(leaning.pool, key=lambda e: (-value(desk, e), e.source_id, e.start))
    if answered.side:
        own = [e for e in ranked if e.side == answered.side]
        against = [e for e in ranked if e.side == -answered.side and e.weight >= 4]
        room = 1 if against and most > 2 else 0
        return [*own[: most - room], *against[:room]][:most] or ranked[:most]
    two = [[e for e in ranked if e.side == side] for side in (1, -1)]
    mixed = [e for pair in zip(*two, strict=False) for e in pair]
    return [*mixed, *(e for e in ranked if e not in mixed)][:most]


def summary(answered: Answered, most: int = 2) -> str:
    """The reasons for and against an answer, in one or two sentences."""
    leaning = answered.leaning
    if not answered.desk.documents:
        return "It rests on general considerations alone, because no document was given."
    first, second = (leaning.on(-1), leaning.on(1)) if answered.side < 0 else (leaning.on(1), leaning.on(-1))
    parts = []
    if first:
        named = _standing(first[:most])
        parts.append(f"{listed(named)}, carr{'ies' if len(named) == 1 else 'y'} it")
    if second:
        named = _standing(second[:most])
        parts.append(f"{listed(named)}, stand{'s' if len(named) == 1 else ''} against it")
    return f"{upper(', while '.join(parts))}." if parts else "No passage of the documents bears on it directly."


def _standing(found: Sequence[BearingSentence]) -> list[str]:
    """The clauses of these passages, each once, with what it does."""
    return list(dict.fromkeys(f"{e.brief}, which {does(e)}" for e in found))
