"""What a connection plans once is not planned again, and few connections plan while few are in use."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import psycopg
import pytest
from psycopg.pq import ExecStatus, Format

from service.store import pool
from service.store.queries import positional, queries
from service.store.query_kinds import PLANNED_ONCE
from tests.fixtures.postgres import Database

COUNTED = b"SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%FROM entry e%leaf l%'"
SETTINGS = b"SELECT current_setting('plan_cache_mode') AS plans, current_setting('enable_seqscan') AS scans"
VOID = 2278
"""The type of what a function gives that gives nothing; nobody reads it."""
PID = b"SELECT pg_backend_pid() AS pid"


@pytest.fixture(params=[pool.Database, pool.ServingDatabase], ids=["service", "serving"])
def kind(request: pytest.FixtureRequest) -> type[pool.Database]:
    """The pool of the service's own login, and of the one that serves callers."""
    found: type[pool.Database] = request.param
    return found


def url_for(kind: type[pool.Database], database: Database) -> str:
    """The address of its login."""
    return database.serving_url if kind is pool.ServingDatabase else database.service_url


async def test_a_connection_plans_the_reading_of_a_debate_for_all_values_alike(
    database: Database, kind: type[pool.Database]
) -> None:
    assert "records" in PLANNED_ONCE
    async with kind.open(url_for(kind, database), size=1) as opened:
        found = opened.of("default")
        for from_n in range(4):
            params = {"debate": uuid4(), "tenant": "default", "from_n": from_n, "documents": from_n == 0}
            (head,) = await found.query("records", params)
            assert head["part"] == "head"

        (counted,) = await found.read("counted", COUNTED, {})

    assert counted["custom_plans"] == 0
    assert counted["generic_plans"] > 0


async def test_what_is_set_for_that_does_not_outlast_it(database: Database, kind: type[pool.Database]) -> None:
    async with kind.open(url_for(kind, database), size=1) as opened:
        found = opened.of("default")
        before = await found.read("settings", SETTINGS, {})

        await found.query("records", {"debate": uuid4(), "tenant": "default", "from_n": 0, "documents": True})

        assert await found.read("settings", SETTINGS, {}) == before == [{"plans": "auto", "scans": "on"}]


async def several_asked(found: pool.Database) -> int:
    """Ask four times at once; how many connections answered, which are idle now."""
    sleeping = b"SELECT pg_backend_pid() AS pid FROM pg_sleep(0.3)"
    answers = await asyncio.gather(*(found.read("asked", sleeping, {}) for _ in range(4)))
    connections = len({row["pid"] for (row,) in answers})
    assert connections > 1
    return connections


async def test_of_idle_connections_the_one_that_came_back_last_is_lent(
    database: Database, kind: type[pool.Database]
) -> None:
    async with kind.open(url_for(kind, database), size=4) as opened:
        found = opened.of("default")
        await several_asked(found)

        (first,) = await found.read("asked", PID, {})
        pids = [row["pid"] for _ in range(6) for row in await found.read("asked", PID, {})]

    assert set(pids) == {first["pid"]}


async def test_of_idle_connections_the_one_that_is_idle_longest_is_given_up(
    database: Database, kind: type[pool.Database]
) -> None:
    async with kind.open(url_for(kind, database), size=4) as opened:
        found = opened.of("default")
        connections = await several_asked(found)
        (first,) = await found.read("asked", PID, {})
        for _ in range(connections - 1):
            opened.pooled._pool._nconns_min = 1  # as where one was not needed since it was last looked
            await opened.pooled._pool._shrink_pool()
            assert await found.read("asked", PID, {}) == [first]
        assert len(opened.pooled._pool._pool) == 1


def test_a_connection_plans_the_claiming_of_debates_once(database: Database) -> None:
    """`CREATE OR REPLACE FUNCTION` without these settings would take them away."""
    with psycopg.connect(database.admin_url) as admin:
        row = admin.execute("SELECT proconfig FROM pg_proc WHERE proname = 'claim_in_turn'").fetchone()

    assert row is not None
    assert {"plan_cache_mode=force_generic_plan", "enable_seqscan=off"} <= set(row[0])


def test_each_query_gives_rows_but_those_that_are_sent_without_a_database(database: Database) -> None:
    """A `pool.Database` finds that there are none after the query is committed, when nobody knows what to do again."""
    sent_without = {"subscribe", "add_batch", "add_leaves", "add_tiles"}  # by the listener and by the sequencer
    path = "-c search_path=gainsay_tenant,gainsay"
    with psycopg.connect(database.admin_url, autocommit=True, options=path) as admin:
        for nth, sql in enumerate(queries().values()):
            prepared = admin.pgconn.prepare(b"q%d" % nth, positional(sql)[0])
            assert prepared.status == ExecStatus.COMMAND_OK, prepared.error_message
        silent = admin.execute("SELECT substr(name, 2)::integer FROM pg_prepared_statements WHERE result_types IS NULL")
        names = list(queries())
        found = {names[nth] for (nth,) in silent}

    assert found == sent_without


def test_each_column_that_a_query_gives_is_of_a_type_that_is_read_in_binary(database: Database) -> None:
    """Results come in PostgreSQL's binary format: a type that psycopg does not know there would come as its bytes."""
    path, unread = "-c search_path=gainsay_tenant,gainsay", dict[str, set[str]]()
    with psycopg.connect(database.admin_url, autocommit=True, options=path) as admin:
        for name, sql in queries().items():
            text, _ = positional(sql)
            prepared = admin.pgconn.prepare(b"", text)
            assert prepared.status == ExecStatus.COMMAND_OK, (name, prepared.error_message)
            described = admin.pgconn.describe_prepared(b"")
            found = {described.ftype(nth) for nth in range(described.nfields)} - {VOID}
            if strange := {oid for oid in found if admin.adapters.get_loader(oid, Format.BINARY) is None}:
                unread[name] = {str(oid) for oid in strange}

    assert unread == {}
