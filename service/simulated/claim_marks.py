"""The marks of a panel's debater: every claim in its request gets one mark.

accept    a verified passage on the debater's own side, or one too direct to deny; a true silence of the documents
reject    a verified passage that its author relies on, if the debater has a weightier one against it
          in a case without documents, a consideration that is not for the other side
unsure    any other claim: reasoning alone, passages of little weight, passages of expectation to a strict model
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.debate.replies.panel import Mark, MarkAs
from service.simulated.answers import Answered
from service.simulated.evidence import BearingSentence
from service.simulated.gaps import item_behind
from service.simulated.grounds import side_of
from service.simulated.moderator import WeighedArgument
from service.simulated.passage_choice import Desk
from service.simulated.transcript import HeardVoice, plain_value


def mark(desk: Desk, answered: Answered, said: Sequence[HeardVoice]) -> tuple[Mark, ...]:
    """A mark for every claim of the others' answers."""
    return tuple(_mark(desk, answered, v, w) for v in said if not v.spoken.own for w in v.arguments)


def _mark(desk: Desk, answered: Answered, author: HeardVoice, claim: WeighedArgument) -> Mark:
    verdict, sure = _verdict(desk, answered, claim)
    if verdict == "reject" and _granted(author, claim):
        verdict, sure = "accept", 70
    return Mark(claim.label, claim.said.n, verdict, max(5, min(97, sure)))


def _verdict(desk: Desk, answered: Answered, claim: WeighedArgument) -> tuple[MarkAs, int]:
    if not desk.documents:
        return ("accept", 60) if answered.side * side_of(claim.said.text) >= 0 else ("unsure", 50)
    if not claim.evidence:
        return ("accept", 60) if item_behind(desk, claim.said.text) else ("unsure", 45)
    e = claim.evidence[0]
    if "hedge" in e.cues and e.weight < 4 and desk.strategy.family == "birch":
        return "unsure", 50
    if answered.side * e.side >= 0:
        return ("accept", 55 + 8 * e.weight) if e.weight >= 2 or not e.side else ("unsure", 50)
    against = rival(answered, e)
    if against and plain_value(against) > 1.25 * plain_value(e):
        return "reject", 50 + 8 * against.weight
    return ("accept", 45 + 8 * e.weight) if e.weight >= 4 else ("unsure", 50)


def _granted(author: HeardVoice, claim: WeighedArgument) -> bool:
    """Whether the author itself names the passage as one that stands against its answer."""
    side = {"affirmative": 1, "negative": -1}.get(str(author.spoken.body.get("stance")), 0)
    return bool(side) and claim.evidence[0].side == -side


def rival(answered: Answered, evidence: BearingSentence) -> BearingSentence | None:
    """The weightiest passage that a debater holds against another: one of the same part first."""
    against = [e for e in answered.leaning.pool if e.side == -evidence.side and e.side]
    near = [e for e in against if e.section and e.section == evidence.section]
    return max(near or against, key=lambda e: (plain_value(e), -e.start), default=None)


def by_claim(marks: Sequence[Mark]) -> Mapping[tuple[str, int], MarkAs]:
    """The marks by the author of their claim."""
    return {(m.label, m.n): m.mark for m in marks}
