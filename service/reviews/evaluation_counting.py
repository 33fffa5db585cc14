"""Metrics of evaluations, counted where their entries are recorded, by the process that has recorded one.

evaluation.registered  once, with the first plan
item.asked             a debate asked
item.scored            a debate scored, by why it has no answer; its charge and what was lost; with the first one of
                       an evaluation the looks at held splits
evaluation.stopped     by what
evaluation.concluded   the finding that stands first
"""

from __future__ import annotations

from typing import assert_never

import msgspec

from service import telemetry
from service.audit.evaluation_events import (
    EvaluationConcluded,
    EvaluationEntry,
    EvaluationProven,
    EvaluationRegistered,
    EvaluationStopped,
    ItemAsked,
    ItemScored,
)
from service.debate.amounts import MICRO
from service.evaluation.run.progress import Progress
from service.evaluation.scoring import CriticScore, PairScore, QuestionScore, Score
from service.store.evaluations import Spent

ENOUGH = 10
"""From so many scores on the present cost of a debate says what all will cost."""


def count_entry(entry: EvaluationEntry, progress: Progress | None = None) -> None:
    """Count an entry that was just recorded; ``progress`` has taken it, where the entry is not a first one.

    An entry of another kind is counted by nothing: a metric never ends an evaluation.
    """
    match entry:
        case EvaluationRegistered():
            if entry.n == 0:
                telemetry.EVALUATIONS_REGISTERED.inc()
        case ItemAsked():
            telemetry.EVALUATION_ITEMS.labels(event="asked").inc()
        case ItemScored():
            _count_score(msgspec.convert(entry.score, Score))
            if progress is not None and len(progress.scored) == 1:
                _count_looks(progress)
        case EvaluationStopped():
            telemetry.EVALUATIONS_STOPPED.labels(by=entry.by).inc()
        case EvaluationProven():  # each first case has one before it
            pass
        case EvaluationConcluded():
            telemetry.EVALUATIONS_CONCLUDED.labels(finding=entry.finding, simulated=_simulated(progress)).inc()


def spent_of(progress: Progress | None) -> Spent:
    """How much of its ceiling an evaluation has spent, and will need if its debates go on to cost what they have."""
    if progress is None:
        return Spent()
    scored, used = len(progress.scored), progress.spent / progress.plan.ceiling
    return Spent(used, used * len(progress.units) / scored if scored >= ENOUGH else None)


def _count_score(score: Score) -> None:
    telemetry.EVALUATION_ITEMS.labels(event="scored").inc()
    run, simulated = score.run, str(score.run.simulated).lower()
    telemetry.EVALUATION_COST.labels(simulated=simulated).inc(run.charge / MICRO)
    telemetry.EVALUATION_LOST.labels(simulated=simulated).inc(run.lost / MICRO)
    if (reason := _missing(score)) is not None:
        telemetry.EVALUATION_MISSING.labels(reason=reason).inc()


def _missing(score: Score) -> str | None:
    """Why a score has no answer, where it has none."""
    match score:
        case QuestionScore():
            return score.why_none
        case CriticScore():
            return "noCritique" if score.yes is None else None
        case PairScore():
            return "noModeration" if score.conclusion is None else None
        case _:
            assert_never(score)


def _count_looks(progress: Progress) -> None:
    """Count the looks that the first score of an evaluation is, a set that it asks held after another."""
    for asked in progress.registered.sets:
        if asked.split == "held":
            left = progress.registered.rules.held_looks - 1 - (asked.looks + 1)
            standing = "good" if left > 0 else "worn" if left else "last"
            telemetry.EVALUATION_LOOKS.labels(standing=standing).inc()


def _simulated(progress: Progress | None) -> str:
    scored = progress.scored.values() if progress is not None else ()
    return str(any(entry.score.get("run", {}).get("simulated", False) for entry in scored)).lower()
