"""A circuit breaker for one vendor: pure state, the clock comes in as an argument (seconds of any monotonic clock).

    state       on                                        becomes
    closed      ``failures`` failures without a success   open for ``pause_s``
    open        the pause is over                         half open
    half open   the probe fails                           open, for twice the last pause, ten times ``pause_s`` at most
    any         a success                                 closed
    any         hold                                      the same, with no call before that time

Half open, the breaker admits one caller at a time: `open_s` gives it 0 and `GRANT_S` seconds to begin. All other
callers get a short wait until that call has ended. The admitted caller must call or let the permission lapse. It may
ask several times before it calls, for instance once for each parallel turn, and gets the same answer each time.

A failure counts only in the state in which its call began. If a vendor fails with a hundred calls under way, their
hundred failures count once and do not lengthen the pause.
"""

from __future__ import annotations

GRANT_S = 1.0
"""Seconds for which a permission to probe is valid: the intent of the call is recorded in between."""
SHORT_S = 1.0
"""The wait of all other callers during a probe, in seconds."""
LONGEST = 10
"""The longest pause, in times of the first."""


class CircuitBreaker:
    """The state of one vendor. ``pause_s`` is the first pause, ``probe_s`` the most that one call can take."""

    def __init__(self, failures: int, pause_s: float, probe_s: float) -> None:
        self._failures = failures
        self._pause_s = pause_s
        self._probe_s = probe_s
        self._failed = 0
        self._opened = 0  # how often the breaker has opened; 0 is closed
        self._open_until = 0.0
        self._probe_until = 0.0
        self._granted = 0
        self._held_until = 0.0
        self._era = 0

    @property
    def is_open(self) -> bool:
        """Whether the vendor counts as down; unlike `open_s`, asking changes nothing."""
        return self._opened > 0

    def open_s(self, now: float, who: int = 0) -> float:
        """Seconds to wait before a call; 0 admits the caller, and half open it alone.

        ``who`` identifies the caller; 0 is a new caller each time.
        """
        held = max(0.0, self._held_until - now)
        if not self._opened:
            return held
        if now < self._open_until:
            return max(held, self._open_until - now)
        if now < self._probe_until and not (who and who == self._granted):
            return max(held, min(SHORT_S, self._probe_until - now))
        if not held and now >= self._probe_until:
            self._probe_until, self._granted = now + GRANT_S, who
        return held

    def begin(self, now: float) -> int:
        """A call begins; returns its era, an argument of `failed` and `ended`."""
        if self._opened and now >= self._open_until:
            self._probe_until, self._granted = now + self._probe_s, 0
        return self._era

    def succeeded(self) -> None:
        """The vendor has answered; a refusal of this one call is an answer too."""
        self._failed = 0
        if self._opened:
            self._opened, self._probe_until = 0, 0.0
            self._era += 1

    def failed(self, now: float, era: int) -> None:
        """The vendor has not answered, or has answered that it is unable to."""
        if era != self._era or (self._opened and now < self._open_until):
            return
        self._failed += 1
        if self._opened or self._failed >= self._failures:
            self._opened += 1
            self._era += 1
            self._open_until = now + self._pause_s * min(2 ** min(self._opened - 1, LONGEST), LONGEST)
            self._probe_until = 0.0

    def ended(self, era: int) -> None:
        """A call was cancelled and shows nothing about the vendor; if it was the probe, another probe may begin."""
        if era == self._era:
            self._probe_until = 0.0

    def open_for(self, until: float) -> None:
        """Admit no call before this time, in seconds of the breaker's clock: the vendor has asked for that."""
        self._held_until = max(self._held_until, until)
