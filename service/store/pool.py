"""Connections to PostgreSQL, and the translation of its errors into ours."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, ClassVar, Self

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from service import telemetry
from service.errors import StoreUnavailable
from service.store import array_parameters
from service.store.queries import positional, queries

Row = DictRow
TIMEOUT_S = 10.0
"""How long a caller waits for a connection before it is told that there is none."""
AWAY_S = 1.0
"""How long it waits once the pool has tried in vain to connect: many callers are not kept for nothing."""
RECONNECT_S = 4.0
"""How long the pool tries by itself to replace a lost connection."""
STATEMENT_S = 10.0
"""After this PostgreSQL gives a statement up: it waits for a lock, or the disk is slow."""
SILENT_S = 15.0
"""After this we give a statement up, and the connection: the server is frozen, the network drops what it is given, or
a commit waits for a standby."""
WIRE = {"connect_timeout": 5, "tcp_user_timeout": 15_000, "keepalives_idle": 15, "keepalives_interval": 5}
"""A connection that was cut without a word is noticed within these (seconds; the second one milliseconds)."""
READ_ONLY = "25006"
STALE = frozenset({"0A000", "26000"})
"""What a connection says whose prepared statements are none any more: a migration has changed what they give."""
REPEATABLE = frozenset(
    {
        *("head", "records", "documents", "taken", "list_debates", "renew", "draw", "left", "balance", "astray"),
        *("latest_log", "latest_head", "proven", "head_at", "logs_of", "tree_parts", "leaves_between"),
        *("current_heads", "recall", "recall_prompt", "chains", "chain", "document_hashes", "manifests"),
        *("kept_contents", "contents", "keep_contents", "keep_manifest", "bundle_records", "bundle_context", "opening"),
        *("first_since", "export_all", "export_some", "countersigned_head", "keyed", "waiting"),
        *("listen", "listened", "forget_listeners", "moved"),
        *("renew_all", "release", "pass_on", "park", "disown", "backlog", "alive"),
    }
)
"""What may be asked again when its connection turns out to be gone: once PostgreSQL was restarted, all of them are."""


class Connection(psycopg.AsyncConnection[DictRow]):
    """A connection on which nobody waits for an answer longer than `SILENT_S`.

    What is given up is cut off and never cancelled: PostgreSQL takes the cancelling of a commit that waits for its
    standby for leave to confirm what only one server has. A statement whose caller has gone ends in the same way.
    """

    refusal: ClassVar[str] = ""
    """Why the last connection that was tried in vain did not come about."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.made = time.monotonic()
        self.was_cut = False

    async def ask(self, sql: bytes, values: Sequence[Any] | None) -> list[DictRow]:
        """The rows of a query that names its parameters by number."""
        cursor = psycopg.AsyncRawCursor(self, row_factory=dict_row)
        await cursor.execute(sql, values)
        return await cursor.fetchall()

    @classmethod
    async def connect(cls, *given: Any, **more: Any) -> Self:
        """Connect; what keeps us from it is remembered for whoever tells of it."""
        begun = time.monotonic()
        try:
            connection = await super().connect(*given, **more)
        except psycopg.Error as error:
            Connection.refusal = " ".join(str(error).split())
            raise
        connection.made = begun  # what it finds is as it was then
        return connection

    async def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Drive one exchange with the server, within ``timeout`` or else `SILENT_S`."""
        alarm = asyncio.get_running_loop().call_later(SILENT_S if timeout is None else timeout + 1.0, self.cut)
        try:
            return await super().wait(gen, interval, timeout)
        finally:
            alarm.cancel()

    async def cancel_safe(self, *, timeout: float = 30.0) -> None:
        """What psycopg calls when whoever waits is cancelled."""
        self.cut()

    def cut(self) -> None:
        """End the connection at once: whoever waits for it hears that it is gone."""
        self.was_cut = True
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.pgconn.socket)) as wire:
            wire.shutdown(socket.SHUT_RDWR)


class Unanswered(StoreUnavailable):
    """PostgreSQL did not confirm a statement; which one and why is for our own log."""

    @property
    def told(self) -> str:
        """What a caller can use of it."""
        return "the database does not answer; send the request again"


class StatementRefused(StoreUnavailable):
    """PostgreSQL is there and will not do this, however often it is asked: a fault of ours or of the schema."""

    code = "store_refused"
    status = 500
    title = "The database refuses a statement"

    @property
    def told(self) -> str:
        """What a caller can use of it."""
        return "the database refuses what the service asks of it; a person has to look, the service's log says at what"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """What psycopg raises inside, as ours: `StoreUnavailable`, or `StatementRefused` for what will not be done."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError) as error:
        raise Unanswered(
            f"the database did not confirm {name!r} ({_named(error)}); try again when it is back",
            retry_after=5,
        ) from error
    except psycopg.Error as error:
        raise StatementRefused(
            f"the database refuses {name!r} ({_named(error)}); nothing is written",
            retry_after=60,  # a person has to mend it
        ) from error


