"""The evaluations of an export: their entries follow each other, and their scores and results are computed again.

    order       every entry may follow those before it, under a plan that has its hash (`run.progress`)
    question    the registration stands in the log before the first case that it asks, and behind it, before that case
                too, the checkpoint that covers it: signed, so it was in hand (step *plans*)
    items       each debate that an entry names is marked with this evaluation, plan, set, item, arm and repeat
    scores      stand behind the end of their debate; with the golden sets each is computed again from its records
    results     with the golden sets the result of all scores is computed again, and has the recorded hash

All records of an evaluation, and of its debates, are those of one log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import get_args

import msgspec

from service.audit import log_events
from service.audit.checkpoint import Checkpoint
from service.audit.evaluation_events import (
    EvaluationEntry,
    EvaluationProven,
    EvaluationRegistered,
    ItemAsked,
    ItemScored,
)
from service.audit.proof import parse_proof
from service.audit.record import Envelope
from service.audit.tree import verify_inclusion
from service.debate.entries import CaseReceived, DebateConcluded, Entry, EvaluationItem, GateDecided
from service.errors import IllegalEntry
from service.evaluation.run.progress import Progress
from service.evaluation.run.results import conclusion_of
from service.evaluation.run.units import Unit
from service.evaluation.scoring import observe, score
from service.evaluation.sets.golden_set import GoldenSet
from service.verify import log
from service.verify.lines import check_lines
from service.verify.opened_bundle import KINDS as ENTRY_KINDS
from service.verify.opened_bundle import read_payload
from service.verify.steps import Differs, NotCheckable, Trust, at, expect, when

KINDS = frozenset(str(entry.__struct_config__.tag) for entry in get_args(EvaluationEntry))
"""The kinds of an evaluation's entries."""
SAID_MAX = 20
"""Evaluations whose proof a result shows; all are checked."""
_CASE = str(CaseReceived.__struct_config__.tag)
_OTHERS = ENTRY_KINDS.union(log_events.KINDS) - KINDS - {_CASE}
"""Kinds that say nothing of an evaluation, but in one of its debates."""
_MARK = b'"evaluation":{'


class Answering:
    """A debate of an evaluation: what its case says of it, where that stands, its entries and its last record so far.

    ``last`` is the index of that record, and the hash of its leaf.
    """

    def __init__(self, item: EvaluationItem, index: int, leaf: bytes) -> None:
        self.item, self.index = item, index
        self.last = index, leaf
        self.entries: list[Entry] = []
        self.over = False


class Followed:
    """An evaluation whose registration is there: its entries, and where registration and its proof stand."""

    def __init__(self, first: EvaluationRegistered, index: int, leaf: bytes) -> None:
        self.progress, self.index, self.leaf = Progress(first), index, leaf
        self.proven_at = -1

    def plan_proven(self, head: Checkpoint, trust: Trust) -> str:
        """That a checkpoint over the registration was signed before the first case; ``head`` is that of the records.

        1. The proof is of this registration, under a checkpoint of its log that a pinned key signed.
        2. The checkpoint is older than the record that has it; every case stands behind that record (`Evaluations`).
        3. Witnesses that are pinned say when they saw it.

        Raises `Differs` and `NotCheckable`.
        """
        entry = self.progress.proven
        if entry is None:
            return "nothing asked"
        with at(record=self.proven_at):
            # 1
            proof = parse_proof(entry.proof.encode())
            note, found = log.read_head(proof.checkpoint)
            expect("extra data beside a proof", None, proof.extra)
            expect("the log of the checkpoint that proves a plan", head.origin, found.origin)
            expect("the place of the registration that a checkpoint proves", self.index, proof.index)
            verify_inclusion(self.leaf, proof.index, found.size, proof.path, found.root)
            gap = _gap(lambda: log.check_signature(note, found, trust))
            # 2
            if found.size > self.proven_at:
                what = "the size of the checkpoint that proves a plan"
                raise Differs(what, f"at most {self.proven_at}", str(found.size))
            if found.size == head.size:
                expect("the root of the checkpoint that proves a plan", head.root.hex(), found.root.hex())
            # 3
            gap = gap or _gap(lambda: check_lines([(f"record {self.proven_at}", found.origin, note, None)], trust))
            times = sorted(log.countersigned(note, found, trust).values())
            if trust.witnesses and len(times) < trust.quorum:
                gap = gap or NotCheckable(
                    f"LOOSELY DATED: the checkpoint in record {self.proven_at}, over the plan of evaluation "
                    f"{entry.evaluation}, was not countersigned by the quorum, so no witness says when it was there",
                    allowed=trust.allow_loose_times,
                )
        if gap is not None:
            raise gap
        since = f", countersigned at {when(times[trust.quorum - 1])}" if times else ""
        return f"record {self.index} under the checkpoint of {found.size} records{since}, before its first case"


