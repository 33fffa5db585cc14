"""Instants as callers write them in filters: of an export, and of the list of debates."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from service.errors import BadRequest

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[Zz]|[+-]\d\d:\d\d))?", re.ASCII)


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
    raise BadRequest(f"{name} must be a day or a time with its zone, as 2026-01-31T09:00:00Z, found {text[:80]!r}")
