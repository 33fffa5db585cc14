"""Deadlines and backoff: when a turn ends without a reply, and how long a model waits after it failed in the turn.

A turn's deadline counts from its first attempt, in database time, across workers. A worker that claims the debate
nevertheless makes at least one more attempt for each due turn, with the turn's full time: time without a worker is not
the seat's fault, and a service that was down for an hour continues the debates that it had begun. Backoff is local to
this worker.
"""

from __future__ import annotations

import secrets
import time

from service.debate.model import TurnId
from service.policy import Calls
from service.running.log_port import AuditLog


class Backoff:
    """The deadlines and backoff of one debate's turns."""

    def __init__(self, log: AuditLog, calls: Calls) -> None:
        self._log = log
        self._calls = calls
        self._meant: dict[TurnId, float] = {}
        self._tried: set[TurnId] = set()
        self._not_before: dict[tuple[TurnId, str], float] = {}

    @property
    def unavailable_attempts(self) -> int:
        """How many attempts of one model may find its vendor unavailable in a turn."""
        return self._calls.unavailable_attempts

    @property
    def backoff_max_s(self) -> float:
        """The longest backoff after a failure, unless the vendor asks for a longer one."""
        return self._calls.backoff_max_ms / 1_000

    def deadline_in_s(self, turn: TurnId, within_s: float) -> float:
        """Seconds until the deadline of a turn that has ``within_s`` in all. The first call starts the turn's clock."""
        now = time.monotonic()
        passed_s = now - self._meant.setdefault(turn, now)
        return within_s - (max(passed_s, self._log.turn_age_s(turn)) if turn in self._tried else passed_s)

    def attempt_failed(self, turn: TurnId) -> None:
        """Note that an attempt of this worker has failed."""
        self._tried.add(turn)

    def backoff_s(self, turn: TurnId, model: str) -> float:
        """Seconds of backoff that a model still has in a turn; 0 or less when it may be called."""
        return self._not_before.get((turn, model), 0.0) - time.monotonic()

    def back_off(self, turn: TurnId, model: str, failures: int, retry_after_s: float) -> float:
        """Back off a model after its n-th failure in a turn, at least as long as its vendor asks; the seconds."""
        pause_s = max(retry_after_s, self._drawn_s(failures))
        self._not_before[turn, model] = time.monotonic() + pause_s
        return pause_s

    def _drawn_s(self, failures: int) -> float:
        """A random backoff between half a bound and the bound, which doubles with each failure.

        It grows, so that a turn outlasts a vendor's bad minute with few calls, each of which may be charged. It is
        random, so that workers do not retry in step.
        """
        most = min(self._calls.backoff_ms << min(failures - 1, 20), self._calls.backoff_max_ms)
        return (most // 2 + secrets.randbelow(most - most // 2 + 1)) / 1_000
