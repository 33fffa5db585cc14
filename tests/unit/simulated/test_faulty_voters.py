"""Seats that answer are wrong as often as their table says, in debates of shipped sets through the kernel, by round.

Counts lie within bounds that a binomial count leaves once in a thousand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from service.checks.question_type import CLASSIFICATION
from service.debate.replies import Ballot
from service.debate.results import BallotResult, PanelResult
from tests.unit.simulated.evaluated import Asked, ask_all, faulty
from tests.unit.simulated.rates import assert_rate

RARELY = Fraction(1, 1_000)
DEBATERS = ("debater-1", "debater-2", "debater-3")
MOVES: dict[str, Any] = {"accuracy": 500, "mended": 400, "broken": 100, "rounds_alike": 0}
TOLD: dict[str, Any] = {"confidence": 700}


def seen(found: Sequence[bool], per_mille: int | Fraction) -> None:
    assert_rate(found, per_mille, RARELY)


def assert_moves(series: Sequence[Sequence[bool]]) -> None:
    """Hold each step of right and wrong answers to the shares of `MOVES`."""
    steps = [pair for one in series for pair in pairwise(one)]
    seen([one[0] for one in series], 500)
    seen([b for a, b in steps if not a], 400)
    seen([not b for a, b in steps if a], 100)


# -- ballot


def votes(one: Asked, seat: str) -> list[bool]:
    """Whether a voter's proposal was right, and each revision and consensus after it; other phases change nothing."""
    said = [(turn, reply) for turn, reply in one.facts.said.items() if f".{seat}" in turn and isinstance(reply, Ballot)]
    found = [(turn, one.names(reply.vote)) for turn, reply in said]
    for (_, before), (turn, now) in pairwise(found):
        assert now == before or "revision" in turn or "consensus" in turn
    first, *rest = found
    return [first[1], *(right for turn, right in rest if "revision" in turn or "consensus" in turn)]


def test_revotes_of_a_ballot_mend_and_break_in_each_round() -> None:
    asked = ask_all("ballot", faulty("questions", debater=MOVES), sets=2, consensusThreshold=3)
    series = [votes(one, seat) for one in asked for seat in DEBATERS]

    assert max(map(len, series)) == 5  # a proposal, and a revision and a consensus in each of two rounds
    assert_moves(series)


def test_revotes_that_are_alike_change_once() -> None:
    models = faulty("questions", debater={**MOVES, "rounds_alike": 1_000})
    asked = ask_all("ballot", models, sets=1, consensusThreshold=3)
    series = [votes(one, seat) for one in asked for seat in DEBATERS]

    assert max(map(len, series)) > 2
    assert all(len({*one[1:]}) <= 1 for one in series)
    assert any(one[0] != one[1] for one in series if len(one) > 1)


def test_with_correlation_all_voters_vote_alike_in_every_round() -> None:
    models = faulty("questions", debater={**MOVES, "correlation": 1_000})

    for one in ask_all("ballot", models, sets=1, consensusThreshold=3):
        assert isinstance(one.outcome.result, BallotResult)
        assert one.outcome.result.phase_sequence == ("proposal",)


# -- convergence


@cache
def converging() -> tuple[Asked, ...]:
    models = faulty("questions", debater=MOVES, judge={"heeds": 1_000, "accuracy": 0} | TOLD)
    return ask_all("convergence", models, maxRounds=2)


def positions(one: Asked, seat: str) -> list[bool]:
    turns = [f"{r}.{seat}.1" for r in (0, 1, 2) if f"{r}.{seat}.1" in one.facts.said]
    return [one.names(one.said(turn).final_answer) for turn in turns]


def test_debaters_of_convergence_mend_and_break_in_each_round() -> None:
    series = [positions(one, seat) for one in converging() for seat in DEBATERS]

    assert max(map(len, series)) == 3
    assert_moves(series)


