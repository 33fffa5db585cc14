"""From the recorded lines of a debate to its result."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from service.audit.record import Actor
from service.checks.coverage import DocumentCoverage, coverage
from service.debate.amounts import usd
from service.debate.entries import AttemptFailed, DebateStarted, Entry, GateDecision, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.model import Case, HumanReview, Outcome, Status, TurnId
from service.debate.options import format_of
from service.debate.replies import Closing, Framing, Moderation
from service.debate.suspicions import InjectionFound, Suspicion
from service.money import Ledger
from service.report.formats import Own, Telling, telling_of
from service.report.labels import FLAG, REASON, label_of
from service.report.result.account import attempts, framing_token_cost, overall_cost
from service.report.result.citation_counts import count_citations
from service.report.result.decision import Ended, decide, dissent_of
from service.report.result.decision_types import Decision, DecisionCost
from service.report.result.differing import differing
from service.report.result.dissent import shifts, struck
from service.report.result.dissenters import DISSENTS
from service.report.result.history import Folded, History, refuse_unbegun
from service.report.result.notices import check, notices
from service.report.result.passages import count_passages, turn_passages
from service.report.result.pins import pins_of
from service.report.result.seat_types import SeatDetail
from service.report.result.shown_options import shown_options
from service.report.result.speakers import speaker_of
from service.report.result.summary import Summary, facts_of
from service.report.result.summary_types import CoverageAbsent, CoverageCounts, Labels, ResultLinks
from service.report.result.terms import Terms
from service.report.result.transcript import screening, transcript, weighed
from service.report.result.types import Acted, Gate, Hashes, Line, LogPosition, Result, Spoken
from service.report.result.would_change import would_change

Texts = Mapping[str, str] | None


_CHARGED = (TurnSpoke, AttemptFailed)
Hash = str | None
Position = LogPosition | None


def build_result(
    debate_id: str, lines: Sequence[Line], *, last_record: Hash = None, position: Position = None, texts: Texts = None
) -> Result:
    """The result of a debate up to its last line: declined, queued, running or concluded in any way.

    ``lines`` are all entries from the first; ``last_record`` is the hash of the last one's record, ``position`` its
    place in the log; ``texts`` are the documents' by id. Raises `IllegalEntry` if the lines do not begin with the case.
    """
    shared = _shared(debate_id, lines)
    h, started, decision, telling = (
        shared.history,
        shared.history.facts.started,
        shared.history.facts.decision,
        shared.telling,
    )
    return Result(
        view="full",
        **shared.members,
        **_covered(h, texts),
        detail=shared.outcome.detail if shared.outcome else None,
        critical_validation_failures=shared.outcome.critical_validation_failures if shared.outcome else (),
        format_reason=(started.format_reason or None) if started else None,
        **_brought(h, lines[0]),
        case=h.case,
        options=shown_options(started.options) if started else None,
        gate=build_gate(decision) if decision else None,
        framing=next((reply for reply in h.facts.said.values() if isinstance(reply, Framing)), None),
        framing_token_cost=framing_token_cost(h),
        **_of_format(h, telling, debate_id, shared.outcome),
        transcript=shared.turns,
        result=shared.terms,
        **_closing_level(shared.last),
        explicit_uncertainties=shared.last.explicit_uncertainties if shared.last else (),
        first_draft=telling.first_draft(h) if telling else (),
        struck=struck(h),
        shifts=shifts(h),
        overall_cost=overall_cost(h),
        attempts=attempts(h, partial(speaker_of, h)),
        seats=build_seats(started, h.served) if started else (),
        diversity=started.diversity if started else None,
        pairs=started.pairs if started else (),
        approved_by=started.approved_by if started else None,
        hashes=build_hashes(h.case, started, decision, last_record, position, h.used),
        notices=notices(h),
        checks=tuple(filter(None, map(check, lines))),
        suspicions=_suspicions(h),
        screening=screening(h),
    )


def build_summary(debate_id: str, lines: Sequence[Line]) -> Summary:
    """The summary of the result that `build_result` would build, without what a summary leaves out."""
    shared = _shared(debate_id, lines)
    decision = shared.history.facts.decision
    return Summary(
        view="summary",
        result=facts_of(shared.terms),
        gate=build_gate(decision) if decision and shared.members["status"] == "declined" else None,
        **shared.members,
    )


class _Shared(NamedTuple):
    """What result and summary are both made of: ``members`` are those that both have, by their names."""

    history: History
    telling: Telling | None
    outcome: Outcome | None
    last: Closing | None
    turns: tuple[Spoken, ...]
    terms: Terms | None
    members: dict[str, Any]


def _shared(debate_id: str, lines: Sequence[Line]) -> _Shared:
    h = History(lines)
    outcome, started = _outcome(h), h.facts.started
    telling = telling_of(h.options)
    last = telling.closing(h, h.facts.concluded) if telling and h.facts.concluded else None
    turns = transcript(h) if telling else ()
    terms = telling.terms(h, h.facts.concluded, turns) if telling and h.facts.concluded else None
    synthesis = telling.synthesis(outcome, last) if telling and outcome else None
    members = {
        "decision": _decision(h, outcome, synthesis, terms, Ledger.of(line.entry for line in lines))
        if outcome
        else None,
        "debate_id": debate_id,
        "status": outcome.status if outcome else _under_way(h),
        "stop_reason": outcome.stop_reason if outcome else None,
        "question": h.case.question,
        "task_type": h.case.task_type,
        "format": started.format if started else h.case.format,
        "simulated": started.simulated if started else False,
        "created_at": lines[0].at,
        "concluded_at": lines[-1].at if outcome else None,
        "entries": len(lines),
        "synthesis": synthesis,
        "caps": outcome.caps if outcome else (),
        "flags": outcome.flags if outcome else (),
        "labels": _labels(outcome),
        "citation_counts": count_citations(h.verdicts.values()),
        **_counted(h),
        "links": _links(debate_id),
    }
    return _Shared(h, telling, outcome, last, turns, terms, members)


def _brought(h: History, first: Line) -> dict[str, Any]:
    """Who asked, how the case came, and who aborted its debate."""
    return {
        "asked_by": _acted(first.actor, h.subject),
        "arrival": h.arrival,
        "aborted_by": next(map(_acted, h.aborts), None),
    }


def _acted(actor: Actor, subject: str = "") -> Acted:
    """An actor of a record; ``subject`` is its id where the entry has it too."""
    return Acted(subject=subject or actor.id, kind=actor.kind, role=actor.role or None, via=actor.via)


def _closing_level(last: Closing | None) -> dict[str, Any]:
    """The level that the closing seat gave, under its own name: a format without a moderator has no moderator's."""
    if last is None:
        return {}
    member = "moderator_confidence_level" if isinstance(last, Moderation) else "closing_confidence_level"
    return {member: last.confidence_level}


