"""The row of a decision in a pack, from the records of its bundle alone."""

from __future__ import annotations

from collections.abc import Sequence

from service.audit.pack import COLUMNS, PackedDecision
from service.debate.entries import CaseReceived, DebateConcluded, DebateStarted, Entry, GateDecided
from service.debate.purpose import evaluation_of
from service.errors import IllegalEntry
from service.report.result.build import build_decision


def pack_row(entries: Sequence[Entry], packed: PackedDecision) -> dict[str, str]:
    """The cells by column; raises `IllegalEntry` for entries that are not those of a whole debate."""
    received, decided = entries[0], entries[1]
    decision, first, last = build_decision(entries), packed.first, packed.last
    if decision is None or not isinstance(received, CaseReceived) or not isinstance(decided, GateDecided):
        raise IllegalEntry(f"the debate {first.debate} is not over")
    case, review = received.case, decision.human_review
    started = next((entry for entry in entries if isinstance(entry, DebateStarted)), None)
    concluded = next((entry.outcome for entry in entries if isinstance(entry, DebateConcluded)), None)
    cells = {
        "debate": first.debate,
        "received": first.recorded,
        "decided": last.recorded,
        "log": last.log,
        "index": str(packed.index),
        "taskType": case.task_type,
        "useCase": case.use_case or "",
        "intendedUse": case.intended_use or "",
        "materiality": case.materiality or "",
        "downside": str(case.estimated_downside),
        "question": case.question,
        "status": concluded.status if concluded else "declined",
        "format": started.format if started else "",
        "outcome": decision.outcome,
        "confidence": decision.confidence or "",
        "humanReview": "required" if review.required else "not required",
        "reviewReasons": " ".join(review.reasons),
        "flags": " ".join(concluded.flags if concluded else ()),
        "dissent": decision.dissent.kind if decision.dissent else "",
        "spentUSD": decision.cost.spent_usd,
        "ceilingUSD": decision.cost.ceiling_usd or "",
        "askedBy": first.actor.id,
        "askedByKind": first.actor.kind,
        "askedVia": first.actor.via,
        "policy": decided.decision.policy_version,
        "build": first.build,
        "approvedBy": started.approved_by if started else "",
        "simulated": ("yes" if started.simulated else "no") if started else "",
        "records": str(len(entries)),
        "bundle": packed.path,
        "sha256": packed.sha256,
        "answer": decision.answer,
        "askedRole": first.actor.role,
        "evaluation": item.id if (item := evaluation_of(received.arrival)) else "",
    }
    return {name: cells[name] for name in COLUMNS}
