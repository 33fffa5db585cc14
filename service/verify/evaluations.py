"""The evaluations of an export: their entries follow each other, and their scores and results are computed again.

    order       every entry may follow those before it, under a plan that has its hash (`run.progress`)
    question    the registration stands in the log before the first case that it asks
    items       each debate that an entry names is marked with this evaluation, plan, set, item, arm and repeat
    scores      stand behind the end of their debate; with the golden sets each is computed again from its records
    results     with the golden sets the result of all scores is computed again, and has the recorded hash

An evaluation whose registration is in an earlier log is not followed: its entries are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.audit import log_events
from service.audit.evaluation_events import (
    EvaluationEntry,
    EvaluationRegistered,
    ItemAsked,
    ItemScored,
)
from service.audit.record import Envelope
from service.debate.entries import CaseReceived, DebateConcluded, Entry, EvaluationItem, GateDecided
from service.errors import IllegalEntry
from service.evaluation.run.progress import Progress
from service.evaluation.run.results import conclusion_of
from service.evaluation.run.units import Unit
from service.evaluation.scoring import observe, score
from service.evaluation.sets.golden_set import GoldenSet
from service.verify.opened_bundle import read_payload
from service.verify.steps import Differs, NotCheckable, expect

KINDS = frozenset({"evaluation.registered", "item.asked", "item.scored", "evaluation.stopped", "evaluation.concluded"})
"""The kinds of an evaluation's entries."""
_CASE = str(CaseReceived.__struct_config__.tag)
_MARK = b'"evaluation":{'


class _Debate:
    """A debate of an evaluation: what its case says of it, where that stands, and its entries so far."""

    def __init__(self, item: EvaluationItem, index: int) -> None:
        self.item, self.index = item, index
        self.entries: list[Entry] = []
        self.over = False


class Evaluations:
    """Takes every record of a log in order; with ``sets`` (golden sets by id) it keeps what is to be computed again."""

    def __init__(self, sets: Mapping[str, GoldenSet] | None = None) -> None:
        self._sets = sets
        self._followed: dict[str, tuple[Progress, int]] = {}
        self._debates: dict[str, _Debate] = {}
        self._partial: set[str] = set()

    def take(self, envelope: Envelope, payload: bytes, index: int) -> None:
        """The next record; raises `Differs` where it is an entry that may not stand there."""
        if envelope.kind in KINDS:
            try:
                self._follow(log_events.decode_evaluation(payload), index)
            except IllegalEntry as error:
                raise Differs(
                    "the next entry of an evaluation", "one that may follow", error.detail, record=index
                ) from error
        elif envelope.kind == _CASE and _MARK in payload:
            entry = read_payload(payload, envelope)[0]
            if isinstance(entry, CaseReceived) and entry.evaluation is not None:
                self._debates[envelope.debate] = _Debate(entry.evaluation, index)
        if (debate := self._debates.get(envelope.debate)) is not None:
            self._add(debate, envelope, payload)

    def _add(self, debate: _Debate, envelope: Envelope, payload: bytes) -> None:
        entry = read_payload(payload, envelope)[0]
        debate.over = debate.over or isinstance(entry, DebateConcluded)
        debate.over = debate.over or (isinstance(entry, GateDecided) and not entry.decision.debate)
        if self._sets is not None and entry is not None:
            debate.entries.append(entry)

    def _follow(self, entry: EvaluationEntry, index: int) -> None:
        found = self._followed.get(entry.evaluation)
        if found is None:
            if isinstance(entry, EvaluationRegistered) and entry.n == 0:
                self._followed[entry.evaluation] = Progress(entry), index
            elif entry.evaluation not in self._partial and entry.n == 0:
                raise IllegalEntry("an evaluation begins with evaluation.registered")
            else:
                self._partial.add(entry.evaluation)
            return
        progress, begun = found
        progress.take(entry)
        if isinstance(entry, ItemAsked):
            self._expect_marked(entry, progress, begun, index)
        if isinstance(entry, ItemScored) and not self._debates[entry.debate].over:
            raise Differs("a score", "one behind the end of its debate", "one before it", record=index)

    def _expect_marked(self, entry: ItemAsked, progress: Progress, begun: int, index: int) -> None:
        debate = self._debates.get(entry.debate)
        if debate is None:
            raise Differs("the debate of an item", "one of this log", entry.debate, record=index)
        if debate.index < begun:
            raise Differs("the registration of a plan", "before the first case that it asks", "after it", record=begun)
        first = progress.registered
        hashed = next((asked.sha256 for asked in first.sets if asked.id == entry.set), "")
        marked = EvaluationItem(entry.evaluation, first.plan_hash, hashed, entry.item, entry.arm, entry.repeat)
        expect("what a case says of its evaluation", marked, debate.item, record=debate.index)

    def words(self) -> str:
        """What was followed; empty where there is no evaluation."""
        if not self._followed and not self._partial:
            return ""
        partly = f", {len(self._partial)} of an earlier log" if self._partial else ""
        return f"{len(self._followed)} evaluations, each entry after those before it{partly}"

    def end(self) -> str:
        """Compute scores and results again; raises `Differs`, and `NotCheckable` without a set."""
        sets = self._sets or {}
        scores = results = 0
        for progress, _ in self._followed.values():
            _expect_sets(progress, sets)
            for unit, entry in progress.scored.items():
                self._compute(progress, unit, entry, sets[unit.set])
                scores += 1
            if progress.concluded is not None:
                found = conclusion_of(progress, sets)
                expect("the hash of a result", progress.concluded.result, found.hash)
                expect("the finding of a result", progress.concluded.finding, found.finding)
                results += 1
        if self._partial:
            raise NotCheckable(f"{len(self._partial)} evaluations were registered in an earlier log")
        return f"{len(self._followed)} evaluations: {scores} scores and {results} results computed again"

    def _compute(self, progress: Progress, unit: Unit, entry: ItemScored, golden: GoldenSet) -> None:
        split = next(asked.split for asked in progress.registered.sets if asked.id == unit.set)
        label = golden.labels(split, allow_held=True)[unit.item]
        found = score(golden.asked, golden.asked.item(unit.item), label, observe(self._debates[entry.debate].entries))
        what = f"the score of {unit.item} in {unit.arm}, repeat {unit.repeat}: "
        expect(what, entry.score, msgspec.json.decode(msgspec.json.encode(found)))


def _expect_sets(progress: Progress, sets: Mapping[str, GoldenSet]) -> None:
    for asked in progress.registered.sets:
        if (golden := sets.get(asked.id)) is None:
            raise NotCheckable(f"the golden set {asked.id} was not given; name its folder with --sets")
        expect(f"the hash of the golden set {asked.id}", asked.sha256, golden.hash)
