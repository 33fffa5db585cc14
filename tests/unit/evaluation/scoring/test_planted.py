"""Whether a critique says yes of a proposal: the planted argument, by the decisive passage or the decisive value."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluation.scoring.planted import Planted, _stands_alone, says_yes
from tests.unit.evaluation.scoring.seen import critique, point

TEXT = "Rent is due monthly. The notice period is 60 days. The term is five years."
QUOTE = "The notice period is 60 days."
START = TEXT.index(QUOTE)
END = START + len(QUOTE)
TEXTS = {"D1": TEXT, "D2": "Another text."}
PLANTED = Planted(2, "D1", QUOTE, "60 days")


def test_a_point_against_the_planted_argument_that_quotes_the_decisive_passage_says_yes() -> None:
    assert says_yes(critique(point(2, at=("D1", START, END))), PLANTED, TEXTS)


@pytest.mark.parametrize(
    ("start", "end", "yes"),
    [
        (START - 5, START, False),
        (START - 5, START + 1, True),
        (END - 1, END + 4, True),
        (END, END + 4, False),
        (0, len(TEXT), True),
    ],
)
def test_a_quotation_has_to_overlap_the_passage_by_a_character(start: int, end: int, yes: bool) -> None:
    assert says_yes(critique(point(2, at=("D1", start, end))), PLANTED._replace(value=None), TEXTS) is yes


def test_a_quotation_of_another_document_at_the_same_place_is_no_ground() -> None:
    assert not says_yes(critique(point(2, at=("D2", START, END))), PLANTED._replace(value=None), TEXTS)


def test_ground_and_argument_have_to_be_in_one_point() -> None:
    against_another = point(1, text="The notice period is 60 days.", at=("D1", START, END))
    without_ground = point(2, text="I doubt it.")

    assert not says_yes(critique(against_another, without_ground), PLANTED, TEXTS)
    assert says_yes(critique(against_another, point(1, 2, at=("D1", START, END))), PLANTED, TEXTS)


@pytest.mark.parametrize(
    ("value", "text", "yes"),
    [
        ("60 days", "The document says 60 days, not 30.", True),
        ("60 days", "It says 60\u00a0DAYS.", True),
        ("60 days", "It says 160 days.", False),
        ("60 days", "It says 60 daysman.", False),
        ("60 days", "It says sixty.", False),
        ("1.5", "It is 1.5.", True),
        ("1.5", "It is 11.5 or 1.52.", False),
        ("5", "It is 1.5.", False),
        ("5", "It is 5.2 or 5,000.", False),
        ("EUR 80,000", "the limit is EUR 80,000 a year", True),
        ("EUR 80,000", "the limit is EUR 80,000,000 a year", False),
        ("31 December 2026", "due by 31 december 2026", True),
    ],
)
def test_a_value_counts_where_it_stands_alone(value: str, text: str, yes: bool) -> None:
    assert says_yes(critique(point(2, text=text)), PLANTED._replace(value=value), {}) is yes


def test_without_a_value_only_a_quotation_counts() -> None:
    assert not says_yes(critique(point(2, text="60 days")), PLANTED._replace(value=None), TEXTS)


def test_every_place_of_a_decisive_passage_counts() -> None:
    twice = {"D1": f"{QUOTE} Again: {QUOTE}"}
    second = twice["D1"].rindex(QUOTE)

    assert says_yes(critique(point(2, at=("D1", second, second + 3))), PLANTED._replace(value=None), twice)


def test_a_critique_that_objects_to_everything_without_a_ground_never_says_yes() -> None:
    assert not says_yes(critique(point(1, 2, 3, text="All of this is wrong.")), PLANTED, TEXTS)


@given(st.text(), st.text(min_size=1, max_size=20))
def test_any_words_and_any_value_can_be_compared(text: str, value: str) -> None:
    assert isinstance(says_yes(critique(point(2, text=text)), PLANTED._replace(value=value), TEXTS), bool)


SIGNS = st.text(alphabet="15.,aé_ ٣²ß", max_size=7)


@given(SIGNS, SIGNS, SIGNS)
def test_a_value_stands_alone_as_a_regular_expression_finds_it(before: str, value: str, after: str) -> None:
    alone = re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(value)}(?!\w)(?![.,]\d)")

    for words in (before + value + after, before + after, value + after + value):
        assert _stands_alone(value, words) == (alone.search(words) is not None)
