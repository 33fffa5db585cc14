"""What a connection sends and takes without psycopg's cursors is what they would, and nothing of it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.pq import PipelineStatus
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from service.errors import StoreUnavailable
from service.store import pool
from service.store.array_parameters import (
    BIGINTS,
    BYTEAS,
    FALSE,
    FLOATS,
    INTEGERS,
    TEXTS,
    TRUE,
    UUIDS,
    ByteaArray,
    Elements,
    TextArray,
)
from service.store.exchange import Asked
from service.store.pool import Connection
from tests.fixtures.postgres import Database

SETTINGS = Asked(b"SELECT set_config('gainsay.tenant', $1, true)", ("acme",))
VALUES: tuple[tuple[bytes, Sequence[Any] | None], ...] = (
    (b"SELECT 1 AS one, NULL AS none, 'x'::text AS text, current_date AS day", None),
    (b"SELECT $1 + 1 AS n", (1,)),
    (b"SELECT $1 + 1 AS n", (2**40,)),
    (b"SELECT $1::text AS t, $2::uuid AS u, $3::bytea AS b", ("é\N{SNOWMAN}", UUID(int=7), b"\x00\xff")),
    (b"SELECT $1::text AS t, $2::uuid AS u, $3::bytea AS b", (None, None, None)),
    (
        b"SELECT $1::float8 AS f, $2::boolean AS b, $3::timestamptz AS at",
        (0.1, True, datetime(2026, 1, 31, tzinfo=UTC)),
    ),
    (b"SELECT $1::jsonb AS j", (Jsonb({"a": [1, None]}),)),
    (b"SELECT $1::bytea[] AS b, $2::text[] AS t, $3::integer[] AS n", (ByteaArray((b"x",)), TextArray(()), [1, 2])),
    (b"SELECT n, n::text AS t FROM generate_series(1, $1) AS s (n)", (500,)),
    (b"SELECT 1 AS one WHERE $1", (False,)),
)


async def opened(database: Database) -> Connection:
    """A connection as the pool makes it."""
    connection = await Connection.connect(database.service_url, autocommit=True)
    await pool.configure(connection)
    return connection


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["alone", "with settings"])
async def test_rows_are_those_of_a_cursor(database: Database, settings: Asked | None) -> None:
    """Three times each: the first is not prepared, the second prepares it, the third finds it prepared."""
    async with await opened(database) as ours, await opened(database) as plain:
        for sql, values in VALUES * 3:
            cursor = psycopg.AsyncRawCursor(plain, row_factory=dict_row)
            expected = await (await cursor.execute(sql, values, binary=True)).fetchall()
            assert await ours.ask(Asked(sql, values), settings) == expected


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["alone", "with settings"])
async def test_a_query_that_is_refused_is_told_by_its_own_error_each_time(
    database: Database, settings: Asked | None
) -> None:
    async with await opened(database) as ours:
        for _ in range(3):
            with pytest.raises(psycopg.errors.DivisionByZero):
                await ours.ask(Asked(b"SELECT 1 / $1 AS n", (0,)), settings)
            with pytest.raises(psycopg.errors.UndefinedTable):
                await ours.ask(Asked(b"SELECT 1 AS n FROM nowhere", None), settings)
            assert await ours.ask(Asked(b"SELECT 1 / $1 AS n", (1,)), settings) == [{"n": 1}]


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["alone", "with settings"])
async def test_a_statement_that_cannot_be_prepared_is_prepared_again(
    database: Database, settings: Asked | None
) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:

        def made() -> None:
            admin.execute("CREATE TABLE gainsay.noted (n int)")
            admin.execute("GRANT SELECT ON gainsay.noted TO gainsay_writer")

        asked = Asked(b"SELECT n FROM noted", None)
        async with await opened(database) as ours:
            made()
            assert await ours.ask(asked, settings) == []
            admin.execute("DROP TABLE gainsay.noted")
            with pytest.raises(psycopg.errors.UndefinedTable):
                await ours.ask(asked, settings)
            made()
            for _ in range(3):
                assert await ours.ask(asked, settings) == []


async def test_a_commit_that_is_refused_is_told_by_its_own_error(database: Database) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE gainsay.noted (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        admin.execute("GRANT SELECT, INSERT ON gainsay.noted TO gainsay_writer")
    noted = Asked(b"INSERT INTO noted VALUES (1), (1) RETURNING n", None)
    for settings in (None, SETTINGS):
        async with await opened(database) as ours:
            with pytest.raises(psycopg.errors.UniqueViolation):
                await ours.ask(noted, settings)


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["alone", "with settings"])
@pytest.mark.parametrize(
    ("gives", "told"),
    [(b"", "gives rows"), (b" RETURNING 'infinity'::timestamptz AS at", "can be read")],
    ids=["no rows", "no value of ours"],
)
async def test_a_query_that_was_done_and_gives_nothing_to_read_is_no_query_that_was_refused(
    database: Database, settings: Asked | None, gives: bytes, told: str
) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE gainsay.noted (n int)")
        admin.execute("GRANT SELECT, INSERT ON gainsay.noted TO gainsay_writer")
    async with await opened(database) as ours:
        with pytest.raises(StoreUnavailable) as unanswered, pool.translated("noted"):
            await ours.ask(Asked(b"INSERT INTO noted VALUES (1)" + gives, None), settings)
        assert await ours.ask(Asked(b"SELECT n FROM noted", None), settings) == [{"n": 1}]

    assert not isinstance(unanswered.value, pool.StatementRefused)
    assert "did not confirm 'noted' (InternalError)" in str(unanswered.value)
    assert told in str(unanswered.value.__cause__)


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["alone", "with settings"])
@pytest.mark.parametrize("under_way", [True, False], ids=["under way", "idle"])
async def test_what_a_server_says_as_it_ends_a_connection_is_told(
    database: Database, settings: Asked | None, under_way: bool
) -> None:
    slow = Asked(b"SELECT 1 AS n FROM pg_sleep(30)", None)
    async with await opened(database) as ours:
        asked = asyncio.create_task(ours.ask(slow, settings)) if under_way else None
        await asyncio.sleep(0.2)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", (ours.info.backend_pid,))

        with pytest.raises(psycopg.errors.AdminShutdown):
            await (asked or ours.ask(slow, settings))


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["alone", "with settings"])
async def test_encoded_values_arrive_as_they_are(database: Database, settings: Asked | None) -> None:
    columns: dict[Elements, list[Any]] = {
        INTEGERS: [1, -2],
        TEXTS: ["é", None],
        BYTEAS: [b"", b"\x00"],
        UUIDS: [UUID(int=7)],
        FLOATS: [0.1],
        BIGINTS: [],
    }
    values = [column.whole(map(column.one, each), len(each)) for column, each in columns.items()]
    sql = b"SELECT $1 AS a, $2 AS b, $3 AS c, $4 AS d, $5 AS e, $6 AS f, $7 AS yes, $8 AS no"
    async with await opened(database) as ours:
        for _ in range(3):
            (row,) = await ours.ask(Asked(sql, [*values, TRUE, FALSE]), settings)
            assert list(row.values()) == [*columns.values(), True, False]


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["alone", "with settings"])
@pytest.mark.parametrize(
    "value", ["\0", "\ud800", object(), [1, "a"], TRUE], ids=["nul", "surrogate", "unknown", "mixed", "encoded"]
)
async def test_a_value_that_cannot_be_sent_costs_no_connection(
    database: Database, settings: Asked | None, value: object
) -> None:
    async with await opened(database) as ours:
        for _ in range(3):
            with pytest.raises((psycopg.Error, UnicodeEncodeError)):
                await ours.ask(Asked(b"SELECT $1::text AS t, $2::text AS u", ("x", value)), settings)
            assert ours.pgconn.pipeline_status == PipelineStatus.OFF
            assert await ours.ask(Asked(b"SELECT $1::text AS t", ("x",)), settings) == [{"t": "x"}]


async def test_nothing_of_the_rows_stays_with_a_connection(database: Database) -> None:
    async with await opened(database) as ours:
        for settings in (None, SETTINGS):
            assert await ours.ask(Asked(b"SELECT $1::text AS t", ("x" * 1_000,)), settings) == [{"t": "x" * 1_000}]
            assert ours._exchange._adapting.pgresult is None


async def test_no_more_statements_stay_prepared_than_psycopg_keeps(database: Database) -> None:
    async with await opened(database) as ours:
        most = ours.prepared_max or 0
        for nth in range(most + 20):
            for _ in range(2):
                await ours.ask(Asked(b"SELECT $1 + %d AS n" % nth, (1,)), SETTINGS if nth % 2 else None)
        (row,) = await ours.ask(Asked(b"SELECT count(*)::integer AS n FROM pg_prepared_statements", None))
    assert 0 < most - 5 <= row["n"] <= most + 1
