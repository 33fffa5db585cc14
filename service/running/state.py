"""The runner's view of one debate: recorded entries plus staged ones.

Staged entries count as facts at once. They are recorded, all or none, before the runner waits for anything. If another
process has written meanwhile, its entries are read first, and the staged entries that are still legal are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from service import telemetry
from service.debate.course import Course
from service.debate.entries import (
    AttemptFailed,
    Charge,
    DebateStarted,
    DebateStopped,
    Entry,
    StoppedBy,
    kind,
)
from service.debate.facts import Facts
from service.debate.model import Case, Move
from service.errors import AuditUnavailable, Fenced, IllegalEntry
from service.money import Ledger
from service.running.log_port import AuditLog
from service.running.metrics import log_lost_attempts


class DebateState:
    """One debate's record with its staged entries; ``on_recorded`` is called with the entries of each append."""

    def __init__(self, log: AuditLog, on_recorded: Callable[[Sequence[Entry]], None]) -> None:
        self._log = log
        self._on_recorded = on_recorded
        self._entries: list[Entry] = []
        self._staged: list[tuple[Entry, float]] = []
        self._course = Course()
        self._looked = time.monotonic()

    # -- facts

    @property
    def facts(self) -> Facts:
        """The facts of the debate so far, staged entries included; a new object once others have written."""
        return self._course.facts

    @property
    def move(self) -> Move:
        """The next move of the debate."""
        return self._course.move()

    @property
    def started(self) -> DebateStarted:
        """The start of the debate."""
        if self.facts.started is None:
            raise IllegalEntry(f"debate {self._log.debate} has no debate.started; it cannot be run")
        return self.facts.started

    @property
    def case(self) -> Case:
        """The case of the debate."""
        if self.facts.case is None:
            raise IllegalEntry(f"debate {self._log.debate} has no case.received; it cannot be run")
        return self.facts.case

    @property
    def staged(self) -> bool:
        """Whether entries are staged."""
        return bool(self._staged)

    @property
    def ledger(self) -> Ledger:
        """The debate's money, staged entries included."""
        ledger = self._log.ledger
        for entry, _ in self._staged:
            ledger = ledger.add(entry)
        return ledger

    @property
    def last_read_s(self) -> float:
        """Seconds since this worker last read what others have recorded."""
        return time.monotonic() - self._looked

    # -- recording

    async def load(self) -> None:
        """Read the recorded entries."""
        self._fold(await self._log.new_entries())

    def stage(self, *entries: Entry, at: float | None = None) -> None:
        """Stage entries: they count as facts now, and are recorded before anything is waited for."""
        for entry in entries:
            self._course.add(entry)
            self._staged.append((entry, time.monotonic() if at is None else at))

    def settle_lost(self) -> None:
        """Settle attempts whose worker died at their reservation: their real cost is unknown."""
        for turn, attempt in sorted(self.facts.open.items()):
            held = self._log.ledger.held[turn]
            detail = "the worker that made this call is gone; charged as held"
            self.stage(AttemptFailed(turn, attempt, "lost", detail, Charge(held, "reserved")))

    def stop(self, by: StoppedBy, why: str) -> None:
        """Stage a stop, unless the debate is stopped or concluded already."""
        if not self.facts.stopped and self.facts.concluded is None:
            self.stage(DebateStopped(by, why))

    async def flush(self) -> None:
        """Record the staged entries."""
        if not self._staged:
            return
        entries, at = zip(*self._staged, strict=True)
        try:
            await self._log.append(entries, at)
        except Fenced:
            await self.catch_up()
            return
        self._staged = []
        self._entries.extend(entries)
        self._count(entries)
        self._on_recorded(entries)

    def close(self) -> None:
        """Record nothing more; what was called with the entries of each append is let go."""
        self._on_recorded = _unrecorded

    async def catch_up(self) -> None:
        """Read what others appended (an abort, say) after an append of ours was refused."""
        if not await self.read_others():
            raise AuditUnavailable(
                "the head row refuses an entry that the recorded entries allow; compare the head row with the entries"
            )

    async def read_others(self) -> bool:
        """Read what others have recorded; keep the staged entries that are still legal. Whether there was anything."""
        await self._log.renew()
        entries = await self._log.new_entries()
        self._looked = time.monotonic()
        if not entries:
            return False
        staged, self._staged = self._staged, []
        known = self._entries
        self._entries, self._course = [], Course()
        self._fold([*known, *entries])
        for entry, at in staged:
            try:
                self.stage(entry, at=at)
            except IllegalEntry:
                continue
        return True

    def _fold(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._course.add(entry)
            self._entries.append(entry)

    def _count(self, entries: Sequence[Entry]) -> None:
        if lost := [entry for entry in entries if isinstance(entry, AttemptFailed) and entry.reason == "lost"]:
            log_lost_attempts(self._log.debate, lost)
        for failed in lost:
            telemetry.LOST.labels(model=self.facts.models[failed.turn][failed.attempt - 1]).inc()
        for entry in entries:
            telemetry.ENTRIES.labels(kind=kind(entry)).inc()


def _unrecorded(entries: Sequence[Entry]) -> None:
    raise IllegalEntry(f"the run of this debate is over, so these {len(entries)} entries have no runner")
