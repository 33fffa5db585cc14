"""The events of the convergence format alone: the similarity of a round's answers."""

from __future__ import annotations

from msgspec import Struct

from service.debate.entries import CheckFound
from service.debate.findings import ConvergenceFound, PairOverlap
from service.debate.turns import TurnId
from service.report.events.types import EventName, Heading
from service.report.result.shares import share, share_or_none
from service.report.result.types import Line


class PairShare(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Two answers, and how many of their words are the same."""

    turns: tuple[TurnId, TurnId]
    """The turns that gave the two answers."""
    shared: int
    """The number of words that the two have in common."""
    either: int
    """The number of words that either of them has."""
    overlap: float | None = None
    """The words in common by the words in either, a share from 0 to 1. Absent without words."""
    apart: tuple[str, ...] = ()
    """Why the two exclude convergence whatever the overlap is."""


class ConvergenceEvent(Heading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Word overlap of the answers of a round, pair by pair. Word overlap is not agreement."""

    round: int
    engine: str
    voices: int
    """The number of debaters that answered."""
    similarity: float
    """The overlap that ends the debate, a share from 0 to 1."""
    least_overlap: float | None = None
    """The overlap of the two answers that share least, from 0 to 1. Absent if a pair has no words."""
    pairs: tuple[PairShare, ...]
    """Each two answers of the round."""
    converged: bool
    """Whether all pairs are near enough."""
    why_not: tuple[str, ...] = ()
    """What keeps the answers from converging."""


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
        similarity=share(found.similarity),
        least_overlap=share_or_none(least(found)),
        pairs=tuple(_pair(pair) for pair in found.pairs),
        converged=found.converged,
        why_not=found.why_not,
    )
    return "debate.converged" if found.converged else "convergence", event


def _pair(pair: PairOverlap) -> PairShare:
    return PairShare(pair.turns, pair.shared, pair.either, share_or_none(pair.overlap), pair.apart)


def least(found: ConvergenceFound) -> int | None:
    """The least overlap of all pairs in per mille, ``None`` if one of them is undefined or there is no pair."""
    shares = [pair.overlap for pair in found.pairs]
    return None if None in shares else min((share for share in shares if share is not None), default=None)
