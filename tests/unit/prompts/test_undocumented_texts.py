"""The texts for cases without documents: where there is one, what it asks for, and that it says all else.

A change of a prompt needs one of its text for such cases too: each demand of a reference holds in both.
"""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from service.debate.facts import Facts
from service.debate.model import Turn
from service.debate.turns import TurnId
from service.prompts import Prompts
from service.prompts.render import pins
from service.prompts.undocumented import UNDOCUMENTED, pin_of, plain_id
from tests.fixtures.debates import a_case, a_start
from tests.unit.prompts import test_format_texts, test_texts

PROMPTS = Prompts.load()
CURRENT = {entry.id for entry in PROMPTS.entries if entry.kind in ("prompt", "fragment")}
OWN = sorted(pin for pin in CURRENT if pin.endswith(UNDOCUMENTED))
DOCUMENTS_ALONE = {"evidence"}
"""Texts that only a case with documents asks for."""
SPEAKS_OF_DOCUMENTS = re.compile(r"\b(documents?|passages?|quot(?:e|es|ation|ations)|cit(?:e|es|ation|ations))\b")
OF_DOCUMENTS = re.compile(r"documents?\b|\bcited?\b|\bevidence\b|\bpassage|\bquotes\b|interpreted")
"""Words of the phrases that meet a demand about documents; a case without them cannot meet it."""


def told(prompt: str) -> str:
    """A text in small letters on one line."""
    return " ".join(PROMPTS.text(prompt).split()).casefold()


def begun(*, documented: bool) -> Facts:
    """The facts of a debate that has begun with the shipped prompts."""
    facts = Facts()
    case = a_case()
    facts.case = case if documented else replace(case, documents=())
    facts.started = replace(a_start(), pins=PROMPTS.pins())
    return facts


def test_each_text_that_speaks_of_documents_has_one_for_cases_without() -> None:
    speaking = {pin for pin in CURRENT - set(OWN) if SPEAKS_OF_DOCUMENTS.search(told(pin))} - DOCUMENTS_ALONE
    posing = {"persona", "critic.positions", "rebuttal.position", "moderator.positions", "panel.ideas", "repair"}

    assert {pin for pin in speaking if f"{pin}{UNDOCUMENTED}" not in CURRENT} <= posing
    assert {plain_id(pin) for pin in OWN} <= CURRENT


@pytest.mark.parametrize("prompt", OWN)
def test_it_asks_for_grounds_and_for_no_quotation(prompt: str) -> None:
    text = told(prompt)

    assert "`document` block" not in text
    assert not re.search(r"verbatim|beside its quotes|look the passage up|operative passage|struck argument", text)
    assert not re.search(r"(?:the|these|those) documents (?:say|support|hold|establish|leave|show|decide)", text)
    assert "`struck`" not in text
    if "`citations`" in text and prompt != "house.undocumented":
        assert re.search(r"`citations`,? (?:which is )?always empty", text)
        assert re.search(r"`basis`,? (?:which is )?always `reasoning`", text)


@pytest.mark.parametrize("prompt", [p for p in OWN if PROMPTS.entry(p).kind == "prompt" and "house" not in p])
def test_a_seat_is_told_that_there_are_no_documents(prompt: str) -> None:
    assert re.search(r"this case has no documents|none of you has a document", told(prompt))


MET = [
    (prompt, phrase)
    for prompt, phrases in (
        *((demand.prompt, demand.phrases) for demand in test_format_texts.DEMANDS),
        *((demand.prompt, demand.phrases) for demand in test_texts.DEMANDS),
    )
    for phrase in phrases
    if not OF_DOCUMENTS.search(phrase)
]


@pytest.mark.parametrize("prompt", sorted({prompt for prompt, _ in MET if f"{prompt}{UNDOCUMENTED}" in CURRENT}))
def test_it_says_what_the_reference_demands_of_the_text_in_whose_place_it_stands(prompt: str) -> None:
    own = told(f"{prompt}{UNDOCUMENTED}")

    missing = [phrase for mine, phrase in MET if mine == prompt and phrase.casefold() not in own]

    assert not missing


@pytest.mark.parametrize("documented", [True, False])
def test_one_rule_chooses_the_text_of_every_seat(*, documented: bool) -> None:
    facts = begun(documented=documented)
    turn = Turn(TurnId("1.debater-1.1"), "debater-1", (), ("persona", "instructions"), "stances.debater")
    chosen = replace(turn, prompt="stances.debater.open")
    plan = facts.started.seats[0] if facts.started else None
    assert plan is not None

    asked, asked_by_choice = pins(facts, turn, plan), pins(facts, chosen, plan)

    end = "" if documented else UNDOCUMENTED
    assert pin_of(facts, "house") == f"house{end}"
    assert asked == (f"stances.debater{end}", "persona", f"instructions{end}")
    assert asked_by_choice[0] == f"stances.debater.open{end}"


def test_a_text_that_the_debate_has_not_pinned_is_not_chosen() -> None:
    facts = begun(documented=False)
    facts.started = replace(facts.started, pins={"house": "v2:x"}) if facts.started else None

    assert pin_of(facts, "house") == "house"


def test_no_caller_may_name_one() -> None:
    assert all(UNDOCUMENTED not in name for name in PROMPTS.alternatives("stances.debater"))
