"""Rounds as the reference records them, with their details."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from msgspec.structs import asdict

from service.debate.findings import ArgumentVerdict, CitationVerdict
from service.debate.findings import Citation as Given
from service.debate.model import TurnId
from service.debate.options import AdversarialOptions, positions_of
from service.debate.replies import Cited, Conclusion, Critique, Point, Proposal, Rebuttal, statements
from service.debate.turns import MASKED, make_party, party, round_of, turn_id
from service.report.result.account import token_cost
from service.report.result.argument_types import Argument, Citation, CitedEvidence
from service.report.result.history import SWAPPED, History
from service.report.result.round_types import (
    ArgumentQualityScore,
    Conclusions,
    CriticFirstTake,
    CriticPosition,
    CritiqueSigns,
    MaskedModeration,
    ModeratorEvaluation,
    ModeratorFirstTake,
    PositionDetail,
    ProposerPosition,
    RebuttalPosition,
    RoundDetail,
    RoundRecord,
    SwappedModeration,
)

B = TypeVar("B", SwappedModeration, MaskedModeration)


def record(h: History, debate_id: str, r: int) -> RoundRecord:
    """A round with exactly the members of EAAPL-MAG005, section 5.2; with several positions, that of the best one."""
    lead = _lead(h, r)
    standing = h.critique(r)
    return RoundRecord(
        debate_id=debate_id,
        round_number=r,
        question=h.case.question,
        proposer_position=proposer_position(h, _turn(r, "proposer", lead)),
        critic_position=critic_position(h, standing[0]) if standing else None,
        rebuttal_position=rebuttal_position(h, _turn(r, "rebuttal", lead)),
        moderator_evaluation=evaluation(h, h.moderator(r)),
        token_cost=token_cost(h, r),
    )


def detail(h: History, r: int) -> RoundDetail:
    """The details beside a round's record."""
    lead = _lead(h, r)
    proposal = h.facts.said.get(_turn(r, "proposer", lead))
    standing = h.critique(r)
    moderation = h.moderation(r)
    return RoundDetail(
        round_number=r,
        turns=_turns(h, r),
        conclusions=Conclusions(
            proposer=_conclusion(h, _turn(r, "proposer", lead)),
            critic=standing[1].conclusion if standing else None,
            rebuttal=_conclusion(h, _turn(r, "rebuttal", lead)),
            moderator=moderation.conclusion if moderation else None,
        ),
        objections=proposal.objections if isinstance(proposal, Proposal) else (),
        positions=tuple(_position(h, r, name) for name in h.positions),
        critic_first_take=_first_take(h, r),
        critique_signs=_signs(h, standing[0]) if standing else None,
        labels=h.shown(h.moderator(r)),
        new_documents=tuple(d.id for d in h.case.documents if d.round == r and r > 1),
        swapped_moderation=_beside(h, r, SWAPPED, SwappedModeration),
        masked_moderation=_beside(h, r, MASKED, MaskedModeration),
        moderator_first_takes=tuple(_first_moderations(h, r)),
    )


def proposer_position(h: History, turn: TurnId) -> ProposerPosition | None:
    """A proposer's reply as the reference records it, or ``None`` before there is one."""
    reply = h.facts.said.get(turn)
    if not isinstance(reply, Proposal):
        return None
    shown = arguments(h, turn)
    return ProposerPosition(thesis=reply.thesis, supporting_arguments=shown, evidence_cited=_evidence(shown))


def critic_position(h: History, turn: TurnId) -> CriticPosition | None:
    """A critic's reply as the reference records it, or ``None`` before there is one."""
    reply = h.facts.said.get(turn)
    if not isinstance(reply, Critique):
        return None
    shown = arguments(h, turn)
    return CriticPosition(
        thesis=reply.thesis,
        counter_arguments=shown,
        evidence_cited=_evidence(shown),
        challenge_strength=reply.challenge_strength,
    )


def rebuttal_position(h: History, turn: TurnId) -> RebuttalPosition | None:
    """A rebuttal as the reference records it, or ``None`` before there is one."""
    reply = h.facts.said.get(turn)
    if not isinstance(reply, Rebuttal):
        return None
    return RebuttalPosition(thesis=reply.thesis, rebuttals=arguments(h, turn), concessions=reply.concessions)


def evaluation(h: History, turn: TurnId) -> ModeratorEvaluation | None:
    """A moderation as the reference records it: its neutral labels are read back as seats."""
    moderation = h.moderated(turn)
    if moderation is None:
        return None
    lead, scores = _lead(h, round_of(turn)), h.scores(turn)
    return ModeratorEvaluation(
        argument_quality_score=ArgumentQualityScore(
            proposer=scores.get(make_party("proposer", lead)),
            critic=scores.get("critic"),
            rebuttal=scores.get(make_party("rebuttal", lead)),
        ),
        resolved_points=moderation.resolved_points,
        unresolved_points=moderation.unresolved_points,
        recommend_another_round=moderation.recommend_another_round,
        synthesis=moderation.synthesis,
        confidence_level=moderation.confidence_level,
        explicit_uncertainties=moderation.explicit_uncertainties,
    )


def arguments(h: History, turn: TurnId) -> tuple[Argument, ...]:
    """The arguments of a turn in their order, with the verdicts on their citations as far as they were checked."""
    return tuple(argument(given, h.verdicts.get((turn, given.n))) for given in statements(h.facts.said[turn]))


