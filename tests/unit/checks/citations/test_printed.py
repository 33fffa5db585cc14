"""How a word is printed says whether a letter of it may differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.citations.text.printed_form import Printed, how_printed, is_code


def at(text: str) -> Printed:
    """The word between bars."""
    before, word, after = text.split("¦")
    return Printed(before + word + after, len(before), len(before) + len(word))


@pytest.mark.parametrize(
    "text",
    [
        "write to ¦support¦@example.org at once",
        "write to help@¦support¦.example.org at once",
        "see https://example.org/¦support¦/terms for all of it",
        "see www.¦support¦.example",
        "run it with --¦verbose¦ and wait",
        "run it with -¦verbose¦ and wait",
        "the file /etc/¦support¦ is read",
        "the file docs/¦support¦.md is read",
        "the header X-¦Content¦-Type-Options is set",
        "the field ¦support¦_id is set",
        "the field id_¦support¦ is set",
        "the field ¦support¦Id is set",
        "the field my¦Support¦ is set",
        "the field `¦support¦` is set",
        "the name std::¦support¦ is used",
        "the value ¦support¦=on is used",
        "the value ¦support¦2 is used",
        "the tag #¦support¦ is used",
        "the path C:\\¦support¦ is used",
        "the class app.¦support¦ is used",
        "the rule content-¦security¦-policy is set",
    ],
)
def test_what_is_typed_as_it_stands_is_code(text: str) -> None:
    assert is_code(at(text))
    assert how_printed(at(text), at("the ¦suport¦ of it")) == "code"
    dressed = "`¦" in text  # the quotation's own dress, where the document has none
    assert how_printed(at("the ¦support¦ of it"), at(text)) == ("plain" if dressed else "code")


@pytest.mark.parametrize(
    "text",
    [
        "¦support¦",
        "the ¦support¦.",
        "(¦support¦)",
        "“¦support¦”",
        "the **¦support¦** of it",
        "the _¦support¦_ of it",
        "the [¦support¦](https://example.org/terms#r) of it",
        "the third-¦party¦ claims",
        "review/¦support¦ of it",
        "the fee—¦support¦—is due",
        "the fee - ¦support¦ - is due",
        "the &quot;¦support¦&#39; is due",
        "the sup\u00adp¦ort¦ of it",
        "the ¦supplier’s¦ fee: it is due.",
        "clause 4. ¦Support¦ is due",
    ],
)
def test_running_text_is_no_code(text: str) -> None:
    assert not is_code(at(text))


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("the fees of ¦Harbor¦ are due", "name"),
        ("the fees of Lattice ¦Harbor¦ are due", "name"),
        ("¦Harbor¦ shall pay the fees", "name"),
        ("the ¦Smith¦ Agreement is void", "name"),
        ("the fees that ¦Harbor¦ has paid", "name"),
        ("SMITH AND ¦BAKER¦ ARE BOUND", "name"),
        ("mail baker@example.org, which is ¦Baker¦ of course", "name"),
        ("the ¦Licence¦ is void", "term"),
        ("the Customer's ¦Licence¦ is void", "term"),
        ("under any ¦Licence¦", "term"),
        ("the ¦Licence¦ Fee is due for a licence", "plain"),
        ("¦Harbor¦ dues are paid in the harbor.", "plain"),
        ("THE ¦PARTIES¦ AGREE. The parties sign.", "plain"),
        ("the fees of the ¦harbor¦ are due", "plain"),
    ],
)
def test_a_capital_makes_a_name_unless_the_text_shows_an_ordinary_word(text: str, how: str) -> None:
    assert how_printed(at(text), at(text)) == how


@pytest.mark.parametrize(
    ("ours", "how"),
    [
        ("and the ¦Bakker¦ shall pay", "name"),
        ("and the ¦bakker¦ shall pay", "plain"),
        ("And The ¦Bakker¦ Shall Pay", "plain"),
        ("AND THE ¦BAKKER¦ SHALL PAY", "plain"),
        ("¦Bakker¦ shall pay", "plain"),
    ],
)
def test_a_capital_that_the_quotation_alone_has_makes_a_name(ours: str, how: str) -> None:
    assert how_printed(at("and the ¦baker¦ shall pay"), at(ours)) == how


@given(st.text(max_size=60), st.text(min_size=1, max_size=12), st.text(max_size=60))
def test_any_word_of_any_text_is_printed_somehow(before: str, word: str, after: str) -> None:
    there = Printed(before + word + after, len(before), len(before) + len(word))

    assert how_printed(there, there) in ("plain", "term", "name", "code")
