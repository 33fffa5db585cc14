"""A connection for one use: to check a database before the service uses it, and to migrate it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import make_conninfo

from service.store import pool
from service.store.conninfo import resolve


class Session(psycopg.Connection[Any]):
    """A connection that gives a frozen server up after a while, as `pool.Connection` does."""

    _extra_s: float | None = 0.0

    @classmethod
    def of(cls, url: str) -> Self:
        """A connection in autocommit that prepares nothing; raises psycopg's own errors."""
        return cls.connect(make_conninfo(resolve(url), **pool.WIRE), autocommit=True, prepare_threshold=None)

    @contextmanager
    def patient(self, seconds: float | None = None) -> Iterator[None]:
        """Within the block the server may be silent for so many seconds more; without a number for any time."""
        self._extra_s = seconds
        try:
            yield
        finally:
            self._extra_s = 0.0

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Drive one exchange with the server, within ``timeout`` or else as long as it may be silent."""
        silent_s = None if self._extra_s is None else pool.SILENT_S + self._extra_s
        try:
            return super().wait(gen, interval, silent_s if timeout is None else timeout)
        except psycopg.errors._WaitTimeout:
            self.close()
            raise psycopg.OperationalError(f"no answer within {silent_s or timeout:g} seconds") from None
