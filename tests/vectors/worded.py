"""Debates whose reports say what the recorded ones do not: every flag, cap, reason, notice and verdict that has words.

No kernel played them. They are recorded debates in which every place of a report that chooses between words is filled
with each choice; a report is written from whatever the records hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from service.debate.entries import (
    AttemptFailed,
    CaseReceived,
    Charge,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    Entry,
    FieldChange,
    GateDecided,
    Rule,
    TurnAsked,
    TurnSpoke,
)
from service.debate.findings import (
    ArgumentVerdict,
    CitationsFound,
    CitationVerdict,
    ConvergenceFound,
    CritiqueFound,
    Finding,
)
from service.debate.model import Cap, Force, HumanReview, Outcome, Pair, ValidationFailure
from service.debate.neutral import TAKEN_KINDS
from service.debate.suspicions import InjectionFound, Neutralised, Suspicion
from service.debate.turns import TurnId
from service.report import labels
from service.report.result import would_change
from service.report.result.unseen import UNSEEN_MAX

CHOSEN = ("plain", "retried", "fabricated", "split", "consensus", "judged")
"""The recorded debates that are filled."""


def worded(debates: Iterable[tuple[str, str, list[Entry]]]) -> Iterator[tuple[str, str, list[Entry]]]:
    """A debate of every format for each way to stop that has words, and for each choice of other words."""
    for form, name, entries in debates:
        if name in CHOSEN:
            for n, stop in enumerate(labels.STOP):
                yield form, f"{name}, {stop}", [_worded(entry, n, stop) for entry in _attempted(entries, n)]


def _choose(table: Iterable[str], n: int) -> str:
    choices = list(table)
    return choices[n % len(choices)]


def _attempted(entries: Sequence[Entry], n: int) -> Iterator[Entry]:
    """Each reply after attempts that failed in some of the ways that have words, each with other words on its money."""
    reasons = list(labels.OUTCOME)
    done = 0
    for entry in entries:
        if not isinstance(entry, TurnAsked):
            yield entry
            continue
        yield entry
        for attempt in (1, 2):
            done += 1
            basis = _choose(labels.BASIS, done)
            charge = Charge(700, basis, 10, 20, 30, 40, 50, excess=n * 10, tier="priority")  # type: ignore[arg-type]
            reason = reasons[(2 * done + attempt + n) % len(reasons)]
            yield AttemptFailed(
                entry.turn, attempt, reason, f"it said {reason}", charge, request_id=f"req-{done}", served_model="ash-9"
            )
            yield replace(entry, attempt=attempt + 1)


def _worded(entry: Entry, n: int, stop: str) -> Entry:
    match entry:
        case CaseReceived():
            return replace(entry, case=_case(entry, n))
        case GateDecided():
            return replace(entry, decision=replace(entry.decision, **_decision(n)))
        case DebateStarted():
            return replace(entry, **_start(entry, n))
        case TurnSpoke():
            charge = Charge(900, "usage", 100, 20, 30, 40, 50, excess=5, cache_write_1h_tokens=7, tier="flex")
            entry = replace(entry, attempt=3, charge=charge, served_model="ash-9", request_id="req-0")
            return replace(entry, usage={"input_tokens": 100})
        case CheckFound():
            return replace(entry, finding=_finding(entry.finding, n))
        case DebateConcluded():
            return replace(entry, outcome=_outcome(entry.outcome, n, stop))
    return entry


def _case(entry: CaseReceived, n: int) -> Any:
    return replace(
        entry.case,
        single_agent_answer="Yes.",
        downside_basis="The fees of a year.",
        use_case="Vendor review",
        intended_use="Signing" if n % 2 else None,
        materiality="high",
        asked_task_type="marketing" if n % 2 else None,
        contested=bool(n % 2),
        force=Force(True, "The board asks.") if n % 3 else None,
        metadata={"ticket": "17"},
    )


def _decision(n: int) -> dict[str, Any]:
    effects = list(labels.EFFECT)
    rules = tuple(
        Rule(rule, "0.55", "0.9", bool(i % 2), effects[i % len(effects)])  # type: ignore[arg-type]
        for i, rule in enumerate(labels.RULE)
    )
    changes = tuple(
        (FieldChange(field, relation, ("true", "false") if field == "contested" else (str(n), "7")),)  # type: ignore[arg-type]
        for field in would_change.FIELD
        for relation in would_change.RELATION
    )
    return {
        "decided_by": _choose((*labels.DECIDED, *labels.RULE), n),
        "rules": rules,
        "would_change": (*changes, (*changes[0], *changes[2])),
    }


def _start(entry: DebateStarted, n: int) -> dict[str, Any]:
    first, *others = entry.seats
    pairs = tuple(Pair((first.seat, other.seat), _choose(labels.PAIR, n + i)) for i, other in enumerate(others))  # type: ignore[arg-type]
    return {
        "pairs": pairs,
        "simulated": bool(n % 2),
        "diversity": _choose(labels.DIVERSITY, n),
        "format_reason": "auto: policy names no format for the task type contract, so its usual one",
        "approved_by": "model-risk.example" if n % 2 else "unapproved",
    }


def _finding(finding: Finding, n: int) -> Finding:
    match finding:
        case CritiqueFound():
            signs = tuple(labels.SIGN)
            weak = signs[n % 2 :: 2] if finding.weak else ()
            return replace(finding, weak=weak, soft=signs[1 - n % 2 :: 2], softening=("to be fair",))
        case InjectionFound():
            return InjectionFound(
                (
                    Suspicion("title", (0, 5), "address", "Words", "D1"),
                    Suspicion("document", (4, 9), "verdict", "words", "D1"),
                ),
                neutralised=(
                    Neutralised("document", dict.fromkeys(TAKEN_KINDS, n % 2 + 1), "D1"),
                    *[Neutralised("outputSchema", {"tag": 1}, f"/{at}") for at in range(UNSEEN_MAX if n == 1 else 0)],
                ),
            )
        case ConvergenceFound():
            return finding if finding.converged else replace(finding, why_not=(_choose((*labels.APART, "overlap"), n),))
        case CitationsFound():
            return CitationsFound(tuple(_argument(a, n + i) for i, a in enumerate(finding.arguments)))
    return finding


def _argument(argument: ArgumentVerdict, n: int) -> ArgumentVerdict:
    reason = _choose(labels.REFUSED, n)
    verdict = CitationVerdict(_choose(labels.VERDICT, n), "D1", (4, 28), reason=reason)  # type: ignore[arg-type]
    told = tuple(verdict for _ in argument.verdicts)
    return replace(argument, verdicts=told, struck=_choose(labels.STRUCK, n) if argument.struck else None)


def _outcome(outcome: Outcome, n: int, stop: str) -> Outcome:
    reasons = list(labels.REASON)
    return replace(
        outcome,
        status=_choose(("completed", "truncated", "failed", "aborted"), n),
        stop_reason=stop,
        flags=tuple(labels.FLAG),
        caps=tuple(Cap(reason, _choose(("HIGH", "MODERATE", "LOW"), i)) for i, reason in enumerate(reasons)),  # type: ignore[arg-type]
        human_review=HumanReview(required=True, reasons=tuple(reasons)),
        critical_validation_failures=(
            ValidationFailure(TurnId("1.proposer.1"), 1, "altered", "the cap", "D1"),
            ValidationFailure(TurnId("1.proposer.1"), 2, "not_found", "a floor", "D1", "D2"),
            ValidationFailure(TurnId("1.proposer.1"), 3, "uncited"),
        ),
    )
