"""The answers to a devil's advocate after the last round of a panel.

The reference has the devil's advocate speak from round three, which is the last one of three. A strong objection that
stands by then would only block. So after the last round every debater that is still there answers, in a turn of its
own, all strong objections of others: each other debater and not only the majority, because the same debaters would
have answered in one round more, and no single seat must decide. An objection is answered if a debater says why it fails
or accepts it as a risk, and none says that it holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.findings import ConsensusFound
from service.debate.model import Check, Turn, TurnId, seat_of
from service.debate.panel_standing import answers, debaters_of, labels_of, latest
from service.debate.replies import ObjectionAnswers
from service.debate.script import Script
from service.debate.turns import turn_id

DEVIL_FROM = 3
"""The round from which every debater is the devil's advocate too."""
PHASE = "answer"


def objections(s: Script, r: int) -> dict[TurnId, str]:
    """The turns of strong objections that stand after a round, with the labels of their authors."""
    found = s.facts.found.get(f"{r}/consensus")
    label = labels_of(s)
    return {o.turn: label[seat_of(o.turn)] for o in found.unanswered} if isinstance(found, ConsensusFound) else {}


def answering(s: Script, r: int, fragments: Mapping[str, tuple[str, ...]]) -> tuple[Turn, ...]:
    """The turns that answer the objections of the last round; ``fragments`` are those of each seat."""
    standing, label, turns = objections(s, r), labels_of(s), []
    for seat in debaters_of(s):
        to_answer = [turn for turn in standing if seat_of(turn) != seat]
        if not to_answer or not s.said(turn_id(r, seat)):
            continue
        others = sorted((d for d in debaters_of(s) if d != seat), key=label.__getitem__)
        last = [t for d in (seat, *others) if (t := latest(s, d))]
        sees = (*last, *sorted(turn for turn in to_answer if turn not in last))
        turns.append(Turn(turn_id(r, seat, PHASE), seat, sees, fragments[seat], kind="panel.answer"))
    return tuple(turns)


def answered(s: Script, r: int) -> tuple[TurnId, ...]:
    """The answers to objections after a round, in declared order."""
    return tuple(turn for seat in debaters_of(s) if s.said(turn := turn_id(r, seat, PHASE)))


def answered_check(s: Script, r: int) -> Check:
    """The measure of consensus once the objections of a round have been answered."""
    said = tuple(t for q in range(1, r + 1) for t in answers(s, q))
    return Check(f"{r}/answered", "consensus", (*said, *answered(s, r)))


def are_awaited(s: Script, r: int, last: int) -> bool:
    """Whether a round's standing may still change, because its objections are about to be answered."""
    if r < last or r < DEVIL_FROM or f"{r}/answered" in s.facts.found or s.facts.stopped or s.facts.money_ended:
        return False
    return bool(objections(s, r)) and s.facts.concluded is None


def accepts_a_risk(s: Script) -> bool:
    """Whether a debater accepts a strong objection as a risk."""
    given = (reply for reply in s.facts.said.values() if isinstance(reply, ObjectionAnswers))
    return any(answer.verdict == "acceptedRisk" for reply in given for answer in reply.answers)