def build_decision(entries: Sequence[Entry], ledger: Ledger | None = None) -> Decision | None:
    """The decision alone, from all entries of a debate: what `build_result` has first; ``None`` while it is under way.

    ``ledger`` is the money after these entries, for those who have it. Raises `IllegalEntry` if the entries do not
    begin with the case, or an attempt ends that never began.
    """
    _expect_begun(entries)
    h = Folded(Facts.of(entries))
    outcome, telling, concluded = _outcome(h), telling_of(h.options), h.facts.concluded
    if outcome is None:
        return None
    synthesis, terms = None, None
    if telling is not None and concluded is not None:
        synthesis, terms = telling.synthesis(outcome, telling.closing(h, concluded)), telling.terms(h, concluded, ())
    return _decision(h, outcome, synthesis, terms, Ledger.of(entries) if ledger is None else ledger)


def _expect_begun(entries: Sequence[Entry]) -> None:
    """Raise `IllegalEntry` for an attempt that ends and never began, as the result of such entries does."""
    begun = set[tuple[TurnId, int]]()
    for entry in entries:
        if isinstance(entry, TurnAsked):
            begun.add((entry.turn, entry.attempt))
        elif isinstance(entry, _CHARGED) and (entry.turn, entry.attempt) not in begun:
            refuse_unbegun(entry)


def _decision(h: Folded, outcome: Outcome, synthesis: str | None, terms: Terms | None, ledger: Ledger) -> Decision:
    """The decision of a debate that has ended."""
    found = decide(
        Ended(
            h.case.question,
            outcome.status,
            outcome.stop_reason,
            outcome.detail,
            outcome.flags,
            h.options,
            terms,
            synthesis,
        )
    )
    decides = found.by is not None and found.outcome != "declined"
    return Decision(
        outcome=found.outcome,
        answer=found.answer,
        by=found.by,
        confidence=outcome.confidence_level if decides else None,
        human_review=outcome.human_review if outcome.status != "declined" else HumanReview(required=False),
        dissent=dissent_of(DISSENTS[format_of(h.options)](h, outcome)) if decides and h.options else None,
        cost=DecisionCost(
            spent_usd=usd(ledger.spent),
            ceiling_usd=usd(h.facts.started.ceiling) if h.facts.started else None,
            excess_usd=usd(ledger.excess) if ledger.excess else None,
        ),
    )


def _of_format(h: History, telling: Telling | None, debate_id: str, outcome: Outcome | None) -> dict[str, Any]:
    """The members about replies and decision, in the terms of the format; empty before the start."""
    if telling is None:
        return Own()._asdict()
    passages = turn_passages(h)
    return {
        "passages": passages,
        "passage_counts": count_passages(h, passages),
        "weighed": () if telling.by_rounds else weighed(h),
        "differing": differing(outcome),
        **telling.own(h, debate_id)._asdict(),
    }


