"""Items of shipped sets as an evaluation asks them, played through the real kernel by models with known faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from service.debate.facts import Facts
from service.debate.labels import read as named
from service.debate.model import Outcome, Turn
from service.debate.replies import Reply
from service.debate.turns import TurnId
from service.evaluation.plan.model import Arm
from service.evaluation.scoring.answers import answer_of
from service.evaluation.scoring.observed import observe
from service.evaluation.scoring.observed_types import Observed
from service.evaluation.sets.files import load_shipped, shipped
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.items import CriticItem, Item, QuestionItem
from service.evaluation.sets.key import key_of
from service.evaluation.sets.key_line import KeyLine
from service.evaluation.sets.labels import Label
from service.policy.known_faults import ModelFaults, SeatFaults
from service.prompts.request import Request
from service.reviews.evaluation_cases import CLOSED, _question
from service.simulated import MODELS
from service.simulated.faulty import FaultyModels
from service.simulated.known_cases import KnownCases
from tests.unit.simulated import debates, formats

NEEDED: Mapping[str, Mapping[str, Any]] = {
    "stances": {"synthesizer": False},
    "ballot": {"debaters": [{"name": name} for name in "abc"]},
    "panel": {"adjudicator": "model", "typedBy": "classifier"},
}
"""Options of a format beside those by which an evaluation asks for an answer of the list."""


class Asked(NamedTuple):
    """An item of a shipped set that was asked: its label, the debate about it, and what scoring sees of that."""

    item: Item
    label: Label
    facts: Facts
    outcome: Outcome
    requests: Mapping[str, Request]
    observed: Observed
    answer: str | None
    answers: tuple[str, ...]

    def names(self, words: str) -> bool:
        """Whether some words name the labelled answer."""
        return named(words, self.answers) == self.label.answer

    @property
    def right(self) -> bool:
        """Whether the answer is that of the label, as scoring reads it."""
        return self.answer == self.label.answer

    @property
    def holds(self) -> bool:
        """Whether the item's proposition states the labelled answer."""
        assert isinstance(self.item, QuestionItem)
        return self.item.states == self.label.answer

    def said(self, turn: str) -> Any:
        """The reply of a turn."""
        return self.facts.said[TurnId(turn)]


@cache
def golden(kind: str) -> tuple[GoldenSet, ...]:
    """The shipped sets on contracts, security and compliance; of critics that on contracts."""
    names = ("contract", "security", "compliance")[: 1 if kind == "critic" else 3]
    sets = {folder.name: folder for folder in shipped()}
    return tuple(load_shipped(sets[f"{name}-{kind}"]) for name in names)


@cache
def lines(kind: str) -> tuple[KeyLine, ...]:
    """The key of these sets."""
    return key_of(golden(kind), allow_held=True)


def faulty(kind: str, key: Sequence[KeyLine] | None = None, **seats: Mapping[str, Any]) -> FaultyModels:
    """All models with these faults by seat; in other seats they have none."""
    faults = ModelFaults(seats={seat: SeatFaults(**shares) for seat, shares in seats.items()})
    return FaultyModels(dict.fromkeys(MODELS, faults), KnownCases(lines(kind) if key is None else key))


def ask(form: str, golden: GoldenSet, item: Item, models: FaultyModels, **options: Any) -> Asked:
    """Ask one item in a debate of a format."""
    answers = golden.manifest.answers or ()
    question = _question(Arm(name="arm", does="debate", format=form), item, answers)  # type: ignore[arg-type]
    documents = golden.asked.documents(item)
    if form == "adversarial":

        def alter(turn: Turn, _: Facts, reply: Reply) -> Reply:
            return item.proposal if isinstance(item, CriticItem) and turn.id == "1.proposer.1" else reply

        sources = [debates.Source(one.title, one.text) for one in documents]
        played: Any = debates.play(question, sources, faulty=models, alter=alter, **options)
    else:
        texts = [{"id": one.id, "title": one.title, "text": one.text} for one in documents]
        chosen = {**CLOSED[form].asked(answers), **NEEDED.get(form, {}), **options}  # type: ignore[index]
        played = formats.play(form, question, texts, chosen, faulty=models)
    observed = observe(played.entries)
    answer = answer_of(observed, answers, item.states).answer if isinstance(item, QuestionItem) else None
    return Asked(item, golden.sealed[item.id], played.facts, played.outcome, played.requests, observed, answer, answers)


def ask_all(
    form: str, models: FaultyModels, kind: str = "questions", *, sets: int = 3, **options: Any
) -> tuple[Asked, ...]:
    """Ask all items of so many of the sets."""
    return tuple(ask(form, one, item, models, **options) for one in golden(kind)[:sets] for item in one.asked.active())
