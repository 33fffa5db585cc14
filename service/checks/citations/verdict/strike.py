"""Which arguments are struck: one with a citation that is not verified, and one that claims evidence and cites nothing.

In a case without documents none is struck: there is nothing with which a citation could be compared.

Recorded under the name of the citation engine, of which it is the last step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from service.checks.citations.text.clause_names import clauses
from service.checks.citations.text.markup import plain
from service.checks.citations.text.quoted_words import passages
from service.debate.findings import ArgumentVerdict, Citation, CitationsFound, CitationVerdict, StrikeReason
from service.debate.replies import Cited, Reply, statements
from service.debate.turns import TurnId

UNCHECKED = CitationVerdict("unchecked", reason="no_document")

Verify = Callable[[Citation], CitationVerdict]


def check_citations(said: Mapping[TurnId, Reply], verify: Verify | None) -> CitationsFound:
    """The verdict on every citation of these replies (turn id -> reply), and the arguments that are struck for them.

    ``verify`` is ``None`` in a case without documents: each citation is `unchecked` and no argument is struck.
    """
    return CitationsFound(
        tuple(_judge_argument(turn, argument, verify) for turn, reply in said.items() for argument in statements(reply))
    )


def _judge_argument(turn: TurnId, argument: Cited, verify: Verify | None) -> ArgumentVerdict:
    if verify is None:
        return ArgumentVerdict(turn, argument.n, (UNCHECKED,) * len(argument.citations))
    verdicts = tuple(verify(citation) for citation in argument.citations)
    struck: StrikeReason | None = None
    if any(found.verdict != "verified" for found in verdicts):
        struck = "unverified_citation"
    elif not verdicts and claims_evidence(argument):
        struck = "uncited"
    return ArgumentVerdict(turn, argument.n, verdicts, struck)


def claims_evidence(argument: Cited) -> bool:
    """Whether an argument claims evidence: by its basis, by quoting a passage, or by reporting the words of a clause.

    Naming a clause or a defined term is no claim: "Section 9 is silent on fines" has no words to quote.
    """
    text = plain(argument.text).text
    claims = chain((words for words in passages(text) if words.in_marks), clauses(text))
    return argument.basis == "evidence" or next(claims, None) is not None
