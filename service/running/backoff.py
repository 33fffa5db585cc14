"""How long: when a turn is given up, and for how long a model that failed in it is left alone.

A turn's seconds are counted from its first attempt, in database time, whoever asked. But whoever takes a debate over
asks each turn that is due at least once more, with all its seconds: those in which nobody had the debate are not the
seat's fault, and a service that was away for an hour goes on with what it had begun. Pauses are this worker's own.
"""

from __future__ import annotations

import secrets
import time

from service.debate.model import TurnId
from service.policy import Calls
from service.running.log_port import AuditLog


class Pacing:
    """The deadlines and pauses of one debate's turns."""

    def __init__(self, log: AuditLog, calls: Calls) -> None:
        self._log = log
        self._calls = calls
        self._meant: dict[TurnId, float] = {}
        self._tried: set[TurnId] = set()
        self._not_before: dict[tuple[TurnId, str], float] = {}

    @property
    def pause_max_s(self) -> float:
        """The longest pause that follows a failure, unless the vendor asks for a longer one."""
        return self._calls.backoff_max_ms / 1_000

    def left_s(self, turn: TurnId, within_s: float) -> float:
        """Seconds until a turn that has ``within_s`` in all is given up. To ask this is to mean to ask the turn."""
        now = time.monotonic()
        passed_s = now - self._meant.setdefault(turn, now)
        return within_s - (max(passed_s, self._log.asked_s(turn)) if turn in self._tried else passed_s)

    def tried(self, turn: TurnId) -> None:
        """An attempt of this worker has failed."""
        self._tried.add(turn)

    def pause_s(self, turn: TurnId, model: str) -> float:
        """Seconds for which a model is not to be asked in a turn, because it failed there; 0 or less when it may be."""
        return self._not_before.get((turn, model), 0.0) - time.monotonic()

    def failed(self, turn: TurnId, model: str, failures: int, retry_after_s: float) -> None:
        """A model has failed in a turn, so often by now; leave it alone for a while, and as long as its vendor asks."""
        pause_s = max(retry_after_s, self._drawn_s(failures))
        self._not_before[turn, model] = time.monotonic() + pause_s

    def _drawn_s(self, failures: int) -> float:
        """A pause drawn at random below a bound that doubles with each failure, so that no two workers keep step."""
        most = min(self._calls.backoff_ms * 2 ** min(failures - 1, 20), self._calls.backoff_max_ms)
        return secrets.randbelow(most + 1) / 1_000
