"""From the entries of one debate to what an evaluation sees of it. Nothing but the entries is read.

what the format decided     `said_of`; in its own words, the closed list comes later (`answers`)
the critique                the first round's, its standing take, with the places of verified quotations
the moderations             the last one that stands, and the one in the reverse order
money                       what was charged, and apart what was charged for calls lost with a worker
"""

from __future__ import annotations

from collections.abc import Iterable

from service.debate.adversarial import moderated
from service.debate.adversarial_moderations import final_of, turned_of
from service.debate.ballot import ESCALATE
from service.debate.entries import AttemptFailed, Entry, TurnAsked, TurnSpoke
from service.debate.facts import UNUSABLE, Facts
from service.debate.findings import CitationsFound, CitationVerdict, CritiqueFound
from service.debate.model import AdversarialOptions, Outcome, TurnId
from service.debate.replies import Critique, Moderation
from service.debate.results import BallotResult, ConvergenceResult, PanelResult, StancesResult
from service.debate.script import Script
from service.debate.turns import seat_of, turn_id
from service.evaluation.scoring.observed_types import (
    CritiqueMade,
    ModerationMade,
    Observed,
    Passage,
    PointMade,
    Seated,
    Slot,
    WhyNone,
)

LOST = "lost"
"""The reason of an attempt whose worker died: its charge belongs to the interruption, not to the debate."""
_PROPOSER, _CRITIC = turn_id(1, "proposer"), turn_id(1, "critic")


def observe(entries: Iterable[Entry]) -> Observed:
    """What these entries show: total in any state of a debate, and the same for the same entries."""
    recorded = tuple(entries)
    facts = Facts.of(recorded)
    said, why = said_of(facts)
    first, second = _moderations(facts)
    charge, lost = _charges(recorded)
    failed = [entry for entry in recorded if isinstance(entry, AttemptFailed)]
    asked = sum(isinstance(entry, TurnAsked) for entry in recorded)
    started = facts.started
    return Observed(
        format=started.format if started else "",
        status=_status(facts),
        said=said,
        why_none=why,
        critique=_critique(facts),
        struck_by_code=_struck(facts),
        moderation=first,
        swapped=second,
        conclusion=facts.concluded.conclusion if facts.concluded else None,
        attempts=asked - sum(entry.reason == LOST for entry in failed),
        unusable=sum(entry.reason in UNUSABLE for entry in failed),
        fallbacks=_fallbacks(facts),
        charge=charge,
        lost=lost,
        seats=tuple(Seated(p.seat, p.model, p.model_name, p.family) for p in started.seats) if started else (),
        prompts=started.pin if started else "",
        simulated=started.simulated if started else False,
    )


def said_of(facts: Facts) -> tuple[str | None, WhyNone | None]:
    """What a debate decided in its format's own words, or why it decided nothing."""
    outcome = facts.concluded
    if facts.started is None:
        return None, "notStarted"
    if outcome is None:
        return None, "notEnded"
    if outcome.status == "failed":
        return None, "failed"
    if outcome.status == "aborted":
        return None, "aborted"
    return _decided(outcome)


def _decided(outcome: Outcome) -> tuple[str | None, WhyNone | None]:
    match outcome.result:
        case BallotResult(decision=decision, tied=tied):
            if decision != ESCALATE:
                return decision, None
            return None, "tied" if tied else "escalated"
        case ConvergenceResult(final_answer=answer, tied=tied):
            if answer is not None:
                return answer, None
            return None, "tied" if tied else "noFinalAnswer"
        case StancesResult(winner_stance=stance):
            return stance, None if stance is not None else "noWinner"
        case PanelResult(synthesis=synthesis):
            return synthesis, None if synthesis is not None else "noSynthesis"
        case None:
            return outcome.conclusion, None if outcome.conclusion is not None else "undecided"


def _status(facts: Facts) -> str:
    if facts.concluded:
        return facts.concluded.status
    return "running" if facts.started else "notStarted"


def _charges(entries: Iterable[Entry]) -> tuple[int, int]:
    """Micro-dollars charged, and those charged for calls that were lost with their worker."""
    charge = lost = 0
    for entry in entries:
        if isinstance(entry, AttemptFailed) and entry.reason == LOST:
            lost += entry.charge.amount
        elif isinstance(entry, TurnSpoke | AttemptFailed):
            charge += entry.charge.amount
    return charge, lost


def _fallbacks(facts: Facts) -> int:
    """The turns that a seat's fallback spoke in; a given turn has no model."""
    started = facts.started
    if started is None:
        return 0
    own = {plan.seat: plan.model for plan in started.seats}
    return sum(facts.spoke(turn) != own[seat_of(turn)] for turn in facts.said if turn not in facts.given)


def _critique(facts: Facts) -> CritiqueMade | None:
    turn = facts.standing(_CRITIC)
    critique = facts.said.get(turn)
    if not isinstance(critique, Critique):
        return None
    signs = facts.found.get(f"{turn}/critique")
    weak, soft = (signs.weak, signs.soft) if isinstance(signs, CritiqueFound) else ((), ())
    located = _located(facts, turn)
    points = tuple(PointMade(p.n, p.attacks, p.text, located.get(p.n, ())) for p in critique.points)
    retries = 0 if turn == _CRITIC else 1
    return CritiqueMade(points, critique.challenge_strength, critique.conclusion, retries, weak, soft)


def _located(facts: Facts, turn: TurnId) -> dict[int, tuple[Passage, ...]]:
    """The places of a turn's verified quotations by the number of the point: a wrong quotation cites no passage."""
    found = facts.found.get(f"{turn}/citations")
    if not isinstance(found, CitationsFound):
        return {}
    return {a.n: tuple(filter(None, map(_passage, a.verdicts))) for a in found.arguments if a.turn == turn}


def _passage(verdict: CitationVerdict) -> Passage | None:
    if verdict.verdict != "verified" or verdict.span is None or verdict.source_id is None:
        return None
    return Passage(verdict.source_id, *verdict.span)


def _struck(facts: Facts) -> tuple[int, ...]:
    found = facts.found.get(f"{_PROPOSER}/citations")
    return tuple(sorted(found.struck(_PROPOSER))) if isinstance(found, CitationsFound) else ()


def _moderations(facts: Facts) -> tuple[ModerationMade | None, ModerationMade | None]:
    """The last moderation that stands, and the one in the reverse order."""
    if facts.started is None or not isinstance(facts.started.options, AdversarialOptions):
        return None, None
    script = Script(facts.started, facts)
    turned = turned_of(script)
    return moderation_of(script, final_of(script)), moderation_of(script, turned[0] if turned else None)


def moderation_of(script: Script, turn: TurnId | None) -> ModerationMade | None:
    """A moderation, with the place of the side that it favours; ``None`` where the turn has no reply."""
    reply = script.reply(turn)
    if turn is None or not isinstance(reply, Moderation):
        return None
    order = list(moderated(script, turn))
    return ModerationMade(reply.conclusion, reply.confidence_level, _slot(order, reply.conclusion))


def _slot(order: list[str], conclusion: str) -> Slot:
    """The place of the favoured side: the proposition's is its proposal, the other's the critique."""
    if conclusion == "modified" or "proposer" not in order or "critic" not in order:
        return "none"
    proposer_first = order.index("proposer") < order.index("critic")
    return "first" if proposer_first == (conclusion == "upheld") else "second"
