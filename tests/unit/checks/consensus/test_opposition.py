"""Claims and answers that exclude each other by measure, duty, scope or answer, and their honest neighbours."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.consensus.matter import Compared
from service.checks.consensus.measures import Amount
from service.checks.consensus.opposition import contradicts, contrary, opposed
from service.checks.consensus.readings import reading
from service.checks.consensus.sense import Sense

HERE = frozenset({("D1", 0, 40)})


def _opposed(one: str, other: str, *, quoting: bool) -> bool:
    spans = HERE if quoting else frozenset()
    here, there = Compared(one, spans), Compared(other, spans)
    found = opposed(here, there)
    assert opposed(there, here) is found
    return found


# -- what is read


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("72 hours", 3, "day"),
        ("a fortnight", None, ""),
        ("two weeks", 14, "day"),
        ("within a year", 12, "month"),
        ("one quarter", 3, "month"),
        ("10 working days", 10, "business day"),
        ("3 per mille", Fraction(3, 10), "%"),
        ("30 bps", 30, "basis point"),
        ("3 percentage points", 3, "point"),
        ("1.5 times the fees", Fraction(3, 2), "times"),
        ("twice the fees", 2, "times"),
        ("3x the fees", 3, "times"),
        ("two thirds of the fees", Fraction(2, 3), "times"),
        ("thrice half the fees", Fraction(3, 2), "times"),
        ("twice EUR 5", 10, "eur"),
        ("5 Canadian dollars", 5, "cad"),
        ("Canadian dollars 5", 5, "cad"),
        ("SEK 5 million", 5_000_000, "sek"),
        ("5 crore rupees", 50_000_000, "inr"),
    ],
)
def test_a_measure_is_read_in_the_unit_to_which_it_converts(text: str, value: int | None, unit: str) -> None:
    expected = frozenset() if value is None else {Amount(Fraction(value), unit)}
    found = reading(text).amounts
    assert {a._replace(bound="") for a in found} == expected


@pytest.mark.parametrize(
    ("text", "sense"),
    [
        ("Yes, it is.", Sense(answer="yes")),
        ("No. It is capped.", Sense(answer="no")),
        ("No cap applies.", Sense()),
        ("It may pay.", Sense(duties=frozenset({"permission"}))),
        ("It must pay.", Sense(duties=frozenset({"obligation"}))),
        ("It need not pay.", Sense(duties=frozenset({"exemption"}))),
        ("It isn't required to pay.", Sense(duties=frozenset({"exemption"}))),
        ("It may not pay.", Sense(duties=frozenset({"prohibition"}))),
        ("It is due on 1 May 2026.", Sense()),
        ("It always applies.", Sense(is_universal=True)),
        ("It does not always apply.", Sense()),
        ("There is no cap at all.", Sense()),
        ("It applies only to fraud.", Sense(only=("fraud",))),
        ("It applies to fraud only.", Sense(only=("fraud",))),
        ("It applies except for fraud.", Sense(excepts=True)),
    ],
)
def test_the_sense_of_a_claim_is_read(text: str, sense: Sense) -> None:
    assert reading(text).sense == sense


# -- two claims, with and without a common passage

EXCLUDING = [
    # as the review sent them
    ("The limit is 3 percent of the fees.", "The limit is 3 basis points of the fees."),
    ("The limit is 3 percent of the fees.", "The limit is 3 per mille of the fees."),
    ("The limit is 3 basis points of the fees.", "The limit is 3 per mille of the fees."),
    ("Notice is 30 days.", "Notice is 30 months."),
    ("Notice is due within 72 hours.", "Notice is due within 72 days."),
    ("Notice is due within 10 business days.", "Notice is due within 10 calendar days."),
    ("Notice is due in 30 days.", "Notice is due in one year."),
    ("The cap is 5 percent of fees.", "The cap is EUR 5 million."),
    ("The cap is 1.5 times the fees.", "The cap is 15 times the fees."),
    ("The cap is 3 percent of fees.", "The cap is 3 percentage points of fees."),
    ("The Supplier may pay above the limit.", "The Supplier must pay above the limit."),
    ("The Supplier may notify.", "The Supplier is obliged to notify."),
    ("The limit applies always.", "The limit applies only to fraud."),
    ("Yes, unlimited.", "No, limited."),
    ("Liability is capped.", "Liability is not capped."),
    ("The total is EUR 1 million.", "The total is EUR 9 million."),
    # others
    ("The Supplier need not notify the Bank.", "The Supplier must notify the Bank."),
    ("The Supplier need not notify the Bank.", "The Supplier must not notify the Bank."),
    ("The Bank is entitled to terminate.", "The Bank is not entitled to terminate."),
    ("The Bank can terminate.", "The Bank must terminate."),
    ("Reporting is optional.", "Reporting is mandatory."),
    ("Interest runs at 2 percent.", "Interest runs at 20 basis points."),
    ("The cap is twice the fees.", "The cap is three times the fees."),
    ("The cap is double the fees.", "The cap is EUR 2 million."),
    ("The cap is EUR 5 million.", "The cap is twice EUR 5 million."),
    ("The limit is three times the fees.", "The limit is a quarter of the fees."),
    ("The limit is three times the fees.", "The limit is thrice half the fees."),
    ("The fee is EUR 5,000 a year.", "The fee is EUR 5,000 a month."),
    ("The cap is EUR 5 million net.", "The cap is EUR 5 million gross."),
    ("The retention is two thirds of the fee.", "The retention is one third of the fee."),
    ("Payment is due in a week.", "Payment is due in a month."),
    ("Payment is due within 2 weeks.", "Payment is due within 10 days."),
    ("The cap is EUR 5m.", "The cap is EUR 5k."),
    ("The cap is 5 crore rupees.", "The cap is 5 lakh rupees."),
    ("The cap is US dollars 5 million.", "The cap is Canadian dollars 5 million."),
    ("The cap is SEK 5 million.", "The cap is NOK 5 million."),
    ("The limit is EUR 5 million.", "The ceiling is EUR 6 million."),
    ("The warranty covers all defects.", "The warranty covers only hidden defects."),
    ("The limit applies only to fraud.", "The limit applies only to data loss."),
    ("The limit applies without exception.", "The limit applies save for fraud."),
    ("The audit takes place at all times.", "The audit never takes place."),
    ("Liability is unlimited.", "The limit covers data loss."),
    ("There is no cap.", "The cap is three times the fees."),
    ("The cap is EUR 5 million, and notice takes 30 days.", "The cap is EUR 9 million, and notice takes 30 days."),
]
AGREEING = [
    ("Notice is due within 24 hours.", "Notice is due within one day."),
    ("The fee is 2 percent.", "The fee is 200 basis points."),
    ("The spread widens by 2 percentage points.", "The spread widens by 200 basis points."),
    ("The rate is 5 per mille.", "The rate is 0.5 percent."),
    ("The cap is EUR 5 million.", "The cap is EUR 5,000,000."),
    ("The term is twelve months.", "The term is one year."),
    ("The term is two quarters.", "The term is six months."),
    ("Payment is due within a week.", "Payment is due within seven days."),
    ("The audit lasts 1.5 days.", "The audit lasts 36 hours."),
    ("It ends within 10 business days.", "It ends within ten working days."),
    ("The cap is three times the fees.", "The cap is thrice the fees."),
    ("The cap is half the fees.", "The cap is 0.5 times the fees."),
    ("Liability is not capped.", "Liability is unlimited."),
    ("The Bank is permitted to terminate.", "The Bank may terminate."),
    ("The Supplier is required to notify.", "The Supplier must notify."),
    ("The Supplier need not notify.", "The Supplier is not obliged to notify."),
    ("The Supplier must notify within 72 hours.", "The Supplier shall notify within three days."),
    ("Yes, the cap applies.", "Yes, it does."),
    ("The warranty covers all direct damages.", "The warranty covers only direct damages."),
    ("Only fraud is excluded.", "Fraud is excluded."),
    ("The cap is EUR 5 million.", "Notice is 30 days."),
    ("The cap is EUR 5 million.", "The term is 24 months."),
    ("The cap is EUR 5 million.", "Interest is 5 percent."),
    ("Notice is 30 days.", "The term is 24 months."),
    ("The Supplier pays 5 percent.", "The Supplier pays within 30 days."),
    ("The Bank may terminate for cause.", "The Supplier must repay the fees."),
    ("The limit covers data loss.", "The limit covers fines."),
    ("The cap covers direct damages.", "The cap does not cover fraud."),
    ("The cap is EUR 5 million and notice is due in 30 days.", "The cap is EUR 5 million and the term is 60 days."),
]
ELSEWHERE = [
    ("The cap is EUR 5 million.", "The cap for fraud is EUR 10 million."),
    ("Section 9.2 caps liability at EUR 5 million.", "Section 9.4 caps liability at EUR 6 million."),
    ("The Master Agreement caps liability at three times the fees.", "The Order Form caps liability at USD 5 million."),
    ("In London the tax is due.", "In Paris the tax is due."),
    ("Liability is limited.", "Liability for fraud is not limited."),
    ("The cap applies.", "The cap does not apply to fraud."),
    ("Liability for fraud is unlimited.", "The limit covers data loss."),
]
"""A rule beside its exception, and other clauses, documents and places: other matters unless one passage says both."""


@pytest.mark.parametrize("quoting", [True, False])
@pytest.mark.parametrize(("one", "other"), EXCLUDING)
def test_claims_on_one_matter_that_exclude_each_other_are_opposed(one: str, other: str, quoting: bool) -> None:
    assert _opposed(one, other, quoting=quoting)


@pytest.mark.parametrize("quoting", [True, False])
@pytest.mark.parametrize(("one", "other"), AGREEING)
def test_claims_that_agree_or_are_of_other_matters_are_not_opposed(one: str, other: str, quoting: bool) -> None:
    assert not _opposed(one, other, quoting=quoting)


@pytest.mark.parametrize(("one", "other"), ELSEWHERE)
def test_without_a_passage_a_special_case_is_another_matter(one: str, other: str) -> None:
    assert not _opposed(one, other, quoting=False)


WORDS = (
    "the cap limit is not EUR 5 9 million percent basis points of fees may must need only always except for fraud Yes, "
    "No, unlimited capped 3 times twice half a year days hours months 30 Supplier Bank within least at most . , and"
).split()
TEXTS = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))


@given(TEXTS, TEXTS)
def test_opposition_and_contrariety_have_no_direction(one: str, other: str) -> None:
    for quoting in (True, False):
        _opposed(one, other, quoting=quoting)
    assert contrary(one, other) is contrary(other, one)


@pytest.mark.parametrize("claim", sorted({claim for pair in (*EXCLUDING, *AGREEING, *ELSEWHERE) for claim in pair}))
def test_no_claim_opposes_itself(claim: str) -> None:
    assert not _opposed(claim, claim, quoting=True)
    assert not _opposed(claim, claim, quoting=False)
    assert not contrary(claim, claim)


# -- answers


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Yes, liability is unlimited.", "No, liability is capped at EUR 5 million."),
        ("EUR 1 million.", "EUR 9 million."),
        ("Yes, clause 9 governs fines.", "No, the order form is silent."),
        ("The exposure is EUR 1 million. Clause 9 says so.", "The exposure of the Bank is EUR 9 million at most."),
        ("Clause 9 is clear. The cap applies to fines.", "It is simple. The cap does not apply to fines."),
        ("The Supplier may suspend.", "Clause 4 decides. The Supplier must suspend."),
    ],
)
def test_answers_that_exclude_each_other_are_contrary(one: str, other: str) -> None:
    assert contrary(one, other)
    assert contrary(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Yes, as clause 9 says.", "Yes. The order form says the same."),
        ("Order Form No. 2 has the cap. It is USD 5 million.", "The cap is five million US dollars."),
        ("Notice takes 30 days.", "Payment takes 60 days."),
        ("It depends on the regulator.", "Ninety days."),
    ],
)
def test_answers_that_agree_or_that_code_cannot_compare_are_not_contrary(one: str, other: str) -> None:
    assert not contrary(one, other)
    assert not contrary(other, one)


def test_a_long_answer_or_number_holds_no_worker() -> None:
    long = "Clause 9 applies. " * 5_000
    assert not contrary(long, long)
    assert not contradicts(f"The cap is EUR {'9' * 5_000}.", Compared("The cap is EUR 5 million."))


def test_percentages_of_a_prediction_are_compared_by_its_intervals_alone() -> None:
    one, other = "The likelihood is 60 percent.", "The likelihood is 65 percent."
    assert contrary(one, other)
    assert not contrary(one, other, predicts=True)
    assert contrary("Yes, it is likely.", "No, it is not.", predicts=True)


def test_a_sentence_of_an_answer_contradicts_a_claim() -> None:
    claim = Compared("The limit covers data loss.")
    assert contradicts("Liability is unlimited. All debaters agreed on that.", claim)
    assert contradicts("The limit does not cover data loss.", claim)
    assert not contradicts("The limit covers data loss. Liability for fraud is unlimited.", claim)
