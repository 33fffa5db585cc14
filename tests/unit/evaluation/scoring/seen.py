"""Observed debates by hand: a whole one, from which a test changes what it is about."""

from __future__ import annotations

from msgspec.structs import replace

from service.evaluation.scoring.observed_types import (
    CritiqueMade,
    ModerationMade,
    Observed,
    Passage,
    PointMade,
    Seated,
    Slot,
)

SEAT = Seated("critic", "elm", "elm-1", "elm")


def seen(format_: str = "adversarial/1", said: str | None = "upheld", **changed: object) -> Observed:
    """A completed debate of a format that said this."""
    whole = Observed(
        format=format_,
        status="completed",
        said=said,
        why_none=None if said is not None else "undecided",
        critique=None,
        struck_by_code=(),
        moderation=None,
        swapped=None,
        conclusion=None,
        attempts=5,
        unusable=0,
        fallbacks=0,
        charge=1_000,
        lost=0,
        seats=(SEAT,),
        prompts="cd" * 32,
        simulated=True,
    )
    return replace(whole, **changed)


def critique(*points: PointMade, own_rating: int = 8) -> CritiqueMade:
    """A critique of these points."""
    return CritiqueMade(points, own_rating, "rejected", 0, (), ())


def point(*attacks: int, text: str = "It overlooks the clause.", at: tuple[str, int, int] | None = None) -> PointMade:
    """A point against these arguments, with a verified quotation at a place."""
    return PointMade(1, attacks, text, (Passage(*at),) if at else ())


def moderation(conclusion: str, slot: Slot = "first") -> ModerationMade:
    """A moderation with a conclusion that favours a place."""
    return ModerationMade(conclusion, "HIGH", slot)  # type: ignore[arg-type]