def argument(given: Cited, found: ArgumentVerdict | None) -> Argument:
    """One argument with its verdicts; ``found`` is ``None`` before the check."""
    verdicts: tuple[CitationVerdict | None, ...] = found.verdicts if found else (None,) * len(given.citations)
    return Argument(
        n=given.n,
        text=given.text,
        citations=tuple(_citation(c, v) for c, v in zip(given.citations, verdicts, strict=True)),
        basis=given.basis,
        attacks=given.attacks if isinstance(given, Point) else None,
        position=given.position if isinstance(given, Point) else None,
        struck=found.struck if found else None,
    )


def _citation(given: Given, found: CitationVerdict | None) -> Citation:
    return Citation(
        quote=given.quote,
        source_id=given.source_id or (found.source_id if found else None),
        verdict=found.verdict if found else None,
        span=found.span if found else None,
        text=found.text if found else None,
        location=given.location,
        edits=found.edits if found else (),
        found_in=found.found_in if found else None,
        reason=found.reason if found else None,
    )


def _evidence(shown: tuple[Argument, ...]) -> tuple[CitedEvidence, ...]:
    """Every citation once, in the order of its first use, with the numbers of the arguments that rest on it."""
    grounds: dict[tuple[str, str | None, str | None], tuple[Citation, list[int]]] = {}
    for one in shown:
        for citation in one.citations:
            key = (citation.quote, citation.source_id, citation.location)
            numbers = grounds.setdefault(key, (citation, []))[1]
            if one.n not in numbers:
                numbers.append(one.n)
    return tuple(CitedEvidence(**asdict(citation), arguments=tuple(numbers)) for citation, numbers in grounds.values())


def _lead(h: History, r: int) -> str | None:
    """The position that represents the round: the moderator's first, else the first declared one that has spoken."""
    spoken = [name for name in h.positions if _turn(r, "proposer", name) in h.facts.said]
    return next(iter([*h.ranked(h.moderator(r)), *spoken, *h.positions]), None)


def _position(h: History, r: int, name: str) -> PositionDetail:
    proposer, rebuttal = _turn(r, "proposer", name), _turn(r, "rebuttal", name)
    proposal, scores, ranked = h.facts.said.get(proposer), h.scores(h.moderator(r)), h.ranked(h.moderator(r))
    started = h.facts.started
    return PositionDetail(
        id=name,
        text=next(p.text for p in positions_of(started.options) if p.id == name) if started else name,
        proposer_position=proposer_position(h, proposer),
        rebuttal_position=rebuttal_position(h, rebuttal),
        objections=proposal.objections if isinstance(proposal, Proposal) else (),
        proposer_conclusion=_conclusion(h, proposer),
        rebuttal_conclusion=_conclusion(h, rebuttal),
        proposer_score=scores.get(make_party("proposer", name)),
        rebuttal_score=scores.get(make_party("rebuttal", name)),
        rank=ranked.index(name) + 1 if name in ranked else None,
    )


def _first_take(h: History, r: int) -> CriticFirstTake | None:
    """The first critique of a round, if a second one was asked for or could not be funded."""
    first, second, started = turn_id(r, "critic"), turn_id(r, "critic", take=2), h.facts.started
    position, reply = critic_position(h, first), h.facts.said.get(first)
    if started is None or position is None or not isinstance(reply, Critique):
        return None
    if not isinstance(started.options, AdversarialOptions):
        return None
    if second not in h.facts.attempts and second not in h.facts.refused:
        return None
    signs = h.signs(first)
    rated = reply.challenge_strength < started.options.require_critic_retry_below
    reasons = (*(("selfRating",) if rated else ()), *(signs.weak if signs else ()))
    return CriticFirstTake(turn=first, position=position, reasons=reasons, replaced=second in h.facts.said)


def _beside(h: History, r: int, phase: str, kind: type[B]) -> B | None:
    """The moderation that was asked for in the reverse order, or with passages masked, if there was one."""
    turn = h.moderator(r, phase)
    first, again, evaluated = h.moderation(r), h.moderated(turn), evaluation(h, turn)
    if first is None or again is None or evaluated is None:
        return None
    best, best_again = (h.ranked(each)[:1] for each in (h.moderator(r), turn))
    return kind(
        turn=turn,
        evaluation=evaluated,
        conclusion=again.conclusion,
        labels=h.shown(turn),
        ranking=h.ranked(turn),
        agrees=best == best_again if h.positions else again.conclusion == first.conclusion,
    )


def _first_moderations(h: History, r: int) -> Iterator[ModeratorFirstTake]:
    """The moderations of a round that a second take replaced, in either order."""
    for phase in ("", SWAPPED):
        turn = turn_id(r, "moderator", phase)
        reply, evaluated = h.moderated(turn), evaluation(h, turn)
        if reply and evaluated and h.facts.standing(turn) != turn:
            yield ModeratorFirstTake(turn=turn, swapped=bool(phase), evaluation=evaluated, conclusion=reply.conclusion)


def _signs(h: History, turn: TurnId) -> CritiqueSigns | None:
    found = h.signs(turn)
    return CritiqueSigns(weak=found.weak, soft=found.soft, softening=found.softening) if found else None


def _turns(h: History, r: int) -> dict[str, TurnId]:
    """The seats that spoke in the round, each with its standing turn."""
    said = {turn for turn in h.facts.said if round_of(turn) == r}
    return {party(turn): turn for turn in sorted(said)}


def _conclusion(h: History, turn: TurnId) -> Conclusion | None:
    reply = h.facts.said.get(turn)
    return reply.conclusion if isinstance(reply, Proposal | Rebuttal) else None


def _turn(r: int, seat: str, position: str | None) -> TurnId:
    return turn_id(r, seat, position or "")
