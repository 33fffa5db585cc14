"""Which arguments are struck: one with a citation that is not verified, and one that claims evidence and cites nothing.

Recorded under the name of the citation engine, of which it is the last step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from service.debate.findings import ArgumentVerdict, Citation, CitationsFound, CitationVerdict, StrikeReason
from service.debate.replies import Cited, Reply, statements
from service.debate.turns import TurnId

_QUOTED = re.compile(r"[\"\u201c\u00ab]([^\"\u201c\u201d\u00ab\u00bb]{12,})[\"\u201d\u00bb]")
QUOTED_WORDS = 5
"""The least words in quotation marks that are a passage and no defined term."""
_PLACE = (
    r"(?:(?:section|clause|article|paragraph|schedule|exhibit|annex|appendix) (?:\d[\w.()-]{0,12}|(?-i:[A-Z])\b)|"
    r"\u00a7 ?\d[\w.()-]{0,12})"
)
_SAYS = (
    r"(?:provide|state|say|read|require|limit|cap|exclude|permit|allow|prohibit|forbid|set|define|oblige|grant|impose|entitle|"
    r"give|make|waive|extend)s?"
)
_REPORTED = re.compile(
    rf"(?:{_PLACE}),? (?:of (?:\w+ ){{1,4}})?(?:clearly |expressly |also |only |therefore )?{_SAYS}\b|"
    rf"\b(?:according to|as stated in|as required by|pursuant to) (?:the )?(?:{_PLACE})".replace(" ", r"\s{1,8}"),
    re.IGNORECASE,
)


def check_citations(said: Mapping[TurnId, Reply], verify: Callable[[Citation], CitationVerdict]) -> CitationsFound:
    """The verdict on every citation of these replies (turn id -> reply), and the arguments that are struck for them."""
    return CitationsFound(
        tuple(_judge_argument(turn, argument, verify) for turn, reply in said.items() for argument in statements(reply))
    )


def _judge_argument(turn: TurnId, argument: Cited, verify: Callable[[Citation], CitationVerdict]) -> ArgumentVerdict:
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
    quoted = (match.group(1) for match in _QUOTED.finditer(argument.text))
    return (
        argument.basis == "evidence"
        or any(len(passage.split()) >= QUOTED_WORDS for passage in quoted)
        or bool(_REPORTED.search(argument.text))
    )
