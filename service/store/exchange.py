"""How a connection asks: psycopg's protocol, adapters and prepared statements, without its cursors.

A cursor finds out for each statement anew how values of each type are written and how columns are read. Here each
connection keeps that, and nothing of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import errors
from psycopg._preparing import Key, Prepare
from psycopg.abc import Buffer, PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.generators import execute, fetch_many, send
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGresult
from psycopg.rows import DictRow

from service.store.array_parameters import ENCODED

# Constants, because a member of an enumeration is looked up through its metaclass.
_AUTO, _BINARY = PyFormat.AUTO, Format.BINARY
_ROWS, _FAILED = ExecStatus.TUPLES_OK, (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED)
_NEW, _UNPREPARED = Prepare.SHOULD, Prepare.NO


class Asked(NamedTuple):
    """A query by number, its values, and whether it is to be prepared; ``None`` from its second time on."""

    sql: bytes
    values: Sequence[Any] | None
    prepare: bool | None = None


class _Statement(NamedTuple):
    """A query as it is sent; psycopg knows prepared ones by ``query`` and ``types``."""

    query: bytes
    types: tuple[int, ...]
    params: Sequence[Buffer | None] | None
    formats: Sequence[Format] | None


class _Sent(NamedTuple):
    """A command whose result is due; of a new statement, by what psycopg knows it."""

    key: Key | None = None
    prepare: Prepare = _UNPREPARED
    name: bytes = b""


class Exchange:
    """What a connection sends and takes; one generator at a time is driven by `psycopg.AsyncConnection.wait`."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._prepared: Any = connection._prepared
        self._adapting = Transformer(connection)

    def one(self, asked: Asked) -> PQGen[list[DictRow]]:
        """The rows of a query."""
        statement = self._statement(asked)
        prepare, name = self._prepared.get(statement, asked.prepare)
        if prepare is _NEW:
            self._pgconn.send_prepare(name, statement.query, param_types=statement.types)
            self._check((yield from execute(self._pgconn)))
        sent = self._send(statement, prepare, name)
        results = yield from execute(self._pgconn)
        self._note(sent, results)
        self._check(results)
        rows = self._rows(results)
        yield from self._prepared.maintain_gen(self._connection)
        return rows

    def together(self, *queries: Asked) -> PQGen[list[DictRow]]:
        """The rows of the last of these queries, all sent at once as one pipeline and so as one transaction."""
        statements = [(self._statement(asked), asked.prepare) for asked in queries]  # a value may be none that is sent
        self._pgconn.enter_pipeline_mode()
        try:
            due = [sent for statement, prepare in statements for sent in self._queued(statement, prepare)]
            self._pgconn.pipeline_sync()
            yield from send(self._pgconn)
            found = list[list[PGresult]]()
            try:
                for sent in due:
                    found.append((yield from fetch_many(self._pgconn)))
                    self._note(sent, found[-1])
                end = yield from fetch_many(self._pgconn)
            except psycopg.OperationalError:  # a server that ends a connection has said why before, as a result
                self._check_all(found)
                raise
            self._check_all((*found, end))
        except BaseException:
            with suppress(psycopg.Error):  # it is not left while an end is not taken, or the connection is gone
                self._pgconn.exit_pipeline_mode()
            raise
        self._pgconn.exit_pipeline_mode()
        rows = self._rows(found[-1])
        yield from self._prepared.maintain_gen(self._connection)
        return rows

    def _queued(self, statement: _Statement, wanted: bool | None) -> list[_Sent]:
        """Send a query in a pipeline; what is due then."""
        prepare, name = self._prepared.get(statement, wanted)
        if prepare is not _NEW:
            return [self._send(statement, prepare, name)]
        self._pgconn.send_prepare(name, statement.query, param_types=statement.types)
        preparing = _Sent(self._prepared.key(statement), prepare, name)  # it is forgotten if this fails
        return [preparing, self._send(statement, prepare, name)]

    def _statement(self, asked: Asked) -> _Statement:
        """A query as it is sent; raises `psycopg.DataError` or `ProgrammingError` for a value that cannot be."""
        sql, values, _ = asked
        if values is None:
            return _Statement(sql, (), None, None)
        kinds = {*map(type, values)}
        if ENCODED.issuperset(kinds):
            return _Statement(sql, tuple([value.oid for value in values]), values, [_BINARY] * len(values))
        if not ENCODED.isdisjoint(kinds):
            raise psycopg.ProgrammingError("expected values that are all encoded, or none of them")
        params = self._adapting.dump_sequence(values, [_AUTO] * len(values))
        return _Statement(sql, self._adapting.types or (), params, self._adapting.formats)

    def _send(self, statement: _Statement, prepare: Prepare, name: bytes) -> _Sent:
        query, types, params, formats = statement
        if prepare is _UNPREPARED:
            self._pgconn.send_query_params(
                query, params, param_types=types, param_formats=formats, result_format=_BINARY
            )
        else:
            self._pgconn.send_query_prepared(name, params, param_formats=formats, result_format=_BINARY)
        return _Sent(self._prepared.maybe_add_to_cache(statement, prepare, name), prepare, name)

    def _note(self, sent: _Sent, results: Sequence[PGresult]) -> None:
        """Forget a new statement that failed."""
        if sent.key is not None:
            self._prepared.validate(sent.key, sent.prepare, sent.name, results)

    def _check_all(self, found: Iterable[Sequence[PGresult]]) -> None:
        """Raise the error of the first that failed: after it come those that were not tried."""
        for results in found:
            self._check(results)

    def _check(self, results: Sequence[PGresult]) -> None:
        """Raise the error of a query that failed."""
        if not results:
            raise psycopg.InternalError("expected the result of a query, found none")
        for result in results:
            if result.status in _FAILED:
                raise errors.error_from_result(result, encoding=self._adapting.encoding)

    def _rows(self, results: Sequence[PGresult]) -> list[DictRow]:
        """The rows that came; raises `psycopg.InternalError` where there are none to read.

        The query is committed by then, so no error that says that the server refused it may be raised here.
        """
        (result,) = results
        if result.status != _ROWS:
            raise psycopg.InternalError("expected a query that gives rows, found another one, which was done")
        self._adapting.set_pgresult(result)
        try:
            encoding = self._adapting.encoding
            names = [(result.fname(n) or b"").decode(encoding) for n in range(result.nfields)]
            return [dict(zip(names, row, strict=True)) for row in self._adapting.load_rows(0, result.ntuples, tuple)]
        except psycopg.DataError as error:
            raise psycopg.InternalError("expected rows of values that can be read, found another one") from error
        finally:
            self._adapting.set_pgresult(None)
