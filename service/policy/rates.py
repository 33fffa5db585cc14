"""How often one caller may ask: the table [rates]."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Struct

from service.policy.keys import whole_or_unlimited

RateClass = Literal["submit", "read", "check", "evidence"]
RATE_CLASSES: tuple[RateClass, ...] = get_args(RateClass)
WINDOW_S = 60
"""The seconds in which so many requests are admitted."""
_MOST = 100_000_000


class Rates(Struct, frozen=True, rename="camel"):
    """The most requests of one caller in a minute, by the class of the operation; ``None`` where there is no limit.

    A caller is a subject, with all of its keys. ``listeners`` are the event streams and waits that it may have open in
    one process.
    """

    submit: Annotated[int | None, whole_or_unlimited(1, _MOST, "submit_per_minute")] = 600
    """The most cases in a minute, at least 1. Absent without a limit."""
    read: Annotated[int | None, whole_or_unlimited(1, _MOST, "read_per_minute")] = 6_000
    """The most reads in a minute, at least 1. Absent without a limit."""
    check: Annotated[int | None, whole_or_unlimited(1, _MOST, "check_per_minute")] = 1_200
    """The most gate decisions, quotes and checks of citations in a minute, at least 1. Absent without a limit."""
    evidence: Annotated[int | None, whole_or_unlimited(1, _MOST, "evidence_per_minute")] = 1_200
    """The most reads of evidence in a minute, at least 1. Absent without a limit."""
    listeners: Annotated[int | None, whole_or_unlimited(1, _MOST)] = 500
    """The most event streams and waits that are open at the same time in one process, at least 1. Absent without a
    limit."""

    def of(self, class_: RateClass) -> int | None:
        """The requests of a class in a minute."""
        most: int | None = getattr(self, class_)
        return most


USUAL = Rates()
"""The rates of a caller with an identity, where the policy names none."""
LOCAL_RATES = Rates(submit=60_000, read=600_000, check=120_000, evidence=120_000, listeners=None)
"""The rates of all callers together where no identity is configured and the policy names none."""
