"""Documents that do not repeat themselves, of any length, the same for the same seed."""

from __future__ import annotations

import pytest

from bench.documents import contract, document
from tests.fixtures.running import QUOTES


@pytest.mark.parametrize("length", [1, 300, 4_096, 200_000])
def test_a_document_has_the_length_that_is_asked_for(length: int) -> None:
    assert len(document(length, 1)) == length


def test_a_document_does_not_repeat_itself() -> None:
    text = document(200_000, 1)
    sentences = text.split(". ")[:-1]
    pieces = [text[at : at + 60] for at in range(0, len(text) - 60, 60)]

    assert len(set(sentences)) == len(sentences) > 1_000
    assert len(set(pieces)) == len(pieces)


def test_a_seed_gives_one_document_and_another_seed_another() -> None:
    assert document(5_000, 1) == document(5_000, 1)
    assert document(5_000, 1) != document(5_000, 2)
    assert document(300, 1) != document(300, 2)


def test_what_the_canned_replies_quote_stands_in_each_once() -> None:
    for text in (document(300, 1), document(50_000, 2), contract(3)):
        assert [text.count(quote) for quote in QUOTES.values()] == [1, 1, 1]


def test_copies_of_the_contract_are_documents_of_their_own() -> None:
    assert contract(1) != contract(2)
