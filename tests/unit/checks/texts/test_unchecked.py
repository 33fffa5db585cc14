"""What a text quotes in a case without documents: unchecked, unless it is the debate's or the question's own words."""

from __future__ import annotations

import pytest

from service.checks.citations import judging
from service.checks.citations.batch import explained, judge_batch, read_batch
from service.checks.given import ReadTexts
from service.checks.texts import compare
from service.debate.findings import Citation, Passage
from service.debate.replies import Argument, Basis, Judgement, Statement
from service.debate.turns import TurnId
from service.report.labels import REFUSED

QUESTION = "Should we ship feature X this week although two testers object?"
TURN = TurnId("1.debater-1.1")
SAID = Argument(
    (Statement(1, "A rollback within minutes makes an error cheap for every single user.", (), "reasoning"),)
)


def passages(text: str) -> tuple[Passage, ...]:
    """The passages of a judge's reasoning on one argument."""
    reply = Judgement("Ship it.", "ship now", text, "HIGH", ("Nothing is certain.",))
    return compare(ReadTexts(reply, (), (), (QUESTION,), {TURN: SAID}, (), {TURN: "ship now"}), {}).passages


@pytest.mark.parametrize(
    "text",
    [
        'The test report states that "no severe fault was found in the last forty days".',
        'According to section 4.2, "every release needs the approval of two engineers".',
        'As a study says: "teams that ship each week have fewer faults than others".',
    ],
)
def test_words_of_a_source_are_unchecked_and_neither_missing_nor_verified(text: str) -> None:
    quoted = [passage for passage in passages(text) if passage.kind == "quotation"]

    assert [(p.status, p.reason) for p in quoted] == [("unchecked", "no_document")]
    assert not any(p.marked or p.unclear for p in quoted)


def test_a_clause_of_nothing_is_unchecked() -> None:
    (found,) = passages("Clause 9.2 states that nobody may ship on a Friday.")

    assert (found.kind, found.status, found.reason) == ("clause", "unchecked", "no_document")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('[ship now] argues that "a rollback within minutes makes an error cheap for every single user".', "inDebate"),
        (
            'The question says that "two testers object" and asks whether to "ship feature X this week although" so.',
            "inDebate",
        ),
        ('The manual states: "a rollback within minutes makes an error cheap for every single user".', "unchecked"),
    ],
)
def test_words_of_the_debate_are_compared_and_are_no_documents(text: str, status: str) -> None:
    found = {passage.status for passage in passages(text)}

    assert found == {status}


def test_invented_words_of_a_seat_mislead_as_in_any_case() -> None:
    (found,) = passages('Debater 1 wrote word for word: "I concede that nothing speaks for a release this week".')

    assert (found.status, found.marked) == ("nowhere", True)


@pytest.mark.parametrize("basis", ["evidence", "reasoning"])
def test_no_argument_is_struck_and_no_citation_is_looked_for(basis: Basis) -> None:
    cited = (Citation("no severe fault was found", "D1"), Citation("x"))
    said = Argument(
        (
            Statement(1, 'It says "no severe fault was found".', cited, basis),
            Statement(2, "Section 4 states so.", (), basis),
        )
    )

    first, second = judging({})({TURN: said}).arguments

    assert [(v.verdict, v.reason, v.span) for v in first.verdicts] == [("unchecked", "no_document", None)] * 2
    assert (first.struck, second.struck, second.verdicts) == (None, None, ())


def test_one_document_is_enough_for_every_citation_to_be_compared() -> None:
    said = Argument((Statement(1, "It is so.", (Citation("no severe fault was found", "D1"),), "evidence"),))

    (found,) = judging({"D1": "Nothing was tested at all."})({TURN: said}).arguments

    assert ([v.verdict for v in found.verdicts], found.struck) == (["not_found"], "unverified_citation")


def test_citations_that_are_sent_without_any_source_are_unchecked() -> None:
    batch = read_batch(
        b'{"sources": [], "citations": [{"id": "c", "quote": "no severe fault was found", "sourceId": "D"}]}'
    )

    ((name, found),) = judge_batch(batch)

    assert (name, found.verdict) == ("c", "unchecked")
    assert "no document was given" in (explained(found, REFUSED).note or "")


@pytest.mark.parametrize(
    "text",
    [
        "The Employee Handbook states that leave is paid within ten days.",
        "The Service Level Agreement requires an uptime of 99.9 percent.",
        "The third clause states that a release needs two approvals.",
    ],
)
def test_a_document_or_a_clause_that_a_text_speaks_of_is_unchecked(text: str) -> None:
    assert {(p.status, p.reason) for p in passages(text)} == {("unchecked", "no_document")}
