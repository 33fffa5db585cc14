"""Sentences that quote honestly are not marked, and their invented neighbours are.

`honest.txt` and `invented.txt` have one text a line, under the names of their kinds; `\\n` is a line's end. They were
written before the rules were fitted to them, in other words than the corpora's. Five that the rules judge wrongly
are left out; docs/citations.md names their kinds among the limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.checks.given import ReadTexts
from service.checks.texts import compare
from service.debate.findings import Passage
from service.debate.replies import Moderation, Proposal, Statement
from service.debate.turns import TurnId
from tests.unit.checks.texts import test_texts as texts

CONTRACT = f"""{texts.CONTRACT}\
10.2 The Supplier shall give ninety days' written notice before any increase of the fees, and the Customer may \
terminate within that period.
11. Data
11.1 Personal data of customers remain in the European Union; the Supplier shall delete backups at the end of the term.
"""
POLICY = """ASSISTANT POLICY

Section 1. This policy applies to every employee who uses the drafting assistant.
Section 2. A person reviews every letter before it is sent to a customer.
Section 3. Logs are kept for six months. Access to logs requires approval by the data protection officer.
"""
RUNBOOK = """ROLLBACK RUNBOOK

1. Page the on-call engineer.
2. Roll back when the error rate exceeds two percent for ten minutes.
3. The incident commander informs customers within one hour.
"""
DOCUMENTS = {"D1": CONTRACT, "D2": POLICY, "D3": RUNBOOK}
TITLES = ("Services Agreement", "Assistant Policy", "Rollback runbook")
QUESTION = "Should the bank sign the agreement and let the assistant draft letters to customers?"
PROPOSED = Proposal(
    "The liability cap is far too low for a bank of this size, and the supplier knows it.",
    (
        Statement(1, "An annual cap of one hundred thousand euro leaves the bank without cover for a single breach."),
        Statement(2, "Reviewers stop reading letters carefully after the first few weeks of drafting."),
    ),
    "upheld",
)
OPPOSED = Proposal("A higher cap would simply be paid for in higher fees every year.", (), "upheld")
SHOWN = {TurnId("1.proposer.1"): PROPOSED, TurnId("1.critic.1"): OPPOSED}


def sentences(name: str) -> Iterator[str]:
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.replace("\\n", "\n")


def marked(text: str, *, unclear: bool = False) -> list[Passage]:
    reply = Moderation((), (), (), False, text, "HIGH", ("Nothing is certain.",), "upheld")
    found = compare(ReadTexts(reply, tuple(DOCUMENTS), TITLES, (QUESTION,), SHOWN, ()), DOCUMENTS).passages
    return [passage for passage in found if passage.marked or (unclear and passage.unclear)]


@pytest.mark.parametrize("text", list(sentences("honest.txt")))
def test_a_sentence_that_quotes_honestly_is_not_marked(text: str) -> None:
    assert [text[slice(*passage.span)] for passage in marked(text)] == []


@pytest.mark.parametrize("text", list(sentences("invented.txt")))
def test_a_sentence_that_quotes_what_no_document_says_is_marked(text: str) -> None:
    assert marked(text, unclear=True)
