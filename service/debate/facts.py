"""Entries folded to named facts. A format reads these by turn id, never the list, so arrival order cannot matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from service.debate.amounts import MicroUSD
from service.debate.entries import (
    Arrival,
    AttemptFailed,
    BudgetRefused,
    CaseReceived,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    GateDecided,
    GateDecision,
    TurnAsked,
    TurnGiven,
    TurnSilent,
    TurnSpoke,
)
from service.debate.findings import Finding
from service.debate.model import Case, Move, Outcome, TurnId
from service.debate.replies import Reply
from service.debate.turns import SCREENER, once_more

UNUSABLE = ("malformedReply", "lengthLimit")
"""Reasons of a failed attempt that a repair may mend: the model reads the fault and answers again."""
# Tuples, and not unions in the calls of `isinstance`: a union of classes is built anew each time, in a microsecond.
_CHARGED = (TurnSpoke, AttemptFailed)
_ATTEMPT = (TurnAsked, AttemptFailed)


class Facts:
    """The facts of a debate so far. Folding is incremental: a runner keeps one and adds entries as they commit.

    ``versions`` are those that the gate's decision seals (`service.debate.versions`). ``models`` maps a turn to the
    models of its attempts, ``failed`` to its failed attempts in their order, and ``malformed`` to the fault of its
    latest unusable reply. ``given`` are the replies that the case gives in the place of models'. ``excess`` is what
    vendors billed above the reservations of all calls, and ``below_floor`` says that a vendor reported a usage that
    cannot be true by our own count.
    """

    def __init__(self) -> None:
        self.count = 0
        self.case: Case | None = None
        self.arrival: Arrival | None = None
        self.given: Mapping[TurnId, Reply] = {}
        self.decision: GateDecision | None = None
        self.versions: Mapping[str, str] = {}
        self.started: DebateStarted | None = None
        self.said: dict[TurnId, Reply] = {}
        self.silent: dict[TurnId, str] = {}
        self.refused: dict[TurnId, BudgetRefused] = {}
        self.found: dict[str, Finding] = {}
        self.open: dict[TurnId, int] = {}
        self.attempts: dict[TurnId, int] = {}
        self.models: dict[TurnId, list[str]] = {}
        self.failed: dict[TurnId, list[AttemptFailed]] = {}
        self.malformed: dict[TurnId, str] = {}
        self.excess: MicroUSD = 0
        self.below_floor = False
        self.stopped: DebateStopped | None = None
        self.concluded: Outcome | None = None
        self.move: Move | None = None

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Fold a whole list."""
        facts = cls()
        for entry in entries:
            facts.add(entry)
        return facts

    def add(self, entry: Entry) -> None:
        """Fold one more entry; whether it is legal is the kernel's question (`kernel.refuse_illegal`)."""
        self.count += 1
        self.move = self.move if self.unmoved_by(entry) else None
        charge = entry.charge if isinstance(entry, _CHARGED) else None
        self.excess += charge.excess if charge else 0
        self.below_floor |= charge is not None and charge.below_floor is not None
        match entry:
            case CaseReceived():
                self.case, self.arrival, self.given = entry.case, entry.arrival, entry.given
            case GateDecided():
                self.decision, self.versions = entry.decision, entry.versions
            case DebateStarted():
                self.started = entry
            case TurnAsked():
                self.open[entry.turn] = self.attempts[entry.turn] = entry.attempt
                self.models.setdefault(entry.turn, []).append(entry.model)
            case TurnSpoke() | TurnGiven():
                self.open.pop(entry.turn, None)
                self.said[entry.turn] = entry.reply
            case AttemptFailed():
                self._failed(entry)
            case TurnSilent():
                self.silent[entry.turn] = entry.reason
            case CheckFound():
                self.found[entry.check] = entry.finding
            case BudgetRefused():
                self.refused.update(dict.fromkeys(entry.turns, entry))
            case DebateStopped():
                self.stopped = self.stopped or entry
            case DebateConcluded():
                self.concluded = entry.outcome

    def unmoved_by(self, entry: Entry) -> bool:
        """Whether an entry leaves the next move as it is.

        An attempt does, except that closing turns wait for those under way and that a charge is flagged.
        """
        if self.refused or not isinstance(entry, _ATTEMPT):
            return False
        return isinstance(entry, TurnAsked) or not (entry.charge.excess or entry.charge.below_floor)

    def _failed(self, entry: AttemptFailed) -> None:
        self.open.pop(entry.turn, None)
        self.failed.setdefault(entry.turn, []).append(entry)
        if entry.reason in UNUSABLE:
            self.malformed[entry.turn] = entry.detail

    def failures(self, turn: TurnId, model: str) -> list[AttemptFailed]:
        """The failed attempts of a turn at one model, in their order."""
        if turn not in self.failed:
            return []
        models = self.models.get(turn, [])
        return [failed for failed in self.failed[turn] if models[failed.attempt - 1] == model]

    def unusable(self, turn: TurnId, model: str) -> str | None:
        """The fault of a model's latest unusable reply in this turn, or ``None``."""
        wrong = [failed.detail for failed in self.failures(turn, model) if failed.reason in UNUSABLE]
        return wrong[-1] if wrong else None

    def spoke(self, turn: TurnId) -> str | None:
        """The model behind a reply, ``None`` for a given one; raises `KeyError` if the turn has no reply."""
        if turn not in self.said:
            raise KeyError(turn)
        return None if turn in self.given else self.models[turn][-1]

    def standing(self, turn: TurnId) -> TurnId:
        """The take of a turn that stands, from its first one: the second if it spoke."""
        again = once_more(turn)
        return again if again in self.said else turn

    @property
    def documented(self) -> bool:
        """Whether the case has a document; without one no quotation can be compared."""
        return self.case is None or bool(self.case.documents)

    @property
    def money_ended(self) -> bool:
        """Whether a turn could not be funded, so that only closing turns may be asked.

        The screener's does not count: the debate goes on without its reply.
        """
        return any(turn != SCREENER for turn in self.refused)

    def answered(self, turn: TurnId) -> bool:
        """Whether a turn needs no further attempt: it spoke, is silent, or could not be funded."""
        return turn in self.said or turn in self.silent or turn in self.refused
