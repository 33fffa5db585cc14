"""Scores laid out by arm, item and repeat, in one order whatever order they came in; and denominators that add up.

A score that the plan does not know, or knows only once, is refused: a result must not depend on which of two it took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Generic, TypeVar

from service.errors import InvalidCase, together
from service.evaluation.plan.model import Plan, plan_hash
from service.evaluation.scoring.cases import Case, Key
from service.evaluation.scoring.result import Counts
from service.evaluation.scoring.scores import CriticScore, PairScore, QuestionScore, Score, Scored

S = TypeVar("S", QuestionScore, CriticScore, PairScore)
NOT_SCORED = "notScored"
"""Why an answer is missing where the run ended before it."""


class UnplannedScore(InvalidCase):
    """A score that does not belong to the plan, or stands there twice."""

    code = "unplanned_score"
    title = "A score does not belong to the plan"


class Grid(Generic[S]):
    """The scores of one kind. ``cases`` are all that was asked, by key; ``planned`` counts the items of the sets.

    A fixed plan asks every item, so an item that was not reached is missing. A sequence ends at a look: what lies
    behind the last item that has a score, in the plan's own order, was not asked.
    """

    def __init__(
        self,
        plan: Plan,
        cases: Sequence[Case],
        scores: Iterable[Scored],
        kind: type[S],
        asked_under: str | None = None,
    ) -> None:
        self.plan = plan
        self.cases = tuple(sorted(cases, key=lambda case: case.key))
        self.planned = len(self.cases)
        self._hash = asked_under or plan_hash(plan)
        self._at: dict[tuple[str, Key, int], S] = {}
        faults = list(self._fill(scores, kind))
        if len({case.key for case in self.cases}) != len(self.cases):
            faults.append(UnplannedScore("expected each item of a set once, found one again"))
        if faults:
            raise together(faults)
        if plan.stopping == "sequence":
            reached = {key for _, key, _ in self._at}
            last = max((self.place(case) for case in self.cases if case.key in reached), default=b"")
            self.cases = tuple(case for case in self.cases if self.place(case) <= last)

    def place(self, case: Case) -> bytes:
        """An item's place in the order in which the plan asks, by the plan's hash."""
        return sha256("\n".join((self._hash, *case.key)).encode()).digest()

    def _fill(self, scores: Iterable[Scored], kind: type[S]) -> Iterator[UnplannedScore]:
        arms = {arm.name for arm in self.plan.arms}
        keys = {case.key for case in self.cases}
        for one in scores:
            at = (one.arm, (one.set_, one.item), one.repeat)
            where = f"the score of item {one.item} of set {one.set_} in arm {one.arm}, repeat {one.repeat}"
            if at in self._at:
                yield UnplannedScore(f"{where}, stands there twice; expected one")
            elif one.arm not in arms or at[1] not in keys or not 1 <= one.repeat <= self.plan.repeats:
                yield UnplannedScore(f"{where}, is not in the plan")
            elif not isinstance(one.score, kind):
                yield UnplannedScore(f"{where}, is of another kind than the plan's")
            else:
                self._at[at] = one.score

    def runs(self, arm: str, case: Case) -> tuple[S | None, ...]:
        """The scores of an item in an arm by repeat; ``None`` for a run that is not scored."""
        return tuple(self._at.get((arm, case.key, repeat)) for repeat in range(1, self.plan.repeats + 1))

    def first(self, arm: str, case: Case) -> S | None:
        """The score of an item's first run in an arm."""
        return self._at.get((arm, case.key, 1))

    def scored(self, arm: str) -> tuple[S, ...]:
        """All scores of an arm, in the order of items and repeats."""
        return tuple(run for case in self.cases for run in self.runs(arm, case) if run is not None)


def count(reasons: Iterable[str | None]) -> Counts:
    """A denominator of as many as are given: ``None`` is an answer, anything else why one is missing."""
    given = list(reasons)
    missing = Counter(reason for reason in given if reason is not None)
    return Counts(len(given), len(given) - missing.total(), dict(sorted(missing.items())))


def models_of(scores: Iterable[Score]) -> tuple[str, ...]:
    """Every model that sat in a seat, in words: ``critic: alias (vendor's name)``."""
    seen = {f"{s.seat}: {s.alias} ({s.model})" for score in scores for s in score.run.seats}
    return tuple(sorted(seen))


def prompts_of(scores: Iterable[Score]) -> tuple[str, ...]:
    """The hashes of the pinned prompts by which debates asked."""
    return tuple(sorted({score.run.prompts for score in scores} - {""}))


def lost(scores: Iterable[Score]) -> int:
    """Micro-dollars charged for calls that were lost with their worker."""
    return sum(score.run.lost for score in scores)
