"""Requirements and practices: for a sentence of one kind, the sentence of the other kind on the same matter."""

from __future__ import annotations

from collections import Counter

from service.simulated.evidence import BearingSentence
from service.simulated.passage_choice import Desk
from service.simulated.words import terms

LEAST_SHARED = 3


def has_both(desk: Desk) -> bool:
    """Whether the documents hold rules as well as a practice that can be held against them."""
    kinds = {"norm" in e.cues for e in desk.evidence}
    return desk.wanted.proposition.kind == "conformity" and kinds == {True, False}


def counterpart(desk: Desk, evidence: BearingSentence) -> BearingSentence | None:
    """The requirement that a practice has to meet, or ``None`` if none is on the same matter."""
    if not has_both(desk) or "norm" in evidence.cues:
        return None
    mine = terms(evidence.quote) | terms(evidence.caption)
    rules = [e for e in desk.evidence if "norm" in e.cues and e.cues & {"duty", "ban"} and "definition" not in e.cues]
    said = Counter(stem for e in desk.evidence for stem in terms(e.quote))
    best: tuple[float, BearingSentence] | None = None
    for other in rules:
        shared = mine & (terms(other.quote) | terms(other.caption))
        closeness = sum(1 / (1 + said[stem]) for stem in shared)
        if len(shared) >= LEAST_SHARED and (best is None or closeness > best[0]):
            best = closeness, other
    return best[1] if best else None
