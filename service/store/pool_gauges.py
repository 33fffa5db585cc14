"""How many connections of each pool are in use and idle, and how many queries wait: read when the metrics are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from psycopg_pool import AsyncConnectionPool

from service import telemetry

Stats = Mapping[str, int]
NAMES = {
    "GAINSAY_DATABASE_URL": "service",
    "GAINSAY_API_URL": "serving",
    "GAINSAY_SEQUENCER_URL": "sequencer",
}
"""The pools, by the setting that has their address."""
_STATES: Mapping[str, Callable[[Stats], int]] = {
    "used": lambda stats: stats.get("pool_size", 0) - stats.get("pool_available", 0),
    "idle": lambda stats: stats.get("pool_available", 0),
    "waiting": lambda stats: stats.get("requests_waiting", 0),
}
_OPEN: dict[str, AsyncConnectionPool[Any]] = {}
"""The pool of each name that was opened last."""
_ANSWERS: dict[str, bool] = {}
"""By pool, whether the last measurement in the database was answered."""


def note_answer(variable: str, *, answers: bool) -> None:
    """Show whether PostgreSQL answers all that this process measures in it; ``variable`` names the pool."""
    _ANSWERS[NAMES[variable]] = answers
    telemetry.DATABASE_UP.set(min(_ANSWERS.values()))


@contextmanager
def shown(variable: str, pool: AsyncConnectionPool[Any]) -> Iterator[None]:
    """Show a pool in the metrics during the block."""
    name = NAMES[variable]
    _OPEN[name] = pool
    for state, read in _STATES.items():
        telemetry.CONNECTIONS.labels(pool=name, state=state).set_function(partial(_read, name, read))
    try:
        yield
    finally:
        if _OPEN.get(name) is pool:  # another one may have been opened meanwhile
            del _OPEN[name]
            _ANSWERS.pop(name, None)
            for state in _STATES:
                telemetry.CONNECTIONS.drop(pool=name, state=state)


def _read(name: str, read: Callable[[Stats], int]) -> float:
    return float(read(_OPEN[name].get_stats())) if name in _OPEN else 0.0
