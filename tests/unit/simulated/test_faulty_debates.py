"""Whole debates of models with known faults: every reply can be used, and the debate ends as the table says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from service.app import connecting
from service.debate.facts import Facts
from service.debate.model import Turn
from service.debate.replies import Critique, Moderation, Reply
from service.debate.results import BallotResult, ConvergenceResult, PanelResult, StancesResult
from service.debate.turns import turn_id
from service.errors import SettingsError
from service.evaluation.sets.items import CriticItem, QuestionItem
from service.evaluation.sets.key import key_of
from service.evaluation.sets.labels import CriticLabel
from service.policy import ProviderSetting
from service.policy.known_faults import ModelFaults
from service.simulated import MODELS
from service.simulated.faulty import FaultyModels
from service.simulated.known_cases import SETTING, KnownCases
from tests.fixtures.golden_sets import CRITIC, QUESTIONS, files_of, read
from tests.unit.simulated import debates, formats

QUESTION_SET, CRITIC_SET = read(files_of(QUESTIONS)), read(files_of(CRITIC))
ASKED: Mapping[str, dict[str, Any]] = {
    "stances": {"debaters": [{"name": "a", "stance": "yes"}, {"name": "b", "stance": "no"}], "synthesizer": False},
    "ballot": {"debaters": [{"name": n} for n in "abc"], "votes": ["yes", "no"]},
    "panel": {"debaters": 3, "maxRounds": 2},
    "convergence": {"debaters": 3},
}


def faulty(**shares: Any) -> FaultyModels:
    """All models with the same faults, which know both sets."""
    lines = key_of([QUESTION_SET, CRITIC_SET], allow_held=True)
    return FaultyModels(dict.fromkeys(MODELS, ModelFaults(**shares)), KnownCases(lines))


def decided(form: str, item: QuestionItem, **shares: Any) -> str | None:
    """The answer of a whole debate in a format about a question."""
    documents = [{"id": d.id, "title": d.title, "text": d.text} for d in QUESTION_SET.asked.documents(item)]
    result = formats.play(form, item.question, documents, ASKED[form], faulty=faulty(**shares)).outcome.result
    match result:
        case BallotResult(decision=found) | ConvergenceResult(final_answer=found):
            return found
        case StancesResult(winner_stance=found) | PanelResult(synthesis=found):
            return found
    return None


@pytest.mark.parametrize("form", ASKED)
def test_a_debate_in_each_format_ends_with_the_answer_of_its_models(form: str) -> None:
    for item in QUESTION_SET.asked.active()[:2]:
        assert isinstance(item, QuestionItem)
        label = QUESTION_SET.sealed[item.id].answer
        wrong = {"yes": "no", "no": "yes"}[label]

        assert decided(form, item, accuracy=1_000) == label
        assert decided(form, item, accuracy=0) == wrong
        mended = wrong if form == "ballot" else label  # first proposals reach the threshold: no later turn is due
        assert decided(form, item, accuracy=0, mended=1_000) == mended


def moderated(item: QuestionItem | CriticItem, **shares: Any) -> tuple[Critique, Moderation]:
    """The standing critique and the moderation of a whole adversarial debate about an item."""

    def alter(turn: Turn, _: Facts, reply: Reply) -> Reply:
        return item.proposal if isinstance(item, CriticItem) and turn.id == "1.proposer.1" else reply

    golden = CRITIC_SET if isinstance(item, CriticItem) else QUESTION_SET
    sources = [debates.Source(d.title, d.text) for d in golden.asked.documents(item)]
    answer_given = item.proposition if isinstance(item, QuestionItem) else None
    played = debates.play(item.question, sources, alter=alter, faulty=faulty(**shares), answer_given=answer_given)
    assert played.outcome.critical_validation_failures == ()
    turns = (turn_id(1, "critic"), turn_id(1, "moderator"))
    critique, moderation = (played.facts.said[played.facts.standing(turn)] for turn in turns)
    assert isinstance(critique, Critique)
    assert isinstance(moderation, Moderation)
    return critique, moderation


@pytest.mark.parametrize("id", [item.id for item in CRITIC_SET.asked.active()])
def test_a_debate_about_a_given_proposal_has_the_hit_and_the_conclusion(id: str) -> None:
    item, label = CRITIC_SET.asked.item(id), CRITIC_SET.sealed[id]
    assert isinstance(item, CriticItem)
    assert isinstance(label, CriticLabel)

    critique, moderation = moderated(item, hits=1_000, false_alarms=0, accuracy=1_000)

    named = [point for point in critique.points if label.argument in point.attacks]
    assert bool(named) == (label.answer == "flawed")
    assert all(c.quote == label.span.quote for point in named for c in point.citations)
    assert moderation.conclusion == {"flawed": "rejected", "sound": "upheld"}[label.answer]


def test_a_conclusion_on_a_proposition_maps_to_the_answer() -> None:
    for item in QUESTION_SET.asked.active():
        assert isinstance(item, QuestionItem)
        holds = item.states == QUESTION_SET.sealed[item.id].answer

        assert (moderated(item, accuracy=1_000)[1].conclusion == "upheld") == holds
        assert (moderated(item, accuracy=0)[1].conclusion == "upheld") != holds


async def test_a_process_does_not_start_with_faults_and_no_key_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    setting = ProviderSetting(kind="offline", faults={"alder-large": ModelFaults(hits=0)})

    with pytest.raises(SettingsError, match=r"`gainsay evaluate key SET\.\.\. --to FILE`"):
        async with connecting({"offline": setting}):
            pass
