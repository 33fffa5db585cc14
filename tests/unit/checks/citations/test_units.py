"""The case of a letter in a unit beside digits: which quotations it turns."""

import pytest

from service.checks.citations import Sources, check
from service.debate.findings import Citation


def verdict(theirs: str, ours: str, slip: bool = False) -> str:
    document = f"The supplier delivers at most {theirs} to the network of the buyer."
    quote = f"The supplier delivers at most {ours} to the network"
    sources = Sources({"A": document})
    return check(Citation(quote.replace("network", "netwrok") if slip else quote), sources).verdict


@pytest.mark.parametrize("slip", [False, True])
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("10 mW", "10 MW"),
        ("10mW", "10MW"),
        ("8 Mb", "8 MB"),
        ("8 GB", "8 Gb"),
        ("5 MHz", "5 mHz"),
        ("8 Mb/s", "8 MB/s"),
    ],
)
def test_milli_is_not_mega_and_a_bit_is_no_byte(theirs: str, ours: str, slip: bool) -> None:
    assert verdict(theirs, theirs, slip) == "verified"
    assert verdict(theirs, ours, slip) == "altered"
    assert verdict(ours, theirs, slip) == "altered"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("10 MW", "10 mw"),
        ("8 MB", "8 mb"),
        ("8 kB", "8 KB"),
        ("5 MHz", "5 MHZ"),
        ("8 Mbit", "8 MBIT"),
    ],
)
def test_case_that_says_nothing_else_is_folded(theirs: str, ours: str) -> None:
    assert verdict(theirs, ours) == "verified"
