"""What a model has read, quoted, stands in the document as it is stored; and so do words of the stored text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.citations import Sources, check
from service.debate.findings import Citation
from service.debate.neutral import neutral
from tests.fixtures.unseen import HOSTILE

WORDS = "supplier customer carries insurance against every damage from delayed delivery of spare parts".split()
RLO, PDF, RLI, PDI = "\u202e", "\u202c", "\u2067", "\u2069"


@st.composite
def hidden(draw: st.DrawFn) -> str:
    """A sentence whose words are cut and turned by characters that a reader does not see."""
    words = draw(st.permutations(WORDS))
    signs = st.text(alphabet=st.sampled_from(HOSTILE), max_size=3)
    inside = "".join(c for c in HOSTILE if not neutral(f"a{c}b").isspace() and "\n" not in neutral(f"a{c}b"))
    cut = st.text(alphabet=st.sampled_from(inside), max_size=2)
    return " ".join(f"{draw(signs)}{word[:3]}{draw(cut)}{word[3:]}{draw(signs)}" for word in words)


def stretch(draw: st.DataObject, text: str) -> str:
    """Whole words of a text, with enough letters."""
    words = text.split(" ")
    start = draw.draw(st.integers(0, len(words) - 4))
    return " ".join(words[start : draw.draw(st.integers(start + 4, len(words)))])


@given(hidden(), st.data())
def test_words_that_a_model_has_read_are_verified_in_the_stored_text(stored: str, data: st.DataObject) -> None:
    quote = stretch(data, neutral(stored))

    verdict = check(Citation(quote, "D1"), Sources({"D1": f"Preamble. {stored} Rest."}))

    assert verdict.verdict == "verified"
    assert verdict.span is not None
    span = slice(*verdict.span)
    assert verdict.text == f"Preamble. {stored} Rest."[span]  # the stored text, with all that it hides
    assert letters(verdict.text) == letters(quote)


@given(hidden(), st.data())
def test_words_of_the_stored_text_are_verified_too(stored: str, data: st.DataObject) -> None:
    quote = stretch(data, stored)

    verdict = check(Citation(quote), Sources({"D1": f"Preamble. {stored} Rest."}))

    assert verdict.verdict == "verified"
    assert verdict.text is not None
    assert letters(verdict.text) == letters(quote)


@given(hidden(), st.data())
def test_a_changed_word_is_verified_behind_no_hidden_character(stored: str, data: st.DataObject) -> None:
    words = stretch(data, neutral(stored)).split(" ")
    at = data.draw(st.integers(1, len(words) - 2))
    words[at] = data.draw(st.sampled_from(["without", "not", "thirty", "some"]))

    assert check(Citation(" ".join(words)), Sources({"D1": stored})).verdict != "verified"


def letters(text: str) -> str:
    return "".join(filter(str.isalpha, neutral(text)))


@pytest.mark.parametrize(
    "quote",
    [
        f"the fee is {RLO}041{PDF} euros in each month",
        f"the fee is {RLI}140{PDI} euros in each month",
    ],
)
def test_a_quotation_that_turns_what_the_document_does_not_is_another_text(quote: str) -> None:
    plain = quote.translate(dict.fromkeys(map(ord, RLO + PDF + RLI + PDI)))

    assert check(Citation(quote), Sources({"D1": f"So {plain} of the term."})).verdict != "verified"
    assert check(Citation(plain), Sources({"D1": f"So {plain} of the term."})).verdict == "verified"


def test_an_override_of_the_document_is_quoted_with_it_and_without_it() -> None:
    stored = f"The annex is named annex_{RLO}txt.exe{PDF} in the file of the parties."
    read = stored.replace(RLO, "").replace(PDF, "")

    for quote in (stored, read, stored[4:60], read[4:58]):
        verdict = check(Citation(quote, "D1"), Sources({"D1": stored, "D2": "Other words."}))
        assert (verdict.verdict, verdict.source_id) == ("verified", "D1")
        assert verdict.text is not None
        assert RLO in verdict.text
