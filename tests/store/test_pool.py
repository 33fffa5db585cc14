"""Connections whose other end is silent, gone, changed, read-only or not to be had: everybody hears of it in time."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import LiteralString, NamedTuple, TypeVar

import psycopg
import pytest

from service.errors import StoreUnavailable
from service.store import pool
from service.store.array_parameters import TextArray
from service.store.embedded.supervisor import free_port
from service.store.pool import StatementRefused
from service.store.queries import positional, queries
from service.store.schema import migrate, preflight
from tests.faults.servers import wire_to
from tests.fixtures.postgres import MIGRATIONS, Database
from tests.fixtures.waiting import within

T = TypeVar("T")
WITHIN_S = 20.0
"""Far more than any limit that a test sets here, and far less than for ever."""


class Opened(NamedTuple):
    """By which login a database is opened, and for whom."""

    serving: bool

    def url(self, database: Database) -> str:
        """Its address."""
        return database.serving_url if self.serving else database.service_url

    @asynccontextmanager
    async def open(self, url: str, size: int = 8) -> AsyncIterator[pool.Database]:
        """Its pool; of the login that serves callers, a tenant's part."""
        async with (pool.ServingDatabase if self.serving else pool.Database).open(url, size=size) as found:
            yield found.of("default")


@pytest.fixture(params=[False, True], ids=["service", "serving"])
def which(request: pytest.FixtureRequest) -> Opened:
    """The service's own login, and the one that serves callers."""
    return Opened(request.param)


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can wait for."""
    for name, seconds in (("TIMEOUT_S", 0.6), ("RECONNECT_S", 0.3), ("STATEMENT_S", 5.0), ("SILENT_S", 0.5)):
        monkeypatch.setattr(pool, name, seconds)


async def in_time(awaited: Awaitable[T]) -> T:
    """Wait for what must not hang."""
    return await within(WITHIN_S, awaited)


def asking(monkeypatch: pytest.MonkeyPatch, statement: LiteralString, name: str = "asked") -> None:
    """Let a statement of the test be a named query."""
    monkeypatch.setattr(pool, "queries", lambda: {name: statement.encode()})


def ruled(database: Database, *statements: LiteralString) -> None:
    """Run statements as superuser."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for statement in statements:
            admin.execute(statement)


