"""Verdicts for tests of coverage: citations made by hand, and a case to make them about."""

from __future__ import annotations

from decimal import Decimal

from service.checks.coverage import DocumentCoverage, coverage
from service.debate.findings import ArgumentVerdict, CitationVerdict, StrikeReason, Verdict
from service.debate.model import Case, Document
from service.debate.turns import TurnId

AGREEMENT = """\
MASTER AGREEMENT between A and B.

1. TERM
1.1 This agreement runs for two years.
1.2 It renews for a year unless a party objects.
2. FEES
2.1 Fees are due within thirty days.
2.2 Late fees bear interest.
3. LIABILITY
3.1 Liability is capped at the fees of a year.
3.2 The cap does not apply to fraud.
3.3 No party owes lost profits.
4. LAW
Swiss law governs.
ANNEX A Security
1. Logs are kept.
2. Keys are rotated.
"""


def a_case(*texts: str, rounds: tuple[int, ...] = ()) -> Case:
    """A case about these texts, D1 and on; ``rounds`` says when each is introduced, the first unless told."""
    documents = tuple(
        Document(f"D{i}", f"Text {i}", "00" * 32, len(text), rounds[i - 1] if rounds else 1)
        for i, text in enumerate(texts, start=1)
    )
    return Case("What then?", "contract", documents, Decimal(1))


PROPOSAL = TurnId("1.proposer.1")


def citing(
    *spans: tuple[int, int],
    turn: TurnId = PROPOSAL,
    n: int = 1,
    document: str = "D1",
    verdict: Verdict = "verified",
    struck: StrikeReason | None = None,
) -> ArgumentVerdict:
    """An argument with a citation of each span."""
    return ArgumentVerdict(turn, n, tuple(CitationVerdict(verdict, document, span) for span in spans), struck)


def at(words: str, text: str = AGREEMENT) -> tuple[int, int]:
    """Where words stand."""
    return text.index(words), text.index(words) + len(words)


def told(*arguments: ArgumentVerdict, text: str = AGREEMENT) -> DocumentCoverage:
    """The coverage of one text."""
    (found,) = coverage(a_case(text), arguments, 1, {"D1": text})
    return found
