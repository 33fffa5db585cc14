"""From the record of one debate to its score, and from scores to a result with statistics, findings and sentences.

    observe(entries)                          what a debate shows, from recorded entries alone
    score(set, item, label, observed)         one score; `item.scored` holds it
    conclude(plan, cases, sets, scores)       the result: counts that add up, statistics with their input, findings
    compared(result)                          its canonical bytes, equal however often the run was killed

Pure: no clock, no chance, no I/O.
"""

from service.evaluation.scoring.cases import HELD_LOOKS, Case, SetShown, Wear, cases_of, shown_set
from service.evaluation.scoring.conclude import AS_PLANNED, Circumstances, conclude
from service.evaluation.scoring.grid import UnplannedScore
from service.evaluation.scoring.observed import observe
from service.evaluation.scoring.observed_types import Observed
from service.evaluation.scoring.result import Result, compared, result_hash, result_of
from service.evaluation.scoring.scores import CriticScore, PairScore, QuestionScore, Score, Scored
from service.evaluation.scoring.scoring import score

__all__ = [
    "AS_PLANNED",
    "HELD_LOOKS",
    "Case",
    "Circumstances",
    "CriticScore",
    "Observed",
    "PairScore",
    "QuestionScore",
    "Result",
    "Score",
    "Scored",
    "SetShown",
    "UnplannedScore",
    "Wear",
    "cases_of",
    "compared",
    "conclude",
    "observe",
    "result_hash",
    "result_of",
    "score",
    "shown_set",
]
