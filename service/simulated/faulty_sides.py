"""The seats that speak for a side, with known faults: framing, proposer, rebuttal, and a debater with a stance.

    framing             in `misframes` of the cases it states the opposite of the item's proposition, of which the other
                        conclusion is right; in the others it states that proposition
    proposer            where it takes the proposition for right, it concludes so and rests on a passage; otherwise it
                        gives it up and has none
    rebuttal            it grants every point in `concedes` of the cases, and none in the others
    stances' debater    it rests on a passage in `argues_right` of the cases in which its stance is right, in
                        `argues_wrong` of the others, and else on none

What they do is seen by a seat that decides and `heeds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from service.debate.findings import Citation
from service.debate.labels import read as named
from service.debate.replies import Answer, Argument, Concession, Conclusion, Framing, Proposal, Rebuttal, Statement
from service.policy.known_faults import FaultShares
from service.simulated.arguments import without_passage
from service.simulated.draws import happens
from service.simulated.faulty_answers import Who, right
from service.simulated.framing import framing
from service.simulated.known_cases import KnownCase
from service.simulated.passage_choice import Desk
from service.simulated.proposer import cite, proposal
from service.simulated.rebuttal import rebuttal
from service.simulated.request_reader import Reading
from service.simulated.stances_debater import argument, stand

OPPOSITE: dict[Conclusion, Conclusion] = {"upheld": "rejected", "rejected": "upheld"}
_HOLDS = {"critic": "sound", "pairs": "upheld"}
_MISFRAMED = "The opposite of this holds: "
_LONG_ENOUGH = 30
_LONGEST = 300
_RESTS = "The case rests on what this passage says."
_GRANTED = "Granted: the thesis is not kept against this."
_KEPT = "The point names a possibility, and what was argued stands beside it."


def true_conclusion(case: KnownCase, reading: Reading) -> Conclusion:
    """What is right of the proposition as it is framed in a debate about a case."""
    line = case.line
    holds: Conclusion = "upheld" if line.answer == (line.states or _HOLDS[line.kind]) else "rejected"
    return OPPOSITE[holds] if reading.proposition.startswith(_MISFRAMED) else holds


def faulty_framing(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> Framing:
    """The framing of the item's proposition, or of its opposite."""
    made = framing(desk, limit)
    if shares.misframes is None:
        return made
    thesis = case.line.proposition or made.thesis
    opposite = happens(shares.misframes, "misframes", who.model, who.seat, case.shown)
    return replace(made, thesis=f"{_MISFRAMED}{thesis}" if opposite else thesis)


def faulty_proposal(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> Proposal:
    """The proposal of one that is right about the proposition as often as its table says."""
    made = proposal(desk, limit)
    is_right = right(shares, who, case, later=desk.reading.round - 1, states=False)
    if is_right is None or desk.reading.own_position:
        return made
    holds = true_conclusion(case, desk.reading)
    conclusion = holds if is_right else OPPOSITE[holds]
    rest = _with_passage(desk, made.arguments, limit) if conclusion == "upheld" else _without(desk, 1, limit)
    return replace(made, arguments=rest, conclusion=conclusion)


def faulty_rebuttal(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> Rebuttal:
    """The rebuttal of one that grants all points or none."""
    made = rebuttal(desk, limit)
    if shares.concedes is None:
        return made
    points = sorted((*(one.n for one in made.rebuttals), *(one.n for one in made.concessions)))
    if happens(shares.concedes, "concedes", who.model, who.seat, case.shown):
        granted = tuple(Concession(n, _GRANTED) for n in points)
        return replace(made, rebuttals=(), concessions=granted, conclusion="rejected")
    answers = {one.n: one for one in made.rebuttals}
    kept = tuple(answers.get(n) or Answer(n, _KEPT, (), "reasoning") for n in points)
    return replace(made, rebuttals=kept, concessions=(), conclusion="upheld")


def faulty_argument(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> Argument:
    """The arguments of a debater that argues its stance well or badly."""
    made, stance = argument(desk, limit), desk.reading.stance
    is_right = case.line.kind == "questions" and named(case.line.answer, [stance]) is not None
    share = shares.argues_right if is_right else shares.argues_wrong
    if share is None or case.line.kind != "questions":
        return made
    if happens(share, "argues", who.model, who.seat, case.shown):
        return Argument(_with_passage(desk, made.arguments, limit))
    return Argument(_without(desk, stand(desk, stance).side or 1, limit))


def _without(desk: Desk, side: int, limit: int) -> tuple[Statement, ...]:
    return tuple(without_passage(desk, side, min(limit, 2)))


def _with_passage(desk: Desk, made: Sequence[Statement], limit: int) -> tuple[Statement, ...]:
    """The same arguments, one of which rests on a passage wherever there is a document."""
    passage = next(_passages(desk), None)
    if passage is None or any(one.citations for one in made):
        return tuple(made)
    kept = made[: limit - 1]
    return (*kept, Statement(max((one.n for one in kept), default=0) + 1, _RESTS, (passage,)))


def _passages(desk: Desk) -> Iterator[Citation]:
    """The passages that bear on the question, and then the lines of the documents."""
    for found in sorted(desk.evidence, key=lambda e: (-e.relevance, e.source_id, e.start)):
        if len(found.quote) >= _LONG_ENOUGH:
            yield from cite(found)
    for document in desk.documents:
        for line in map(str.strip, document.text.splitlines()):
            if len(line) >= _LONG_ENOUGH:
                yield Citation(line[:_LONGEST].strip(), document.id)
