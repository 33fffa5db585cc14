"""Metrics of debates, counted where entries are recorded.

    turn.asked       a critique asked for again, a repair, a fallback
    turn.spoke       the critic's strength, the moderator's scores; cost and tokens
    attempt.failed   cost and tokens
    check.found      citations by verdict, arguments struck
    debate.concluded status, confidence, agreement, uncertainties, estimates by seat, cost against its estimate,
                     shares of documents that were cited; the result of the closing seat's second run in another order,
                     and the place in which the winner stood; consensus, its rounds and what lagged; votes; silent
                     seats; flags; how long it took, and how much of its ceiling

Debaters count as one seat, ``debater``: callers choose their number, and no label may depend on a caller.

Only new entries are counted. When a worker claims a debate again, the earlier entries come as facts, and the worker
that recorded them has counted them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service import log_lines, telemetry
from service.checks.coverage import shares
from service.debate.adversarial import moderated
from service.debate.amounts import MICRO, usd
from service.debate.closed import closed
from service.debate.entries import (
    AttemptFailed,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    Entry,
    TurnAsked,
    TurnSpoke,
)
from service.debate.facts import UNUSABLE, Facts
from service.debate.findings import CitationsFound
from service.debate.kernel import decide
from service.debate.model import Ask, Outcome, Turn, TurnId, seat_of
from service.debate.options import StancesOptions, debater_seats, role_of
from service.debate.purpose import decides
from service.debate.replies import Critique, Moderation
from service.debate.results import BallotResult, ConvergenceResult, PanelResult, StancesResult
from service.debate.script import Script
from service.debate.turns import is_masked, round_of, split_party, take_of
from service.money import Ledger
from service.observing import labelled


class Course(Protocol):
    """What a debate's log knows of it beside its entries: its tenant, how many seconds it has taken by the database's
    clock, and the id of the trace in which its case came."""

    @property
    def tenant(self) -> str: ...

    @property
    def took_s(self) -> float: ...

    @property
    def trace(self) -> str | None: ...


def count_entries(facts: Facts, ledger: Ledger, entries: Sequence[Entry], *, course: Course | None = None) -> None:
    """Count entries that have just been recorded, and log the end of their debate.

    ``facts`` and ``ledger`` are those of the whole debate, these entries included. Before ``debate.started`` there is
    nothing to count. The prober's debates are counted in no series, because simulated models argue them, the same each
    time; nor are those of evaluations, which show what debates are like under a plan and not in use.
    """
    if facts.case is None or facts.started is None:
        return
    task_type, started, counted = facts.case.task_type, facts.started, decides(facts.case.metadata, facts.arrival)
    for entry in entries:
        if counted:
            _count_entry(task_type, started, entry, facts, ledger)
        if isinstance(entry, DebateConcluded):
            if counted and course is not None:
                _count_course(task_type, started, entry.outcome, course)
            _log_conclusion(task_type, started, entry.outcome, ledger)


def _count_entry(task_type: str, started: DebateStarted, entry: Entry, facts: Facts, ledger: Ledger) -> None:
    match entry:
        case TurnAsked():
            _count_asked(task_type, facts, started, entry)
        case TurnSpoke():
            _count_charge(task_type, facts, entry)
            if isinstance(entry.reply, Critique):
                strength = telemetry.CHALLENGE_STRENGTH.labels(task_type=task_type, take=str(take_of(entry.turn)))
                strength.observe(entry.reply.challenge_strength)
            if isinstance(entry.reply, Moderation):
                _count_scores(facts, started, entry.turn, entry.reply)
        case AttemptFailed():
            _count_charge(task_type, facts, entry)
        case CheckFound(finding=CitationsFound() as found):
            _count_citations(task_type, found)
        case DebateConcluded(outcome=outcome):
            _count_conclusion(task_type, started, outcome, facts, ledger)
        case _:
            pass


def _count_asked(task_type: str, facts: Facts, started: DebateStarted, entry: TurnAsked) -> None:
    seat = seat_of(entry.turn)
    if seat == "critic" and take_of(entry.turn) > 1 and entry.attempt == 1:
        telemetry.CRITIC_RETRIES.labels(task_type=task_type).inc()
    if entry.model != started.seat(seat).model:
        telemetry.FALLBACKS.labels(model=entry.model, seat=role_of(seat)).inc()
    earlier = (failed for failed in facts.failures(entry.turn, entry.model) if failed.attempt < entry.attempt)
    if any(failed.reason in UNUSABLE for failed in earlier):
        telemetry.REPAIRS.labels(model=entry.model).inc()


def _count_charge(task_type: str, facts: Facts, entry: TurnSpoke | AttemptFailed) -> None:
    charge, model = entry.charge, facts.models[entry.turn][entry.attempt - 1]
    telemetry.COST.labels(task_type=task_type, seat=role_of(seat_of(entry.turn)), model=model).inc(
        charge.amount / MICRO
    )
    kinds = {
        "input": charge.input_tokens,
        "cached_input": charge.cached_input_tokens,
        "cache_write": charge.cache_write_tokens,
        "cache_write_1h": charge.cache_write_1h_tokens,
        "output": charge.output_tokens,
        "reasoning": charge.reasoning_tokens,
    }
    for kind, tokens in kinds.items():
        if tokens:  # most kinds have none in most calls, and their series stand at zero already
            telemetry.TOKENS.labels(model=model, kind=kind).inc(tokens)


def _count_scores(facts: Facts, started: DebateStarted, turn: TurnId, moderation: Moderation) -> None:
    """The scores by seat and by place: over many debates they show a moderator that leans to a place or a side."""
    score, model = {given.label: given.score for given in moderation.scores}, facts.models[turn][-1]
    for place, (who, label) in enumerate(moderated(Script(started, facts), turn).items(), start=1):
        telemetry.MODERATOR_SCORE.labels(model=model, seat=split_party(who)[0], place=str(place)).observe(score[label])


def _count_citations(task_type: str, found: CitationsFound) -> None:
    for argument in found.arguments:
        for verdict in argument.verdicts:
            telemetry.CITATIONS.labels(task_type=task_type, verdict=verdict.verdict).inc()
        if argument.struck:
            telemetry.STRIKES.labels(task_type=task_type, reason=argument.struck).inc()


def _count_conclusion(task_type: str, started: DebateStarted, outcome: Outcome, facts: Facts, ledger: Ledger) -> None:
    telemetry.DEBATES_CONCLUDED.labels(
        task_type=task_type, format=started.format, status=outcome.status, stop_reason=outcome.stop_reason
    ).inc()
    for flag in outcome.flags:
        telemetry.FLAGS.labels(task_type=task_type, flag=flag).inc()
    if outcome.confidence_level:
        telemetry.CONFIDENCE.labels(task_type=task_type, level=outcome.confidence_level).inc()
    if outcome.agrees_with_first_proposal is not None:
        telemetry.AGREEMENT.labels(task_type=task_type, agrees=str(outcome.agrees_with_first_proposal).lower()).inc()
    if final := closed(facts, outcome):
        telemetry.MODERATOR_CONFIDENCE.labels(task_type=task_type, level=final.confidence_level).inc()
        telemetry.UNCERTAINTIES.labels(task_type=task_type).observe(len(final.explicit_uncertainties))
    if isinstance(final, Moderation):
        telemetry.UNRESOLVED.labels(task_type=task_type).observe(len(final.unresolved_points))
    _count_order_check(task_type, started, outcome, facts)
    _count_masked_check(task_type, started, outcome, facts)
    _count_result(task_type, started.format, outcome, facts)
    found = [f for f in facts.found.values() if isinstance(f, CitationsFound)]
    if facts.case:
        cited = shares(facts.case, (a for f in found for a in f.arguments), _last_round(facts))
        for share in cited.values():
            telemetry.CITED.labels(task_type=task_type).observe(share / 1_000)
    for seat, expected in started.expected_by_seat.items():
        telemetry.EXPECTED_COST.labels(task_type=task_type, seat=role_of(seat)).inc(expected / MICRO)
    cost = ledger.spent + ledger.excess
    if started.expected_cost:
        telemetry.COST_RATIO.labels(task_type=task_type).observe(cost / started.expected_cost)
    if started.ceiling:
        telemetry.CEILING_USED.labels(task_type=task_type).observe(cost / started.ceiling)


def _count_course(task_type: str, started: DebateStarted, outcome: Outcome, course: Course) -> None:
    if outcome.status in ("completed", "truncated"):  # docs/slo.md: of the others none was decided
        of = telemetry.DEBATE_SECONDS.labels(task_type=task_type, format=started.format)
        of.observe(course.took_s, labelled.exemplar(course.trace))
    if tenant := labelled.named_tenant(course.tenant):
        telemetry.TENANT_CONCLUDED.labels(tenant=tenant, status=outcome.status).inc()


def _log_conclusion(task_type: str, started: DebateStarted, outcome: Outcome, ledger: Ledger) -> None:
    """One line for each debate that ends."""
    log_lines.DEBATE_ENDED(
        status=outcome.status,
        stop_reason=outcome.stop_reason,
        task_type=task_type,
        format=started.format,
        confidence=outcome.confidence_level,
        human_review=outcome.human_review.required,
        cost_usd=usd(ledger.spent + ledger.excess),
    )


def _count_order_check(task_type: str, started: DebateStarted, outcome: Outcome, facts: Facts) -> None:
    """The result of the closing seat's second run in another order, where there was one or should have been."""
    results = {
        "orderSensitive": "sensitive",
        "orderUnchecked": "unchecked",
        "orderNotCompared": "unchecked",
        "ordersDiffer": "differs",
    }
    again = "same" if any(".swapped." in turn for turn in facts.said) else None
    if result := next((result for flag, result in results.items() if flag in outcome.flags), again):
        telemetry.ORDER_CHECKS.labels(task_type=task_type, format=started.format, result=result).inc()