def _named(error: psycopg.Error) -> str:
    """What kind of error it is; its words may quote what is confidential."""
    return ", ".join(part for part in (type(error).__name__, error.sqlstate) if part)


async def configure(connection: psycopg.AsyncConnection[DictRow]) -> None:
    """Every statement runs in the service's own schema, whatever the role's defaults are, and is prepared at once."""
    connection.prepare_threshold = 1
    array_parameters.register(connection)
    await connection.execute("SET search_path = gainsay, pg_temp")
    # Ours take milliseconds; with locks and a slow disk some more. Nobody may wait for ever.
    await connection.execute(f"SET statement_timeout = {round(STATEMENT_S * 1_000)}")


class Database:
    """A pool of connections; every query is one of queries.sql, gives rows, and is its own transaction."""

    configure = staticmethod(configure)
    """What each new connection begins with."""
    variable = "GAINSAY_DATABASE_URL"
    """The setting that the address comes from."""

    def __init__(self, pool: AsyncConnectionPool[Connection]) -> None:
        self._pool = pool
        self._away = False
        self._drained_at = 0.0

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, *, size: int = 8) -> AsyncIterator[Self]:
        """Connect, and disconnect at the end; raises `StoreUnavailable` when PostgreSQL cannot be reached."""

        def given_up(_pool: object) -> None:
            made._lost()

        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            connection_class=Connection,
            kwargs={"autocommit": True, "row_factory": dict_row, **WIRE},
            min_size=1,
            max_size=size,
            timeout=TIMEOUT_S,
            # The pool waits twice as long after every failure; giving up early keeps that wait short, and the next
            # caller makes it try afresh.
            reconnect_timeout=RECONNECT_S,
            reconnect_failed=given_up,
            configure=cls.configure,
            open=False,
            name="gainsay",
        )
        made = cls(pool)
        try:
            await pool.open(wait=True, timeout=TIMEOUT_S)
        except psycopg.OperationalError as error:
            await pool.close()
            raise StoreUnavailable(
                f"expected PostgreSQL at {cls.variable}, found nothing that lets us in; "
                "check that it runs and that the role and password are right",
                retry_after=5,
            ) from error
        try:
            yield made
        finally:
            await pool.close()

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query.

        Raises `StoreUnavailable` when the database does not answer: a statement that writes may have been done all the
        same. Raises `StatementRefused` when it answers that it will not.
        """
        begun = time.monotonic()
        sql, names = positional(queries()[name])
        values = [params[name] for name in names] if params else None
        with translated(name):
            while True:
                connection = await self._borrow()
                try:
                    return await connection.ask(sql, values)
                except psycopg.Error as error:
                    # One that was there before is passed over, however many there are; a new one has the last word.
                    if not await self._is_spent(connection, error, name) or connection.made > begun:
                        raise
                finally:
                    await self._give_back(connection)

    @property
    def away(self) -> bool:
        """Whether it is known that there is no connection to be had: it was tried for some seconds, and since."""
        return self._away

    async def _borrow(self) -> Connection:
        """A connection, in the order of asking. All who wait do so in the pool: it connects afresh only when asked."""
        task = asyncio.current_task()
        cancelled = task.cancelling() if task else 0
        # Python 3.11 forgets a cancellation where a connection comes, or is refused, in that moment.
        try:
            connection = await self._pool.getconn(AWAY_S if self._away else TIMEOUT_S)
        except psycopg.Error:
            if task and task.cancelling() > cancelled:
                raise asyncio.CancelledError from None
            raise
        if task and task.cancelling() > cancelled:
            await self._give_back(connection)
            raise asyncio.CancelledError
        if self._away:
            self._away = False
            telemetry.LOG.warning("the database answers again", extra={"at": self.variable})
        return connection

    async def _give_back(self, connection: Connection) -> None:
        if connection.was_cut:  # and may look well: its answer can come in the moment that it is cut
            await connection.close()
        # Without the pool's context manager, which also commits: every statement is its own transaction.
        await self._pool.putconn(connection)

    def _lost(self) -> None:
        if not self._away:
            self._away = True
            told = f"the database does not answer: {Connection.refusal}"
            telemetry.LOG.error(told, extra={"at": self.variable, "code": StoreUnavailable.code})

    async def _is_spent(self, connection: Connection, error: psycopg.Error, name: str) -> bool:
        """Whether the statement may be asked again on another connection, since this one was at fault.

        A server that does not write, or not answer, any more is left by all connections: another may have its address.
        """
        reads = error.sqlstate == READ_ONLY
        if useless := reads or error.sqlstate in STALE:
            await connection.close()
        if (reads or connection.was_cut) and connection.made > self._drained_at:
            self._drained_at = time.monotonic()
            await self._pool.drain()  # this one too, as soon as it is given back
        return useless or (connection.closed and not connection.was_cut and name in REPEATABLE)
