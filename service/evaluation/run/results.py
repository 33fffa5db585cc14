"""From the recorded scores of an evaluation to its result: a function of its entries and its sets alone."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from service.evaluation.run.progress import Progress
from service.evaluation.scoring import (
    Case,
    Circumstances,
    Result,
    Score,
    Scored,
    SetShown,
    Wear,
    cases_of,
    conclude,
    result_hash,
    shown_set,
)
from service.evaluation.scoring.result import encode, headline
from service.evaluation.sets.golden_set import GoldenSet


class Conclusion(Struct, frozen=True):
    """A result as it is recorded: the hash of its compared part, its finding, and the whole as JSON."""

    hash: str
    finding: str
    result: bytes


def conclusion_of(progress: Progress, sets: Mapping[str, GoldenSet]) -> Conclusion:
    """The conclusion of an evaluation whose scores are all there. Takes seconds for large sets."""
    result = result_of(progress, sets)
    return Conclusion(result_hash(result), headline(result), encode(result))


def result_of(progress: Progress, sets: Mapping[str, GoldenSet]) -> Result:
    """The result of the scores so far; raises `KeyError` where a set is not at hand."""
    registered = progress.registered
    scores = [
        Scored(unit.set, unit.item, unit.arm, unit.repeat, msgspec.convert(entry.score, Score))
        for unit, entry in progress.scored.items()
    ]
    # A model of which policy does not say when its training ended may have seen a published set.
    rules = registered.rules
    cutoffs = {seat.alias: rules.cutoffs.get(seat.alias) for one in scores for seat in one.score.run.seats}
    cases, shown = list[Case](), list[SetShown]()
    for asked in registered.sets:
        golden = sets[asked.id]
        cases += cases_of(golden.asked, golden.labels(asked.split, allow_held=True), asked.split)
        shown.append(shown_set(golden.asked, asked.split, Wear(asked.looks + 1, rules.held_looks), cutoffs))
    about = Circumstances(
        changed=progress.changed,
        asked_under=registered.plan_hash,
        stopped=progress.stopped.why if progress.stopped else None,
        limits=rules.release,
    )
    return conclude(progress.plan, cases, shown, scores, about)