def _gap(check: Callable[[], object]) -> NotCheckable | None:
    """What a check could not check; raises `Differs`."""
    try:
        check()
    except NotCheckable as gap:
        return gap
    return None


class Evaluations:
    """Takes every record of a log in order; with ``sets`` it computes scores and results again at the end.

    ``sets`` are golden sets by id. ``keeps`` is for a caller that has them later.
    """

    def __init__(self, sets: Mapping[str, GoldenSet] | None = None, *, keeps: bool = False) -> None:
        self.sets = sets
        self._keeps = keeps or sets is not None
        self.followed: dict[str, Followed] = {}
        self.debates: dict[str, Answering] = {}
        self.unread = ""
        """Why a record that may be of an evaluation cannot be read; behind it no entry is judged."""

    def pass_over(self, envelope: Envelope | None, why: str) -> None:
        """A record of a later build, with its envelope if that can be read."""
        if envelope is None or envelope.kind not in _OTHERS or envelope.debate in self.debates:
            self.unread = self.unread or why

    def take(self, envelope: Envelope, payload: bytes, index: int, leaf: bytes) -> None:
        """The next record, with the hash of its leaf; raises `Differs` for an entry that may not stand there."""
        if self.unread:
            return
        if envelope.kind in KINDS:
            try:
                self._follow(log_events.decode_evaluation(payload), index, leaf)
            except IllegalEntry as error:
                raise Differs(
                    "the next entry of an evaluation", "one that may follow", error.detail, record=index
                ) from error
        elif envelope.kind == _CASE and _MARK in payload:
            entry = read_payload(payload, envelope)[0]
            if isinstance(entry, CaseReceived) and entry.evaluation is not None:
                self.debates[envelope.debate] = Answering(entry.evaluation, index, leaf)
        if (debate := self.debates.get(envelope.debate)) is not None:
            self._add(debate, envelope, payload, index, leaf)

    def _add(self, debate: Answering, envelope: Envelope, payload: bytes, index: int, leaf: bytes) -> None:
        entry = read_payload(payload, envelope)[0]
        debate.over = debate.over or isinstance(entry, DebateConcluded)
        debate.over = debate.over or (isinstance(entry, GateDecided) and not entry.decision.debate)
        debate.last = index, leaf
        if self._keeps and entry is not None:
            debate.entries.append(entry)

    def _follow(self, entry: EvaluationEntry, index: int, leaf: bytes) -> None:
        found = self.followed.get(entry.evaluation)
        if found is None:
            if isinstance(entry, EvaluationRegistered) and entry.n == 0:
                self.followed[entry.evaluation] = Followed(entry, index, leaf)
            else:
                raise IllegalEntry("an evaluation begins with evaluation.registered, and is of one log")
            return
        found.progress.take(entry)
        if isinstance(entry, EvaluationProven):
            found.proven_at = index
        if isinstance(entry, ItemAsked):
            self._expect_marked(entry, found, index)
        if isinstance(entry, ItemScored) and not self.debates[entry.debate].over:
            raise Differs("a score", "one behind the end of its debate", "one before it", record=index)

    def _expect_marked(self, entry: ItemAsked, found: Followed, index: int) -> None:
        debate = self.debates.get(entry.debate)
        if debate is None:
            raise Differs("the debate of an item", "one of this log", entry.debate, record=index)
        if debate.index < found.index:
            what = "the registration of a plan"
            raise Differs(what, "before the first case that it asks", "after it", record=found.index)
        if debate.index < found.proven_at:
            what = "the checkpoint over a plan"
            raise Differs(what, "before the first case that it asks", "after it", record=found.proven_at)
        first = found.progress.registered
        hashed = next((asked.sha256 for asked in first.sets if asked.id == entry.set), "")
        marked = EvaluationItem(entry.evaluation, first.plan_hash, hashed, entry.item, entry.arm, entry.repeat)
        expect("what a case says of its evaluation", marked, debate.item, record=debate.index)

    def expect_read(self) -> None:
        """Raise `NotCheckable` where a record that may be of an evaluation cannot be read."""
        if self.unread:
            raise NotCheckable(self.unread)

    def words(self) -> str:
        """What was followed, empty where there is no evaluation; raises `NotCheckable`."""
        self.expect_read()
        if not self.followed:
            return ""
        return f"{len(self.followed)} evaluations, each entry after those before it"

    def proven(self, head: Checkpoint, trust: Trust) -> str:
        """That each plan was under a signed checkpoint before its first case; raises `Differs` and `NotCheckable`."""
        said, gap = [], None
        for name, found in self.followed.items():
            try:
                said.append(f"{name}: {found.plan_proven(head, trust)}")
            except NotCheckable as raised:
                gap = raised if gap is None or gap.allowed else gap
        self.expect_read()
        if gap is not None:
            raise gap
        return "; ".join(said[:SAID_MAX]) + (f"; and {len(said) - SAID_MAX} more" if len(said) > SAID_MAX else "")

    def end(self) -> str:
        """Compute scores and results again; raises `Differs`, and `NotCheckable` without a set."""
        sets = self.sets or {}
        scores = results = 0
        gap: NotCheckable | None = None
        for progress in (found.progress for found in self.followed.values()):
            lacking = _gap(partial(_expect_sets, progress, sets))
            gap = gap or lacking
            for unit, entry in progress.scored.items():
                if unit.set in sets:
                    self._compute(progress, unit, entry, sets[unit.set])
                    scores += 1
            if progress.concluded is not None and lacking is None:
                found = conclusion_of(progress, sets)
                expect("the hash of a result", progress.concluded.result, found.hash)
                expect("the finding of a result", progress.concluded.finding, found.finding)
                results += 1
        self.expect_read()
        if gap is not None:
            raise gap
        return f"{len(self.followed)} evaluations: {scores} scores and {results} results computed again"

    def _compute(self, progress: Progress, unit: Unit, entry: ItemScored, golden: GoldenSet) -> None:
        split = next(asked.split for asked in progress.registered.sets if asked.id == unit.set)
        label = golden.labels(split, allow_held=True)[unit.item]
        found = score(golden.asked, golden.asked.item(unit.item), label, observe(self.debates[entry.debate].entries))
        what = f"the score of {unit.item} in {unit.arm}, repeat {unit.repeat}: "
        expect(what, entry.score, msgspec.json.decode(msgspec.json.encode(found)))


def _expect_sets(progress: Progress, sets: Mapping[str, GoldenSet]) -> None:
    missing = [asked.id for asked in progress.registered.sets if asked.id not in sets]
    for asked in progress.registered.sets:
        if asked.id in sets:
            expect(f"the hash of the golden set {asked.id}", asked.sha256, sets[asked.id].hash)
    if missing:
        raise NotCheckable(f"the golden set {missing[0]} was not given; name its folder with --sets")
