"""Why replies of adversarial/1 that have the right shape do not fit their place, and what is left out of a rebuttal.

The seat reads the message, so each message says what to do, and repeats only numbers of the reply.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from msgspec.structs import replace

from service.debate.emptiness import says_nothing
from service.debate.facts import Facts
from service.debate.findings import CitationsFound
from service.debate.model import Case, Turn, labels
from service.debate.options import positions_of
from service.debate.replies import Critique, Framing, Moderation, Proposal, Rebuttal, Reply
from service.debate.replies.pruning import Dropped, Kept
from service.debate.script import Script
from service.debate.turns import phase_of


def problem(s: Script, turn: Turn, reply: Reply) -> str | None:
    """Why a reply of the right shape is unusable at this place: a label, number or position that is not there."""
    given = positions_of(s.started.options)
    positions: set[str | None] = {position.id for position in given} if given else {None}
    if "evidence" in turn.fragments and isinstance(reply, Proposal | Critique | Rebuttal) and reply.shift is None:
        return "new evidence was introduced, so shift must say how it moved this seat; it is not null here"
    match reply:
        case Framing():
            return unarguable(s.facts.case, turn, reply)
        case Proposal() if not reply.arguments:
            return "a case for the proposition has at least one argument; arguments is empty"
        case Moderation():
            return unlabelled(turn, reply)
        case Critique():
            if wrong := [p.n for p in reply.points if p.position not in positions]:
                allowed = "null" if None in positions else f"one of {sorted(filter(None, positions))}"
                return f"position must be {allowed} in every point; it is not in points {wrong}"
        case Rebuttal():
            return unanswering(challenge(s.facts, turn).standing, reply)
        case _:
            pass
    return None


def kept(s: Script, turn: Turn, reply: Reply) -> Kept:
    """A reply without what its place did not ask for: a rebuttal's answers to points that it was not shown."""
    return answering(challenge(s.facts, turn), reply) if isinstance(reply, Rebuttal) else Kept(reply)


def unarguable(case: Case | None, turn: Turn, framing: Framing) -> str | None:
    """Why a framing is no proposition for a debate (reference 7.1, step 1); all later seats see the framing."""
    if not framing.criteria:
        return "a proposition has at least one criterion for a good answer; criteria is empty"
    given = {d.id for d in case.documents if d.round <= max(turn.round, 1)} if case else set()
    if unknown := {key.source_id for key in framing.key_documents} - given:
        return f"every sourceId in keyDocuments must be one of {sorted(given)}, found {len(unknown)} other"
    return None


def unlabelled(turn: Turn, moderation: Moderation) -> str | None:
    """Why a moderation does not fit its labels, asks for another round without a question for it, or says nothing."""
    if moderation.recommend_another_round and not moderation.unresolved_points:
        return "another round is recommended, so unresolvedPoints must say what it is to resolve"
    if says_nothing(moderation.synthesis):
        return "synthesis says what the debate showed and what follows for the question; it says nothing here"
    shown = labels(turn)
    if {score.label for score in moderation.scores} != set(shown.values()):
        return f"scores must name exactly the labels {sorted(shown.values())}"
    ranked = sorted(label for who, label in shown.items() if who.startswith("proposer."))
    return None if sorted(moderation.ranking) == ranked else f"ranking must order exactly the labels {ranked}"


class Challenge(NamedTuple):
    """The critic's points against the position of a rebuttal, by number: those that stand, and the struck ones."""

    standing: Set[int]
    struck: Set[int]


def challenge(facts: Facts, turn: Turn) -> Challenge:
    """The challenge that a rebuttal is asked about: the critique is the last reply that it sees."""
    last = turn.sees[-1]
    critique, mine = facts.said.get(last), phase_of(turn.id)
    if not isinstance(critique, Critique):
        return Challenge(frozenset(), frozenset())
    points = {p.n for p in critique.points if not mine or p.position == mine}
    found = facts.found.get(f"{last}/citations")
    struck = points & set(found.struck(last)) if isinstance(found, CitationsFound) else set()
    return Challenge(points - struck, struck)


def answering(challenged: Challenge, rebuttal: Rebuttal) -> Kept:
    """A rebuttal without its answers and concessions to points that it was not shown.

    A rebuttal that would lose everything although points stand is kept whole: it mistook the numbers, and is refused.
    """
    named = [(f"$.rebuttals[{i}]", a.n) for i, a in enumerate(rebuttal.rebuttals)]
    named += [(f"$.concessions[{i}]", c.n) for i, c in enumerate(rebuttal.concessions)]
    dropped = tuple(
        Dropped("struckPoint" if n in challenged.struck else "unaskedPoint", at, str(n))
        for at, n in named
        if n not in challenged.standing
    )
    answers = tuple(a for a in rebuttal.rebuttals if a.n in challenged.standing)
    concessions = tuple(c for c in rebuttal.concessions if c.n in challenged.standing)
    if not dropped or (challenged.standing and not answers and not concessions):
        return Kept(rebuttal)
    return Kept(replace(rebuttal, rebuttals=answers, concessions=concessions), dropped)


def unanswering(points: Set[int], rebuttal: Rebuttal) -> str | None:
    """Why a rebuttal does not answer ``points``, the numbers of the standing points against its position."""
    numbers = [a.n for a in rebuttal.rebuttals] + [c.n for c in rebuttal.concessions]
    if twice := sorted({n for n in numbers if numbers.count(n) > 1}):
        return f"points {twice} are rebutted and conceded at once; each belongs in one list"
    wrong = sorted(set(numbers) - points)
    return f"points {wrong} are not among those to be answered, {sorted(points)}; leave them out" if wrong else None
