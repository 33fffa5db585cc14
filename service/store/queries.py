"""The queries of `FILES`, by name. They and the parts of finding.sql are the service's only SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_PLACE = re.compile(rb"%(?:\((\w+)\)[sb]|%)")


FILES = ("queries.sql", "identity.sql", "webhooks.sql", "batches.sql", "evaluations.sql", "watching.sql")


@cache
def queries() -> Mapping[str, bytes]:
    """Every named query of the files; as bytes, which psycopg accepts and into which no caller can insert text."""
    folder = files("service.store")
    return named_parts("\n".join(folder.joinpath(name).read_text("utf-8") for name in FILES))


def named_parts(text: str) -> dict[str, bytes]:
    """The parts of a file of SQL, by the names in the lines above them; raises `ValueError` for a name twice."""
    parts = _NAME.split(text)[1:]
    found = {name: sql.strip().encode() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
    if len(found) < len(parts) // 2:
        raise ValueError("expected a name of its own for each query, found one of two")
    return found


@cache
def positional(sql: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A named query as `numbered` has it; psycopg would compute this again for every statement."""
    return numbered(sql)


def numbered(sql: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A query with its parameters by number, as PostgreSQL takes it, and their names in that order."""
    names: dict[str, int] = {}

    def number(place: re.Match[bytes]) -> bytes:
        if place[1] is None:
            return b"%"
        return b"$%d" % names.setdefault(place[1].decode(), len(names) + 1)

    return _PLACE.sub(number, sql), tuple(names)
