"""Words that a text gives as a clause's are seen in every notation; its own words are not taken for another's."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.citations.text import clause_names, markup, quoted_words
from service.checks.citations.text.markup import plain
from service.checks.texts.names_in_words import by_place, in_words
from tests.unit.checks.texts.test_texts import marks, passages

NEVER = re.compile(r"(?!)")
W = "the Supplier shall be liable to the Bank without any limit whatsoever"


@pytest.mark.parametrize(
    "text",
    [
        f'Clause 9.2 states ""{W}"".',
        f"Clause 9.2 states “”{W}””.",
        f"Clause 9.2 states ″{W}″.",
        f"Clause 9.2 states ❝{W}❞.",
        f"Clause 9.2 states <<{W}>>.",
        f"Clause 9.2 states <{W}>.",
        f"Clause 9.2 states ´{W}´.",
        f"Clause 9.2 states 《{W}》.",
        f"Clause 9.2 states ``{W}''.",
        f"Clause 9.2 states ‚‘{W}’.",
        f"Clause 9.2 states `{W}`.",
        f'Clause 9.2 states <!-- x -->"{W}".',
        f"Clause 9.2 st&#97;tes &ldquo;{W}&rdquo;.",
        f"Clause 9.2 states <em>{W}</em>.",
        f"The agreement (clause 9.2): *{W}*.",
        f'Clause 9.2 states <b class="x">{W}</b>.',
        f"Clause 9.2 states ~{W}~.",
        f"Clause 9.2 states ~~{W}~~.",
        f"Clause 9.2 states __{W}__.",
        f"Clause 9.2 states _{W}_.",
        f"Clause 9.2 states =={W}==.",
        f"Clause 9.2 states ({W}).",
        f"Clause 9.2 states [{W}].",
        f"Clause 9.2 states — {W}.",
        f"Clause 9.2 reads - {W}",
        f"Clause 9.2 states： {W}.",
        f"Clause 9.2 sta\u200btes: {W}.",
        f"Clause 9.2 states:\n```\n{W}\n```\nSo be it.",
        f"Clause 9.2 states:\n\n```text\n{W}\n```\n",
        f"Clause 9.2 states\n~~~\n{W}\n~~~",
        f'Clause 9.2 states:\n- "{W}"',
        f"Clause 9.2 states:\n- {W}",
        f"Clause 9.2 states:\n\n1. Nothing in this Agreement limits liability for fraud.\n2. {W}.",
        f"Clause 9.2 states:\n\n    {W}\n",
        f"Clause 9.2 states:\n\n| {W} |\n|---|\n",
        f"| Clause 9.2 states | {W} |\n|---|---|\n",
        f"Clause 9.2 states:\n\n### {W}\n\nThat decides.",
        f"<p>Clause 9.2 states:</p><p>{W}</p>",
        f"Clause 9.2 states:<blockquote>{W}</blockquote>",
        f"Clause 9.2 states:<ul><li>{W}</li></ul>",
        f"Clause 9.2 states:<br>{W}",
        "Clause 9.2 states: the Supplier shall be liable\nto the Bank without any limit whatsoever.",
        f"**Clause 9.2 states:** {W}.",
        f"**Clause 9.2 states**: {W}.",
        f"*Clause 9.2 states* *{W}*.",
        f"Clause 9.2 stated: {W}.",
        f"In the words of clause 9.2: {W}.",
        f"In the words of clause 9.2, {W}.",
        f"The wording of clause 9.2 is: {W}.",
        f"Quoting clause 9.2: {W}.",
        f"Clause 9.2, verbatim: {W}.",
        'Clause 9.2 states "the Supplier shall be liable" ... "to the Bank without any limit whatsoever".',
        'Clause 9.2 states "the Supplier shall be liable" … "to the Bank without any limit whatsoever".',
        'Clause 9.2 states "the Supplier" [...] "shall be liable" (...) "without any limit".',
    ],
)
def test_invented_words_are_marked_however_they_are_set_off(text: str) -> None:
    assert marks(text)


@pytest.mark.parametrize(
    "text",
    [
        "The policy says (rightly) that a person reads each letter.",
        "The contract states – correctly, in my view – that the cap applies.",
        "The agreement says (see clause 9.2) that the cap holds.",
        "Clause 9.2 states that the total liability is capped.",
        "Clause 9.2 states a *hard cap* on all losses.",
        "Clause 9.2 says *only* what it says.",
        "Clause 9.2 provides:\n\n- a cap on liability\n- no indirect loss",
        'The field is "" in the form, and the agreement ends in 2027.',
        "The critic says: the cap is much too low for us.",
        "The proposer states *very clearly* that the cap is far too low.",
        "I read: all of it, twice.",
        "The clause is short.\n\n- The cap applies.\n- The term ends.",
        "It says nothing.\n\n## Conclusion\n\nThe bank should sign the agreement.",
        "The racks are 19″ wide and the cables 24′ long in clause 9.3.",
        "Clause 9.1 says <em>limits liability for fraud</em>.",
        "**Clause 9.2:** the limit leaves the indemnities for data outside.",
        "**Clause 9.1 states:** Nothing in this Agreement limits liability for fraud.",
        'Clause 9.1 says ""Nothing in this Agreement limits liability for fraud"".',
        'Clause 9.2 says "The total liability of the Supplier" ... "shall not exceed one hundred thousand euro".',
        "Clause 9.1 states:\n```\nNothing in this Agreement limits liability for fraud.\n```",
        "Use `pip install --upgrade the-tool` and a < b and c > d.",
    ],
)
def test_true_words_and_an_authors_own_are_not_marked(text: str) -> None:
    assert marks(text) == []


def test_a_passage_keeps_its_place_in_the_original_text() -> None:
    text = f"&quot;Yes&quot;, <b>**clause** 9.2</b> states:<br>\n<em>{W}</em>."

    found = {text[slice(*passage.span)] for passage in passages(text)}

    assert found == {"clause** 9.2", W}


def test_every_place_of_a_plain_text_has_one_in_the_original() -> None:
    text = "A &amp; B\u200b **bold** <p>x</p> ``q'' \n y \\*z"
    read = plain(text)

    spans = [read.span((n, n + 1)) for n in range(len(read.text))]

    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
    assert text[slice(*read.span((read.text.index("bold"), read.text.index("bold") + 4)))] == "bold"


@given(st.text(" aB1.,;:!?()[]/%$+'\"-<>&\\*_=~`\n\u00e9\u201c\u3164", max_size=24))
def test_an_ordinary_text_is_plain_as_it_stands(text: str) -> None:
    token = markup._ORDINARY
    try:
        markup._ORDINARY = NEVER
        searched = plain(text)
    finally:
        markup._ORDINARY = token

    assert plain(text) == searched


ANNOUNCED = "states|provides|in the words of clause 9|goes|quoting|verbatim|word| |,|.|:|*|(|- |\u2014|\u00a0|'s|!|;|_"
ROWS = ("\n", "\n1. ", "\n(a) ")
NAMING = (
    "Section sub-clauses ARTICLES para. sec. cl. Art. appendices annexes \u00a7 finding actions recommendation "
    "chapters recital exhibit schedule requirement \u017fection cla\u0131m the third twelve 9 9.2(a) IV A-1 no. states"
)


@given(st.lists(st.sampled_from((*ANNOUNCED.split("|"), *ROWS)) | st.characters(), max_size=12).map("".join))
def test_a_text_in_which_nothing_may_set_words_off_has_none(text: str) -> None:
    found = list(quoted_words._set_off(text))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(quoted_words, "_may_set_off", lambda _: True)
        assert list(quoted_words._set_off(text)) == found


@given(st.lists(st.sampled_from(NAMING.split()) | st.characters(), max_size=10).map(" ".join))
def test_a_text_that_may_name_no_clause_names_none(text: str) -> None:
    if any((*clause_names.named(text), *clause_names.clauses(text), *in_words(text), *by_place(text))):
        assert clause_names.may_name(text)