def test_a_judge_of_convergence_that_heeds_takes_the_answer_of_most() -> None:
    for one in converging():
        last = [positions(one, seat)[-1] for seat in DEBATERS]
        assert one.right == (sum(last) > 1)


# -- panel


@cache
def sitting() -> tuple[Asked, ...]:
    models = faulty(
        "questions",
        classifier={"mistypes": 300},
        debater={**MOVES, **TOLD},
        adjudicator={"accuracy": 700},
        synthesizer={"heeds": 1_000, "accuracy": 0} | TOLD,
    )
    return ask_all("panel", models, maxRounds=2)


def opinions(one: Asked, seat: str) -> list[bool]:
    turns = [f"{r}.{seat}.1" for r in (1, 2) if f"{r}.{seat}.1" in one.facts.said]
    return [one.names(one.said(turn).answer) for turn in turns]


def test_a_classifier_gives_another_type_in_its_share_of_cases() -> None:
    wrong = []
    for one in sitting():
        assert isinstance(one.outcome.result, PanelResult)
        asked = f"{one.item.question}\n\nThe answer is one of: {'; '.join(one.answers)}."
        wrong.append(one.outcome.result.question_type != CLASSIFICATION(asked).question_type)
    types = Counter(one.said("0.classifier.1").question_type for one in sitting())

    seen(wrong, 300)
    assert len(types) > 3


def test_debaters_of_a_panel_mend_and_break_in_each_round() -> None:
    assert_moves([opinions(one, seat) for one in sitting() for seat in DEBATERS])


def test_an_adjudicator_is_right_about_agreement_in_its_share_of_cases_and_that_ends_the_panel() -> None:
    right = []
    for one in sitting():
        same = len({one.said(f"1.{seat}.1").answer for seat in DEBATERS}) == 1
        scored = one.said("1.adjudicator.1").stance_alignment
        assert scored in (0, 100)
        right.append((scored == 100) == same)
        assert scored or "2.debater-1.1" in one.facts.said  # without consensus another round is asked

    seen(right, 700)


def test_an_adjudicator_s_review_is_right_of_each_debater_or_wrong_of_all() -> None:
    right = []
    for one in sitting():
        turn = next(turn for turn in one.facts.said if "adjudicator.accuracy" in turn)
        assert isinstance(one.outcome.result, PanelResult)
        label = one.outcome.result.labels
        scores = {review.label: review.factual_accuracy for review in one.said(turn).reviews}
        agrees = {(scores[label[seat]] == 90) == opinions(one, seat)[-1] for seat in DEBATERS}
        assert len(agrees) == 1
        right.append(agrees.pop())

    seen(right, 700)


def test_a_synthesizer_that_heeds_takes_the_answer_of_most() -> None:
    for one in sitting():
        assert one.right == (sum(opinions(one, seat)[-1] for seat in DEBATERS) > 1)


# -- stated confidence, and the screener


@pytest.mark.parametrize(("form", "seat"), [("stances", "judge"), ("convergence", "judge"), ("panel", "synthesizer")])
def test_a_seat_that_decides_is_right_in_its_true_rate_and_states_its_confidence(form: str, seat: str) -> None:
    shares: dict[str, Any] = {seat: {"confidence": 950, "true_rate": 600}}
    asked = ask_all(form, faulty("questions", **shares), maxRounds=1)

    closing = [one.said(one.outcome.final_turn or "") for one in asked]
    assert {reply.confidence_level for reply in closing} == {"HIGH"}
    seen([one.right for one in asked], 600)


def test_a_screener_suspects_clean_cases_in_its_share() -> None:
    models = faulty("questions", screener={"false_alarms": 300})
    asked = ask_all("ballot", models, screened=True)

    seen([one.said("0.screener.1").suspicious for one in asked], 300)
    for one in asked:
        if one.said("0.screener.1").suspicious:
            assert "injectionSuspected" in one.outcome.human_review.reasons
