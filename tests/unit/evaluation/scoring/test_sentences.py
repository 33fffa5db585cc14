"""What a report may say: sentences from findings alone, and no word of the list that none may hold."""

from collections.abc import Sequence
from typing import get_args

import pytest
from msgspec.structs import replace

from service.evaluation.scoring import refused_words, written
from service.evaluation.scoring.cases import Case
from service.evaluation.scoring.conclude import conclude
from service.evaluation.scoring.observed_types import NONE_IN_WORDS, WhyNone
from service.evaluation.scoring.refused_words import refused_in
from service.evaluation.scoring.result import Because, Outcome, Result, WhyExploratory
from service.evaluation.scoring.scores import Scored
from service.evaluation.scoring.sentences import SIMULATED
from service.evaluation.sets.labels import FAMILIES
from tests.fixtures.evaluation_results import EVERY, lift, made
from tests.fixtures.evaluations import (
    critic_plan,
    critiques,
    shown_sets,
    twins,
)


def texts(result: Result, part: str = "") -> list[str]:
    return [one.text for one in result.sentences if part in ("", one.part)]


def test_the_table_has_a_result_for_every_finding_and_every_reason() -> None:
    results = [made(name) for name in EVERY]
    found = [finding for result in results for finding in result.findings]

    assert {one.outcome for one in found} == set(get_args(Outcome))
    assert {why for result in results for why in result.why_exploratory} == set(get_args(WhyExploratory))
    assert {why for one in found for why in one.because} >= set(get_args(Because)) - {
        "groupsDisagree",
        "belowMargin",
        "ratingTooLow",
    }


@pytest.mark.parametrize("name", EVERY)
def test_no_sentence_holds_a_refused_word(name: str) -> None:
    found = {text: refused for text in texts(made(name)) if (refused := refused_in(text))}

    assert not found


@pytest.mark.parametrize("name", EVERY)
def test_every_result_says_what_was_excluded_what_it_could_show_and_what_it_does_not_show(name: str) -> None:
    result = made(name)

    for part in ("standing", "finding", "excluded", "power", "notShown", "provenance"):
        assert texts(result, part) or (part == "finding" and not result.findings)
    assert texts(result, "excluded")[0].startswith("Nothing was excluded")


@pytest.mark.parametrize("name", EVERY)
def test_a_sentence_of_a_lift_names_set_n_interval_and_p(name: str) -> None:
    result = made(name)

    for finding in result.findings if result.kind == "lift" and result.items else ():
        told = next(text for text in texts(result, "finding") if f"the arm {finding.about[1]}" in text)
        assert "contract-lift v1" in told
        assert "labels by construction, by the authors" in told
        assert f"n = {result.items}" in told
        assert "points" in told
        assert "p =" in told or "p <" in told


def test_where_no_difference_was_shown_the_smallest_visible_one_stands_beside_it() -> None:
    said = next(text for text in texts(lift(0.7, 0.68), "finding") if "No difference" in text)

    assert said.startswith("No difference was shown; differences under ")
    assert "could not have been seen" in said


@pytest.mark.parametrize("name", ["open", "worn and published", "exploratory audit"])
def test_an_exploratory_result_claims_nothing(name: str) -> None:
    said = " ".join(texts(made(name)))

    assert "exploratory and supports no claim" in said
    assert "By the registered rules" not in said


def test_looks_wear_and_publication_are_said_of_each_set() -> None:
    said = texts(made("worn and published"), "provenance")

    assert "This is the 12th look at the split held of contract-lift." in said
    assert "contract-lift is worn by its looks and supports no claim." in said
    assert "contract-lift was published on 2025-01-01 and may have been seen in training by: elm." in said


def test_labels_by_construction_are_never_called_those_of_experts() -> None:
    for name in EVERY:
        if name != "again":
            assert "expert" not in " ".join(texts(made(name), "provenance"))


def unsimulated(scores: Sequence[Scored]) -> list[Scored]:
    return [replace(one, score=replace(one.score, run=replace(one.score.run, simulated=False))) for one in scores]


def test_simulated_models_are_said_and_real_ones_are_not() -> None:
    plan, cases = critic_plan(), twins(10)
    scores = critiques(plan, cases, 1, 0)

    assert texts(conclude(plan, cases, shown_sets(plan), scores), "simulated") == [SIMULATED]
    assert texts(conclude(plan, cases, shown_sets(plan), unsimulated(scores)), "simulated") == []
    one_simulated = [scores[0], *unsimulated(scores[1:])]
    assert texts(conclude(plan, cases, shown_sets(plan), one_simulated), "simulated") == [SIMULATED]


@pytest.mark.parametrize(
    "text",
    [
        "Debate is more accurate than a vote.",
        "The moderator shows no bias.",
        "There is no difference between the arms.",
        "The arms are as good as each other.",
        "The moderator is neutral.",
        "Its confidence is a probability of 0.8.",
        "It finds 90 % of errors.",
        "The service is in compliance with the law.",
        "The difference is significant.",
        "This proves that debate works.",
    ],
)
def test_what_may_never_be_said_is_found(text: str) -> None:
    assert refused_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "No difference was shown; differences under 12.0 points could not have been seen.",
        "Found 18 of 20 planted flaws of these families.",
        "Order changed the answer in 4 of 40 cases.",
        SIMULATED,
    ],
)
def test_what_may_be_said_is_not_refused(text: str) -> None:
    assert not refused_in(text)


def test_every_refused_expression_says_why() -> None:
    assert all(rule.because for rule in refused_words.REFUSED)


@pytest.mark.parametrize(
    ("table", "closed"),
    [
        (written.BECAUSE, set(get_args(Because))),
        (written.EXPLORATORY, set(get_args(WhyExploratory))),
        (written.FAMILY, set(FAMILIES)),
        (NONE_IN_WORDS, set(get_args(WhyNone))),
    ],
)
def test_every_code_has_its_words(table: dict[str, str], closed: set[str]) -> None:
    assert set(table) == closed
    assert not [words for words in table.values() if refused_in(words)]


@pytest.mark.parametrize(
    ("n", "words"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st"), (111, "111th")],
)
def test_looks_are_counted_as_places(n: int, words: str) -> None:
    assert written.ordinal(n) == words


def test_an_undefined_figure_is_never_written_as_a_number() -> None:
    assert {written.per_cent(None), written.points(None), written.number(None), written.interval(None, None)} == {
        "undefined"
    }


def test_a_case_of_another_set_with_the_same_id_is_another_case() -> None:
    one = Case("a-lift", "q1", "a", "g", "yes", "construction")

    assert one.key != replace(one, set_="b-lift").key
