"""Instants as callers write them in filters: of an export, and of the list of debates."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from service.errors import BadRequest

EMPTY_RANGE = "since must be before until: until itself does not belong to the range"
"""The fault of a range that can hold nothing."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[Zz]|[+-]\d\d:\d\d))?", re.ASCII)
_LOST_PLUS = re.compile(r":\d\d(?:\.\d+)? \d\d:\d\d\Z", re.ASCII)
"""A time whose zone had a + that stood as it is in an address, where it means a blank."""


def instant(name: str, text: str | None) -> datetime | None:
    """A time, or the beginning of a day, in UTC; raises `BadRequest`."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
        if found is not None:
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    said = f"{name} must be a day or a time with its zone, as 2026-01-31T09:00:00Z, found {text[:80]!r}"
    raise BadRequest(f"{said}; in an address a + is written %2B" if _LOST_PLUS.search(text) else said)


def is_empty(since: datetime | None, until: datetime | None) -> bool:
    """Whether a range holds no time: ``since`` belongs to it and ``until`` does not."""
    return since is not None and until is not None and since >= until
