"""Bent quotations that an attack on the engine got past it once."""

import pytest

from service import citations
from service.debate.findings import Citation

RATE = "The rate is .5 percent a year for all loans of the bank."
WHOLE = "The rate is 5 percent a year for all loans of the bank."
FEE = "The fee is $.05 for each page that is copied."
LIABLE = "The supplier is liable for all damage to the goods."
ASSIGNEE = "The assignee shall pay all of the fees at once."


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        (RATE, "The rate is 5 percent a year"),
        (WHOLE, "The rate is .5 percent a year"),
        (FEE, "The fee is $05 for each page"),
        (LIABLE, "The supplier is <i not> liable for all damage"),
        (LIABLE, "The supplier is <p in no case and under no law> liable for all damage"),
        (LIABLE, '<p title="in no case">The supplier is liable for all damage'),
        (ASSIGNEE, "The assigner shall pay all of the fees"),
        ("The trustee may sell the land of the trust.", "The truster may sell the land of the trust"),
        ("Dilute the sulfate before use in the plant.", "Dilute the sulfite before use in the plant"),
        ("It was verified by the bank on that same day.", "It was verifier by the bank on that same day"),
    ],
)
def test_it_is_not_verified(document: str, quote: str) -> None:
    assert citations.check(Citation(quote, "A"), citations.Sources({"A": document})).verdict != "verified"


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        (RATE, "the rate is  .5 percent a year"),
        (FEE, "The fee is $.05 for each page"),
        ("as set out above. 5 percent of all fees are due at once", "5 percent of all fees are due"),
        (LIABLE, "The supplier is <b>liable</b> for all damage"),
        ('The <a href="x.html">supplier</a> is liable for all of it.', "The supplier is liable for all"),
        (LIABLE, "The supplier is liable for all damgae to the goods"),
    ],
)
def test_what_is_near_to_it_and_true_is_verified_still(document: str, quote: str) -> None:
    assert citations.check(Citation(quote, "A"), citations.Sources({"A": document})).verdict == "verified"
