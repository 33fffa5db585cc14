"""Check quotations against their source documents. Pure: no clock, no I/O, work bounded in steps.

`check` gives a verdict; `Sources` holds the documents, each folded once; `ENGINE` names the version of the rules.
`ENGINES` has every version that a recorded finding may name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.checks.citations.text.fold import Folded, fold
from service.checks.citations.text.steps import MAX_STEPS
from service.checks.citations.verdict.judge import ENGINE, LEAST_LETTERS, Sources, check, check_all
from service.checks.citations.verdict.strike import check_citations, claims_evidence
from service.debate.findings import CitationsFound
from service.debate.replies import Reply
from service.debate.turns import TurnId

Judge = Callable[[Mapping[TurnId, Reply]], CitationsFound]
"""Judges all citations of some replies, by turn."""


def judging(texts: Mapping[str, str]) -> Judge:
    """The judge of citations from these documents (id -> text); without any, nothing is compared and nothing struck."""
    sources = Sources(texts)
    verify = (lambda citation: check(citation, sources)) if texts else None
    return lambda said: check_citations(said, verify)


ENGINES: Mapping[str, Callable[[Mapping[str, str]], Judge]] = {ENGINE: judging}


def judged(engine: str, texts: Mapping[str, str], said: Mapping[TurnId, Reply]) -> CitationsFound:
    """What an engine finds of the citations of these replies; ``texts`` are the documents by id."""
    return ENGINES[engine](texts)(said)


__all__ = [
    "ENGINE",
    "ENGINES",
    "LEAST_LETTERS",
    "MAX_STEPS",
    "Folded",
    "Judge",
    "Sources",
    "check",
    "check_all",
    "check_citations",
    "claims_evidence",
    "fold",
    "judged",
    "judging",
]
