"""From the record of one debate to its score.

    observe(entries)                          what a debate shows, from recorded entries alone
    score(set, item, label, observed)         one score; `item.scored` holds it

Pure: no clock, no chance, no I/O.
"""

from service.evaluation.scoring.observed import observe
from service.evaluation.scoring.observed_types import Observed
from service.evaluation.scoring.scores import CriticScore, PairScore, QuestionScore, Score, Scored
from service.evaluation.scoring.scoring import score

__all__ = ["CriticScore", "Observed", "PairScore", "QuestionScore", "Score", "Scored", "observe", "score"]
