"""A panel's agreement and the conduct of its debaters: measured on typed replies, in whole numbers.

    assessment   consensus after a round, with its basis
    transcript   the replies by round; the shown claims with each voice's opinion of them
    readings     what a claim states: amounts, dates, periods, parties, negations; its words stand in `vocabulary`
    measures     amounts in their units: the same, of one kind, or about something else
    sense        how a claim is meant: yes or no, duties, scope
    matter       the words of two claims: whether they are about one matter
    comparison   two claims that say the same
    opposition   two claims or answers that exclude each other
    synthesis    the synthesis beside the claims that its debaters accept
    dimensions   stance alignment, empirical overlap, framework agreement, confidence convergence
    chance       agreement beyond chance: Cohen's kappa of two voices, Krippendorff's alpha of more
    triggers     the facts that exclude consensus: those of every type, and the trigger of each
    explanation  the dimensions that lag, with the reason, in words
    conduct      factual accuracy, logical consistency, evidence quality and trajectory of each debater

A reader can recompute all rules with a pencil: shares are per mille, every division rounds down, and a mean over pairs
leaves out the pairs for which it is undefined. Agreement is measured on stances and on numbered claims that each
debater marks, never on common words: these can only keep two claims apart. `wording_overlap` is reported under its own
name and no rule uses it. An undefined dimension is left out of the mean. Consensus is not correctness, and a score of
conduct is not one of truth. Results are recorded with the name of their version in `AGREEMENTS`, `CONDUCTS` or
`SYNTHESES`; a change of a rule is a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from service.checks.consensus.assessment import check_consensus
from service.checks.consensus.conduct import check_accuracy
from service.checks.consensus.synthesis import check_synthesis
from service.checks.consensus.transcript import known_words
from service.debate.facts import Facts
from service.debate.findings import AccuracyFound, ConsensusFound, SynthesisFound
from service.debate.model import Check


class AgreementEngine(NamedTuple):
    """Measures a panel's agreement; ``known`` gives the words of question and documents, an argument of ``judge``."""

    judge: Callable[[Facts, Check, frozenset[str]], ConsensusFound]
    known: Callable[[Iterable[str]], frozenset[str]]


AGREEMENTS: Mapping[str, AgreementEngine] = {"consensus/1": AgreementEngine(check_consensus, known_words)}
CONDUCTS: Mapping[str, Callable[[Facts, Check], AccuracyFound]] = {"consensus/1": check_accuracy}
SYNTHESES: Mapping[str, Callable[[Facts, Check], SynthesisFound]] = {"consensus/1": check_synthesis}

__all__ = [
    "AGREEMENTS",
    "CONDUCTS",
    "SYNTHESES",
    "AgreementEngine",
    "check_accuracy",
    "check_consensus",
    "check_synthesis",
    "known_words",
]
