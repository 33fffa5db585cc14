"""What code reads of a claim, and whether two claims are alike, near, opposed or about something else."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.consensus.comparison import alike, near
from service.checks.consensus.matter import Compared
from service.checks.consensus.measures import UNLIMITED, Amount
from service.checks.consensus.opposition import opposed
from service.checks.consensus.readings import Date, reading

HERE = frozenset({("D1", 0, 40)})
LINE = "The cap is EUR 100,000 in each contract year, and EUR 5 million for fines."


def _claim(text: str, spans: frozenset[tuple[str, int, int]] = HERE, passage: str = "") -> Compared:
    return Compared(text, spans, (passage,) if passage else ())


# -- readings


@pytest.mark.parametrize(
    ("text", "value", "unit", "bound"),
    [
        ("EUR 100,000", 100_000, "eur", ""),
        ("one hundred thousand euro", 100_000, "eur", ""),
        ("500 000 euros", 500_000, "eur", ""),
        ("two hundred and fifty thousand dollars", 250_000, "usd", ""),
        ("$5m or more", 5_000_000, "usd", "least"),
        ("no more than £1.5 million", 1_500_000, "gbp", "most"),
        ("shall not exceed 5 %", 5, "%", "most"),
        ("ten per cent", 10, "%", ""),
        ("within thirty (30) business days", 30, "business day", "most"),
        ("at least 30 days", 30, "day", "least"),
        ("nothing whatever", 0, "", ""),
        ("there is no cap at all", UNLIMITED, "", ""),
        ("it is unlimited", UNLIMITED, "", ""),
    ],
)
def test_an_amount_is_read_with_its_unit_and_bound(text: str, value: int, unit: str, bound: str) -> None:
    assert reading(text).amounts == {Amount(Fraction(value), unit, bound)}


@pytest.mark.parametrize(
    "text",
    [
        "Clause 9.2 limits it.",
        "ISO-27001 is met.",
        "§ 12 applies.",
        "See article 5.",
        "Paragraph C7.1 of Annex C applies.",
        "Sections 12.1 to 12.3 and 12.5 do not limit it.",
        "9.2 limits it.",
    ],
)
def test_numbers_of_clauses_and_names_are_no_amounts(text: str) -> None:
    assert not reading(text).amounts


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("due on 1 May 2026", Date(2026, 5, 1)),
        ("due May 1st, 2026", Date(2026, 5, 1)),
        ("due on the 1st of May 2026", Date(2026, 5, 1)),
        ("due 2026-05-01", Date(2026, 5, 1)),
        ("due 01/05/2026", Date(2026, 5, 1)),
        ("due in May 2026", Date(2026, 5, 0)),
        ("due in 2026", Date(2026, 0, 0)),
        ("due by 1 May 2026", Date(2026, 5, 1, "most")),
        ("due after 1 May 2026", Date(2026, 5, 1, "least")),
    ],
)
def test_a_date_is_read_as_far_as_it_is_named(text: str, date: Date) -> None:
    assert reading(text).dates == {date}


def test_a_modal_is_no_month() -> None:
    assert not reading("The buyer may 30 days later terminate.").dates


@pytest.mark.parametrize(
    ("text", "period"), [("EUR 5 per contract year", "year"), ("EUR 5 monthly", "month"), ("EUR 5 in total", "once")]
)
def test_a_period_is_read(text: str, period: str) -> None:
    assert reading(text).periods == {period}


def test_parties_are_read_in_small_letters_too() -> None:
    assert reading("The Supplier shall indemnify the buyer.").parties == ("supplier", "buyer")


def test_a_negation_that_belongs_to_a_bound_is_none() -> None:
    assert reading("It takes no more than 30 days.").negations == 0
    assert reading("It does not take 30 days.").negations == 1


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    here = _claim(text)
    assert not (opposed(here, here) and alike(here, here))


# -- two claims


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cap is EUR 5 million.", "The cap is five million euros."),
        ("The cap is EUR 100,000 in each year.", "The cap is EUR 100,000 per contract year."),
        ("The fee is due on 1 May 2026.", "The fee is due on May 1, 2026."),
        ("The Supplier shall indemnify the Buyer.", "The supplier shall indemnify the buyer."),
    ],
)
def test_claims_that_say_the_same_of_one_passage_are_alike(one: str, other: str) -> None:
    assert alike(_claim(one), _claim(other))
    assert near(_claim(one), _claim(other))
    assert not opposed(_claim(one), _claim(other))


def test_claims_on_other_passages_are_never_alike_and_opposed_on_one_matter_alone() -> None:
    away = frozenset({("D1", 40, 80)})
    one = _claim("The cap is EUR 5 million.")
    same, other, special = (
        _claim(text, away)
        for text in ("The cap is EUR 5 million.", "The cap is EUR 6 million.", "The cap for fraud is EUR 6 million.")
    )
    assert not any(alike(one, two) for two in (same, other, special))
    assert (opposed(one, same), opposed(one, other), opposed(one, special)) == (False, True, False)


OPPOSED = [
    ("The cap is one hundred thousand euro for each contract year.", "The cap is one hundred thousand euro once."),
    ("The cap is one hundred thousand euro for each contract year.", "There is no cap at all on the supplier."),
    ("one hundred thousand each year", "nothing whatever"),
    ("nothing whatever", "five million in total"),
    ("one hundred thousand each year", "five million in total"),
    ("The fee is due on 1 May 2026.", "The fee is due on 1 June 2026."),
    ("The fee is due before 1 May 2026.", "The fee is due after 1 May 2026."),
    ("The supplier is liable for loss of data.", "The supplier is not liable for loss of data."),
    ("The Supplier shall indemnify the Buyer.", "The Buyer shall indemnify the Supplier."),
    ("the supplier bears the cost", "the buyer bears the cost"),
    ("The cap is EUR 5 million.", "The cap is USD 5 million."),
    ("Interest is 5 %.", "Interest is 8 percent."),
    ("Notice takes at least 30 days.", "Notice takes at most 30 days."),
    ("Liability is limited.", "Liability is unlimited."),
    ("The clause permits assignment.", "The clause forbids assignment."),
]


@pytest.mark.parametrize(("one", "other"), OPPOSED)
def test_claims_on_one_passage_that_exclude_each_other_are_opposed(one: str, other: str) -> None:
    assert opposed(_claim(one), _claim(other))
    assert opposed(_claim(other), _claim(one))
    assert not alike(_claim(one), _claim(other))
    assert not near(_claim(one), _claim(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cap covers direct damages.", "The cap does not cover fraud."),
        ("The cap is the fees of one year.", "Fraud stands outside the cap."),
        ("The Buyer is indemnified by the Supplier.", "The Supplier shall indemnify the Buyer."),
        ("The supplier pays within 30 days.", "The notice has to be written."),
        ("The museum pays the fee.", "The gallery pays the fee."),
        ("Liability for fraud is uncapped.", "The general cap of EUR 2 million does not apply to fraud."),
        ("Clause C7.4 puts a ceiling on recovery.", "Clause C7.1 makes one party carry the losses."),
    ],
)
def test_a_rule_and_its_exception_or_a_paraphrase_are_neither_alike_nor_opposed(one: str, other: str) -> None:
    assert not opposed(_claim(one), _claim(other))
    assert not alike(_claim(one), _claim(other))


def test_two_amounts_that_the_passage_states_belong_to_two_parts_of_it() -> None:
    one = _claim("Yearly the cap is EUR 100,000.", passage=LINE)
    assert not opposed(one, _claim("Fines carry up to EUR 5 million.", passage=LINE))
    assert opposed(one, _claim("Fines carry up to EUR 7 million.", passage=LINE))
    assert opposed(_claim("The cap is EUR 100,000.", passage=LINE), _claim("The cap is EUR 5 million.", passage=LINE))


def test_open_claims_are_near_by_their_words_where_nothing_is_quoted() -> None:
    nowhere = frozenset[tuple[str, int, int]]()
    one = _claim("A podcast for customers wins trust.", nowhere)
    assert near(one, _claim("A podcast wins trust among buyers of software.", nowhere)) is False  # another party
    assert near(one, _claim("A podcast for customers wins trust slowly.", nowhere))
    assert not near(one, _claim("Ministers ought to publish minutes.", nowhere))
    assert not alike(one, one), "alike needs a passage"
