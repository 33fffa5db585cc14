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
of truth. Results are recorded with `ENGINE`; a change of any rule here is a new version.
"""

from service.consensus.conduct import judge_accuracy
from service.consensus.judging import ENGINE, judge_consensus
from service.consensus.transcript import known_words

__all__ = ["ENGINE", "judge_accuracy", "judge_consensus", "known_words"]
