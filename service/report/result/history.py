"""The recorded lines of a debate, folded once for results and reports.

This module decides nothing: facts are the kernel's, and the turns of the moderator are those that the kernel asked for
after the entries before them. So its neutral labels are read back by the same rule that gave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, NoReturn

from service.debate.course import Course
from service.debate.entries import (
    AttemptFailed,
    CaseReceived,
    Charge,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnGiven,
    TurnSpoke,
)
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, CritiqueFound
from service.debate.model import Ask, Case, SeatPlan, Turn, TurnId, labels
from service.debate.options import Options, positions_of, role_of
from service.debate.replies import Critique, Moderation
from service.debate.turns import is_masked, phase_of, round_of, seat_of, split_party, turn_id
from service.errors import IllegalEntry
from service.report.result.types import Line, WhyAsked
from service.report.result.used_pins import pins_used

SWAPPED = "swapped"
_NO_CASE = "expected the entries of a debate from case.received on; read them from the first"


class AttemptHistory(NamedTuple):
    """One call: its intent, the reason for it, and its end, or ``None`` before the end."""

    asked: TurnAsked
    why: WhyAsked
    ended: TurnSpoke | AttemptFailed | None = None

    @property
    def charge(self) -> Charge | None:
        """The charge for the call."""
        return self.ended.charge if self.ended else None

    @property
    def seat(self) -> str:
        """The seat that was asked."""
        return seat_of(self.asked.turn)

    @property
    def round(self) -> int:
        """The round of the call."""
        return round_of(self.asked.turn)


class Folded:
    """A debate's facts, as its decision is read from them. Raises `IllegalEntry` for facts without a case."""

    def __init__(self, facts: Facts) -> None:
        if facts.case is None:
            raise IllegalEntry(_NO_CASE)
        self.case: Case = facts.case
        self.facts = facts

    @cached_property
    def verdicts(self) -> dict[tuple[TurnId, int], ArgumentVerdict]:
        """What the check of citations found of each argument, by its turn and its number."""
        found = (one for one in self.facts.found.values() if isinstance(one, CitationsFound))
        return {(a.turn, a.n): a for one in found for a in one.arguments}

    @property
    def rounds(self) -> range:
        """The rounds in which any turn was asked, or had its reply given, from 1."""
        asked = (*self.facts.attempts, *self.facts.said)
        return range(1, max((round_of(turn) for turn in asked), default=0) + 1)

    @property
    def positions(self) -> tuple[str, ...]:
        """The ids of the positions, empty if the debate is about one proposition."""
        started = self.facts.started
        return tuple(p.id for p in positions_of(started.options)) if started else ()

    @property
    def options(self) -> Options | None:
        """The options of the debate; ``None`` before its start."""
        return self.facts.started.options if self.facts.started else None

    def critique(self, r: int) -> tuple[TurnId, Critique] | None:
        """The standing critique of a round: the last one that was given."""
        for turn in (turn_id(r, "critic", take=2), turn_id(r, "critic")):
            reply = self.facts.said.get(turn)
            if isinstance(reply, Critique):
                return turn, reply
        return None

    def signs(self, turn: TurnId) -> CritiqueFound | None:
        """The finding of the critique check."""
        found = self.facts.found.get(f"{turn}/critique")
        return found if isinstance(found, CritiqueFound) else None

    def moderation(self, r: int) -> Moderation | None:
        """The moderation of a round; one in the reverse order never replaces it."""
        return self.moderated(self.moderator(r))

    def moderator(self, r: int, phase: str = "") -> TurnId:
        """The standing turn of the moderator in a round; ``phase`` where it is asked again for a reply beside it."""
        return self.facts.standing(turn_id(r, "moderator", phase))

    def moderated(self, turn: TurnId) -> Moderation | None:
        """The moderation of a turn: the first one of a round, or the one in the reverse order."""
        reply = self.facts.said.get(turn)
        return reply if isinstance(reply, Moderation) else None


