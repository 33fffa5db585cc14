"""The replayed debate: every entry follows from those before it, and the outcome follows from all of them."""

from __future__ import annotations

from hashlib import sha256

from service.audit.record import leaf_hash
from service.debate.entries import CaseReceived, DebateConcluded, EvaluationItem, kind
from service.debate.kernel import decide
from service.debate.model import Conclude
from service.verify.opened_bundle import LegalDebate, OpenedBundle
from service.verify.steps import Differs, NotCheckable, expect


def check_moves(debate: LegalDebate) -> str:
    """Check that every entry is legal in its place, by the format's version with which the debate began."""
    n = debate.legal
    last = n == len(debate.entries) - 1 and isinstance(debate.entries[n], DebateConcluded)  # `outcome` judges the last
    if n < len(debate.entries) and not last:
        raise Differs(
            f"{kind(debate.entries[n])} does not follow from the entries before it: {debate.illegal}", record=n
        )
    if debate.gap:
        raise NotCheckable(debate.gap)
    started = debate.started if len(debate.entries) > 2 else None
    rules = started.format if started else "the gate"
    return f"{len(debate.entries)} entries, each legal after those before it by the rules of {rules}"


def check_seed(evidence: OpenedBundle) -> str:
    """Check that entries are legal, and that the seed is one that no writer can choose."""
    detail = check_moves(evidence.debate)
    expect_seed(evidence.debate, leaf_hash(evidence.records[0].leaf).hex())
    return detail


def expect_seed(debate: LegalDebate, first: str) -> None:
    """Check the seed of a debate that has started: the hash of its case's leaf, ``first``, or that of a plan.

    It is a plan's where the case is an item of an evaluation, and there alone: then item, arm and run follow from the
    plan, which was registered before.
    """
    started = debate.started if len(debate.entries) > 2 else None
    if started is None:
        return
    case = debate.entries[0]
    item = case.evaluation if isinstance(case, CaseReceived) else None
    expect("the origin of the seed", None if item is None else "plan", started.seed_from, record=2)
    expect("the seed", first if item is None else _planned(item), started.seed, record=2)


def _planned(item: EvaluationItem) -> str:
    # Not the seed that `service.debate.entries` makes, on purpose: an error in one of the two shows here.
    words = [item.plan, item.item, item.arm, f"{item.repeat:d}"]
    return sha256(b"\n".join(word.encode() for word in words)).hexdigest()


def check_outcome(debate: LegalDebate, status: str | None = None) -> str:
    """Check that the recorded outcome follows from the entries; ``status`` is the manifest's claim."""
    last = len(debate.entries) - 1
    if debate.gap or debate.legal < last:
        raise NotCheckable(debate.gap or f"record {debate.legal} does not follow from those before it")
    if debate.started is None:
        found = "declined"
        _stated(status, found)
        return "the gate declined; there was no debate"
    entry = debate.entries[last]
    if not isinstance(entry, DebateConcluded):
        raise NotCheckable("the debate is not concluded")
    move = decide(debate.facts)
    if not isinstance(move, Conclude):
        raise Differs("the next move", str(move.__struct_config__.tag), "conclude", record=last)
    expect("the outcome", move.outcome, entry.outcome, record=last)
    if debate.legal < len(debate.entries):
        raise Differs(f"debate.concluded does not follow from the entries before it: {debate.illegal}", record=last)
    _stated(status, entry.outcome.status)
    outcome = entry.outcome
    return f"{outcome.status} for {outcome.stop_reason}, confidence {outcome.confidence_level or 'none'}"


def _stated(status: str | None, found: str) -> None:
    if status is not None:
        expect("the status", found, status, file="manifest.json")
