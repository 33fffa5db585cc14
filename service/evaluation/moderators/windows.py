"""A period in calendar months or weeks (ISO 8601, from Monday), in UTC. Its first and last window may be cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

from msgspec import Struct

from service.errors import BadRequest

Every = Literal["month", "week"]
EVERY: tuple[Every, ...] = get_args(Every)
_FIRST = datetime.fromtimestamp(0, UTC)
MOST = 120
"""The most windows of one audit: so many are still legible in a plot."""


class Window(Struct, frozen=True):
    """A stretch of the period, from ``since`` on and before ``until``, with its name: ``2026-03`` or ``2026-W09``."""

    name: str
    since: datetime
    until: datetime


class Windows:
    """The windows of a period, and which of them a time is in."""

    def __init__(self, since: datetime, until: datetime, every: Every) -> None:
        """The times are in UTC. Raises `BadRequest` for a period that is empty or has too many windows."""
        if since >= until:
            raise BadRequest("expected a period that ends after it begins; --until is not part of it")
        self.all: tuple[Window, ...] = tuple(_windows(since, until, every))
        self._begins = [window.since for window in self.all]

    def of(self, at: datetime) -> str:
        """The name of the window of a time within the period; raises `ValueError` for another one."""
        place = bisect_right(self._begins, at) - 1
        if place < 0 or at >= self.all[-1].until:
            raise ValueError(f"expected a time of the period, found {at.isoformat()}")
        return self.all[place].name


def began(debate: str) -> datetime:
    """When a debate began: its id starts with the milliseconds since 1970 (UUID of version 7)."""
    return _FIRST + timedelta(milliseconds=int(debate.replace("-", "")[:12], 16))


def milliseconds(at: datetime) -> int:
    """The whole milliseconds from 1970 to a time, with which ids of debates begin."""
    return (at - _FIRST) // timedelta(milliseconds=1)


def _windows(since: datetime, until: datetime, every: Every) -> Iterator[Window]:
    at = since
    for _ in range(MOST):
        end = min(_next(at, every), until)
        yield Window(_name(at, every), at, end)
        if end == until:
            return
        at = end
    raise BadRequest(f"a period has at most {MOST} windows, found more; choose --window month, or a shorter period")


def _next(at: datetime, every: Every) -> datetime:
    """The beginning of the next window."""
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if every == "week":
            return day + timedelta(days=7 - day.weekday())
        return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _name(at: datetime, every: Every) -> str:
    if every == "month":
        return f"{at.year:04}-{at.month:02}"
    year, week, _ = at.isocalendar()
    return f"{year:04}-W{week:02}"
