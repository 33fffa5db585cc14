"""What a setting is: a plan with its items, what is observed of them in a run, and what is true of it.

A *truth* is the value that an interval of the result has to hold. A *claim* is something that a result may say wrongly,
with the rate at which it may: the one that the report, the plan or a test's level states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, cached_property
from typing import Literal, NamedTuple

from msgspec import Struct

from service.evaluation.plan.model import Plan
from service.evaluation.scoring import Case, Observed, Result, Scored, SetShown, cases_of, conclude, score
from service.evaluation.scoring.cases import Wear, shown_set
from service.evaluation.sets.files import GOLDEN, load_shipped
from service.evaluation.sets.form import Split
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.items import Item, ItemSet
from service.evaluation.sets.labels import Label
from service.evaluation.sets.manifest import Manifest, Splits
from tests.recovery.draws import Draws

Kind = Literal["exact", "other"]
NOMINAL: Mapping[Kind, float] = {"exact": 0.95, "other": 0.92}
"""How often an interval of 95 % has to hold the truth: one that is exact by construction, and any other."""


class Truth(NamedTuple):
    """The value that the interval of a figure has to hold. ``of`` names an object within its output, if it is in one.

    ``claimed`` is false where the result itself says that the interval does not decide: it is counted and shown.
    """

    figure: str
    value: float
    kind: Kind
    of: str | None = None
    claimed: bool = True


class Claim(NamedTuple):
    """What may be said wrongly in at most ``rate`` of all cases; ``seen`` gives (wrong, of) for a result."""

    what: str
    rate: float
    seen: Callable[[Result], tuple[int, int]]


class Asked(NamedTuple):
    """Items of one set with their labels."""

    items: ItemSet
    labels: Mapping[str, Label]


class Setting(Struct, frozen=True, dict=True):
    """Something that is known to be true, and is measured many times.

    ``observed`` gives what is seen of an item in an arm; it is shown the label, as a simulated model is.
    """

    name: str
    about: str
    plan: Plan
    asked: tuple[Asked, ...]
    observed: Callable[[Draws, str, Item, Label], Observed]
    truths: tuple[Truth, ...]
    claims: tuple[Claim, ...]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All items, joined with their labels as a run joins them."""
        return tuple(case for one in self.asked for split in SPLITS for case in cases_of(one.items, one.labels, split))

    @cached_property
    def sets(self) -> tuple[SetShown, ...]:
        """The sets, as a report names them."""
        return tuple(shown_set(one.items, "held", Wear(), {}) for one in self.asked)

    def run(self, seed: int) -> Result:
        """The result of the run with this seed: every observation scored, and all scores concluded."""
        return conclude(self.plan, self.cases, self.sets, list(self._scores(Draws(self.name, seed))))

    def _scores(self, draws: Draws) -> Iterator[Scored]:
        for set_ in self.asked:
            for item in set_.items.active():
                label = set_.labels[item.id]
                for arm in self.plan.arms:
                    seen = self.observed(draws, arm.name, item, label)
                    found = score(set_.items, item, label, seen)
                    yield Scored(set_.items.manifest.id, item.id, arm.name, 1, found)


SPLITS: tuple[Split, ...] = ("open", "held")


@cache
def shipped(kind: str) -> tuple[GoldenSet, ...]:
    """The shipped sets of a kind."""
    return tuple(load_shipped(folder) for folder in sorted(GOLDEN.glob(f"*-{kind}")))


def a_set(id_: str, kind: str, items: Sequence[Item], texts: Mapping[str, str]) -> ItemSet:
    """A set of these items; ``id_`` begins with its task type."""
    manifest = Manifest(
        id=id_,
        version=1,
        task_type=id_.partition("-")[0],
        kind=kind,  # type: ignore[arg-type]
        labelled_by="the authors",
        labelling="Each was written with its label.",
        basis="construction",
        licence="ours",
        splits=Splits("For work.", "For claims."),
        answers=("yes", "no") if kind == "questions" else None,
        retired={},
        published=date(2026, 11, 1),
    )
    return ItemSet(manifest, f"{len(items):064x}", tuple(items), texts)


def any_finding(result: Result, *outcomes: str) -> bool:
    """Whether a finding of the result is one of these."""
    return any(finding.outcome in outcomes for finding in result.findings)


def whether(holds: Callable[[Result], bool]) -> Callable[[Result], tuple[int, int]]:
    """One case for each result."""
    return lambda result: (int(holds(result)), 1)
