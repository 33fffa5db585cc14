"""What a case is found by that an earlier version recorded with characters which are refused now."""

from __future__ import annotations

from decimal import Decimal

from service.debate.entries import CaseReceived
from service.debate.model import Case
from service.money import Ledger
from service.store.found_by import case_words, found_by, name_of_key, name_of_pair
from tests.fixtures.debates import DECIDED

ENTRIES = (
    CaseReceived(
        Case("Is\0liability capped?", "contract", (), Decimal(1), use_case="a\0b", metadata={"\0": "\0"}), "local"
    ),
    DECIDED,
)


def test_a_nul_character_is_kept_from_the_database_which_knows_none() -> None:
    row, said = found_by(ENTRIES, None, Ledger(0)), case_words(ENTRIES, "default")

    assert row is not None
    assert said is not None
    assert row.use_case == "a\N{REPLACEMENT CHARACTER}b"
    assert said.words == "Is liability capped?"
    assert set(said.metadata) == {name_of_key("default", "\0"), name_of_pair("default", "\0", "\0")}
