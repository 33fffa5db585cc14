"""Ideas for a brainstorm: from open points of the documents, from their contents, and from their omissions."""

from __future__ import annotations

from collections.abc import Sequence

from service.debate.findings import Citation
from service.debate.replies import Statement
from service.simulated import grounds
from service.simulated.arguments import NOTHING
from service.simulated.checklists import Item
from service.simulated.evidence import BearingSentence
from service.simulated.gaps import missing
from service.simulated.leaning import lean
from service.simulated.passage_choice import Desk, value
from service.simulated.phrases import upper
from service.simulated.proposer import cite
from service.simulated.transcript import HeardVoice, others, plain_value

Idea = tuple[str, tuple[Citation, ...]]
_GIST = 120


def ideas(desk: Desk, said: Sequence[HeardVoice], limit: int) -> list[Statement]:
    """A debater's ideas: its own at first; later those again, the best of the others' and few that are new."""
    own = next((v for v in said if v.spoken.own), None)
    found: list[Idea] = [(_idea(e), cite(e)) for e in _ranked(desk)]
    found += [
        (f"{upper(item.remedy)} should be added; the documents are silent about it.", ()) for item in _silent(desk)
    ]
    if not desk.documents:
        found = [(text, ()) for text in grounds.ideas(desk)]
    made = _again(own, others(said), limit) if own else found[:limit]
    made = made or [(NOTHING, ())]
    return [Statement(n, text, cs, "evidence" if cs else "reasoning") for n, (text, cs) in enumerate(made, start=1)]


def _again(own: HeardVoice, theirs: Sequence[HeardVoice], limit: int) -> list[Idea]:
    """The debater's own ideas in the same words, and the weightiest of the others' that it has not."""
    kept = [(w.said.text, tuple(Citation(c.quote, c.source_id) for c in w.said.citations)) for w in own.arguments]
    held = {c.quote for _, cs in kept for c in cs}
    new = [w for v in theirs for w in v.arguments if w.evidence and w.evidence[0].quote not in held]
    best = max(new, key=lambda w: (w.weight, w.label), default=None)
    adopted = [(_idea(best.evidence[0]), cite(best.evidence[0]))] if best else []
    return [*kept[: max(1, limit - len(adopted))], *adopted]


def _ranked(desk: Desk) -> list[BearingSentence]:
    """The basis of ideas: a strict family prefers gaps, a lenient one strengths, the third has no preference."""
    first = {"birch": 1, "alder": -1, "cedar": 0}[desk.strategy.family]
    return sorted(lean(desk).own, key=lambda e: (first * e.side, -value(desk, e), -plain_value(e), e.start))


def _idea(evidence: BearingSentence) -> str:
    if evidence.side < 0:
        return f"Close what {evidence.where} leaves open: {_gist(evidence)}"
    return f"Build on {evidence.where} and extend it to what it does not reach yet: {_gist(evidence)}"


def _gist(evidence: BearingSentence) -> str:
    """The beginning of a passage in its own words, up to a natural end."""
    flat = " ".join(evidence.quote.split())
    if len(flat) <= _GIST:
        return flat if flat.endswith(".") else f"{flat}."
    stop = max(flat.rfind(mark, 40, _GIST) for mark in (", ", "; ", ": "))
    return f"{flat[: stop if stop > 0 else flat.rfind(' ', 0, _GIST)]} ..."


def _silent(desk: Desk) -> list[Item]:
    return [item for side in (-1, 1) for item in missing(desk, side)]