async def test_a_server_that_does_not_answer_is_given_up_and_left(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(monkeypatch, "SELECT pg_backend_pid() AS pid", "head")
    async with wire_to(which.url(database)) as wire, which.open(wire.through(which.url(database))) as found:
        (before,) = await found.query("head")

        wire.mute()
        with pytest.raises(StoreUnavailable, match="did not confirm 'head'"):
            await in_time(found.query("head"))

        wire.speak()
        (after,) = await in_time(found.query("head"))
        assert after != before


async def test_a_statement_is_given_up_also_where_no_file_can_be_opened(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(monkeypatch, "SELECT pg_sleep(3)::text AS slept")
    async with which.open(which.url(database)) as found:
        asked = asyncio.create_task(found.query("asked"))
        await asyncio.sleep(0.1)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (1, before[1]))
        try:
            await asyncio.wait([asked], timeout=WITHIN_S)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

        with pytest.raises(StoreUnavailable, match="did not confirm 'asked'"):
            await asked


async def test_a_caller_who_goes_away_is_not_kept_by_a_server_that_does_not_answer(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "SILENT_S", 2 * WITHIN_S)
    async with wire_to(which.url(database)) as wire, which.open(wire.through(which.url(database))) as found:
        wire.mute()
        asked = asyncio.create_task(found.query("alive"))
        await asyncio.sleep(0.1)

        asked.cancel()

        done, _ = await asyncio.wait([asked], timeout=4.0)  # psycopg's own way out takes five seconds and more
        wire.speak()
        assert done == {asked}
        assert asked.cancelled()
        assert await in_time(found.query("alive"))


async def test_a_statement_that_was_given_up_is_not_cancelled(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL takes the cancelling of a commit that waits for its standby for leave to confirm it."""
    ruled(
        database, "CREATE TABLE gainsay.noted (n int)", "GRANT INSERT ON gainsay.noted TO gainsay_writer, gainsay_api"
    )
    asking(monkeypatch, "WITH slow AS (SELECT pg_sleep(1.2)) INSERT INTO noted SELECT 1 FROM slow RETURNING 1 AS n")
    async with which.open(which.url(database)) as found:
        with pytest.raises(StoreUnavailable):
            await in_time(found.query("asked"))

    def landed() -> bool:
        with psycopg.connect(database.admin_url) as admin:
            return admin.execute("SELECT count(*) FROM gainsay.noted").fetchone() == (1,)

    assert not landed()
    for _ in range(200):
        await asyncio.sleep(0.05)
        if landed():
            break
    assert landed()


async def test_whoever_finds_all_connections_in_use_is_told_so_in_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "SILENT_S", 5.0)
    asking(monkeypatch, "SELECT pg_sleep(2)::text AS slept")
    async with pool.Database.open(database.service_url, size=2) as found:
        asked = [asyncio.create_task(found.query("asked")) for _ in range(12)]
        answers = await in_time(asyncio.gather(*asked, return_exceptions=True))

    refused = [answer for answer in answers if isinstance(answer, StoreUnavailable)]
    assert len(refused) == 10
    assert {answer.retry_after for answer in refused} == {5}
    assert len([answer for answer in answers if isinstance(answer, list)]) == 2


@pytest.mark.parametrize("others", [0, 3])
async def test_whoever_goes_away_while_it_waits_for_a_connection_keeps_nobody_else_waiting(
    database: Database, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    monkeypatch.setattr(pool, "TIMEOUT_S", WITHIN_S)
    monkeypatch.setattr(pool, "SILENT_S", WITHIN_S)
    asking(monkeypatch, "SELECT pg_sleep(0.1)::text AS slept")
    async with pool.Database.open(database.service_url, size=1) as found:
        asked = [asyncio.create_task(found.query("asked")) for _ in range(1 + others)]
        gone = [asyncio.create_task(found.query("asked")) for _ in range(3)]
        asked += [asyncio.create_task(found.query("asked")) for _ in range(others)]
        await asyncio.sleep(0.05)
        for task in gone:
            task.cancel()

        assert len(await in_time(asyncio.gather(*asked))) == 1 + 2 * others
        assert await in_time(found.query("asked")) == [{"slept": ""}]
        assert all(task.cancelled() for task in gone)


def test_parameters_are_numbered_by_their_names_in_the_order_of_their_first_use() -> None:
    sql = b"SELECT %(b)s, '100%%', %(a)s::text, %(b)b"
    assert positional(sql) == (b"SELECT $1, '100%', $2::text, $1", ("b", "a"))


@pytest.mark.parametrize("name", sorted(queries()))
def test_every_query_can_be_asked_with_numbered_parameters(name: str) -> None:
    sql, names = positional(queries()[name])
    assert sql.startswith(b"-- "), "what a server's log tells it by"
    assert b"%(" not in sql
    assert [f"${n}" in sql.decode() for n in range(1, len(names) + 1)] == [True] * len(names)


async def test_where_nothing_lets_in_callers_are_soon_told_and_the_first_who_can_gets_in(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "TIMEOUT_S", 3.0)
    monkeypatch.setattr(pool, "AWAY_S", 0.2)
    async with wire_to(database.service_url) as wire, pool.Database.open(wire.through(database.service_url)) as found:
        there, wire.port = wire.port, free_port()
        ruled(database, CUT)
        for _ in range(2):  # the first finds its connection gone, the second waits for another one in vain
            with pytest.raises(StoreUnavailable):
                await in_time(found.query("alive"))

        refused = [asyncio.create_task(found.query("alive")) for _ in range(5)]
        done, waiting = await asyncio.wait(refused, timeout=2.0)

        assert (len(done), waiting) == (5, set())
        assert all(isinstance(task.exception(), StoreUnavailable) for task in done)
        wire.port = there

        async def let_in() -> None:
            while True:
                try:
                    await found.query("alive")
                except StoreUnavailable:
                    await asyncio.sleep(0.05)
                else:
                    return

        await in_time(let_in())


async def test_whoever_still_waits_for_a_server_that_was_away_keeps_nobody_from_finding_it_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "TIMEOUT_S", WITHIN_S)
    monkeypatch.setattr(pool, "AWAY_S", 4.0)
    async with wire_to(database.service_url) as wire, pool.Database.open(wire.through(database.service_url)) as found:
        there, wire.port = wire.port, free_port()
        ruled(database, CUT)
        waiting = [asyncio.create_task(found.query("alive")) for _ in range(12)]
        for _ in range(200):
            await asyncio.sleep(0.05)
            if found.away and not found._pool.get_stats()["pool_size"]:
                break
        assert found._pool.get_stats()["pool_size"] == 0  # it tries nothing more until somebody asks
        assert not any(task.done() for task in waiting)
        wire.port = there

        assert await in_time(found.query("alive"))
        assert all(await in_time(asyncio.gather(*waiting)))


async def test_connections_that_were_cut_are_passed_over_however_many_there_are(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "SILENT_S", 5.0)
    monkeypatch.setattr(pool, "TIMEOUT_S", 5.0)  # four new connections take their time on a busy machine
    asking(monkeypatch, "SELECT pg_sleep(0.1)::text AS slept", "head")
    async with which.open(which.url(database), size=4) as found:
        await asyncio.gather(*(found.query("head") for _ in range(4)))

        ruled(database, CUT)

        assert len(await in_time(asyncio.gather(*(found.query("head") for _ in range(4))))) == 4


async def test_a_server_that_takes_no_writes_is_left_for_one_that_does(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruled(
        database, "CREATE TABLE gainsay.noted (n int)", "GRANT INSERT ON gainsay.noted TO gainsay_writer, gainsay_api"
    )
    asking(monkeypatch, "INSERT INTO noted VALUES (1) RETURNING 1 AS n")
    name = database.name
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
        async with which.open(which.url(database)) as found:
            with pytest.raises(StoreUnavailable) as refused:
                await found.query("asked")
            assert not isinstance(refused.value, StatementRefused)
            admin.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only'.encode())

            # The connections of then would stay read-only for ever.
            assert await in_time(found.query("asked")) == [{"n": 1}]


async def test_a_migration_under_a_running_process_is_not_told_to_callers(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruled(
        database,
        "CREATE TABLE gainsay.noted AS SELECT 1 AS n",
        "GRANT SELECT ON gainsay.noted TO gainsay_writer, gainsay_api",
    )
    asking(monkeypatch, "SELECT * FROM noted")
    async with which.open(which.url(database)) as found:
        for _ in range(2):  # the first one prepares it
            assert await found.query("asked") == [{"n": 1}]

        ruled(database, "ALTER TABLE gainsay.noted ADD COLUMN more int")

        assert await found.query("asked") == [{"n": 1, "more": None}]


async def test_texts_arrive_whole_whatever_encoding_the_environment_names(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "queries", lambda: {"asked": b"SELECT %(one)s::text AS one, %(some)s::text[] AS some"})
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    async with which.open(which.url(database)) as found:
        for text in ("é", "\N{SNOWMAN}"):
            rows = await found.query("asked", {"one": text, "some": TextArray((text,))})
            assert rows == [{"one": text, "some": [text]}]


@pytest.mark.parametrize(("default", "found"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")])
async def test_what_is_confirmed_is_on_the_disk_whatever_a_later_default_says(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch, default: str, found: str
) -> None:
    monkeypatch.setattr(pool, "queries", lambda: {"asked": b"SELECT current_setting('synchronous_commit') AS lasting"})
    monkeypatch.setenv("PGOPTIONS", f"-c synchronous_commit={default}")
    async with which.open(which.url(database)) as opened:
        assert await opened.query("asked") == [{"lasting": found}]


async def test_a_permission_that_is_missing_is_not_an_outage(
    database: Database, which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruled(database, "CREATE TABLE gainsay.noted (n int)")
    asking(monkeypatch, "SELECT n FROM noted")
    async with which.open(which.url(database)) as found:
        with pytest.raises(StatementRefused, match="InsufficientPrivilege, 42501"):
            await found.query("asked")


@pytest.mark.parametrize(
    ("does", "after"), [(preflight.check_database, 4_000), (migrate.pending, 1_500), (migrate.migrate, 1_500)]
)
async def test_a_process_that_starts_does_not_wait_for_a_frozen_server_for_ever(
    database: Database, monkeypatch: pytest.MonkeyPatch, does: Callable[[str, Path], object], after: int
) -> None:
    monkeypatch.setattr(migrate, "BUSY_SECONDS", 0)  # as nobody else migrates
    own = database.service_url if does is preflight.check_database else database.migrate_url
    async with wire_to(own) as wire:
        url = wire.through(own)
        await asyncio.to_thread(does, url, MIGRATIONS)

        wire.mute_after(after)
        with pytest.raises(StoreUnavailable, match=r"no answer within 0\.5 seconds"):
            await in_time(asyncio.to_thread(does, url, MIGRATIONS))


@pytest.mark.parametrize("does", [preflight.check_database, migrate.pending])
async def test_a_process_that_starts_does_not_wait_for_ever_for_what_takes_connections_and_says_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch, does: Callable[[str, Path], object]
) -> None:
    monkeypatch.setitem(pool.WIRE, "connect_timeout", 2)  # the least that there is
    async with wire_to(database.service_url) as wire:
        wire.mute_after(0)
        with pytest.raises(StoreUnavailable, match="timeout expired"):
            await in_time(asyncio.to_thread(does, wire.through(database.service_url), MIGRATIONS))


def test_a_file_of_migrations_takes_as_long_as_it_takes(empty_database: Database, tmp_path: Path) -> None:
    first = min(MIGRATIONS.glob("0001_*.sql"))
    (tmp_path / first.name).write_bytes(first.read_bytes())
    (tmp_path / "0002_slow.sql").write_text("SELECT pg_sleep(0.8);")

    assert migrate.migrate(empty_database.migrate_url, tmp_path) == [first.stem, "0002_slow"]


CUT: LiteralString = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND usename LIKE '%service' AND pid <> pg_backend_pid()"
)


@pytest.mark.parametrize("turns", range(8))
async def test_whoever_is_cancelled_in_the_moment_in_which_a_connection_comes_is_cancelled(
    database: Database, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    """Whatever goes on until it is cancelled would go on for ever; the moment may be any turn of the loop."""
    asking(monkeypatch, "SELECT 1 AS one")
    async with pool.Database.open(database.service_url, size=1) as found:
        connection = await found._pool.getconn()
        task = asyncio.create_task(found.query("asked"))
        await asyncio.sleep(0.05)  # it waits in the pool by now

        await found._pool.putconn(connection)
        for _ in range(turns):
            await asyncio.sleep(0)
        waited = task.cancel()
        await asyncio.wait([task])

        assert task.cancelled() or not waited
        assert await in_time(found.query("asked")) == [{"one": 1}]


@pytest.mark.parametrize("turns", range(8))
async def test_whoever_is_cancelled_in_the_moment_in_which_the_pool_closes_is_cancelled(
    database: Database, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    monkeypatch.setattr(pool, "TIMEOUT_S", WITHIN_S)
    async with pool.Database.open(database.service_url, size=1) as found:
        connection = await found._pool.getconn()
        task = asyncio.create_task(found.query("alive"))
        await asyncio.sleep(0.05)  # it waits in the pool by now

        await found._pool.close()
        for _ in range(turns):
            await asyncio.sleep(0)
        waited = task.cancel()
        await asyncio.wait([task])
        await found._pool.putconn(connection)

        assert task.cancelled() or (not waited and isinstance(task.exception(), StoreUnavailable))


async def test_a_pool_whose_opening_is_cancelled_leaves_no_task_behind(
    which: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that takes the connection and says nothing: who stops meanwhile must be able to end."""
    monkeypatch.setattr(pool, "TIMEOUT_S", WITHIN_S)
    held: list[asyncio.StreamWriter] = []
    begun = asyncio.Event()

    async def say_nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)
        begun.set()

    async def opened(url: str) -> None:
        async with which.open(url):
            raise AssertionError("expected no connection")

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        before = asyncio.all_tasks()
        opening = asyncio.create_task(opened(f"postgresql://nobody@127.0.0.1:{port}/none"))
        await in_time(begun.wait())
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await in_time(opening)
        left = {task for task in asyncio.all_tasks() - before if task.get_name().startswith("gainsay")}
        for writer in held:
            writer.close()

    assert not left
