"""Struck arguments, standing objections against the proposition, and the shifts of seats."""

from __future__ import annotations

from service.debate.model import TurnId
from service.debate.replies import Critique, Point, Proposal, Rebuttal
from service.debate.turns import round_of, seat_of, turn_id
from service.report.result.argument_types import Dissent, Maintained, WhyMaintained
from service.report.result.history import Folded, History, position_of
from service.report.result.rounds import argument, arguments
from service.report.result.seat_types import ShiftDetail
from service.report.result.types import Struck


def struck(h: History) -> tuple[Struck, ...]:
    """Every struck argument, those of a replaced critique too, in the order of the turns."""
    return tuple(
        Struck(turn=turn, round=round_of(turn), seat=seat_of(turn), position=position_of(turn), argument=item)
        for turn in h.facts.said
        for item in arguments(h, turn)
        if item.struck
    )


def dissent(h: Folded) -> Dissent | None:
    """The critic's standing points, or ``None`` before a critic has spoken."""
    rounds = h.rounds
    critiques = [(r, *found) for r in rounds if (found := h.critique(r))]
    if not critiques:
        return None
    last = critiques[-1][2]
    moderation = next((m for r in reversed(rounds) if (m := h.moderation(r))), None)
    return Dissent(
        thesis=last.thesis,
        conclusion=last.conclusion,
        unresolved_points=moderation.unresolved_points if moderation else (),
        maintained=tuple(m for r, turn, critique in critiques for m in _maintained(h, r, turn, critique)),
    )


def _maintained(h: Folded, r: int, turn: TurnId, critique: Critique) -> list[Maintained]:
    """The standing points of a critique that no standing argument answers."""
    found = []
    for point in critique.points:
        shown = argument(point, h.verdicts.get((turn, point.n)))
        if not shown.struck and (why := _why(h, r, point)):
            found.append(Maintained(round=r, point=shown, why=why))
    return found


def _why(h: Folded, r: int, point: Point) -> WhyMaintained | None:
    """Why a point still stands, or ``None`` if it was granted or answered."""
    turn = turn_id(r, "rebuttal", point.position or "")
    rebuttal = h.facts.said.get(turn)
    if not isinstance(rebuttal, Rebuttal):
        return "rebuttalNotReached"
    if any(c.n == point.n for c in rebuttal.concessions):
        return None
    if all(a.n != point.n for a in rebuttal.rebuttals):
        return "unanswered"
    found = h.verdicts.get((turn, point.n))
    return "answerStruck" if found and found.struck else None


def shifts(h: History) -> tuple[ShiftDetail, ...]:
    """The shift of each seat in the rounds that introduced documents; other rounds have no shifts."""
    new = {r: tuple(d.id for d in h.case.documents if d.round == r) for r in h.rounds if r > 1}
    return tuple(
        ShiftDetail(
            turn=turn,
            round=round_of(turn),
            seat=seat_of(turn),
            position=position_of(turn),
            movement=reply.shift.movement,
            because=reply.shift.because,
            documents=new[round_of(turn)],
        )
        for turn, reply in h.facts.said.items()
        if isinstance(reply, Proposal | Critique | Rebuttal) and reply.shift and new.get(round_of(turn))
    )
