"""Agreement by double negation, and attacks with as many negations, which it must not be taken for."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from service.checks.judgement.wording.grounds import gives_ground
from service.checks.judgement.wording.polarity import agreements
from service.checks.judgement.wording.softening import softenings, unquoted

SAID: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[2] / "vectors/goldens/cases/critics-polarity.json").read_text(encoding="utf-8")
)
AGREES, ATTACKS = SAID["agrees"], SAID["attacks"]
ATTACKED = "The Supplier shall indemnify the Bank."


@pytest.mark.parametrize("text", AGREES)
def test_what_agrees_by_its_polarity_is_softening_and_no_ground_beside_any_citation(text: str) -> None:
    assert softenings(unquoted(text))
    assert not gives_ground(text, ATTACKED, evidence=True, english=True)


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_with_negations_is_no_agreement(text: str) -> None:
    assert list(agreements(unquoted(text))) == []


@pytest.mark.parametrize("text", [t for t in AGREES if t.startswith(("The argument ", "Argument ", "This argument "))])
def test_one_negation_more_turns_an_agreement_into_an_attack(text: str) -> None:
    denied = f"It is false that {text[0].lower()}{text[1:]}"

    assert list(agreements(unquoted(denied))) == []


def test_the_grounds_beside_an_agreement_still_count() -> None:
    """A critic may grant one argument by double negation and attack it on a stated ground."""
    text = "Nobody could deny that argument 1 holds, but clause 12 voids the cap for cartel fines and data breaches."

    assert gives_ground(text, ATTACKED, evidence=False, english=True)


@pytest.mark.parametrize(
    "piece",
    ["not ", "the argument fails ", "I do not deny that ", ", on the ", "it is wrong to ", "neither nor ", "the "],
)
def test_hostile_repetition_takes_no_more_than_a_moment(piece: str) -> None:
    begun = time.process_time()
    list(agreements((piece * 20_000)[:20_000]))

    assert time.process_time() - begun < 5
