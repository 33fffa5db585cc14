"""What processes tell each other of the requests that they admitted, so that a rate holds over all of them.

A process tells its own counts and learns the sum of the others' in one statement (`exchange`), at most once a second
unless a caller is fast. Nothing of it is evidence: the table is unlogged, and old minutes are deleted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from service.store.pool import Database

FORGET_S = 60.0
"""The least time between two deletions of old counts by one process."""


class RateBucket(NamedTuple):
    """The requests of one caller and class in one span of time, by its number."""

    name: str
    span: int


class OthersUse(Struct, frozen=True):
    """What the other processes have admitted, by bucket, and the database's time in seconds."""

    used: Mapping[RateBucket, int]
    now: float


class RateExchange:
    """Tells and learns counts under the name of one process."""

    def __init__(self, database: Database, process: str) -> None:
        self._database = database
        self._process = process
        self._forgot_at = 0.0

    async def exchange(self, mine: Mapping[RateBucket, int]) -> OthersUse:
        """Tell the counts of this process, and learn those of the others; raises `StoreUnavailable`."""
        buckets = list(mine)
        params = {
            "process": self._process,
            "buckets": [bucket.name for bucket in buckets],
            "spans": [bucket.span for bucket in buckets],
            "used": [mine[bucket] for bucket in buckets],
        }
        rows = await self._database.query("exchange_rates", params)
        if time.monotonic() - self._forgot_at > FORGET_S:
            self._forgot_at = time.monotonic()
            await self._database.query("forget_rates")
        used = {RateBucket(row["bucket"], row["span"]): row["used"] for row in rows if row["bucket"] is not None}
        return OthersUse(used, rows[-1]["now"])
