"""Amounts: decimal strings of dollars outside, whole micro-dollars inside, and nothing lost between the two."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.amounts import micro, usd


@given(st.integers(-(10**20), 10**20))
def test_an_amount_comes_back_from_its_dollars(amount: int) -> None:
    assert micro(usd(amount)) == amount


@given(st.decimals(min_value=-(10**12), max_value=10**12, places=6, allow_nan=False, allow_infinity=False))
def test_dollars_come_back_from_their_amount(dollars: Decimal) -> None:
    assert Decimal(usd(micro(dollars))) == dollars


@pytest.mark.parametrize(
    ("amount", "dollars"),
    [
        (0, "0.00"),
        (1, "0.000001"),
        (500_000, "0.50"),
        (1_000_000, "1.00"),
        (1_230_000, "1.23"),
        (1_234_500, "1.2345"),
        (-1, "-0.000001"),
        (-1_500_000, "-1.50"),
        (12_345_678_000_000, "12345678.00"),
    ],
)
def test_dollars_have_two_places_and_more_only_where_needed(amount: int, dollars: str) -> None:
    assert usd(amount) == dollars


@pytest.mark.parametrize(("written", "amount"), [("0.5", 500_000), ("1e2", 100_000_000), (3, 3_000_000), ("-0", 0)])
def test_dollars_are_read_as_they_are_written(written: str | int, amount: int) -> None:
    assert micro(written) == amount


def test_zeros_at_the_end_are_not_a_finer_amount() -> None:
    assert micro("0.5" + "0" * 80) == 500_000


@pytest.mark.parametrize(
    "written",
    [
        "0.0000001",
        "1.0000000000000000000000000000001",
        "123456789012345678901234567890.1234567",
        "1e-7",
        "1e-999999",
        "1e-999999999999",
        "0.1234567",
    ],
)
def test_what_is_finer_than_a_micro_dollar_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="US dollars"):
        micro(written)


@pytest.mark.parametrize(
    "written", ["NaN", "sNaN", "Infinity", "-inf", "", "ten", "1,50", "1e999999", "1e999999999999"]
)
def test_what_is_no_amount_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="US dollars"):
        micro(written)
