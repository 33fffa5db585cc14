"""Seats that speak for a side are wrong as often as their table says, in debates of shipped sets through the kernel.

Counts lie within bounds that a binomial count leaves once in a thousand, and what becomes of them in the debate's
answer is compared item by item, as scoring reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from service.evaluation.scoring.planted import Planted, says_yes
from service.evaluation.sets.items import QuestionItem
from service.evaluation.sets.labels import CriticLabel
from tests.unit.simulated.evaluated import Asked, ask_all, faulty, golden
from tests.unit.simulated.rates import assert_rate

RARELY = Fraction(1, 1_000)


def seen(found: Sequence[bool], per_mille: int | Fraction) -> None:
    assert_rate(found, per_mille, RARELY)


# -- adversarial


@cache
def argued() -> tuple[Asked, ...]:
    models = faulty(
        "questions",
        framing={"misframes": 300},
        proposer={"accuracy": 700},
        rebuttal={"concedes": 200},
        moderator={"heeds": 1_000},
    )
    return ask_all("adversarial", models)


def misframed(one: Asked) -> bool:
    assert isinstance(one.item, QuestionItem)
    thesis: str = one.said("0.framing.1").thesis
    assert thesis.endswith(one.item.proposition)
    return thesis != one.item.proposition


def test_a_framing_misstates_its_proposition_in_its_share_of_cases() -> None:
    seen([misframed(one) for one in argued()], 300)


def test_a_proposer_is_right_of_what_was_framed_in_its_share_of_cases() -> None:
    concluded = [one.said("1.proposer.1").conclusion for one in argued()]
    framed = ["upheld" if one.holds != misframed(one) else "rejected" for one in argued()]

    assert {*concluded} == {"upheld", "rejected"}
    seen([a == b for a, b in zip(concluded, framed, strict=True)], 700)
    for one, conclusion in zip(argued(), concluded, strict=True):
        cited = any(argument.citations for argument in one.said("1.proposer.1").arguments)
        assert cited == (conclusion == "upheld")


def test_a_rebuttal_grants_all_points_in_its_share_of_cases() -> None:
    rebuttals = [one.said("1.rebuttal.1") for one in argued()]

    assert all(bool(one.rebuttals) != bool(one.concessions) for one in rebuttals)
    seen([bool(one.concessions) for one in rebuttals], 200)


def test_what_framing_proposer_and_rebuttal_do_arrives_in_the_answer_of_a_moderator_that_heeds() -> None:
    for one in argued():
        given_up = one.said("1.rebuttal.1").concessions or one.said("1.proposer.1").conclusion == "rejected"
        assert one.right == (one.holds != bool(given_up))

    kept = Fraction(8, 10) * (Fraction(7, 10) ** 2 + Fraction(3, 10) ** 2)  # right of what was framed, and of the item
    seen([one.right for one in argued()], (kept + Fraction(2, 10) / 2) * 1_000)  # half of the propositions hold


def test_a_moderator_is_right_of_the_proposition_as_it_was_framed() -> None:
    models = faulty("questions", framing={"misframes": 400}, moderator={"accuracy": 1_000})

    asked = ask_all("adversarial", models)

    assert [one.right for one in asked] == [not misframed(one) for one in asked]
    seen([one.right for one in asked], 600)


def test_a_proposer_s_later_rounds_mend_what_it_took_for_right() -> None:
    shares = {"accuracy": 0, "mended": 500}
    models = faulty("questions", proposer=shares, moderator={"accuracy": 0})
    asked = [one for one in ask_all("adversarial", models, rounds=2) if "2.proposer.1" in one.facts.said]

    for one in asked:
        assert (one.said("1.proposer.1").conclusion == "upheld") != one.holds
    seen([(one.said("2.proposer.1").conclusion == "upheld") == one.holds for one in asked], 500)


# -- a critic of given proposals, and who hears it


@cache
def criticised() -> tuple[Asked, ...]:
    models = faulty(
        "critic",
        critic={"true_rate": 800, "confidence": 900},
        rebuttal={"concedes": 100},
        moderator={"heeds": 1_000},
    )
    return ask_all("adversarial", models, "critic")


def says(one: Asked) -> bool:
    """Whether scoring reads a yes of the critique."""
    assert isinstance(one.label, CriticLabel)
    assert one.observed.critique is not None
    span = one.label.span
    (contract,) = golden("critic")
    texts = {document.id: document.text for document in contract.asked.documents(one.item)}
    return says_yes(one.observed.critique, Planted(one.label.argument, span.document, span.quote, None), texts)


def test_a_critic_that_states_a_confidence_is_right_in_its_true_rate_of_cases() -> None:
    seen([says(one) == (one.label.answer == "flawed") for one in criticised()], 800)
    assert {one.said("1.critic.1").challenge_strength for one in criticised() if not says(one)} == {9}


def test_hits_false_alarms_and_concessions_arrive_in_the_conclusion_of_a_moderator_that_heeds() -> None:
    for one in criticised():
        rejected = says(one) or bool(one.said("1.rebuttal.1").concessions)
        assert one.outcome.conclusion == ("rejected" if rejected else "upheld")


# -- stances


def test_debaters_argue_their_stance_well_in_their_shares_of_cases_and_a_judge_that_heeds_sees_it() -> None:
    models = faulty(
        "questions", debater={"argues_right": 900, "argues_wrong": 300}, judge={"heeds": 1_000, "accuracy": 500}
    )
    asked = ask_all("stances", models, maxRounds=1)
    shares: dict[bool, list[bool]] = {True: [], False: []}
    for one in asked:
        well = {
            answer: any(argument.citations for argument in one.said(f"1.debater-{n}.1").arguments)
            for n, answer in enumerate(one.answers, start=1)
        }
        for answer, argues in well.items():
            shares[answer == one.label.answer].append(argues)
        if sum(well.values()) == 1:
            assert one.right == well[one.label.answer]

    seen(shares[True], 900)
    seen(shares[False], 300)
    seen([one.right for one in asked], 630 + (270 + 70) // 2)  # the right one alone, or both or none and then by chance