def build_gate(decision: GateDecision) -> Gate:
    """The gate's decision with its threshold in US dollars."""
    return Gate(
        debate=decision.debate,
        decided_by=decision.decided_by,
        rules=decision.rules,
        debate_cost_threshold_usd=usd(decision.debate_cost_threshold),
        factor=decision.factor,
        policy_version=decision.policy_version,
        policy_hash=decision.policy_hash,
        would_change=would_change(decision),
    )


def _declined_by(decision: GateDecision, task_type: str) -> str:
    """Why the gate declined, as the end of a sentence."""
    risk = next((rule.observed for rule in decision.rules if rule.rule == "risk"), task_type)
    words = {
        "forced": "a caller who is entitled to it asked for no debate",
        "policy": f"policy holds no debate on the task type “{task_type}”",
        "risk": f"the task type “{task_type}” is in no risk category"
        if risk.startswith(task_type)
        else f"the task type is {risk}",
        "contested": "the matter is declared not contested, as a factual lookup",
        "worthIt": "the downside does not justify the cost of a debate",
        "uncertain": "nothing shows doubt of the single answer",
    }
    return words.get(decision.decided_by, decision.decided_by)


def _outcome(h: Folded) -> Outcome | None:
    """The recorded outcome; a declined case ends with the gate's decision and has no entry of its own for it."""
    decision = h.facts.decision
    if decision and not decision.debate:
        return Outcome("declined", "declined", _declined_by(decision, h.case.task_type))
    return h.facts.concluded


def _under_way(h: History) -> Status:
    """``queued`` until the first entry after the start."""
    return "running" if h.facts.count > 3 else "queued"


def build_seats(started: DebateStarted, served: Mapping[str, Sequence[str]]) -> tuple[SeatDetail, ...]:
    """The models behind the seats; ``served`` maps seats to the names that vendors gave with their replies."""
    return tuple(
        SeatDetail(
            seat=plan.seat,
            alias=plan.model,
            provider=plan.provider,
            model_name=plan.model_name,
            family=plan.family,
            served_models=tuple(served.get(plan.seat, ())),
            wire=plan.wire,
            fallback=plan.fallback.model if plan.fallback else None,
        )
        for plan in started.seats
    )


def build_hashes(
    case: Case,
    started: DebateStarted | None,
    decision: GateDecision | None,
    last_record: str | None,
    position: LogPosition | None = None,
    used: Collection[str] = (),
) -> Hashes:
    """The hashes of what is fixed: before the start only the gate's policy is known."""
    return Hashes(
        prompts_pin=started.pin if started else None,
        pins=pins_of(started, case) if started else {},
        used=tuple(sorted(used)),
        policy_hash=started.policy_hash if started else decision.policy_hash if decision else None,
        price_hash=started.price_hash if started else None,
        configuration_hash=started.configuration_hash if started else None,
        build_hash=started.build_hash if started else None,
        seed=started.seed if started else None,
        last_record=last_record,
        log=position,
    )


def _covered(h: History, texts: Texts) -> dict[str, Any]:
    """The coverage, once the debate is over: before that a part may still be cited."""
    return {} if _coverage_absent(h) else {"coverage": coverage(h.case, h.verdicts.values(), h.rounds[-1], texts)}


def _counted(h: History) -> dict[str, Any]:
    """The coverage summed up, or why there is none. No text is needed to count characters."""
    if absent := _coverage_absent(h):
        return {"coverage_absent": absent}
    return {"coverage_counts": _coverage_counts(coverage(h.case, h.verdicts.values(), h.rounds[-1], None))}


def _coverage_absent(h: History) -> CoverageAbsent | None:
    if not h.case.documents:
        return "noDocuments"
    if h.facts.concluded is None and (h.facts.decision is None or h.facts.decision.debate):
        return "notConcluded"
    return None if h.rounds else "noRound"


def _coverage_counts(found: tuple[DocumentCoverage, ...]) -> CoverageCounts | None:
    given = [one for one in found if one.given]
    if not given:
        return None
    covered = sum(span.span[1] - span.span[0] for one in given for span in one.cited)
    return CoverageCounts(
        documents=len(given),
        documents_cited=sum(one.citations > 0 for one in given),
        cited_share=round(covered / max(1, sum(one.characters for one in given)), 3),
    )


def _labels(outcome: Outcome | None) -> Labels:
    """The words for the codes of an outcome."""
    if outcome is None:
        return Labels()
    reasons = dict.fromkeys((*(cap.reason for cap in outcome.caps), *outcome.human_review.reasons))
    return Labels(
        flags={flag: label_of(FLAG, flag) for flag in outcome.flags},
        reasons={reason: label_of(REASON, reason) for reason in reasons},
    )


def _links(debate_id: str) -> ResultLinks:
    here = f"/v1/debates/{debate_id}"
    return ResultLinks(
        full=f"{here}?view=full", events=f"{here}/events", report=f"{here}/report", audit=f"{here}/audit"
    )


def _suspicions(h: History) -> tuple[Suspicion, ...]:
    return tuple(s for found in h.facts.found.values() if isinstance(found, InjectionFound) for s in found.suspicions)
