"""The money of one debate, folded from the same entries that are recorded.

If spent + excess + reserved + worst case would exceed the ceiling, the call is not made. An `Ask` also needs the cost
of its closing turns, so that a truncated debate still ends with a moderation. An auditor computes the same amounts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from service.debate.amounts import MicroUSD
from service.debate.entries import AttemptFailed, DebateStarted, Entry, TurnAsked, TurnSpoke
from service.debate.model import TurnId


class Refusal(Struct, frozen=True):
    """Why an `Ask` is not funded: the limit, the amount needed and the amount that remained, in micro-dollars."""

    limit: str
    needed: MicroUSD
    left: MicroUSD


class Ledger(Struct, frozen=True):
    """The money of one debate. ``held`` maps each turn with an open attempt to its reservation."""

    ceiling: MicroUSD
    spent: MicroUSD = 0
    excess: MicroUSD = 0
    held: Mapping[TurnId, MicroUSD] = {}

    @property
    def remaining(self) -> MicroUSD:
        """The amount that may still be reserved; negative only after a vendor billed above a reservation."""
        return self.ceiling - self.spent - self.excess - sum(self.held.values())

    def refuse(self, worst_cases: Iterable[MicroUSD], holding: Sequence[MicroUSD] = ()) -> Refusal | None:
        """Why these attempts cannot be funded together with their closing turns, or ``None``."""
        needed = sum(worst_cases) + sum(holding)
        if self.excess:
            return Refusal("providerOverrun", needed, self.remaining)
        return Refusal("debateCeiling", needed, self.remaining) if needed > self.remaining else None

    def add(self, entry: Entry) -> Self:
        """Fold one more entry."""
        match entry:
            case DebateStarted():
                return replace(self, ceiling=entry.ceiling)
            case TurnAsked():
                return replace(self, held={**self.held, entry.turn: entry.held})
            case TurnSpoke() | AttemptFailed():
                rest = {turn: held for turn, held in self.held.items() if turn != entry.turn}
                within = entry.charge.amount - entry.charge.excess
                return replace(self, held=rest, spent=self.spent + within, excess=self.excess + entry.charge.excess)
            case _:
                return self

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Fold a whole list."""
        ledger = cls(0)
        for entry in entries:
            ledger = ledger.add(entry)
        return ledger
