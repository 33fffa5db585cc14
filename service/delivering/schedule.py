"""When a message that was not taken is sent again, and when it expires.

The wait doubles from 5 seconds to an hour, and each is random between half of it and the whole, so that the messages
that an outage has stopped do not come back all at once. A receiver that answers 429 or 503 with Retry-After is not
asked before that, within an hour. What was not taken within policy's ``retry_hours`` (72) expires.
"""

from __future__ import annotations

FIRST_S, LONGEST_S = 5.0, 3_600.0
RETRY_AFTER_MAX_S = 3_600.0
_DOUBLINGS_MAX = 20
HEEDED = frozenset({429, 503})
"""The statuses whose Retry-After is heeded."""


def wait_s(attempts: int, chance: float, retry_after_s: float | None = None) -> float:
    """Seconds until the next attempt after so many; ``chance`` is from 0 to 1."""
    whole = min(LONGEST_S, FIRST_S * 2.0 ** min(max(attempts - 1, 0), _DOUBLINGS_MAX))
    wait = whole * (0.5 + 0.5 * chance)
    return wait if retry_after_s is None else max(wait, min(retry_after_s, RETRY_AFTER_MAX_S))


def read_retry_after(status: int, text: str | None) -> float | None:
    """The seconds of a Retry-After that is heeded; dates and other texts are not, so that no clock is compared."""
    if status not in HEEDED or text is None or not (text.isascii() and text.isdecimal()) or len(text) > 9:
        return None
    return float(text)


def next_wait(age_s: float, window_s: float, attempts: int, chance: float, retry_after_s: float | None) -> float | None:
    """Seconds until the next attempt; ``None`` where that would be beyond the window, so the message has expired.

    ``age_s`` is how long ago the first attempt of this round was due. The last attempt is at the end of the window.
    """
    left = window_s - age_s
    if left <= 0:
        return None
    return min(wait_s(attempts, chance, retry_after_s), left)
