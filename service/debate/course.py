"""A debate under way: its facts as they grow, and its script kept where it rests.

    a reply or a finding    sends the script on: what lies behind it is not run again, so a move costs what is new in it
    an attempt              leaves the move as it is, unless a charge is flagged or the money has ended
    anything else           drops the script: a silence, a refusal, a stop, a flagged charge

A script that was dropped, has ended or was never begun is run from the top, which is the definition
(`service.debate.kernel.next_move`): both ways give the same moves after each entry. Replay and verification know only
the definition.
"""

from __future__ import annotations

from service.debate.entries import CheckFound, DebateStarted, Entry, TurnGiven, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import Run, decide, refuse_illegal
from service.debate.model import Conclude, Move

_SENDS_ON = (TurnSpoke, TurnGiven, CheckFound)


class Course:
    """One debate, entry by entry, for those who drive it."""

    def __init__(self) -> None:
        self.facts = Facts()
        self._run: Run | None = None

    def move(self) -> Move:
        """The next move; raises `IllegalEntry` if the debate has not started."""
        return decide(self.facts, self._sent_on)

    def add(self, entry: Entry) -> None:
        """Add an entry; raises `IllegalEntry`, and leaves the facts as they are, if it is not legal."""
        refuse_illegal(self.facts, entry, self.move)
        self.fold(entry)

    def fold(self, entry: Entry) -> None:
        """Add an entry without asking whether it is legal, as it was recorded or is supposed."""
        if not (isinstance(entry, _SENDS_ON) or self.facts.unmoved_by(entry)):
            self._run = None
        self.facts.add(entry)

    def _sent_on(self, started: DebateStarted, facts: Facts) -> Move:
        """The move with which the script rests next; a script that has ended, or failed, is not kept."""
        run, self._run = self._run or Run(started, facts), None
        move = run.next()
        if not isinstance(move, Conclude):
            self._run = run
        return move
