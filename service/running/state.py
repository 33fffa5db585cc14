"""What whoever runs a debate knows of it: what is recorded, and what he will record next.

What is staged is taken for true at once, and recorded before anything is waited for, all or none. Where somebody else
has written meanwhile, that is learnt first, and of what was staged whatever is still legal stays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from service import telemetry
from service.debate import kernel
from service.debate.amounts import MicroUSD
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
from service.debate.model import Case
from service.errors import AuditUnavailable, Fenced, IllegalEntry
from service.money import Ledger
from service.running.log_port import AuditLog
from service.running.metrics import tell_lost


class Recording:
    """One debate's record, with what is staged; ``on_recorded`` is called with the entries that each append wrote."""

    def __init__(self, log: AuditLog, on_recorded: Callable[[Sequence[Entry]], None]) -> None:
        self._log = log
        self._on_recorded = on_recorded
        self._entries: list[Entry] = []
        self._staged: list[tuple[Entry, float]] = []
        self._facts = Facts()
        self._looked = time.monotonic()

    # -- what is known

    @property
    def facts(self) -> Facts:
        """What is known of the debate so far, with what is staged; another object once others have written."""
        return self._facts

    @property
    def started(self) -> DebateStarted:
        """How the debate began."""
        if self._facts.started is None:
            raise IllegalEntry(f"debate {self._log.debate} has no debate.started; it cannot be run")
        return self._facts.started

    @property
    def case(self) -> Case:
        """What the debate is about."""
        if self._facts.case is None:
            raise IllegalEntry(f"debate {self._log.debate} has no case.received; it cannot be run")
        return self._facts.case

    @property
    def staged(self) -> bool:
        """Whether anything is to be recorded yet."""
        return bool(self._staged)

    @property
    def ledger(self) -> Ledger:
        """The debate's money, with what is staged."""
        ledger = self._log.ledger
        for entry, _ in self._staged:
            ledger = ledger.add(entry)
        return ledger

    @property
    def grant_left(self) -> MicroUSD:
        """What is left of the money that the debate has been granted."""
        ledger = self.ledger
        return ledger.left - ledger.ceiling + self._log.granted

    @property
    def unseen_s(self) -> float:
        """Seconds since it was last looked what others have recorded."""
        return time.monotonic() - self._looked

    # -- what becomes of it

    async def load(self) -> None:
        """Learn what is recorded so far."""
        self._learn(await self._log.tail())

    def stage(self, *entries: Entry, at: float | None = None) -> None:
        """Take entries for true that will be recorded before anything is waited for."""
        for entry in entries:
            kernel.refuse_illegal(self._facts, entry)
            self._facts.add(entry)
            self._staged.append((entry, time.time() if at is None else at))

    def settle_lost(self) -> None:
        """Attempts whose worker died are charged what was held for them: nobody can know what they cost."""
        for turn, attempt in sorted(self._facts.open.items()):
            held = self._log.ledger.held[turn]
            detail = "the worker that made this call is gone; charged as held"
            self.stage(AttemptFailed(turn, attempt, "lost", detail, Charge(held, "reserved")))

    def stop(self, by: StoppedBy, why: str) -> None:
        """Ask nobody any more, unless that is settled already."""
        if not self._facts.stopped and self._facts.concluded is None:
            self.stage(DebateStopped(by, why))

    async def flush(self) -> None:
        """Record what is staged."""
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

    async def catch_up(self) -> None:
        """What we wrote was refused: somebody else has appended, an abort, say."""
        if not await self.look():
            raise AuditUnavailable(
                "the log's head refuses an entry that the recorded entries allow; look at the head row"
            )

    async def look(self) -> bool:
        """Learn what others have recorded, and keep what is still legal of what was staged; whether there was any."""
        await self._log.renew()
        tail = await self._log.tail()
        self._looked = time.monotonic()
        if not tail:
            return False
        staged, self._staged = self._staged, []
        known = self._entries
        self._entries, self._facts = [], Facts()
        self._learn([*known, *tail])
        for entry, at in staged:
            try:
                self.stage(entry, at=at)
            except IllegalEntry:
                continue
        return True

    def _learn(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            kernel.refuse_illegal(self._facts, entry)
            self._facts.add(entry)
            self._entries.append(entry)

    def _count(self, entries: Sequence[Entry]) -> None:
        if lost := [entry for entry in entries if isinstance(entry, AttemptFailed) and entry.reason == "lost"]:
            tell_lost(self._log.debate, lost)
        for failed in lost:
            telemetry.LOST.labels(model=self._facts.models[failed.turn][failed.attempt - 1]).inc()
        for entry in entries:
            telemetry.ENTRIES.labels(kind=kind(entry)).inc()
