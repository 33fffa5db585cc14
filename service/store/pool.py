"""Connections to PostgreSQL, and the translation of its errors into ours."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from typing import Any, ClassVar, Self

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.pq import PipelineStatus
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from service import log_lines
from service.errors import StoreUnavailable
from service.store import array_parameters
from service.store.conninfo import resolve
from service.store.exchange import Asked, Exchange
from service.store.pool_gauges import shown
from service.store.queries import numbered, positional, queries
from service.store.query_kinds import REPEATABLE, settings_of
from service.store.unbroken import Unbroken

Row = DictRow
TIMEOUT_S = 10.0
"""How long a query waits for a connection before it fails."""
AWAY_S = 1.0
"""How long a query waits after the pool has failed to connect, so that many callers do not wait in vain."""
RECONNECT_S = 4.0
"""How long the pool tries by itself to replace a lost connection."""
STATEMENT_S = 10.0
"""After this time PostgreSQL cancels a statement: it waits for a lock, or the disk is slow."""
SILENT_S = 15.0
"""After this time we drop a statement with its connection: the server is frozen, the network loses packets, or a
commit waits for a standby."""
WIRE: dict[str, int | str] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "client_encoding": "UTF8",
}
"""A connection that was silently cut is noticed within these times (seconds; the second one milliseconds). Arrays are
encoded here, so the encoding is ours too, whatever the address, the environment and the role say."""
READ_ONLY = "25006"
STALE = frozenset({"0A000", "26000"})
"""The SQLSTATEs of a connection whose prepared statements are invalid: a migration has changed their result."""


class Connection(psycopg.AsyncConnection[DictRow]):
    """A connection on which no answer takes longer than `SILENT_S`.

    A statement that takes longer is cut off and never cancelled. If a commit that waits for its standby is cancelled,
    PostgreSQL confirms it although only one server has it. A statement whose caller has gone ends in the same way.
    """

    refusal: ClassVar[str] = ""
    """Why the last failed connection failed."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.made = time.monotonic()
        self.was_cut = False
        self._exchange = Exchange(self)

    async def ask(self, asked: Asked, settings: Asked | None = None) -> list[Row]:
        """The rows of a query; with ``settings``, in a transaction that has them: one round trip for both.

        What is sent in a pipeline up to its end is one transaction (PostgreSQL's protocol, *Pipelining*), which an
        error ends too. After BEGIN an error would need a ROLLBACK, and so a second round trip.
        """
        async with self.lock:
            if settings is None:
                return await self.wait(self._exchange.one(asked))
            try:
                return await self.wait(self._exchange.together(settings, asked))
            except psycopg.Error:
                if self.pgconn.pipeline_status != PipelineStatus.OFF:  # the commit failed, and its end was not taken
                    await self.close()
                raise

    @classmethod
    async def connect(cls, conninfo: str = "", **more: Any) -> Self:
        """Connect with the address as it is now; the reason of a failure is kept for the log."""
        begun = time.monotonic()
        try:
            connection = await super().connect(resolve(conninfo), **more)
        except psycopg.Error as error:
            Connection.refusal = " ".join(str(error).split())
            raise
        connection.made = begun  # its view of the server is from then
        return connection

    async def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Drive one exchange with the server, within ``timeout`` or else `SILENT_S`."""
        alarm = asyncio.get_running_loop().call_later(SILENT_S if timeout is None else timeout + 1.0, self.cut)
        try:
            return await super().wait(gen, interval, timeout)
        finally:
            alarm.cancel()

    async def cancel_safe(self, *, timeout: float = 30.0) -> None:
        """Cut the connection; psycopg calls this when the waiting task is cancelled."""
        self.cut()

    def cut(self) -> None:
        """Shut the connection down at once; the waiting task gets a connection error."""
        self.was_cut = True
        with suppress(OSError, psycopg.Error):
            wire = socket.socket(fileno=self.pgconn.socket)  # no copy: a process may have no descriptor left for one
            try:
                wire.shutdown(socket.SHUT_RDWR)
            finally:
                wire.detach()


class _LatestFirst(deque[Connection]):
    """The idle connections of a pool, of which it lends the first: the one that came back last.

    Each connection plans every statement for itself and reads the catalogue for it. In psycopg's order, which is by
    how long they are idle, all would do that, however few are in use at once.
    """

    append = deque.appendleft


class _Pool(AsyncConnectionPool[Connection]):
    """A pool that closes, of the connections that were not needed for a while, the one that is idle longest."""

    async def _shrink_pool(self) -> None:
        self._pool.rotate(1)  # it closes the first one, which here would be the one that is most in use
        await super()._shrink_pool()


class StatementUnanswered(StoreUnavailable):
    """PostgreSQL did not confirm a statement; only our own log says which one and why."""

    @property
    def public_detail(self) -> str:
        """What a caller can use of it."""
        return "the database does not answer; send the request again"


class StatementRefused(StoreUnavailable):
    """PostgreSQL answers and refuses a statement, and would refuse it again: a fault of ours or of the schema."""

    code = "store_refused"
    status = 500
    title = "The database refuses a statement"

    @property
    def public_detail(self) -> str:
        """What a caller can use of it."""
        return "the database refuses a statement of the service; an operator has to look into the service's log"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Translate psycopg's errors in the block: `StoreUnavailable`, or `StatementRefused` for a refused statement."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError) as error:
        raise StatementUnanswered(
            f"the database did not confirm {name!r} ({_error_kind(error)}); try again when it is back",
            retry_after=5,
        ) from error
    except psycopg.Error as error:
        raise StatementRefused(
            f"the database refuses {name!r} ({_error_kind(error)}); nothing is written",
            retry_after=60,  # an operator has to repair it
        ) from error


def _error_kind(error: psycopg.Error) -> str:
    """The kind of an error; its message may quote confidential data."""
    return ", ".join(part for part in (type(error).__name__, error.sqlstate) if part)


_LASTING = """
SELECT set_config(name, CASE WHEN setting IN ('off', 'local') THEN 'on' ELSE setting END, false)
FROM pg_settings WHERE name = 'synchronous_commit'
"""
"""A start refuses such defaults (`schema.preflight`). One that is set later, or read again by a server under way, must
not make a confirmed record one that a crash takes back."""


async def configure(connection: psycopg.AsyncConnection[DictRow]) -> None:
    """Set up a connection: the service's own schema, whatever the role's defaults are, and immediate preparation."""
    connection.prepare_threshold = 1
    array_parameters.register(connection)
    await connection.execute(_LASTING)
    await connection.execute("SET search_path = gainsay, pg_temp")
    # Our statements take milliseconds; with locks and a slow disk some more. None may wait for ever.
    await connection.execute(f"SET statement_timeout = {round(STATEMENT_S * 1_000)}")
    # A plan with all partitions counts as dear enough to be compiled, which takes longer than any of them.
    await connection.execute("SET jit = off")


async def configure_serving(connection: psycopg.AsyncConnection[DictRow]) -> None:
    """Set up a connection that serves callers: it reads views in the place of some tables (migrations/0018)."""
    await configure(connection)
    await connection.execute("SET search_path = gainsay_tenant, gainsay, pg_temp")


class Database:
    """A pool of connections; every query is one of queries.sql, gives rows, and is its own transaction."""

    configure: Callable[[psycopg.AsyncConnection[DictRow]], Awaitable[None]] = staticmethod(configure)
    """The set-up of each new connection."""
    variable = "GAINSAY_DATABASE_URL"
    """The setting that the address comes from."""

    def __init__(self, pool: AsyncConnectionPool[Connection]) -> None:
        self._pool = pool
        self._away = False
        self._drained_at = 0.0
        self._returning = Unbroken()
        self._abandoned = set[asyncio.Future[Connection]]()
        self._work = set[asyncio.Task[None]]()

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, *, size: int = 8) -> AsyncIterator[Self]:
        """Connect, and disconnect at the end; raises `StoreUnavailable` when PostgreSQL cannot be reached."""

        def reconnect_failed(_pool: object) -> None:
            made._mark_lost()

        pool = _Pool(
            url,
            connection_class=Connection,
            kwargs={"autocommit": True, "row_factory": dict_row, **WIRE},
            min_size=1,
            max_size=size,
            timeout=TIMEOUT_S,
            # The pool doubles its wait after every failure; a short timeout keeps it short, and the next caller tries.
            reconnect_timeout=RECONNECT_S,
            reconnect_failed=reconnect_failed,
            configure=cls.configure,
            open=False,
            name="gainsay",
        )
        pool._pool = _LatestFirst()
        made = cls(pool)
        try:
            await pool.open(wait=True, timeout=TIMEOUT_S)
        except asyncio.CancelledError:  # else its tasks stay behind and try for ever
            await pool.close()
            raise
        except psycopg.OperationalError as error:
            await pool.close()
            raise StoreUnavailable(
                f"expected PostgreSQL at {cls.variable}, found no server that accepts the login; "
                "check that it runs and that the role and password are right",
                retry_after=5,
            ) from error
        try:
            with shown(cls.variable, pool):
                yield made
        finally:
            while made._work:
                await asyncio.wait(made._work)
            await pool.close()
            while made._abandoned:  # refused by now; an error in a task that the loop ends with is logged as unhandled
                await asyncio.wait(made._abandoned)
            await made._returning.ended()

    def start(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Begin statements that belong to no single caller; the connections stay open until they are over."""
        task = asyncio.get_running_loop().create_task(work, name=name, context=Context())
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    def of(self, tenant: str) -> Database:
        """The database as this tenant's callers see it; here as it is, for the service's login sees all tenants."""
        return self

    @property
    def pooled(self) -> Database:
        """The database of the connections, one for the views of all tenants."""
        return self

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query.

        Raises `StoreUnavailable` when the database does not answer; a statement that writes may then have been
        committed. Raises `StatementRefused` when the database refuses the statement.
        """
        sql, names = positional(queries()[name])
        return await self._rows(name, sql, [params[name] for name in names] if params else None)

    async def read(self, name: str, sql: bytes, params: Mapping[str, Any]) -> list[Row]:
        """The rows of a composed query that reads, planned with these values; ``name`` stands for it in errors.

        Raises what `query` raises.
        """
        sql, names = numbered(sql)
        return await self._rows(name, sql, [params[name] for name in names], prepare=False)

    async def _rows(
        self, name: str, sql: bytes, values: Sequence[Any] | None, *, prepare: bool | None = None, tenant: str = ""
    ) -> list[Row]:
        begun = time.monotonic()
        asked, settings = Asked(sql, values, prepare), settings_of(name, tenant)
        with translated(name):
            while True:
                connection = await self._borrow()
                try:
                    return await connection.ask(asked, settings)
                except psycopg.Error as error:
                    # Connections from before this query are skipped, however many; the error of a newer one is final.
                    if not await self._is_spent(connection, error, name) or connection.made > begun:
                        raise
                finally:
                    await self._release(connection)

    @property
    def waiting(self) -> int:
        """How many queries wait for a connection."""
        return int(self._pool.get_stats().get("requests_waiting", 0))

    @property
    def away(self) -> bool:
        """Whether the pool is known to have no connection: it has tried for some seconds, and none has come since."""
        return self._away

    async def _borrow(self) -> Connection:
        """A connection, in order of request. All callers wait in the pool: it reconnects only when one asks.

        A wait in the pool is a task of its own, which is not cancelled with its caller. psycopg_pool gives
        a connection to a cancelled waiter too, and has it no more then.
        """
        asked = self._pool.getconn(AWAY_S if self._away else TIMEOUT_S)
        if self._pool._pool and not self._pool._lock.locked():  # one is there: nothing is waited for
            connection = await asked
        else:
            waiting = asyncio.ensure_future(asked)
            try:
                connection = await asyncio.shield(waiting)
            except asyncio.CancelledError:
                self._abandoned.add(waiting)
                waiting.add_done_callback(self._return_unused)
                raise
        if self._away:
            self._away = False
            log_lines.DATABASE_BACK(at=self.variable)
        return connection

    def _return_unused(self, waiting: asyncio.Future[Connection]) -> None:
        """Release what came for a caller that is gone."""
        self._abandoned.discard(waiting)
        if not waiting.cancelled() and waiting.exception() is None:
            self._returning.run(self._returned(waiting.result()))

    async def _release(self, connection: Connection) -> None:
        await self._returning.run(self._returned(connection))

    async def _returned(self, connection: Connection) -> None:
        if connection.was_cut:  # it may look healthy: its answer can come in the moment of the cut
            await connection.close()
        # Without the pool's context manager, which also commits: every statement is its own transaction.
        await self._pool.putconn(connection)

    def _mark_lost(self) -> None:
        if not self._away:
            self._away = True
            log_lines.DATABASE_AWAY(why=Connection.refusal, at=self.variable, code=StoreUnavailable.code)

    async def _is_spent(self, connection: Connection, error: psycopg.Error, name: str) -> bool:
        """Whether the statement may be repeated on another connection, because this one was at fault.

        If a server has become read-only or does not answer, all connections are dropped: another server may have its
        address.
        """
        reads = error.sqlstate == READ_ONLY
        if useless := reads or error.sqlstate in STALE:
            await connection.close()
        if (reads or connection.was_cut) and connection.made > self._drained_at:
            self._drained_at = time.monotonic()
            await self._pool.drain()  # this one too, as soon as it is returned
        return useless or (connection.closed and not connection.was_cut and name in REPEATABLE)


class ServingDatabase(Database):
    """The pool of the login that serves callers; a statement that is not `of` a tenant finds no row and adds none."""

    configure = staticmethod(configure_serving)
    variable = "GAINSAY_API_URL"

    def of(self, tenant: str) -> Database:
        """The same pool, each statement in a transaction of this tenant."""
        return _TenantDatabase(self, tenant)


class _TenantDatabase(Database):
    """A serving database of one tenant: nothing but the pool and a name, so it is made for each call."""

    def __init__(self, whole: ServingDatabase, tenant: str) -> None:
        self._whole = whole
        self._tenant = tenant

    def of(self, tenant: str) -> Database:
        """The same pool for another tenant."""
        return self._whole.of(tenant)

    @property
    def pooled(self) -> Database:
        """The database of the connections, one for the views of all tenants."""
        return self._whole

    @property
    def away(self) -> bool:
        """Whether the pool is known to have no connection."""
        return self._whole.away

    async def _rows(
        self, name: str, sql: bytes, values: Sequence[Any] | None, *, prepare: bool | None = None, tenant: str = ""
    ) -> list[Row]:
        return await self._whole._rows(name, sql, values, prepare=prepare, tenant=tenant or self._tenant)
