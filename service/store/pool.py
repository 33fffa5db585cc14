"""Connections to PostgreSQL, and the translation of its errors into ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from service.errors import StoreUnavailable
from service.store import arrays
from service.store.queries import queries

Row = DictRow
TIMEOUT_S = 10.0
"""How long a caller waits for a connection before it is told that there is none."""
RECONNECT_S = 4.0
"""How long the pool tries by itself to replace a lost connection."""
WIRE = {"connect_timeout": 10, "tcp_user_timeout": 15_000, "keepalives_idle": 15, "keepalives_interval": 5}
"""A connection that was cut without a word is noticed within these (seconds; the second one milliseconds)."""
REPEATABLE = frozenset(
    {
        *("head", "records", "documents", "list_debates", "renew", "draw", "left", "balance", "astray"),
        *("latest_log", "latest_head", "proven", "head_at", "logs_of", "tree_parts", "leaves_between"),
        *("current_heads", "recall", "recall_prompt", "chains", "chain", "document_hashes", "manifests"),
        *("kept_contents", "contents", "keep_contents", "keep_manifest", "bundle_records", "bundle_context", "opening"),
        *("first_since", "export_all", "export_some", "countersigned_head"),
    }
)
"""What may be asked again when its connection turns out to be gone: once PostgreSQL was restarted, all of them are."""


class StatementRefused(StoreUnavailable):
    """PostgreSQL is there and will not do this, however often it is asked: a fault of ours or of the schema."""

    code = "store_refused"
    status = 500
    title = "The database refuses a statement"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """What psycopg raises inside, as ours: `StoreUnavailable`, or `StatementRefused` for what will not be done."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError) as error:
        raise StoreUnavailable(
            f"the database did not confirm {name!r} ({type(error).__name__}); try again when it is back",
            retry_after=5,
        ) from error
    except psycopg.Error as error:
        raise StatementRefused(
            f"the database refuses {name!r} ({type(error).__name__}, {error.sqlstate}); nothing is written"
        ) from error


async def configure(connection: psycopg.AsyncConnection[DictRow]) -> None:
    """Every statement runs in the service's own schema, whatever the role's defaults are, and is prepared at once."""
    connection.prepare_threshold = 1
    arrays.register(connection)
    await connection.execute("SET search_path = gainsay, pg_temp")
    # Ours take milliseconds; with locks and a slow disk some more. Nobody may wait for ever.
    await connection.execute("SET statement_timeout = '10s'")


class Database:
    """A pool of connections; every query is one of queries.sql, gives rows, and is its own transaction."""

    configure = staticmethod(configure)
    """What each new connection begins with."""
    variable = "GAINSAY_DATABASE_URL"
    """The setting that the address comes from."""

    def __init__(self, pool: AsyncConnectionPool[psycopg.AsyncConnection[DictRow]]) -> None:
        self._pool = pool

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, *, size: int = 8) -> AsyncIterator[Self]:
        """Connect, and disconnect at the end; raises `StoreUnavailable` when PostgreSQL cannot be reached."""
        pool: AsyncConnectionPool[psycopg.AsyncConnection[DictRow]] = AsyncConnectionPool(
            url,
            connection_class=psycopg.AsyncConnection[DictRow],
            kwargs={"autocommit": True, "row_factory": dict_row, **WIRE},
            min_size=1,
            max_size=size,
            timeout=TIMEOUT_S,
            # The pool waits twice as long after every failure; giving up early keeps that wait short, and the next
            # caller makes it try afresh.
            reconnect_timeout=RECONNECT_S,
            configure=cls.configure,
            open=False,
            name="gainsay",
        )
        try:
            await pool.open(wait=True, timeout=TIMEOUT_S)
        except PoolTimeout as error:
            await pool.close()
            raise StoreUnavailable(
                f"expected PostgreSQL at {cls.variable}, found nothing that lets us in; "
                "check that it runs and that the role and password are right",
                retry_after=5,
            ) from error
        try:
            yield cls(pool)
        finally:
            await pool.close()

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query.

        Raises `StoreUnavailable` when the database does not answer: a statement that writes may have been done all the
        same. Raises `StatementRefused` when it answers that it will not.
        """
        with translated(name):
            try:
                return await self._query(name, params)
            except psycopg.OperationalError as error:
                if name not in REPEATABLE or isinstance(error, PoolTimeout | PoolClosed):
                    raise
            await self._pool.check()
            return await self._query(name, params)

    async def _query(self, name: str, params: Mapping[str, Any] | None) -> list[Row]:
        # Without the pool's context manager, which also commits: every statement here is its own transaction.
        connection = await self._pool.getconn()
        try:
            cursor = await connection.execute(queries()[name], params)
            return await cursor.fetchall()
        finally:
            await self._pool.putconn(connection)
