"""Replay of every debate that a test has left in its database."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import psycopg

from service.debate.entries import CaseReceived, Entry, decode
from service.debate.kernel import replay

RECORDS = "SELECT e.debate, p.body FROM gainsay.entry e JOIN gainsay.payload p USING (debate, n) ORDER BY e.debate, e.n"


def replay_all(url: str) -> int:
    """Replay all debates of a database, in whatever state they are; how many there were."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(RECORDS).fetchall()
    debates = 0
    for _, records in groupby(rows, key=_debate):
        entries: list[Entry] = [decode(body) for _, body in records]
        first = entries[0]
        assert isinstance(first, CaseReceived)
        replay(first.case, entries)
        debates += 1
    return debates


def _debate(row: tuple[Any, ...]) -> Any:
    return row[0]
