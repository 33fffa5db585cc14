"""What a case asked for, as a verifier reads it: the options follow from it and from policy alone."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec.structs import replace

from service.debate.entries import CaseReceived, GateDecided
from service.debate.formats import NAMES, FormatName
from service.debate.model import AdversarialOptions, BallotOptions, ConvergenceOptions, PanelOptions, StancesOptions
from service.debate.options import AskedOptions, Debater, Options
from service.intake.formats import READINGS
from service.intake.request import CaseRequest, DocumentRequest, OptionsRequest
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.verify.asked import check_ceiling, options_of
from service.verify.opened_bundle import LegalDebate
from service.verify.steps import Differs
from tests.fixtures.debates import DECIDED, a_case

POLICY = read_policy(SHIPPED_POLICY)
CASE = replace(a_case(), question="Should we sign the agreement this quarter?")
TWO = (Debater("Ann"), Debater("Ben"))
FOR_AND_AGAINST = (Debater("Ann", "sign"), Debater("Ben", "wait"))
REQUESTS: list[tuple[FormatName, OptionsRequest]] = [
    ("adversarial", OptionsRequest(format="adversarial")),
    (
        "adversarial",
        OptionsRequest(format="adversarial", max_rounds=2, min_challenge_strength=9, require_critic_retry_below=1),
    ),
    ("adversarial", OptionsRequest(format="adversarial", personas={"critic": "a trustee"})),
    ("stances", OptionsRequest(format="stances", debaters=FOR_AND_AGAINST)),
    (
        "stances",
        OptionsRequest(
            format="stances", debaters=FOR_AND_AGAINST, synthesizer=False, shuffle_for_judge=False, instructions="-"
        ),
    ),
    ("ballot", OptionsRequest(format="ballot")),
    (
        "ballot",
        OptionsRequest(
            format="ballot", debaters=TWO, votes=("yes", "Escalate", "no"), consensus_threshold=1, max_rounds=1
        ),
    ),
    ("panel", OptionsRequest(format="panel")),
    ("panel", OptionsRequest(format="panel", debaters=2, question_type="belief", mode="manual", max_rounds=1)),
    ("convergence", OptionsRequest(format="convergence")),
    (
        "convergence",
        OptionsRequest(
            format="convergence", debaters=TWO, judge=False, convergence_similarity=Decimal("0.7"), ties="noAnswer"
        ),
    ),
    ("convergence", OptionsRequest(format="convergence", debaters=4, convergence_check=False, judge_instructions="-")),
]


def read(name: FormatName, asked: OptionsRequest, *, later: int = 1) -> tuple[Options, LegalDebate]:
    """The options as intake reads them, and the beginning of the debate."""
    request = CaseRequest(
        question=CASE.question,
        task_type=CASE.task_type,
        estimated_downside=CASE.estimated_downside,
        documents=(DocumentRequest("Text.", round=later),),
        options=asked,
    )
    case = replace(CASE, format=name, documents=(replace(CASE.documents[0], round=later),))
    return READINGS[name].read(request, asked, POLICY), begun(asked.recorded, case=case)


def begun(asked: AskedOptions | None, ceiling: int | None = None, case: object = CASE) -> LegalDebate:
    first = CaseReceived(case, "local", asked, ceiling)  # type: ignore[arg-type]
    return LegalDebate([first, GateDecided(DECIDED.decision, {})])


@pytest.mark.parametrize(("name", "asked"), REQUESTS)
def test_the_verifier_and_intake_read_the_same_options_of_each_format(name: FormatName, asked: OptionsRequest) -> None:
    options, debate = read(name, asked)

    assert options_of(debate, POLICY, name) == options


def test_each_format_is_asked_for_with_and_without_options() -> None:
    assert [name for name, _ in REQUESTS if name in NAMES] == [name for name, _ in REQUESTS]
    assert all(sum(name == asked for asked, _ in REQUESTS) >= 2 for name in NAMES)


def test_evidence_of_later_rounds_asks_for_these_rounds() -> None:
    options, debate = read("adversarial", OptionsRequest(format="adversarial"), later=3)

    assert options_of(debate, POLICY, "adversarial") == options
    assert options.max_rounds == 3


OUTSIDE: list[tuple[FormatName, AskedOptions]] = [
    ("adversarial", AskedOptions(max_rounds=4)),
    ("adversarial", AskedOptions(min_challenge_strength=11)),
    ("adversarial", AskedOptions(require_critic_retry_below=0)),
    ("stances", AskedOptions()),
    ("stances", AskedOptions(debaters=FOR_AND_AGAINST, max_rounds=99)),
    ("ballot", AskedOptions(consensus_threshold=4)),
    ("ballot", AskedOptions(debaters=(Debater("Ann"),))),
    ("panel", AskedOptions(debaters=TWO)),
    ("panel", AskedOptions(debaters=1_000)),
    ("convergence", AskedOptions(convergence_similarity=Decimal("1.1"))),
]


@pytest.mark.parametrize(("name", "asked"), OUTSIDE)
def test_what_intake_would_have_refused_differs(name: FormatName, asked: AskedOptions) -> None:
    with pytest.raises(Differs):
        options_of(begun(asked), POLICY, name)


def test_the_ceiling_is_the_one_asked_for_or_that_of_policy_and_never_above_it() -> None:
    usual, most = POLICY.debate.ceiling, POLICY.debate.ceiling_max
    check_ceiling(begun(AskedOptions()), POLICY, usual)
    check_ceiling(begun(AskedOptions(), usual - 1), POLICY, usual - 1)
    for asked, found in ((None, usual - 1), (usual, usual + 1), (most + 1, most + 1), (0, 0)):
        with pytest.raises(Differs):
            check_ceiling(begun(AskedOptions(), asked), POLICY, found)


def test_every_format_has_options_of_its_own() -> None:
    kinds = {type(read(name, asked)[0]) for name, asked in REQUESTS}

    assert kinds == {AdversarialOptions, StancesOptions, BallotOptions, PanelOptions, ConvergenceOptions}
