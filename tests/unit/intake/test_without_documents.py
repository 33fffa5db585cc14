"""Which formats take a case without documents, and what is said where one does not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.debate.entries import GateDecided
from service.debate.options import ConvergenceOptions, Debater
from service.errors import InvalidCase
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.verify.opened_bundle import LegalDebate
from service.verify.policy import check_start
from service.verify.steps import Differs
from tests.unit.intake.test_intake import DAY, a_case, policy, taken

SIDES = [{"name": "a", "stance": "ship now"}, {"name": "b", "stance": "do not ship now"}]
ALLOWING = policy(debate__adversarial_without_documents=True)
KEY = 'debate.adversarial_without_documents = "allowed"'


@pytest.mark.parametrize("form", ["stances", "ballot", "panel", "convergence"])
def test_four_formats_take_it_as_shipped(form: str) -> None:
    options = {"debaters": SIDES} if form == "stances" else {}

    prepared, started = taken(a_case(documents=[], options={"format": form, **options}))

    assert prepared.case.documents == ()
    assert started is not None
    assert started.format == f"{form}/1"
    assert "house.undocumented" in started.pins


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"options": {"format": "adversarial"}}, "the format 'adversarial' argues"),
        ({}, "the policy's usual format"),
        ({"options": {"format": "auto"}}, "auto: policy names no format for the task type contract, so its usual one"),
    ],
)
def test_the_adversarial_format_refuses_it_however_it_was_chosen(asked: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidCase) as refused:
        taken(a_case(documents=[], **asked))

    assert refused.value.pointers == ("/documents",)
    for said in (why, KEY, "(stances, ballot, panel, convergence)"):
        assert said in refused.value.detail


def test_auto_takes_it_where_policy_chooses_another_format() -> None:
    _, started = taken(a_case(documents=[], options={"format": "auto"}, taskType="architecture"))

    assert started is not None
    assert started.format == "ballot/1"


def test_policy_may_allow_it_in_the_adversarial_format() -> None:
    _, started = taken(a_case(documents=[]), ALLOWING)

    assert not read_policy(SHIPPED_POLICY).debate.adversarial_without_documents
    assert started is not None
    assert started.format == "adversarial/1"


@pytest.mark.parametrize("allowed", [True, False])
def test_a_verifier_holds_the_start_to_the_policy_that_was_sealed(*, allowed: bool) -> None:
    prepared, started = taken(a_case(documents=[]), ALLOWING)
    assert started is not None
    debate = LegalDebate([prepared.received("local"), GateDecided(prepared.decision, {}), started])

    if allowed:
        check_start(debate, ALLOWING, started, [DAY])
    else:
        with pytest.raises(Differs, match="a case of this format"):
            check_start(debate, policy(), started, [DAY])


@pytest.mark.parametrize("own", ["convergence.debater.undocumented", "convergence.judge", "house"])
def test_a_verifier_takes_no_prompt_for_a_debater_but_one_that_may_stand_in_its_place(own: str) -> None:
    prepared, started = taken(a_case(documents=[], options={"format": "convergence"}))
    assert started is not None
    assert isinstance(started.options, ConvergenceOptions)
    debaters = (Debater("one", prompt=own), Debater("two"), Debater("three"))
    forged = replace(started, options=replace(started.options, debaters=debaters))
    debate = LegalDebate([prepared.received("local"), GateDecided(prepared.decision, {}), forged])

    with pytest.raises(Differs, match="the prompt of a debater"):
        check_start(debate, policy(), forged, [DAY])
