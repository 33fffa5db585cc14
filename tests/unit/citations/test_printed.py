"""How a word is printed says whether a letter of it may differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.citations.printed import Printed, how_printed, is_code, is_name


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
    assert how_printed(at("the ¦support¦ of it"), at(text)) == "code"


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
    ("text", "named"),
    [
        ("the fees of ¦Harbor¦ are due", True),
        ("the fees of Lattice ¦Harbor¦ are due", True),
        ("¦Harbor¦ shall pay the fees", True),
        ("the ¦Smith¦ Agreement is void", True),
        ("the fees that ¦Harbor¦ has paid", True),
        ("SMITH AND ¦BAKER¦ ARE BOUND", True),
        ("mail baker@example.org, which is ¦Baker¦ of course", True),
        ("the ¦Licence¦ is void", False),
        ("the Customer's ¦Licence¦ is void", False),
        ("under any ¦Licence¦", False),
        ("the ¦Licence¦ Fee is due for a licence", False),
        ("¦Harbor¦ dues are paid in the harbor.", False),
        ("THE ¦PARTIES¦ AGREE. The parties sign.", False),
        ("the fees of the ¦harbor¦ are due", False),
    ],
)
def test_a_capital_makes_a_name_unless_the_text_shows_an_ordinary_word(text: str, named: bool) -> None:
    assert is_name(at(text)) is named


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

    assert how_printed(there, there) in ("plain", "name", "code")
