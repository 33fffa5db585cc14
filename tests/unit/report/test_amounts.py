"""Amounts in sentences are grouped, and nothing else is touched."""

from __future__ import annotations

import pytest

from service.report.amounts import grouped


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("downside 6150000 USD", "downside 6,150,000 USD"),
        ("or downside > 1000000.00 USD", "or downside > 1,000,000 USD"),
        ("12345.50 USD and 0.50 USD", "12,345.50 USD and 0.50 USD"),
        ("> 3.573 USD (0.07146 * 50)", "> 3.573 USD (0.07146 * 50)"),
        ("1.12345 USD", "1.12345 USD"),
        ("1E+999999 USD", "1E+999999 USD"),
        ("clause 12345, 20000 records", "clause 12345, 20000 records"),
        ("1,000,000 USD", "1,000,000 USD"),
        ("9" * 31 + " USD", "9" * 31 + " USD"),
    ],
)
def test_an_amount_has_its_thousands_apart(words: str, shown: str) -> None:
    assert grouped(words) == shown