class History(Folded):
    """A debate's lines by name, and its facts. Raises `IllegalEntry` unless the lines begin with the case.

    ``served`` are the names that vendors gave with a seat's replies, ``used`` the ids of the pinned prompts, templates
    and schemas of the requests that were made, ``moderators`` the moderator's turns as the kernel asked for them.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        if not lines or not isinstance(lines[0].entry, CaseReceived):
            raise IllegalEntry(_NO_CASE)
        self.lines = lines
        self.subject: str = lines[0].entry.subject
        self.arrival = lines[0].entry.arrival
        self.aborts = [
            line.actor for line in lines if isinstance(line.entry, DebateStopped) and line.entry.by == "abort"
        ]
        self._course = Course()
        self._course.fold(lines[0].entry)
        super().__init__(self._course.facts)
        self._attempts: dict[tuple[TurnId, int], AttemptHistory] = {}
        self.moderators: dict[TurnId, Turn] = {}
        self.used: set[str] = set()
        self.served: dict[str, list[str]] = {}
        for line in lines[1:]:
            self._read(line.entry)
            self._course.fold(line.entry)

    def _read(self, entry: Entry) -> None:
        """Note what an entry says beside its facts, which are still those before it."""
        match entry:
            case TurnAsked():
                self._attempts[entry.turn, entry.attempt] = AttemptHistory(entry, self._why(entry))
                self._request(entry)
            case TurnGiven():
                if seat_of(entry.turn) == "moderator":
                    self.moderators[entry.turn] = self._asked(self._due(entry.turn), entry.turn)
            case TurnSpoke():
                self._end(entry)
                names = self.served.setdefault(seat_of(entry.turn), [])
                if entry.served_model and entry.served_model not in names:
                    names.append(entry.served_model)
            case AttemptFailed():
                self._end(entry)
            case _:
                pass

    def _request(self, asked: TurnAsked) -> None:
        due = self._due(asked.turn)
        if due is not None:
            self.used |= pins_used(self.facts, due, self.plan(asked.turn).of(asked.model))
        if seat_of(asked.turn) == "moderator":
            self.moderators[asked.turn] = self._asked(due, asked.turn)

    def _why(self, asked: TurnAsked) -> WhyAsked:
        """Why an attempt is made, from the entries before it."""
        turn, model = asked.turn, asked.model
        if model != self.plan(turn).model and model not in self.facts.models.get(turn, ()):
            return "fallback"
        if self.facts.unusable(turn, model):
            return "repair"
        return "again" if asked.attempt > 1 else "first"

    def _end(self, entry: TurnSpoke | AttemptFailed) -> None:
        place = entry.turn, entry.attempt
        if place not in self._attempts:
            refuse_unbegun(entry)
        self._attempts[place] = self._attempts[place]._replace(ended=entry)

    def _due(self, turn: TurnId) -> Turn | None:
        """The turn as the kernel asks for it after the entries so far; ``None`` where it is not due."""
        move = self._course.move()
        return next((due for due in move.turns if due.id == turn), None) if isinstance(move, Ask) else None

    def _asked(self, due: Turn | None, turn: TurnId) -> Turn:
        if due is None:
            raise IllegalEntry(f"turn {turn} was asked although it was not due; replay the debate's entries")
        return due

    def attempt(self, turn: TurnId, number: int) -> AttemptHistory:
        """One attempt of a turn; raises `KeyError` if it was never made."""
        return self._attempts[turn, number]

    def plan(self, turn: TurnId) -> SeatPlan:
        """The plan of the seat that a turn asks; raises `IllegalEntry` before the start."""
        if self.facts.started is None:
            raise IllegalEntry(f"turn {turn} was asked before debate.started")
        return self.facts.started.seat(seat_of(turn))

    @property
    def attempts(self) -> tuple[AttemptHistory, ...]:
        """Every attempt, in the order in which they were asked."""
        return tuple(self._attempts.values())

    def shown(self, turn: TurnId) -> dict[str, str]:
        """The neutral labels under which a moderator's turn saw the parties, in its order."""
        asked = self.moderators.get(turn)
        return labels(asked) if asked else {}

    def scores(self, turn: TurnId) -> dict[str, int]:
        """The scores of a moderator's turn by party: ``critic``, ``proposer.<position>``."""
        moderation = self.moderated(turn)
        given = {score.label: score.score for score in moderation.scores} if moderation else {}
        return {who: given[label] for who, label in self.shown(turn).items() if label in given}

    def ranked(self, turn: TurnId) -> tuple[str, ...]:
        """The positions in the order of a moderator's turn, best first; empty without a moderation."""
        whose = {label: split_party(who)[1] for who, label in self.shown(turn).items()}
        moderation = self.moderated(turn)
        return tuple(whose[label] for label in moderation.ranking if label in whose) if moderation else ()


def position_of(turn: TurnId) -> str | None:
    """The position for which a turn speaks, where there are several."""
    return phase_of(turn) or None if seat_of(turn) in ("proposer", "rebuttal") else None


def debater_phase(turn: TurnId) -> str | None:
    """The phase of a debater's turn, in the format that has phases."""
    return phase_of(turn) or None if role_of(seat_of(turn)) == "debater" else None


def is_swapped(turn: TurnId) -> bool:
    """Whether a decider is asked again in reverse order."""
    return phase_of(turn) == SWAPPED


def is_beside(turn: TurnId) -> bool:
    """Whether a decider is asked again so that its reply stands beside the first one, and never in its place."""
    return is_swapped(turn) or is_masked(turn)


def refuse_unbegun(entry: TurnSpoke | AttemptFailed) -> NoReturn:
    """Raise `IllegalEntry` for an attempt that ends and never began."""
    raise IllegalEntry(f"attempt {entry.attempt} of turn {entry.turn} ended and was never begun")
