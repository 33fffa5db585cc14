"""Words are marked by a strong form of evidence alone, whose name is recorded; a sign of doubt leaves them unclear."""

from __future__ import annotations

from typing import get_args

import pytest

from service.checks.given import ReadTexts
from service.checks.texts import compare
from service.checks.texts.strong import Form
from service.debate.replies import Proposal
from service.debate.turns import TurnId
from tests.unit.checks.texts.test_texts import CONTRACT, QUESTION, SAID, moderation, passages

W = "the Supplier shall be liable to the Bank without any limit whatsoever"
TOLD = "the cap is far too low for a bank of this size"
BENT = "The Supplier shall be liable for indirect loss"
STRONG = [
    (f'Clause 9.2 states "{W}".', "says"),
    (f'The agreement expressly demands that "{W}".', "says"),
    (f'The clause is short. It says "{W}".', "says"),
    (f'In the words of clause 9.2: "{W}".', "says"),
    (f"Clause 9.2 states: {W}.", "says"),
    ('Clause 9.2 says "the total liability of the Supplier shall not exceed one million euro".', "says"),
    ('Clause 9.2 provides "The Customer shall not be liable for indirect loss".', "says"),
    ('Clause 9.2 provides "The Supplier shall be liable for indirect loss".', "says"),
    ('Clause 9.2 says "The Supplier shall … be liable for indirect loss".', "says"),
    ('Clause 9.2 states "the Supplier shall be liable" ... "to the Bank without any limit whatsoever".', "says"),
    (f'The agreement says "{TOLD}".', "says"),
    ('The agreement obliges the Supplier to "reimburse every fine of a regulator within a week".', "contains"),
    ('Under clause 9.3 the Customer may "audit the records of every subcontractor at any time".', "under"),
    (f'Clause 9.2: "{W}".', "beside"),
    (f'"{W}" (clause 9.2).', "source"),
    (f'"{W}" is what clause 9.2 says.', "source"),
    ('One finds in the agreement "a right of the Customer to leave at any time".', "reports"),
    ('The proposer says "every insurer in the market refuses to cover this risk".', "speaker"),
    (f'"{BENT}", so the cap matters less.', "distorted"),
    ("Clause 22.1 lets the Customer withhold all fees.", "noClause"),
    ("Under section 12 the Customer may withhold all fees.", "noClause"),
]
WEAK = [
    f'Clause 9.2, if amended, states "{W}".',
    f'The new clause 9.2 says "{W}".',
    f'Clause 9.2 says, in effect, "{W}".',
    f'Clause 9.2, doubts aside, says "{W}".',
    f'We would propose a cap. Clause 9.2 states "{W}".',
    f'Clause 9.2 states "{W}" in my reading.',
    'Clause 9.2 says "The Supplier shall be liable for [every] loss of the Bank".',
    'Clause 9.2 states "no cap whatsoever".',
    f'The gap in clause 9.2 is closed: "{W}".',
    f'"{BENT}": with this the Bank can live.',
    f'Plan B for clause 9.2 is "{BENT}".',
    "The thesis forgets clause 22.1, which lets the Customer withhold all fees.",
    "Section 284 doubles the damages.",
    "IAS 1 paragraph 7 speaks of debt.",
]


def forms(text: str) -> set[str | None]:
    return {passage.form for passage in passages(text) if passage.marked}


@pytest.mark.parametrize(("text", "form"), STRONG)
def test_a_mark_names_its_form(text: str, form: str) -> None:
    assert forms(text) == {form}


@pytest.mark.parametrize("text", WEAK)
def test_without_a_form_or_in_a_sentence_with_a_sign_a_reader_is_warned_and_nothing_is_marked(text: str) -> None:
    assert {passage.status for passage in passages(text) if passage.status not in ("inDocument", "inDebate")} == {
        "unclear"
    }
    assert {passage.form for passage in passages(text)} == {None}


def test_every_form_has_a_sentence() -> None:
    assert {form for _, form in STRONG} | {"repeated"} == set(get_args(Form))


@pytest.mark.parametrize(
    "text",
    [
        *(f'So it is: "{W}".', f'Yet "{W}" decides it.', f'I stand by it: "{W}".'),
        *(f'We rely on the words "{W}" rather than on the summary.', f'The Bank can rely on "{W}".'),
        *(f'We have to accept "{W}" as it stands.', f'The Bank should sign, since "{W}".'),
    ],
)
def test_words_for_which_the_author_s_former_take_was_marked_stay_marked(text: str) -> None:
    """A weaker sentence does not turn a mark into a doubt. The former take's marks are known, and not its text."""
    read = ReadTexts(moderation(text), ("D1",), (), (QUESTION,), {}, (W,))

    (found,) = compare(read, {"D1": CONTRACT}).passages

    assert (found.status, found.marked) == ("nowhere", True)


def test_a_clause_that_only_the_debate_names_is_a_documents_where_the_sentence_rests_on_it() -> None:
    assert forms("Clause 99.9 states that liability has no limit.") == {"noClause"}
    assert [p.status for p in passages("If clause 99.9 held, all would be well.") if p.kind == "clause"] == ["unclear"]


def test_words_of_another_speaker_are_marked_by_the_form_of_a_speaker() -> None:
    shown = {TurnId("1.proposer.1"): SAID, TurnId("1.critic.1"): Proposal("A higher cap costs more.", (), "upheld")}
    read = ReadTexts(moderation(f'The critic says "{TOLD}".'), ("D1",), (), (QUESTION,), shown, ())

    (found,) = compare(read, {"D1": CONTRACT}).passages

    assert (found.status, found.reason, found.form) == ("nowhere", "another_speaker", "speaker")


def test_a_passage_that_was_not_compared_to_its_end_is_marked_without_a_form() -> None:
    read = ReadTexts(moderation(f'"{W}" would be a fair rule.'), ("D1",), (), (QUESTION,), {}, ())

    (found,) = compare(read, {"D1": CONTRACT}, max_steps=1_000).passages

    assert (found.status, found.reason, found.form) == ("nowhere", "out_of_steps", None)
