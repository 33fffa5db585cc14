"""Connections to PostgreSQL, and the translation of its errors into ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from service.errors import StoreUnavailable
from service.store.queries import queries

Row = DictRow
TIMEOUT_S = 10.0
"""How long a caller waits for a connection before it is told that there is none."""


async def _configure(connection: psycopg.AsyncConnection[DictRow]) -> None:
    """Every statement runs in the service's own schema, whatever the role's defaults are, and is prepared at once."""
    connection.prepare_threshold = 1
    await connection.execute("SET search_path = gainsay")


class Database:
    """A pool of connections; every query is one of queries.sql, gives rows, and is its own transaction."""

    def __init__(self, pool: AsyncConnectionPool[psycopg.AsyncConnection[DictRow]]) -> None:
        self._pool = pool

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, *, size: int = 8) -> AsyncIterator[Self]:
        """Connect, and disconnect at the end; raises `StoreUnavailable` when PostgreSQL cannot be reached."""
        pool: AsyncConnectionPool[psycopg.AsyncConnection[DictRow]] = AsyncConnectionPool(
            url,
            connection_class=psycopg.AsyncConnection[DictRow],
            kwargs={"autocommit": True, "row_factory": dict_row},
            min_size=1,
            max_size=size,
            timeout=TIMEOUT_S,
            configure=_configure,
            open=False,
            name="gainsay",
        )
        try:
            await pool.open(wait=True, timeout=TIMEOUT_S)
        except PoolTimeout as error:
            await pool.close()
            raise StoreUnavailable(
                "expected PostgreSQL at GAINSAY_DATABASE_URL, found nothing that lets us in; "
                "check that it runs and that the role and password are right",
                retry_after=5,
            ) from error
        try:
            yield cls(pool)
        finally:
            await pool.close()

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query; raises `StoreUnavailable` when the database does not do it."""
        try:
            async with self._pool.connection() as connection:
                cursor = await connection.execute(queries()[name], params)
                return await cursor.fetchall()
        except (psycopg.Error, PoolTimeout, PoolClosed) as error:
            raise StoreUnavailable(
                f"the database did not do {name!r} ({type(error).__name__}); nothing was written, try again",
                retry_after=5,
            ) from error
