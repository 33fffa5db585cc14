"""Where an evaluation stands after its entries, and which entry may follow which.

first                    evaluation.registered, with the number 0; no limit of a release looser than the shipped one
evaluation.registered    again, before a stop: the same sets, rules, arms, models, pins, repeats and seed; what it is
                         judged by (margin, alpha, ...) may change, and after the first score the evaluation is
                         exploratory for good
evaluation.proven        once, before the first unit is asked and before a stop
item.asked               a unit of the plan that was not asked, in the order of `units_of`; not before the registration
                         is proven, and not after a stop
item.scored              a unit that was asked, with its debate, once; not after a stop because of a set
evaluation.stopped       once, before the conclusion
evaluation.concluded     once, when nothing asked is without a score, and every unit was asked or something stopped
                         or settled it; nothing follows
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from service.audit.evaluation_events import (
    EvaluationConcluded,
    EvaluationEntry,
    EvaluationProven,
    EvaluationRegistered,
    EvaluationStopped,
    ItemAsked,
    ItemScored,
)
from service.audit.evaluation_rules import looser_limits
from service.debate.amounts import MicroUSD
from service.errors import IllegalEntry
from service.evaluation.plan.model import Plan, plan_hash, plan_of
from service.evaluation.run.units import Unit, units_an_item, units_of

JUDGED = frozenset(
    {
        "name",
        "question",
        "comparisons",
        "metric",
        "alpha",
        "margin",
        "missing_limit",
        "groups",
        "stopping",
        "look_every",
        "ceiling",
        "effect",
        "exploratory",
    }
)
"""The members of a plan that may change after it is registered: none of them enters a request."""


class _Run(Struct, frozen=True):
    charge: MicroUSD = 0
    lost: MicroUSD = 0


class ScoreSeen(Struct, frozen=True):
    """What a move needs of a score: whether it is right, where that is asked, and what it cost."""

    run: _Run
    right: bool | None = None

    @property
    def spent(self) -> MicroUSD:
        """All that was charged, lost calls too: the ceiling holds for both."""
        return self.run.charge + self.run.lost


class Progress:
    """The entries so far. `take` adds one or refuses it, and leaves everything as it was then."""

    def __init__(self, first: EvaluationEntry) -> None:
        if not isinstance(first, EvaluationRegistered) or first.n:
            raise IllegalEntry("an evaluation begins with evaluation.registered, whose number is 0")
        self.registered = first
        """The first registration: its plan's hash names the plan under which every item is asked."""
        self.plan = _plan(first)
        """The plan as it was last registered."""
        self.units = units_of(self.plan, first.plan_hash, first.sets)
        self.most: Mapping[str, MicroUSD] = {quoted.arm: quoted.most for quoted in first.quote}
        """What one debate of an arm costs at most."""
        self.proven: EvaluationProven | None = None
        self.asked: dict[Unit, str] = {}
        self.under_way: dict[Unit, str] = {}
        """The units that were asked and have no score, with their debates, in the order of the plan."""
        self.scored: dict[Unit, ItemScored] = {}
        self.seen: dict[Unit, ScoreSeen] = {}
        """What moves need of the scores."""
        self.stopped: EvaluationStopped | None = None
        self.concluded: EvaluationConcluded | None = None
        self.changed = False
        """Whether the plan was changed after the first score."""
        self.spent: MicroUSD = 0
        self.next_n = 1
        self._debates: set[str] = set()
        if looser := looser_limits(first.rules.release):
            raise IllegalEntry(f"a release is never looser than the shipped limits; looser: {', '.join(looser)}")
        if missing := {arm.name for arm in self.plan.arms} - set(self.most):
            raise IllegalEntry(f"a registration quotes every arm; no quote of {', '.join(sorted(missing))}")

    @classmethod
    def of(cls, entries: Iterable[EvaluationEntry]) -> Progress:
        """The evaluation after all of its entries; raises `IllegalEntry`."""
        rest = iter(entries)
        first = next(rest, None)
        if first is None:
            raise IllegalEntry("an evaluation begins with evaluation.registered; there is no entry")
        progress = cls(first)
        for entry in rest:
            progress.take(entry)
        return progress

    @property
    def evaluation(self) -> str:
        """The id of the evaluation."""
        return self.registered.evaluation

    @property
    def exploratory(self) -> bool:
        """Whether the result supports no claim: the plan says so, or it was changed after the first score."""
        return self.plan.exploratory or self.changed

    @property
    def is_over(self) -> bool:
        """Whether nothing ever follows: it is concluded, or was stopped by a set, without which there is no result."""
        return self.concluded is not None or (self.stopped is not None and self.stopped.by == "set")

    def items_scored(self) -> int:
        """How many items, from the first one of the order, have all of their scores."""
        each = units_an_item(self.plan)
        for at in range(0, len(self.units), each):
            if any(unit not in self.scored for unit in self.units[at : at + each]):
                return at // each
        return len(self.units) // each

    def take(self, entry: EvaluationEntry) -> None:
        """Add the next entry; raises `IllegalEntry` and changes nothing where it does not follow."""
        if entry.evaluation != self.evaluation or entry.n != self.next_n:
            raise IllegalEntry(
                f"expected entry {self.next_n} of {self.evaluation}, found {entry.n} of {entry.evaluation}"
            )
        if self.concluded is not None:
            raise IllegalEntry("the evaluation is concluded; nothing follows")
        match entry:
            case EvaluationRegistered():
                self._change(entry)
            case EvaluationProven():
                self._prove(entry)
            case ItemAsked():
                self._ask(entry)
            case ItemScored():
                self._score(entry)
            case EvaluationStopped():
                if self.stopped is not None:
                    raise IllegalEntry("the evaluation was stopped before")
                self.stopped = entry
            case EvaluationConcluded():
                self._conclude(entry)
        self.next_n += 1

    def _change(self, entry: EvaluationRegistered) -> None:
        if self.stopped is not None:
            raise IllegalEntry("a plan is not changed after the evaluation was stopped")
        plan = _plan(entry)
        names = (name for name in Plan.__struct_fields__ if getattr(plan, name) != getattr(self.plan, name))
        if fixed := [name for name in names if name not in JUDGED]:
            raise IllegalEntry(f"{', '.join(fixed)} cannot change once items may have been asked; register a new plan")
        if entry.sets != self.registered.sets:
            raise IllegalEntry("the sets of a changed plan are those of the first one")
        if entry.rules != self.registered.rules:
            raise IllegalEntry("what policy decides of an evaluation is what it decided when that was registered")
        self.plan = plan
        self.changed = self.changed or bool(self.scored)

    def _prove(self, entry: EvaluationProven) -> None:
        if self.proven is not None:
            raise IllegalEntry("the registration was proven before")
        if self.stopped is not None:
            raise IllegalEntry("nothing is proven after the evaluation was stopped")
        self.proven = entry

    def _ask(self, entry: ItemAsked) -> None:
        if self.proven is None:
            raise IllegalEntry("nothing is asked before a checkpoint over the registration is recorded")
        if self.stopped is not None:
            raise IllegalEntry("nothing is asked after the evaluation was stopped")
        unit, due = Unit.of(entry), len(self.asked)
        if unit in self.asked:
            raise IllegalEntry(f"{unit.item} in {unit.arm} was asked before, for repeat {unit.repeat}")
        if due >= len(self.units) or unit != self.units[due]:
            raise IllegalEntry(f"{unit.item} in {unit.arm}, repeat {unit.repeat}, is not what is asked next")
        if entry.debate in self._debates:
            raise IllegalEntry(f"debate {entry.debate} answers another unit of this evaluation")
        self.asked[unit] = self.under_way[unit] = entry.debate
        self._debates.add(entry.debate)

    def _score(self, entry: ItemScored) -> None:
        if self.stopped is not None and self.stopped.by == "set":
            raise IllegalEntry("nothing is scored after a set is gone")
        unit = Unit.of(entry)
        if self.asked.get(unit) != entry.debate or unit in self.scored:
            raise IllegalEntry(f"{unit.item} in {unit.arm}, repeat {unit.repeat}, has no such debate without a score")
        seen = _seen(entry)
        self.scored[unit] = entry
        del self.under_way[unit]
        self.seen[unit] = seen
        self.spent += seen.spent

    def _conclude(self, entry: EvaluationConcluded) -> None:
        if len(self.scored) < len(self.asked):
            raise IllegalEntry("an evaluation is concluded when everything asked is scored")
        if self.stopped is not None and self.stopped.by == "set":
            raise IllegalEntry("an evaluation without its set has no result")
        if self.stopped is None and self.plan.stopping == "fixed" and len(self.scored) < len(self.units):
            raise IllegalEntry("an evaluation with a fixed plan is concluded when every unit is scored")
        if entry.exploratory != self.exploratory:
            raise IllegalEntry(f"expected exploratory {self.exploratory} by plan and changes")
        self.concluded = entry


def _seen(entry: ItemScored) -> ScoreSeen:
    try:
        return msgspec.convert(entry.score, ScoreSeen)
    except msgspec.ValidationError as error:
        raise IllegalEntry(f"the score of {entry.item} in {entry.arm} cannot be read: {error}") from error


def _plan(entry: EvaluationRegistered) -> Plan:
    try:
        plan = plan_of(entry.plan)
    except ValueError as error:
        raise IllegalEntry(f"the registered plan cannot be read: {error}") from error
    if plan_hash(plan) != entry.plan_hash:
        raise IllegalEntry("the registered plan does not have the hash that is recorded with it")
    if [(s.id, s.version, s.sha256, s.split) for s in plan.sets] != [
        (s.id, s.version, s.sha256, s.split) for s in entry.sets
    ]:
        raise IllegalEntry("the registered sets are not those of the plan")
    return plan
