"""Amounts and their measures: which of them are one, which exclude each other, and which are about something else.

    money      currencies; without a rate, different ones are different amounts
    ratio      percent, per mille and basis points convert. A percentage point is the difference of two percentages, so
               it equals basis points and never percent
    factor     times, -fold, twice, thrice
    time       seconds to weeks convert to days, quarters and years to months. A month has no fixed number of days, and
               a business day is no day of the calendar, so these are never equal
    a noun     "five incidents": comparable with the same noun alone

Conversions are exact fractions, so that no decision compares floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from service.checks.citations.text.cue_words import CURRENCIES
from service.checks.citations.text.word_bounds import is_currency

UNLIMITED = Fraction(-1)
"""The value of an amount that has no limit: no other amount is negative here."""
Bound = str
"""``least``, ``most``, or empty if the amount is exact."""
_CURRENCY = {
    "$": "usd", "dollar": "usd", "€": "eur", "euro": "eur", "£": "gbp", "pound": "gbp", "sterling": "gbp",
    "¥": "jpy", "yen": "jpy", "yuan": "cny", "franc": "chf", "rupee": "inr",
}  # fmt: skip
_CODES = CURRENCIES | frozenset("nzd sgd hkd sek nok dkk pln czk krw brl mxn zar cent cents pence".split())
_NATIONS = {"us": "usd", "american": "usd", "canadian": "cad", "australian": "aud", "swiss": "chf", "indian": "inr"}
_DAYS = {
    "second": Fraction(1, 86_400), "minute": Fraction(1, 1_440), "hour": Fraction(1, 24), "day": Fraction(1),
    "week": Fraction(7), "fortnight": Fraction(14),
}  # fmt: skip
_MONTHS = {"month": Fraction(1), "quarter": Fraction(3), "year": Fraction(12), "decade": Fraction(120)}
TIMES = frozenset(_DAYS) | frozenset(_MONTHS)
BUSINESS = "business day"
FACTOR = "times"
FACTORS = frozenset(("times", "x", "fold"))
PERCENT, POINT, BASIS = "%", "point", "basis point"
_RATIOS: Mapping[str, Fraction] = {PERCENT: Fraction(1), POINT: Fraction(1), BASIS: Fraction(1, 100)}
_ALTERNATIVE = frozenset(("money", "ratio", "factor"))
"""The kinds of measures of which one matter has one: a cap is a sum, a share, or a multiple."""


class Amount(NamedTuple):
    """A number with its unit: a currency, a ratio, a unit of time, ``times``, another noun in the singular, or empty.

    Times are in days or in months.
    """

    value: Fraction
    unit: str
    bound: Bound = ""


def measured(value: Fraction, unit: str, bound: Bound) -> Amount:
    """An amount in the unit of its kind to which it converts exactly."""
    if unit in _DAYS:
        return Amount(value * _DAYS[unit], "day", bound)
    if unit in _MONTHS:
        return Amount(value * _MONTHS[unit], "month", bound)
    if unit == "‰":
        return Amount(value / 10, PERCENT, bound)
    return Amount(value, FACTOR if unit in FACTORS else unit, bound)


def currency_of(word: str, following: str = "") -> str:
    """The currency that a word names, also by the nation before it; empty if it names none."""
    if word in _NATIONS and currency_of(following):
        return _NATIONS[word]
    plain = word.removesuffix("s") if word != "chfs" else word
    if plain in _CURRENCY:
        return _CURRENCY[plain]
    return word if word in _CODES else (word if word and is_currency(word[0]) else "")


@lru_cache(maxsize=1 << 12)
def kind_of(unit: str) -> str:
    """The kind of a unit: ``money``, ``ratio``, ``factor``, ``time``, another noun, or empty for a bare number."""
    if currency_of(unit):
        return "money"
    if unit in _RATIOS:
        return "ratio"
    if unit == FACTOR:
        return "factor"
    return "time" if unit in ("day", "month", BUSINESS) else unit


def is_measure(unit: str) -> bool:
    """Whether a unit is money, a share, a multiple or a time, and no other noun."""
    return kind_of(unit) in (*_ALTERNATIVE, "time") or unit in TIMES or unit in FACTORS or unit == "‰"


def is_same(one: Amount, other: Amount) -> bool:
    """Whether two amounts are equal, whatever their bounds; a bare number fits every unit."""
    if one.unit in _RATIOS and other.unit in _RATIOS:
        converts = {one.unit, other.unit} != {PERCENT, POINT}
        return converts and one.value * _RATIOS[one.unit] == other.value * _RATIOS[other.unit]
    return one.value == other.value and (one.unit == other.unit or not (one.unit and other.unit))


def are_equal(here: frozenset[Amount], there: frozenset[Amount]) -> bool:
    """Whether two claims state the same amounts with the same bounds."""

    def within(some: frozenset[Amount], others: frozenset[Amount]) -> bool:
        return all(any(a.bound == b.bound and is_same(a, b) for b in others) for a in some)

    return within(here, there) and within(there, here)


def are_comparable(one: Amount, other: Amount) -> bool:
    """Whether two amounts are of one kind; a bare number may be money, and "unlimited" is of every kind but time.

    Times are of one kind only in units that convert.
    """
    kinds = {kind_of(one.unit), kind_of(other.unit)}
    if UNLIMITED in (one.value, other.value):
        return kinds <= {"", *_ALTERNATIVE}
    return one.unit == other.unit if kinds == {"time"} else len(kinds) == 1 or kinds == {"", "money"}


def are_alternative(one: Amount, other: Amount) -> bool:
    """Whether two amounts are of kinds of which one matter has only one: a share, a sum, a multiple."""
    kinds = {kind_of(one.unit), kind_of(other.unit)}
    return len(kinds) == 2 and kinds <= _ALTERNATIVE


def are_other_times(one: Amount, other: Amount) -> bool:
    """Whether two times are in units that do not convert, or one of them has no end."""
    kinds = {kind_of(one.unit), kind_of(other.unit)}
    return (kinds == {"time"} and one.unit != other.unit) or (
        UNLIMITED in (one.value, other.value) and kinds == {"", "time"}
    )
