"""The queries of queries.sql, by name: the one place where the service's SQL stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)


@cache
def queries() -> Mapping[str, bytes]:
    """Every named query of the file; psycopg takes them as bytes, so that no caller can paste into one."""
    text = files("service.store").joinpath("queries.sql").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    return {name: sql.strip().encode() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