def _count_masked_check(task_type: str, started: DebateStarted, outcome: Outcome, facts: Facts) -> None:
    """The result of asking the closing seat with the flagged passages masked, where it was or should have been."""
    results = {
        "injectionSensitive": "sensitive",
        "maskedUnchecked": "unchecked",
        "maskedNotCompared": "unchecked",
        "maskedDiffers": "differs",
    }
    again = "same" if any(map(is_masked, facts.said)) else None
    if result := next((result for flag, result in results.items() if flag in outcome.flags), again):
        telemetry.MASKED_CHECKS.labels(task_type=task_type, format=started.format, result=result).inc()


def _count_result(task_type: str, form: str, outcome: Outcome, facts: Facts) -> None:
    """The metrics of the format's own result."""
    match outcome.result:
        case StancesResult(winner_stance=str(stance)):
            _count_winner_place(facts, stance)
        case BallotResult(votes=votes):
            for vote in votes:
                telemetry.VOTES.labels(task_type=task_type, read="abstention" if vote.vote is None else "option").inc()
        case PanelResult() as found:
            _count_consensus(task_type, form, found)
            telemetry.MISSING_VOICES.labels(task_type=task_type, format=form).inc(len(found.missing))
        case ConvergenceResult() as found:
            telemetry.MISSING_VOICES.labels(task_type=task_type, format=form).inc(len(found.missing))
            if found.converged_in is not None:
                telemetry.CONSENSUS_ROUNDS.labels(task_type=task_type, format=form).observe(found.converged_in)
        case StancesResult() | None:
            pass


