"""Words that a text gives as a participant's are compared with the turns of that participant."""

from __future__ import annotations

import pytest

from service.checks.given import ReadTexts
from service.checks.texts import compare
from service.debate.replies import Proposal
from service.debate.turns import TurnId
from tests.unit.checks.texts.test_texts import CONTRACT, QUESTION, moderation

ONE, TWO = TurnId("1.debater-1.1"), TurnId("1.debater-2.1")
SHOWN = {
    ONE: Proposal("I am Claude, and the cap is far too low for a bank of this size.", (), "upheld"),
    TWO: Proposal("A higher cap would simply be paid for in higher fees every year.", (), "upheld"),
}
NUMBERED = {ONE: "Debater 1", TWO: "Debater 2"}
BY_LOT = {ONE: "Debater B", TWO: "Debater A"}
PARTIES = {TurnId("1.proposer.1"): SHOWN[ONE], TurnId("1.critic.1"): SHOWN[TWO]}


def found(text: str, voices: dict[TurnId, str], author: str | None = "judge") -> list[tuple[str, str | None]]:
    shown = SHOWN if voices else PARTIES
    read = ReadTexts(moderation(text), ("D1",), (), (QUESTION,), shown, (), voices, author, frozenset({"claude"}))
    return [(passage.status, passage.reason) for passage in compare(read, {"D1": CONTRACT}).passages]


@pytest.mark.parametrize("who", ["The first debater", "Debater 1", "the 1st speaker", "The first reviewer", "Seat 1"])
def test_an_ordinal_names_the_debater_of_that_place(who: str) -> None:
    assert found(f'{who} says "the cap is far too low for a bank".', NUMBERED) == [("inDebate", None)]
    assert found(f'{who} says "the supplier may keep every fee that it was paid".', NUMBERED) == [
        ("nowhere", "not_found")
    ]


@pytest.mark.parametrize(
    ("text", "voices"),
    [
        ('The second debater says "the cap is far too low for a bank".', NUMBERED),
        ('Debater 2 says "the cap is far too low for a bank".', NUMBERED),
        ('The first debater says "the cap is far too low for a bank".', BY_LOT),
        ('Debater A says "the cap is far too low for a bank".', BY_LOT),
        ('The critic says "the cap is far too low for a bank".', {}),
        ('The proposer says "a higher cap would simply be paid for in higher fees".', {}),
    ],
)
def test_words_of_another_speaker_stand_nowhere_in_the_one_that_is_named(text: str, voices: dict[TurnId, str]) -> None:
    assert found(text, voices) == [("nowhere", "another_speaker")]


@pytest.mark.parametrize(
    ("text", "voices", "author"),
    [
        ('Both debaters say "the cap is far too low for a bank".', NUMBERED, "judge"),
        ('A debater says "the cap is far too low for a bank".', NUMBERED, "judge"),
        ('The critic says "the cap is far too low for a bank".', NUMBERED, "judge"),
        ('My opponent says "the cap is far too low for a bank".', NUMBERED, "debater-2"),
        ('The first debater says "the cap is far too low for a bank", the second disagrees.', NUMBERED, "judge"),
        ('The second speaker answers the first debater\'s "the cap is far too low for a bank".', NUMBERED, "judge"),
        ('The proposer says "I am [name], and the cap is far too low".', {}, "critic"),
        ('The proposer says "I am Claude, and the cap is far too low".', {}, "critic"),
    ],
)
def test_a_speaker_that_is_not_certain_and_a_masked_name_are_no_mistakes(
    text: str, voices: dict[TurnId, str], author: str
) -> None:
    assert found(text, voices, author) == [("inDebate", None)]


def test_my_opponent_is_the_one_other_party() -> None:
    text = 'My opponent says "the cap is far too low for a bank".'

    assert found(text, NUMBERED, "debater-1") == [("nowhere", "another_speaker")]


def test_no_mood_of_a_sentence_excuses_words_in_a_participants_mouth() -> None:
    text = 'As Model A says, "the supplier would never have to pay for any loss".'

    assert found(text, {ONE: "Model A", TWO: "Model B"}) == [("nowhere", "not_found")]
