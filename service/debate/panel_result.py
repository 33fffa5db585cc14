"""The outcome of a panel in its own terms: consensus by round, the synthesis, ranked ideas, the debaters' scores."""

from __future__ import annotations

from service.debate.findings import AccuracyFound, DebaterScores
from service.debate.model import TurnId, seat_of
from service.debate.panel_standing import TRIGGERS, debaters_of, labels_of, latest, question_type
from service.debate.panel_synthesis import is_injection_sensitive, masked_synthesis
from service.debate.replies import AccuracyReview, BlindAnswer, RevisedAnswer, Synthesis
from service.debate.results import ConsensusRound, PanelResult, RankedIdea
from service.debate.script import Script


def result_of(s: Script, rounds: tuple[ConsensusRound, ...], final: TurnId | None) -> PanelResult:
    """The result after these measured rounds; ``final`` is the synthesis that stands."""
    kind, synthesis = question_type(s), None if is_injection_sensitive(s) else s.reply(final)
    missing = tuple(d for d in debaters_of(s) if any(seat_of(t) == d for t in s.facts.silent))
    last = [s.facts.said[t] for d in debaters_of(s) if d not in missing and (t := latest(s, d))]
    sure = [reply.overall_confidence for reply in last if isinstance(reply, BlindAnswer | RevisedAnswer)]
    scores, by_model = _scores(s)
    return PanelResult(
        question_type=kind,
        trigger=TRIGGERS[kind],
        rounds_completed=len(rounds),
        consensus_reached=bool(rounds) and rounds[-1].terminated,
        consensus=rounds,
        final_score=rounds[-1].overall if rounds else None,
        labels=labels_of(s),
        synthesis=synthesis.answer if isinstance(synthesis, Synthesis) else None,
        synthesis_turn=final,
        masked_synthesis=masked_synthesis(s),
        ideas=ranked_ideas(synthesis) if isinstance(synthesis, Synthesis) else (),
        accuracy=scores,
        accuracy_by="model" if by_model else "algorithmic",
        overall_confidence=sum(sure) // len(sure) if sure else None,
        missing=missing,
    )


def ranked_ideas(synthesis: Synthesis) -> tuple[RankedIdea, ...]:
    """The ideas by the number of distinct debaters that surfaced or endorsed them; at a tie, by their first label."""
    found = [(sorted({e.label for e in idea.endorsed_by}), idea.idea) for idea in synthesis.ideas]
    found.sort(key=lambda pair: (-len(pair[0]), pair[0]))
    return tuple(RankedIdea(rank, idea, tuple(labels)) for rank, (labels, idea) in enumerate(found, start=1))


def _scores(s: Script) -> tuple[tuple[DebaterScores, ...], bool]:
    """Every debater's scores, and whether they come from a model."""
    seat = {label: d for d, label in labels_of(s).items()}
    for reply in s.facts.said.values():
        if isinstance(reply, AccuracyReview):
            given = [
                DebaterScores(
                    seat[r.label], r.factual_accuracy, r.logical_consistency, r.evidence_quality, r.trajectory_score
                )
                for r in reply.reviews
            ]
            return tuple(sorted(given, key=lambda one: debaters_of(s).index(one.seat))), True
    found = [f for f in s.facts.found.values() if isinstance(f, AccuracyFound)]
    return (found[-1].scores if found else ()), False
