"""How far a panel agrees, and how its debaters conducted themselves: measured on typed replies, in whole numbers.

    transcript   who said what in which round; the claims that were shown, and what each voice made of them
    dimensions   stance alignment, empirical overlap, framework agreement, confidence convergence
    chance       agreement beyond chance: Cohen's kappa of two voices, Krippendorff's alpha of more
    triggers     what consensus means for each type of question, beside the threshold
    explaining   which dimensions lag and why, in words
    conduct      factual accuracy, logical consistency, evidence quality and trajectory of each debater

All of it is by rules that a reader can follow with a pencil: shares are per mille, every division rounds down, and a
mean over pairs leaves out the pairs for which it is undefined. Agreement is measured on stances and on numbered claims
that each debater marks, never on wording: `wording_overlap` stands beside it under its own name and decides nothing.
What is undefined counts as nothing towards consensus. Consensus is not correctness, and a score of conduct is not one
of truth. Results are recorded with the name of their version in `AGREEMENTS` or `CONDUCTS`; a change of any rule here
is a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from service.checks.consensus.assessment import check_consensus
from service.checks.consensus.conduct import check_accuracy
from service.checks.consensus.transcript import known_words
from service.debate.facts import Facts
from service.debate.findings import AccuracyFound, ConsensusFound
from service.debate.model import Check


class AgreementEngine(NamedTuple):
    """Judges how far a panel agrees; ``known`` gives the words of question and documents, which ``judge`` is given."""

    judge: Callable[[Facts, Check, frozenset[str]], ConsensusFound]
    known: Callable[[Iterable[str]], frozenset[str]]


AGREEMENTS: Mapping[str, AgreementEngine] = {"consensus/1": AgreementEngine(check_consensus, known_words)}
CONDUCTS: Mapping[str, Callable[[Facts, Check], AccuracyFound]] = {"consensus/1": check_accuracy}

__all__ = ["AGREEMENTS", "CONDUCTS", "AgreementEngine", "check_accuracy", "check_consensus", "known_words"]
