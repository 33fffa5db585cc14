"""What the metrics say of debates, counted where entries are recorded.

    turn.asked       a critique asked for again, a reply to be mended, a fallback
    turn.spoke       the critic's strength, the moderator's scores; cost and tokens
    attempt.failed   cost and tokens
    check.found      citations by verdict, arguments struck
    debate.concluded status, confidence, agreement, uncertainties, estimates by seat, cost against its estimate,
                     shares of documents that were cited

Only entries that have just been recorded are counted: a debate that is taken up again brings its earlier entries as
facts, and whoever recorded those has counted them.
"""

from __future__ import annotations

from collections.abc import Sequence

from service import telemetry
from service.budget import Ledger
from service.coverage import shares
from service.debate.adversarial import moderated
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
from service.debate.model import Outcome, TurnId
from service.debate.money import MICRO
from service.debate.replies import Critique, Moderation
from service.debate.script import Script


def observe(facts: Facts, ledger: Ledger, entries: Sequence[Entry]) -> None:
    """Count what has just been recorded of a debate.

    ``facts`` and ``ledger`` are those of the whole debate, with these entries. Before ``debate.started`` there is
    nothing to count.
    """
    if facts.case is None or facts.started is None:
        return
    task_type, started = facts.case.task_type, facts.started
    for entry in entries:
        match entry:
            case TurnAsked():
                _asked(task_type, facts, started, entry)
            case TurnSpoke():
                _charged(task_type, facts, entry)
                if isinstance(entry.reply, Critique):
                    strength = telemetry.CHALLENGE_STRENGTH.labels(task_type, str(_take(entry.turn)))
                    strength.observe(entry.reply.challenge_strength)
                if isinstance(entry.reply, Moderation):
                    _scored(facts, started, entry.turn, entry.reply)
            case AttemptFailed():
                _charged(task_type, facts, entry)
            case CheckFound(finding=CitationsFound() as found):
                _checked(task_type, found)
            case DebateConcluded(outcome=outcome):
                _concluded(task_type, started, outcome, facts, ledger)


def _asked(task_type: str, facts: Facts, started: DebateStarted, entry: TurnAsked) -> None:
    seat = _seat(entry.turn)
    if seat == "critic" and _take(entry.turn) > 1 and entry.attempt == 1:
        telemetry.CRITIC_RETRIES.labels(task_type).inc()
    if entry.model != started.seat(seat).model:
        telemetry.FALLBACKS.labels(entry.model, seat).inc()
    earlier = (failed for failed in facts.failures(entry.turn, entry.model) if failed.attempt < entry.attempt)
    if any(failed.reason in UNUSABLE for failed in earlier):
        telemetry.REPAIRS.labels(entry.model).inc()


def _charged(task_type: str, facts: Facts, entry: TurnSpoke | AttemptFailed) -> None:
    charge, model = entry.charge, facts.models[entry.turn][entry.attempt - 1]
    telemetry.COST.labels(task_type, _seat(entry.turn), model).inc(charge.amount / MICRO)
    kinds = {
        "input": charge.input_tokens,
        "cached_input": charge.cached_input_tokens,
        "cache_write": charge.cache_write_tokens,
        "cache_write_1h": charge.cache_write_1h_tokens,
        "output": charge.output_tokens,
        "reasoning": charge.reasoning_tokens,
    }
    for kind, tokens in kinds.items():
        telemetry.TOKENS.labels(model, kind).inc(tokens)


def _scored(facts: Facts, started: DebateStarted, turn: TurnId, moderation: Moderation) -> None:
    """The scores by seat and by place: a moderator that leans to a place or a side shows over many debates."""
    score, model = {given.label: given.score for given in moderation.scores}, facts.spoke(turn)
    for place, (who, label) in enumerate(moderated(Script(started, facts), turn).items(), start=1):
        telemetry.MODERATOR_SCORE.labels(model, who.partition(".")[0], str(place)).observe(score[label])


def _checked(task_type: str, found: CitationsFound) -> None:
    for argument in found.arguments:
        for verdict in argument.verdicts:
            telemetry.CITATIONS.labels(task_type, verdict.verdict).inc()
        if argument.struck:
            telemetry.STRIKES.labels(task_type, argument.struck).inc()


def _concluded(task_type: str, started: DebateStarted, outcome: Outcome, facts: Facts, ledger: Ledger) -> None:
    telemetry.DEBATES_CONCLUDED.labels(task_type, started.format, outcome.status, outcome.stop_reason).inc()
    if outcome.confidence_level:
        telemetry.CONFIDENCE.labels(task_type, outcome.confidence_level).inc()
    if outcome.agrees_with_first_proposal is not None:
        telemetry.AGREEMENT.labels(task_type, str(outcome.agrees_with_first_proposal).lower()).inc()
    final = facts.said.get(outcome.final_turn) if outcome.final_turn else None
    if isinstance(final, Moderation):
        telemetry.MODERATOR_CONFIDENCE.labels(task_type, final.confidence_level).inc()
        telemetry.UNCERTAINTIES.labels(task_type).observe(len(final.explicit_uncertainties))
        telemetry.UNRESOLVED.labels(task_type).observe(len(final.unresolved_points))
    found = [f for f in facts.found.values() if isinstance(f, CitationsFound)]
    if facts.case:
        cited = shares(facts.case, (a for f in found for a in f.arguments), _rounds(facts))
        for share in cited.values():
            telemetry.CITED.labels(task_type).observe(share / 1_000)
    for seat, expected in started.expected_by_seat.items():
        telemetry.EXPECTED_COST.labels(task_type, seat).inc(expected / MICRO)
    if started.expected_cost:
        telemetry.COST_RATIO.labels(task_type).observe((ledger.spent + ledger.excess) / started.expected_cost)


def _rounds(facts: Facts) -> int:
    """The last round in which anybody was asked."""
    return max((int(turn.partition(".")[0]) for turn in facts.attempts), default=0)


def _seat(turn: TurnId) -> str:
    return turn.split(".")[1]


def _take(turn: TurnId) -> int:
    return int(turn.rpartition(".")[2])
