"""What a reply's texts are compared with: all that its seat was shown, and nothing else."""

from __future__ import annotations

from msgspec.structs import replace

from service.checks import given, texts
from service.checks.given import given_to
from service.debate import ending
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, Passage, TextsFound
from service.debate.model import Document, Turn
from service.debate.replies import Proposal
from service.debate.turns import TurnId
from service.running.checker import ENGINES, Checker
from tests.fixtures.debates import a_case, a_start, drive

PROPOSER, CRITIC, MODERATOR = TurnId("1.proposer.1"), TurnId("1.critic.1"), TurnId("1.moderator.1")


def facts() -> Facts:
    return Facts.of(drive(a_start()))


def test_the_check_of_a_turn_is_over_what_it_saw_and_itself() -> None:
    check = ending.texts(Turn(MODERATOR, "moderator", (PROPOSER, CRITIC)))

    assert (check.id, check.kind, check.over) == ("1.moderator.1/texts", "texts", (PROPOSER, CRITIC, MODERATOR))


def test_a_seat_is_shown_no_struck_argument_and_no_document_of_a_later_round() -> None:
    known = facts()
    case = replace(
        a_case(), documents=(Document("D1", "Contract", "00" * 32, 9), Document("D2", "Letter", "00" * 32, 9, round=2))
    )
    said = known.said[PROPOSER]
    assert isinstance(said, Proposal)
    known.found[f"{PROPOSER}/citations"] = CitationsFound((ArgumentVerdict(PROPOSER, 1, struck="uncited"),))
    known.found[f"{PROPOSER}/texts"] = TextsFound((Passage("thesis", (0, 4), "quotation", "nowhere", "open"),))

    read = given_to(texts.ENGINE, given.TEXTS)(case, known, (PROPOSER, MODERATOR))

    shown = read.shown[PROPOSER]
    assert isinstance(shown, Proposal)
    assert [a.n for a in shown.arguments] == [a.n for a in said.arguments if a.n != 1]
    assert (list(read.documents), list(read.titles)) == (["D1"], ["Contract"])
    assert read.asked[0] == case.question
    assert list(read.marked) == [said.thesis[:4]]
    assert read.reply == known.said[MODERATOR]


def test_a_checker_finds_what_a_recorded_reply_quotes() -> None:
    known = facts()
    said = known.said[PROPOSER]
    assert isinstance(said, Proposal)
    known.said[PROPOSER] = replace(
        said, thesis='Clause 77.7 states "the Supplier pays every loss of the Bank at once".'
    )
    case = replace(a_case(), documents=(Document("D1", "Contract", "00" * 32, 9),))

    found = Checker({"D1": "9.2 The Supplier pays no loss."}).check(
        case, known, ending.texts(Turn(PROPOSER, "proposer"))
    )

    assert found.engine == ENGINES["texts"] == texts.ENGINE
    assert isinstance(found.finding, TextsFound)
    assert [(p.field, p.kind, p.status) for p in found.finding.marked] == [
        ("thesis", "clause", "nowhere"),
        ("thesis", "quotation", "nowhere"),
    ]
