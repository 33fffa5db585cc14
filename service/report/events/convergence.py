"""The events of the convergence format alone: the similarity of a round's answers."""

from __future__ import annotations

from service.debate.entries import CheckFound
from service.debate.findings import ConvergenceFound, PairOverlap
from service.report.events.types import EventName, Heading
from service.report.result.types import Line


class ConvergenceEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Word overlap of the answers of a round, pair by pair, and whether all are near enough; shares are per mille.

    ``leastOverlap`` is that of the two that share least, missing if a pair has no words at all. Word overlap is not
    agreement: ``whyNot`` names the obstacle between answers that share many words.
    """

    round: int
    engine: str
    voices: int
    similarity: int
    least_overlap: int | None = None
    pairs: tuple[PairOverlap, ...]
    converged: bool
    why_not: tuple[str, ...] = ()


def overlapping(
    line: Line, entry: CheckFound, found: ConvergenceFound, debate_id: str
) -> tuple[EventName, ConvergenceEvent]:
    """The event of the overlap check after a round: ``debate.converged`` if it ends the debate."""
    event = ConvergenceEvent(
        debate_id=debate_id,
        n=line.n,
        at=line.at,
        round=int(entry.check.partition("/")[0]),
        engine=entry.engine,
        voices=found.voices,
        similarity=found.similarity,
        least_overlap=least(found),
        pairs=found.pairs,
        converged=found.converged,
        why_not=found.why_not,
    )
    return "debate.converged" if found.converged else "convergence", event


def least(found: ConvergenceFound) -> int | None:
    """The least overlap of all pairs in per mille, ``None`` if one of them is undefined or there is no pair."""
    shares = [pair.overlap for pair in found.pairs]
    return None if None in shares else min((share for share in shares if share is not None), default=None)
