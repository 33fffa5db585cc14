"""Who stands, or at first stood, against the decision of a debate, in each format. Pure.

A side that the format assigned (a critic, a stance that lost) is kept apart from a debater's own view. A debater that
held another view only before it had read the others is named too: it may have been persuaded, or have given way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from service.debate.answer_keys import folded
from service.debate.ballot import PHASES
from service.debate.formats import FormatName, complete_formats
from service.debate.labels import fold
from service.debate.model import Outcome, TurnId
from service.debate.options import debater_seats
from service.debate.replies import BlindAnswer, RevisedAnswer, statements
from service.debate.results import AnswerVotes, BallotResult, ConvergenceResult, StancesResult
from service.debate.turns import seat_of
from service.report.formats import telling_of
from service.report.formats.debaters import named, turns
from service.report.result.decision import Against, view
from service.report.result.decision_types import Dissenter
from service.report.result.dissent import dissent as objections
from service.report.result.history import Folded

Until = Literal["end", "firstDraft"]


def _adversarial(h: Folded, _: Outcome) -> Against | None:
    found = objections(h)
    if found is None or not (found.maintained or found.unresolved_points):
        return None
    critic = Dissenter(seat="critic", points=len(found.maintained), until="end", holds=found.conclusion)
    return Against("assigned", (critic,), found.thesis, len(found.unresolved_points))


def _stances(h: Folded, outcome: Outcome) -> Against | None:
    """The stances that lost; of a verdict that combines stances, none."""
    found = outcome.result
    if not isinstance(found, StancesResult) or found.verdict is None or found.verdict.winner is None:
        return None
    last = _last(h)
    won = fold(found.winner_stance or "")
    lost = {seat: debater for seat in last if fold((debater := named(h, seat)).stance) != won}
    by = (_dissenter(h, seat, last[seat], "end", debater.name, debater.stance) for seat, debater in lost.items())
    return Against("assigned", tuple(one for one in by if one.points))


def _ballot(h: Folded, outcome: Outcome) -> Against | None:
    """The debaters whose latest vote, or whose vote before they had read the others, is not for the option chosen."""
    found = outcome.result
    if not isinstance(found, BallotResult) or found.decision_rule != "threshold_vote":
        return None
    votes = {cast.debater: cast.vote for cast in found.votes}
    blind = {cast.debater: cast.vote for cast in found.votes if (cast.round, cast.phase) == (1, PHASES[0])}
    seats = dict(zip(found.debater_ids, _seats(h), strict=True))
    return _own(h, seats, _by_seat(seats, votes), _by_seat(seats, blind), found.decision)


def _panel(h: Folded, _: Outcome) -> Against | None:
    """The debaters with the opposite stance to most others, and those that still challenge or reject a claim."""
    last, first = _last(h), _first(h)
    views = {seat: _stance(h, turn) for seat, turn in last.items()}
    sides = Counter(side for view in views.values() if (side := _SIDES.get(view or "")))
    ahead = [side for side, count in sides.items() if count == max(sides.values())]
    by, contesting = [], set()
    for seat, turn in last.items():
        blind = _stance(h, first[seat])
        if _opposes(views[seat], ahead) or _challenges(h, turn):
            by.append(_dissenter(h, seat, turn, "end", _label(h, seat), views[seat]))
            contesting |= set() if _opposes(views[seat], ahead) else {seat}
        elif _opposes(blind, ahead):
            by.append(_dissenter(h, seat, first[seat], "firstDraft", _label(h, seat), blind))
    return Against("own", tuple(by), contesting=frozenset(contesting), stances=_STANCES)


_SIDES: Mapping[str, str] = {"affirmative": "yes", "qualified": "yes", "negative": "no"}

_STANCES: Mapping[str, str] = {
    "affirmative": "yes",
    "qualified": "yes, under conditions",
    "negative": "no",
    "open": "open",
}


def _opposes(stance: str | None, ahead: list[str]) -> bool:
    side = _SIDES.get(stance or "")
    return side is not None and len(ahead) == 1 and side != ahead[0]


def _stance(h: Folded, turn: TurnId) -> str | None:
    reply = h.facts.said[turn]
    return reply.stance if isinstance(reply, BlindAnswer | RevisedAnswer) else None


def _challenges(h: Folded, turn: TurnId) -> bool:
    reply = h.facts.said[turn]
    rejects = isinstance(reply, RevisedAnswer) and any(mark.mark == "reject" for mark in reply.marks)
    return rejects or (isinstance(reply, RevisedAnswer) and bool(reply.still_challenges))


def _convergence(h: Folded, outcome: Outcome) -> Against | None:
    """The debaters whose last answer, or whose answer before they had read the others, is another one."""
    found = outcome.result
    if not isinstance(found, ConvergenceResult) or found.final_answer is None:
        return None
    names = {seat: named(h, seat).name or _label(h, seat) for seat in _seats(h)}
    given = {name: seat for seat, name in names.items()}
    return _own(h, given, _answers(found.votes), _answers(found.blind_answers), found.final_answer)


def _answers(groups: Iterable[AnswerVotes]) -> dict[str, str | None]:
    return {seat: group.answer for group in groups for seat in group.seats}


def _own(
    h: Folded,
    seats: Mapping[str, str],
    last: Mapping[str, str | None],
    blind: Mapping[str, str | None],
    decided: str,
) -> Against:
    """Debaters by seat whose last view, or whose view before they had read the others, is not what was decided.

    ``seats`` are the debaters' seats by name; a view of ``None`` is an abstention.
    """
    spoke, began, wanted = _last(h), _first(h), folded(decided)
    by = []
    for name, seat in seats.items():
        if seat in last and _differs(last[seat], wanted):
            by.append(_dissenter(h, seat, spoke.get(seat), "end", name, last[seat]))
        elif seat in last and seat in blind and _differs(blind[seat], wanted):
            by.append(_dissenter(h, seat, began.get(seat), "firstDraft", name, blind[seat]))
    return Against("own", tuple(by))


def _differs(view: str | None, wanted: str) -> bool:
    return view is None or folded(view) != wanted


def _dissenter(
    h: Folded, seat: str, turn: TurnId | None, until: Until, name: str | None, holds: str | None
) -> Dissenter:
    standing = [a for a in statements(h.facts.said[turn]) if not _struck(h, turn, a.n)] if turn else []
    return Dissenter(seat=seat, points=len(standing), until=until, name=name, holds=view(holds))


def _struck(h: Folded, turn: TurnId, n: int) -> bool:
    found = h.verdicts.get((turn, n))
    return found is not None and found.struck is not None


def _by_seat(seats: Mapping[str, str], views: Mapping[str, str | None]) -> dict[str, str | None]:
    return {seats[name]: view for name, view in views.items()}


def _seats(h: Folded) -> tuple[str, ...]:
    return debater_seats(h.options) if h.options else ()


def _label(h: Folded, seat: str) -> str:
    telling = telling_of(h.options)
    return telling.label(h, seat) if telling else seat


def _last(h: Folded) -> dict[str, TurnId]:
    """Each debater's last turn with arguments of its own."""
    return {seat_of(turn): turn for turn in turns(h) if statements(h.facts.said[turn])}


def _first(h: Folded) -> dict[str, TurnId]:
    """Each debater's first such turn."""
    return {seat_of(turn): turn for turn in reversed(turns(h)) if statements(h.facts.said[turn])}


DISSENTS: Mapping[FormatName, Callable[[Folded, Outcome], Against | None]] = complete_formats(
    {
        "adversarial": _adversarial,
        "stances": _stances,
        "ballot": _ballot,
        "panel": _panel,
        "convergence": _convergence,
    },
    "dissent",
    __file__,
)
