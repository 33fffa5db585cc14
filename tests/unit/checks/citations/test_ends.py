"""Where a sentence, an item or a row of a table ends, both sides must say so."""

import pytest

from service.checks.citations import Sources, check
from service.debate.findings import Citation

TERMS = (
    "He shall pay. Within ten days the seller delivers the goods. The Seller is liable; to the extent of it the buyer "
    "pays. Under the U.S. Code and Acme Inc. Rules it applies. The rent is due on day 5. The bank pays it."
)
TABLE = "| Fee | Plan |\n|---|---|\n| 10 | Basic plan of it |\n| 90 | Large plan of it |"


def verdict(document: str, quote: str) -> str:
    return check(Citation(quote), Sources({"A": document})).verdict


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        (TERMS, "He shall pay within ten days"),
        (TERMS, "He shall pay, within ten days the seller delivers"),
        (TERMS, "He shall pay\nwithin ten days the seller delivers"),
        (TERMS, "delivers the goods The Seller is liable"),
        (TERMS, "The Seller is liable to the extent of it"),
        (TERMS, "Within ten days. The seller delivers the goods"),
        (TERMS, "The rent is due on day 5 the bank pays it"),
        ("The buyer pays for ten days the seller repairs.", "The buyer pays. For ten days the seller repairs"),
        (TABLE, "Basic plan of it 90"),
        (TABLE, "10 Basic plan of it 90 Large"),
        ("The areas twenty, five and six are sold.", "The areas twenty five and six are sold"),
        ("The rule of Section 5(a) is one of those.", "The rule of Section 5a is one of those"),
        ("The rule of Section 5(a)(i) is one of those.", "The rule of Section 5(a)i is one of those"),
    ],
)
def test_an_end_is_neither_left_out_nor_added(document: str, quote: str) -> None:
    assert verdict(document, document) == "verified"
    assert verdict(document, quote) == "altered"


@pytest.mark.parametrize(
    ("document", "quote"),
    [
        (TERMS, "He shall pay; within ten days the seller delivers"),
        (TERMS, "He shall pay — within ten days the seller delivers"),
        (TERMS, "He shall pay\nWithin ten days the seller delivers"),
        (TERMS, "He shall pay\n\nwithin ten days the seller delivers"),
        (TERMS, "The Seller is liable, to the extent of it"),
        (TERMS, "Under the US Code and Acme Inc Rules it applies"),
        (TABLE, "Basic plan of it | 90"),
        (TABLE, "Basic plan of it\n90 Large plan of it"),
        ("DEFINITIONS\n\nTerm means the term of it.", "Definitions. Term means the term of it"),
        ("DEFINITIONS\n\nTerm means the term of it.", "DEFINITIONS Term means the term of it"),
        ("As said.\n5. Payment. The fee is due.\n6. Costs. None.", "Payment. The fee is due. 6 Costs. None"),
        ("The rule of Section 5(a)(i) is one of those.", "The rule of Section 5 (a) (i) is one of those"),
    ],
)
def test_an_end_may_be_told_in_another_way(document: str, quote: str) -> None:
    assert verdict(document, quote) == "verified"