def _count_consensus(task_type: str, form: str, found: PanelResult) -> None:
    for one in found.consensus:
        for dimension in one.lagging:
            telemetry.CONSENSUS_LAGGING.labels(question_type=found.question_type, dimension=dimension, by=one.by).inc()
    if found.final_score is not None:
        telemetry.CONSENSUS_SCORE.labels(task_type=task_type, format=form).observe(found.final_score / 1_000)
    if found.consensus_reached:
        telemetry.CONSENSUS_ROUNDS.labels(task_type=task_type, format=form).observe(found.rounds_completed)


def _count_winner_place(facts: Facts, stance: str) -> None:
    """The place in which the judge saw the winner's last argument: judges lean to the first and to the last."""
    options = facts.started.options if facts.started else None
    if not isinstance(options, StancesOptions) or facts.concluded is None or facts.concluded.final_turn is None:
        return
    who = [seat for seat, d in zip(debater_seats(options), options.debaters, strict=True) if d.stance == stance]
    judge = _asked_for(facts, facts.concluded.final_turn)
    last = max((round_of(turn) for turn in judge.sees), default=0) if judge else 0
    seen = [seat_of(turn) for turn in judge.sees if round_of(turn) == last] if judge else []
    if judge and len(who) == 1 and who[0] in seen and len(seen) > 1:
        at = seen.index(who[0])
        place = "first" if at == 0 else "last" if at == len(seen) - 1 else "middle"
        telemetry.DECIDED_BY_PLACE.labels(model=facts.models[judge.id][-1], place=place).inc()


def _asked_for(facts: Facts, turn: TurnId) -> Turn | None:
    """A turn that has spoken, as the kernel asked for it: which replies it saw, and in which order."""
    before = Facts()
    vars(before).update(vars(facts), concluded=None, stopped=None, move=None)
    before.said = {t: reply for t, reply in facts.said.items() if t != turn}
    move = decide(before)
    return next((due for due in move.turns if due.id == turn), None) if isinstance(move, Ask) else None


def _last_round(facts: Facts) -> int:
    """The last round that has an attempt or a reply."""
    return max((round_of(turn) for turn in (*facts.attempts, *facts.said)), default=0)


def log_lost_attempts(debate: str, lost: Sequence[AttemptFailed]) -> None:
    """Log that this worker claimed a debate of a lost worker, and what the lost calls are charged."""
    charged = usd(sum(entry.charge.amount for entry in lost))
    log_lines.DEBATE_CLAIMED(debate=debate, calls_lost=len(lost), charged_usd=charged)
